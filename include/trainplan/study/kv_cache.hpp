/// Inputs that give the size of a cache of keys and values; several topics take them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "trainplan/cost/reinforcement.hpp"
#include "trainplan/study/parts.hpp"

namespace trainplan::study {
namespace detail {

/// Latent attention keeps another cache; the formula of plain heads is not its.
inline std::optional<double> of_plain_heads(const Planned& p, std::int64_t ModelSpec::*figure) {
  const ModelSpec& m = p.trial().problem.model();
  return m.is_latent() ? std::nullopt : std::optional(static_cast<double>(m.*figure));
}

}  // namespace detail

inline constexpr Input<kTokens> kCachedTokens{
    {"cached_tokens", "T_kv", "tokens whose keys and values are kept, of all sequences at once", 1, 1e12},
    {.example = "8192"}};
inline constexpr Input<kCount> kCacheLayers{{"layers", "L", "transformer layers", 1, 4096},
                                            {.example = "36", .of_plan = [](const Planned& p) {
                                               return detail::of_plain_heads(p, &ModelSpec::layers);
                                             }}};
inline constexpr Input<kCount> kCacheHeads{
    {"kv_heads", "n_kv", "key-value heads that a GPU holds", 1, 65536},
    {.example = "8", .of_plan = [](const Planned& p) -> std::optional<double> {
       const auto heads = detail::of_plain_heads(p, &ModelSpec::kv_heads);
       return heads ? std::optional(std::max(1.0, std::ceil(*heads / p.trial().plan.tp))) : std::nullopt;
     }}};
inline constexpr Input<kCount> kCacheHeadDim{{"head_dim", "d_h", "width of a head", 1, 65536},
                                             {.example = "128", .of_plan = [](const Planned& p) {
                                                return detail::of_plain_heads(p, &ModelSpec::head_dim);
                                              }}};
inline constexpr Input<kBytes - kTokens> kCacheElement{
    {"cache_element", "e", "bytes of an element of the cache", 0.5, 8},
    {.example = "2B/token", .otherwise = 2.0, .why = "bf16"}};

inline constexpr std::array<const Field*, 4> kCacheNeeds{&kCachedTokens, &kCacheLayers, &kCacheHeads,
                                                         &kCacheHeadDim};
inline constexpr std::array<const Field*, 1> kCacheExtra{&kCacheElement};
inline constexpr Part kCachePart{"the cache of keys and values", kCacheNeeds, kCacheExtra};

/// Item cache.bytes; the part must be whole.
inline Bytes<Sym> cache_bytes(Explain& rec, const Given& given) {
  return rec.apply(kv_cache_bytes, {"cache.bytes", "M_kv", ""}, given.in(rec, kCachedTokens),
                   given.in(rec, kCacheLayers), given.in(rec, kCacheHeads), given.in(rec, kCacheHeadDim),
                   given.in(rec, kCacheElement));
}

}  // namespace trainplan::study
