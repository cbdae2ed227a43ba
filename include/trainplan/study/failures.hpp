/// `study failures`: how often a job of many GPUs fails.
#pragma once

#include <array>

#include "trainplan/cost/goodput.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study {
namespace detail::failures {

inline constexpr Input<kCount> kGpus{
    {"gpus", "G", "GPUs of the job", 1, 1e7},
    {.example = "16384",
     .required = true,
     .of_plan = [](const Planned& p) {
       return std::optional(static_cast<double>(p.trial().problem.cluster().gpus()));
     }}};
inline constexpr Input<kSeconds> kGpuMtbf{
    {"gpu_mtbf", "M_gpu", "mean time between failures of one GPU", 1, 1e12},
    {.example = "50000h", .of_plan = [](const Planned& p) -> std::optional<double> {
       const Figure& f = p.trial().problem.cluster().gpu_mtbf;
       return f.known ? std::optional(f.value) : std::nullopt;
     }}};

inline constexpr std::array<const Field*, 2> kFields{&kGpus, &kGpuMtbf};

inline Report answer(Explain& rec, const Given& given, const Planned*) {
  Report r{"", "Failures", Verdict::None, {}, {}};
  const auto gpus = given.in(rec, kGpus);
  Facts facts{"", {}};
  if (const auto each = given.maybe(rec, kGpuMtbf)) {
    rec.apply(cluster_mtbf, {"failures.mtbf", "M", ""}, *each, gpus);
    facts.facts.push_back(fact(rec.ledger(), "failures.mtbf", "mtbf", Unit::Time));
  }
  r.sections.push_back({"job", "Job", {std::move(facts)}});
  return r;
}

}  // namespace detail::failures

inline constexpr Topic kFailures{
    "failures", "how often a job of many GPUs fails", "M = M_gpu / G, failures in a stretch of time",
    detail::failures::kFields, nullptr, &detail::failures::answer};

}  // namespace trainplan::study
