/// What a framework puts into a checkpoint, and what of it another layout can load.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainplan {

/// What the next update depends on.
enum class SavedPart : std::uint8_t {
  Weights,
  Master,
  Moments,
  Step,
  Schedule,
  Random,
  DataPosition,
  PackerRemainder
};
inline constexpr std::string_view kSavedPartNames[] = {
    "weights", "master", "moments", "step", "schedule", "random", "data_position", "packer_remainder"};
inline constexpr std::string_view kSavedPartTitles[] = {"weights",
                                                        "fp32 master weights",
                                                        "two Adam moments",
                                                        "step",
                                                        "learning rate schedule",
                                                        "random number generators",
                                                        "position in the data",
                                                        "tokens that the packer has kept"};
constexpr std::string_view name_of(SavedPart p) { return kSavedPartNames[static_cast<int>(p)]; }
constexpr std::string_view title_of(SavedPart p) { return kSavedPartTitles[static_cast<int>(p)]; }

/// Other: in another part (fp32 weights are the master). Yours: only if the training script adds it.
enum class Saved : std::uint8_t { Yes, No, Other, Yours };
inline constexpr std::string_view kSavedNames[] = {"yes", "no", "other", "yours"};
constexpr std::string_view name_of(Saved s) { return kSavedNames[static_cast<int>(s)]; }

struct PartSaved {
  SavedPart part = SavedPart::Weights;
  Saved saved = Saved::Yes;
  std::string how, source;
};

/// A degree of the layout that may change between saving and loading.
enum class Degree : std::uint8_t { Tp, Pp, Cp, Dp, Ep };
inline constexpr std::string_view kDegreeNames[] = {"tp", "pp", "cp", "dp", "ep"};
inline constexpr int kDegrees = 5;
constexpr std::string_view name_of(Degree a) { return kDegreeNames[static_cast<int>(a)]; }

/// Whether a part can be loaded when a degree has changed: as it is, with what `needs` says, or not at all.
enum class Loads : std::uint8_t { Yes, Needs, No };
inline constexpr std::string_view kLoadsNames[] = {"yes", "needs", "no"};

struct ReshardRow {
  SavedPart part = SavedPart::Weights;
  std::array<Loads, kDegrees> loads{};
  std::string needs, instead, source;

  Loads when(Degree a) const { return loads[static_cast<std::size_t>(a)]; }
};

struct CheckpointUse {
  std::vector<PartSaved> contents;
  std::vector<ReshardRow> reshard;
  std::string commit;  // what marks a checkpoint as complete

  const PartSaved* find(SavedPart part) const {
    for (const PartSaved& p : contents)
      if (p.part == part) return &p;
    return nullptr;
  }
};

}  // namespace trainplan
