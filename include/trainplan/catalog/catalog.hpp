/// Every formula that can be called by name, in chapters.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "trainplan/cost/activations.hpp"
#include "trainplan/cost/allocations.hpp"
#include "trainplan/cost/capacity.hpp"
#include "trainplan/cost/cast.hpp"
#include "trainplan/cost/checkpoint.hpp"
#include "trainplan/cost/comm.hpp"
#include "trainplan/cost/compute.hpp"
#include "trainplan/cost/confidence.hpp"
#include "trainplan/cost/degrees.hpp"
#include "trainplan/cost/diagnosis.hpp"
#include "trainplan/cost/failures.hpp"
#include "trainplan/cost/gap.hpp"
#include "trainplan/cost/gap_norms.hpp"
#include "trainplan/cost/goodput.hpp"
#include "trainplan/cost/interval.hpp"
#include "trainplan/cost/long_run.hpp"
#include "trainplan/cost/losses.hpp"
#include "trainplan/cost/low_precision.hpp"
#include "trainplan/cost/memory.hpp"
#include "trainplan/cost/money.hpp"
#include "trainplan/cost/number_formats.hpp"
#include "trainplan/cost/offload.hpp"
#include "trainplan/cost/overlap.hpp"
#include "trainplan/cost/params.hpp"
#include "trainplan/cost/phases.hpp"
#include "trainplan/cost/reinforcement.hpp"
#include "trainplan/cost/reshard.hpp"
#include "trainplan/cost/rules_of_thumb.hpp"
#include "trainplan/cost/saving.hpp"
#include "trainplan/cost/scaling.hpp"
#include "trainplan/cost/schedule.hpp"
#include "trainplan/cost/schedule_bounds.hpp"
#include "trainplan/cost/sensitivity.hpp"
#include "trainplan/cost/stability.hpp"
#include "trainplan/cost/state.hpp"
#include "trainplan/cost/step.hpp"
#include "trainplan/cost/straggler.hpp"
#include "trainplan/cost/supply.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

/// id names the chapter in file names and links.
struct CatalogChapter {
  std::string_view id, title;
  std::span<const CatalogEntry> entries;
};

namespace detail {

template <class C>
inline constexpr auto kEntries = C::entries();

template <class C>
constexpr CatalogChapter chapter(std::string_view id, std::string_view title) {
  return {id, title, std::span<const CatalogEntry>(kEntries<C>)};
}

inline constexpr std::array kChapters{
    chapter<DegreeFormulas>("degrees", "Degrees of parallelism"),
    chapter<ModelParamsFormulas>("model-params", "Parameters of a model"),
    chapter<ParamsFormulas>("params", "Parameters of a GPU"),
    chapter<StateFormulas>("state", "Training state"),
    chapter<ActivationFormulas>("activations", "Activations"),
    chapter<MemoryFormulas>("memory", "Memory of a GPU"),
    chapter<PhaseFormulas>("phases", "Memory of phases in a row"),
    chapter<AllocationFormulas>("allocations", "Single requests"),
    chapter<LowPrecisionFormulas>("low_precision", "Products in 8 or 4 bits"),
    chapter<OffloadFormulas>("offload", "Host memory, buckets, experts"),
    chapter<CastFormulas>("casts", "Casts on the way to the host"),
    chapter<RuleOfThumbFormulas>("rules-of-thumb", "Rules of thumb"),
    chapter<ComputeFormulas>("compute", "FLOPs and utilisation"),
    chapter<CommFormulas>("comm", "Communication"),
    chapter<ExpertFormulas>("experts", "Routed experts"),
    chapter<CapacityFormulas>("capacity", "Capacity of experts"),
    chapter<ScheduleFormulas>("schedule", "Pipeline schedule"),
    chapter<ScheduleBoundFormulas>("schedule-bounds", "Bounds of pipeline schedules"),
    chapter<KernelFormulas>("kernels", "Kernels"),
    chapter<LinkFormulas>("links", "Links"),
    chapter<LayerTrafficFormulas>("layer-traffic", "Communication of a layer"),
    chapter<OverlapFormulas>("overlap", "Buckets and gaps"),
    chapter<PipelineFormulas>("pipeline", "Time of a pipeline"),
    chapter<StepFormulas>("step", "Step time"),
    chapter<ConfidenceFormulas>("confidence", "How sure a prediction is"),
    chapter<LossFormulas>("losses", "Losses of a step"),
    chapter<SensitivityFormulas>("sensitivity", "What a change buys"),
    chapter<GapFormulas>("gap", "A measured step against its budget"),
    chapter<GapNormFormulas>("gap-norms", "What is normal for a step"),
    chapter<CheckpointFormulas>("checkpoint", "Checkpoints"),
    chapter<SavingFormulas>("saving", "Writers and kept checkpoints"),
    chapter<ReshardFormulas>("reshard", "Checkpoints on another layout"),
    chapter<GoodputFormulas>("goodput", "Failures and goodput"),
    chapter<NumberFormatFormulas>("number-formats", "Number formats"),
    chapter<IntervalFormulas>("interval", "How often to save"),
    chapter<LongRunFormulas>("long-run", "A run as a whole"),
    chapter<FailureFormulas>("failures", "Counts and costs of failures"),
    chapter<StragglerFormulas>("straggler", "Stragglers"),
    chapter<SupplyFormulas>("supply", "Supply of data"),
    chapter<StabilityFormulas>("stability", "Spikes and number formats"),
    chapter<ScalingFormulas>("scaling", "More GPUs for one run"),
    chapter<ReinforcementFormulas>("reinforcement", "Reinforcement learning"),
    chapter<MoneyFormulas>("money", "Time and money"),
    chapter<DiagnosisFormulas>("diagnosis", "What a measurement implies"),
};

inline constexpr std::size_t kFormulaCount = [] {
  std::size_t n = 0;
  for (const CatalogChapter& c : kChapters) n += c.entries.size();
  return n;
}();

inline constexpr std::array<CatalogEntry, kFormulaCount> kCatalog = [] {
  std::array<CatalogEntry, kFormulaCount> all{};
  auto out = all.begin();
  for (const CatalogChapter& c : kChapters) out = std::copy(c.entries.begin(), c.entries.end(), out);
  return all;
}();

}  // namespace detail

/// Chapters in the order of the documents.
constexpr std::span<const CatalogChapter> catalog_chapters() { return detail::kChapters; }

/// All formulas, chapter after chapter.
constexpr std::span<const CatalogEntry> catalog() { return detail::kCatalog; }

/// The formula of that id, or nullptr.
constexpr const CatalogEntry* find_formula(std::string_view id) {
  for (const CatalogEntry& entry : catalog())
    if (entry.id == id) return &entry;
  return nullptr;
}

}  // namespace trainplan
