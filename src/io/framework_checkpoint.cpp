#include "framework_checkpoint.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "trainplan/spec/validate.hpp"

namespace trainplan {
namespace {

constexpr std::string_view kCheckpointKeys[] = {
    "bytes_per_param", "weights_bytes_per_param", "source", "contents", "reshard", "commit"};
constexpr std::string_view kPartKeys[] = {"part", "saved", "how", "source"};
constexpr std::string_view kReshardKeys[] = {"part", "tp",    "pp",      "cp",    "dp",
                                             "ep",   "needs", "instead", "source"};
/// Choices in the order of the enumeration.
template <class E, std::size_t N>
constexpr std::array<Named<E>, N> named(const std::string_view (&names)[N]) {
  std::array<Named<E>, N> out{};
  for (std::size_t i = 0; i < N; ++i) out[i] = {names[i], static_cast<E>(i)};
  return out;
}
constexpr auto kParts = named<SavedPart>(kSavedPartNames);
constexpr auto kSaved = named<Saved>(kSavedNames);
constexpr auto kLoads = named<Loads>(kLoadsNames);

PartSaved read_part(const Reader& in) {
  in.allow(kPartKeys);
  in.require("part", "\"weights\"");
  in.require("saved", "\"yes\"");
  return {in.choice("part", std::span<const Named<SavedPart>>(kParts)).value_or(SavedPart::Weights),
          in.choice("saved", std::span<const Named<Saved>>(kSaved)).value_or(Saved::Yes),
          in.string("how").value_or(""), in.string("source").value_or("")};
}

/// A degree that is left out loads as it is.
ReshardRow read_row(const Reader& in) {
  in.allow(kReshardKeys);
  ReshardRow row;
  in.require("part", "\"moments\"");
  row.part = in.choice("part", std::span<const Named<SavedPart>>(kParts)).value_or(row.part);
  bool needs = false;
  for (std::size_t i = 0; i < kDegrees; ++i) {
    row.loads[i] = in.choice(kDegreeNames[i], std::span<const Named<Loads>>(kLoads)).value_or(Loads::Yes);
    needs |= row.loads[i] == Loads::Needs;
  }
  if (needs) in.require("needs", "\"--dist-ckpt-optim-fully-reshardable\"");
  row.needs = in.string("needs").value_or("");
  row.instead = in.string("instead").value_or("");
  row.source = in.string("source").value_or("");
  return row;
}

}  // namespace

void read_checkpoint(const Reader& in, FrameworkProfile& f) {
  in.allow(kCheckpointKeys);
  f.checkpoint_bytes_per_param =
      in.real("bytes_per_param", 1, kMaxBytesPerParam).value_or(f.checkpoint_bytes_per_param);
  f.checkpoint_weights_bytes =
      in.real("weights_bytes_per_param", 0.25, kMaxBytesPerParam).value_or(f.checkpoint_weights_bytes);
  f.checkpoint_source = in.string("source").value_or("");
  f.checkpoint.commit = in.string("commit").value_or("");
  for (const Reader& part : in.objects("contents")) f.checkpoint.contents.push_back(read_part(part));
  for (const Reader& row : in.objects("reshard")) f.checkpoint.reshard.push_back(read_row(row));
}

}  // namespace trainplan
