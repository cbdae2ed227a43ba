#include "model_layers.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

using Flags = std::vector<bool>;
using Kinds = std::vector<LayerKind>;

/// One key that is no list, or what holds without it.
std::int64_t number(ModelKeys& keys, std::string_view key, std::int64_t lo, std::int64_t hi,
                    std::int64_t otherwise) {
  return keys.integer(Spellings(&key, 1), lo, hi).value_or(otherwise);
}

/// A list has an entry for each layer; false when it has another length.
bool fits(const ModelKeys& keys, std::string_view key, std::size_t entries, std::int64_t layers) {
  if (static_cast<std::int64_t>(entries) == layers) return true;
  keys.refuse(
      key, "layer-list",
      "have " + std::to_string(layers) + " entries, one for each layer; it has " + std::to_string(entries),
      "correct the list, or num_hidden_layers");
  return false;
}

Flags flags_of(const std::vector<std::int64_t>& list) {
  Flags out;
  for (const std::int64_t n : list) out.push_back(n != 0);
  return out;
}

Flags marked(const std::vector<std::int64_t>& indices, std::int64_t layers, bool marked) {
  Flags out(static_cast<std::size_t>(layers), !marked);
  for (const std::int64_t i : indices)
    if (i < layers) out[static_cast<std::size_t>(i)] = marked;
  return out;
}

template <class Predicate>
Flags where(std::int64_t layers, Predicate sparse) {
  Flags out;
  for (std::int64_t i = 0; i < layers; ++i) out.push_back(sparse(i));
  return out;
}

Flags sparse_after_first(ModelKeys& keys, const Family& family, std::int64_t layers) {
  const Reader& in = keys.reader();
  const auto freq = in.node().find("moe_layer_freq");
  if (freq != in.node().end() && freq->is_array()) {
    const auto list = in.integers("moe_layer_freq", 0, 1);
    return fits(keys, "moe_layer_freq", list.size(), layers) ? flags_of(list) : Flags(list.size());
  }
  const std::int64_t first = number(keys, "first_k_dense_replace", 0, kMaxLayers, family.dense_first);
  const std::int64_t step = std::max<std::int64_t>(number(keys, "moe_layer_freq", 1, kMaxLayers, 1), 1);
  return where(layers, [&](std::int64_t i) { return i >= first && i % step == 0; });
}

Flags sparse_by_step(ModelKeys& keys, std::int64_t layers) {
  const std::int64_t step = std::max<std::int64_t>(number(keys, "decoder_sparse_step", 1, kMaxLayers, 1), 1);
  Flags out = marked(keys.reader().integers("mlp_only_layers", 0, kMaxLayers), layers, false);
  for (std::int64_t i = 0; i < layers; ++i)
    if ((i + 1) % step != 0) out[static_cast<std::size_t>(i)] = false;
  return out;
}

Flags sparse_interleaved(ModelKeys& keys, std::int64_t layers) {
  const auto listed = keys.reader().integers("moe_layers", 0, kMaxLayers);
  if (!listed.empty()) return marked(listed, layers, true);
  const std::int64_t step =
      std::max<std::int64_t>(number(keys, "interleave_moe_layer_step", 1, kMaxLayers, 1), 1);
  return where(layers, [&](std::int64_t i) { return (i + 1) % step == 0; });
}

Flags sparse_range(ModelKeys& keys, std::int64_t layers) {
  const std::int64_t first = number(keys, "moe_layer_start_index", 0, kMaxLayers, 1);
  const std::int64_t last = number(keys, "moe_layer_end_index", -1, kMaxLayers, -1);
  const std::int64_t step = std::max<std::int64_t>(number(keys, "moe_layer_interval", 1, kMaxLayers, 1), 1);
  return where(layers,
               [&](std::int64_t i) { return i >= first && (last < 0 || i <= last) && (i + 1) % step == 0; });
}

/// The size of a window or chunk: the key's, nothing when it is null, the family's when it is missing.
std::optional<std::int64_t> positions_of(ModelKeys& keys, std::string_view key, const Family& family) {
  if (keys.has(key)) return std::max<std::int64_t>(number(keys, key, 1, kMaxVocab, 1), 1);
  if (keys.contains(key) || family.window == 0) return std::nullopt;
  return family.window;
}

/// Windows or chunks where the flag is set.
Kinds spans_where(const Flags& set, Span span, std::optional<std::int64_t> positions) {
  Kinds out(set.size());
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i] && positions) out[i] = {.span = span, .positions = *positions};
  return out;
}

/// Of a list that names the kind of every layer.
Kinds spans_named(ModelKeys& keys, const Family& family, std::string_view key, std::int64_t layers) {
  const std::vector<std::string> names = keys.reader().strings(key);
  if (!fits(keys, key, names.size(), layers)) return {};
  const auto is = [&](std::string_view a, std::string_view b) {
    Flags out;
    for (const std::string& name : names) out.push_back(name == a || name == b);
    return out;
  };
  const Flags window = is("sliding_attention", "local"), chunk = is("chunked_attention", "");
  Kinds out(names.size());
  const auto lay = [&](const Flags& set, Span span, std::string_view size_key) {
    if (std::find(set.begin(), set.end(), true) == set.end()) return;
    const auto positions = positions_of(keys, size_key, family);
    if (!positions) keys.reader().require(size_key, "4096");
    for (std::size_t i = 0; i < set.size(); ++i)
      if (set[i]) out[i] = {.span = span, .positions = positions.value_or(1)};
  };
  lay(window, Span::Window, family.windows == Windows::Listed ? "window_size" : "sliding_window");
  lay(chunk, Span::Chunk, "attention_chunk_size");
  return out;
}

/// "LLLG", a number of layers of which the last attends to all, or what the family says.
Flags periodic(ModelKeys& keys, const Family& family, std::int64_t layers) {
  constexpr std::string_view kKey = "sliding_window_pattern";
  const auto found = keys.reader().node().find(std::string(kKey));
  if (found != keys.reader().node().end() && found->is_string()) {
    const std::string text = found->get<std::string>();
    const bool letters = !text.empty() && text.find_first_not_of("LG") == std::string::npos;
    if (letters)
      return where(layers,
                   [&](std::int64_t i) { return text[static_cast<std::size_t>(i) % text.size()] == 'L'; });
  }
  const std::int64_t period =
      std::max<std::int64_t>(number(keys, kKey, 0, kMaxLayers, family.window_period), 1);
  return where(layers, [&](std::int64_t i) { return (i + 1) % period != 0; });
}

/// no_rope_layers has a 1 where positions are rotated, which is where attention is chunked.
Flags chunked(ModelKeys& keys, const Family& family, std::int64_t layers) {
  const auto rotated = keys.reader().integers("no_rope_layers", 0, 1);
  if (!rotated.empty() && fits(keys, "no_rope_layers", rotated.size(), layers)) return flags_of(rotated);
  const std::int64_t period =
      std::max<std::int64_t>(number(keys, "no_rope_layer_interval", 1, kMaxLayers, family.window_period), 1);
  return where(layers, [&](std::int64_t i) { return (i + 1) % period != 0; });
}

/// [[["global", "local"], 12]] and the like: each list so many times.
Flags local_layers(ModelKeys& keys, std::int64_t layers) {
  constexpr std::string_view kKey = "attention_types";
  if (!keys.has(kKey)) return where(layers, [](std::int64_t i) { return i % 2 == 1; });
  const nlohmann::json& types = *keys.reader().node().find(std::string(kKey));
  Flags out;
  const auto group_is_legal = [](const nlohmann::json& g) {
    return g.is_array() && g.size() == 2 && g[0].is_array() && g[1].is_number_unsigned() &&
           std::all_of(g[0].begin(), g[0].end(),
                       [](const nlohmann::json& k) { return k == "global" || k == "local"; });
  };
  if (!types.is_array() || !std::all_of(types.begin(), types.end(), group_is_legal)) {
    keys.refuse(kKey, "layer-list", "be lists of global and local, each with how often it comes",
                "write [[[\"global\", \"local\"], 12]]");
    return Flags(static_cast<std::size_t>(layers));
  }
  for (const nlohmann::json& group : types) {
    const auto times = std::min<std::uint64_t>(group[1].get<std::uint64_t>(), kMaxLayers + 1);
    for (std::uint64_t t = 0; t < times && static_cast<std::int64_t>(out.size()) <= layers; ++t)
      for (const nlohmann::json& kind : group[0]) out.push_back(kind == "local");
  }
  return fits(keys, kKey, out.size(), layers) ? out : Flags(static_cast<std::size_t>(layers));
}

Kinds spans_by_rule(ModelKeys& keys, const Family& family, std::int64_t layers) {
  const auto n = static_cast<std::size_t>(layers);
  const bool off = !keys.boolean("use_sliding_window").value_or(family.windows != Windows::BySwitch);
  switch (family.windows) {
    case Windows::None: break;
    case Windows::All:
      if (!off)
        return spans_where(Flags(n, true), Span::Window, positions_of(keys, "sliding_window", family));
      break;
    case Windows::BySwitch: {
      if (off) break;
      const std::int64_t first = number(keys, "max_window_layers", 0, kMaxVocab, 0);
      const Flags late = where(layers, [&](std::int64_t i) { return i >= first; });
      return spans_where(late, Span::Window, positions_of(keys, "sliding_window", family));
    }
    case Windows::Periodic:
      return spans_where(periodic(keys, family, layers), Span::Window,
                         positions_of(keys, "sliding_window", family));
    case Windows::Chunks:
      return spans_where(chunked(keys, family, layers), Span::Chunk,
                         positions_of(keys, "attention_chunk_size", family));
    case Windows::Listed:
      return spans_where(local_layers(keys, layers), Span::Window, positions_of(keys, "window_size", family));
  }
  return Kinds(n);
}

}  // namespace

std::vector<bool> sparse_layers(ModelKeys& keys, const Family& family, std::int64_t layers) {
  if (family.sparsity != Sparsity::None && keys.has("mlp_layer_types")) {
    const std::vector<std::string> names = keys.reader().strings("mlp_layer_types");
    Flags out;
    for (const std::string& name : names) out.push_back(name != "dense");
    return fits(keys, "mlp_layer_types", names.size(), layers) ? out
                                                               : Flags(static_cast<std::size_t>(layers));
  }
  switch (family.sparsity) {
    case Sparsity::None: break;
    case Sparsity::Every: return Flags(static_cast<std::size_t>(layers), true);
    case Sparsity::AfterFirst: {
      Flags out = sparse_after_first(keys, family, layers);
      out.resize(static_cast<std::size_t>(layers));
      return out;
    }
    case Sparsity::ByStep: return sparse_by_step(keys, layers);
    case Sparsity::Interleaved: return sparse_interleaved(keys, layers);
    case Sparsity::Range: return sparse_range(keys, layers);
  }
  return Flags(static_cast<std::size_t>(layers));
}

std::vector<LayerKind> layer_spans(ModelKeys& keys, const Family& family, std::int64_t layers) {
  Kinds out;
  for (const std::string_view key : {"layer_types", "layers_block_type", "attention_layers"})
    if (out.empty() && keys.has(key)) out = spans_named(keys, family, key, layers);
  if (out.empty()) out = spans_by_rule(keys, family, layers);
  out.resize(static_cast<std::size_t>(layers));
  return out;
}

}  // namespace trainplan
