// Inputs of topics that contradict each other, lack each other or serve nothing: all of them at once.
#include <string>
#include <vector>

#include "asked.hpp"
#include "catch.hpp"

using namespace trainplan;
using study::kCheckpoint, study::kReshard, study::kFailures, study::kSpike, study::kData, study::kMoe,
    study::kOffload, study::kScale;

namespace {

/// "rule at option" of every issue; each has a rule and a way out.
std::vector<std::string> told(const study::Topic& topic, ::Inputs inputs) {
  const Asked asked(topic, inputs);
  std::vector<std::string> out;
  for (const Issue& i : asked.issues.all()) {
    CAPTURE(i.rule, i.pointer);
    CHECK_FALSE(i.must.empty());
    CHECK_FALSE(i.hint.empty());
    out.push_back(i.rule + " " + i.pointer);
  }
  return out;
}

using Told = std::vector<std::string>;

}  // namespace

TEST_CASE("two ways to say one thing exclude each other") {
  CHECK(told(kSpike, {{"interval_steps", "100"}, {"interval", "210s"}, {"step", "4.75s"}}) ==
        Told{"exclusive --interval"});
  CHECK(told(kOffload, {{"link", "32GB/s"},
                        {"params", "1B"},
                        {"host", "300GB/s"},
                        {"channels", "8"},
                        {"transfers", "4800M/s"}}) == Told{"exclusive --host", "exclusive --host"});
  CHECK(told(kCheckpoint, {{"bytes", "112GB"}, {"params", "8B"}, {"width", "14B/param"}}) ==
        Told{"exclusive --params", "exclusive --width"});
  CHECK(told(kData, {{"step", "52s"},
                     {"global_batch", "384"},
                     {"time", "25d"},
                     {"tokens", "100B"},
                     {"sequence", "8192"}}) == Told{"exclusive --step"});
}

TEST_CASE("inputs that are of use together ask for each other") {
  const ::Inputs demand{{"step", "52s"}, {"global_batch", "384"}};
  CHECK(told(kData, demand).empty());
  CHECK(
      told(kData,
           {{"step", "52s"}, {"global_batch", "384"}, {"workers", "4"}, {"rate", "2/s"}, {"pause", "60s"}}) ==
      Told{"missing --paused"});
  CHECK(
      told(kData,
           {{"step", "52s"}, {"global_batch", "384"}, {"workers", "4"}, {"rate", "2/s"}, {"paused", "1"}}) ==
      Told{"missing --pause"});
  CHECK(told(kData, {{"handed_out", "108"}}) == Told{"missing --trained"});
  CHECK(told(kData, {{"kept", "2000"}}) == Told{"missing --sequence"});
  CHECK(told(kData, {{"trained", "100"}}) == Told{"unused --trained"});
  CHECK(told(kData, {{"workers", "4"}, {"rate", "2/s"}}) == Told{"missing --step"});
  CHECK(told(kOffload, {{"link", "32GB/s"}, {"gradients", "96MiB"}}) ==
        Told{"missing --host", "missing --gpu"});
  CHECK(told(kOffload, {{"link", "32GB/s"}, {"up", "1GB"}, {"transfers", "4800M/s"}}) ==
        Told{"missing --channels", "missing --window", "unused --transfers"});
  CHECK(told(kSpike, {{"spikes", "20"}, {"interval_steps", "100"}}) ==
        Told{"missing --steps", "missing --noticed"});
  CHECK(told(kCheckpoint, {{"bytes", "1GB"}, {"keep_last", "5"}, {"failure", "50s"}, {"nodes", "8"}}) ==
        Told{"missing --nic", "missing --storage", "missing --interval", "missing --copy"});
}

TEST_CASE("a rule says what is wrong together with values that are refused") {
  CHECK(told(kCheckpoint, {{"bytes", "-1GB"}, {"copy", "1s"}, {"framework", "megatron"}}) ==
        Told{"range --bytes", "missing --interval", "missing --storage", "choice --framework"});
  CHECK(told(kSpike, {{"interval", "0s"}, {"spikes", "20"}}) ==
        Told{"range --interval", "missing --steps", "missing --noticed", "missing --step"});
  CHECK(told(kOffload, {{"gradients", "0B"}}) ==
        Told{"range --gradients", "missing --link", "missing --host", "missing --gpu"});
  CHECK(told(kData, {{"workers", "x"}, {"kept", "9000"}, {"sequence", "8192"}}) ==
        Told{"quantity --workers", "missing --rate", "missing --step", "range --kept"});
  CHECK(told(kFailures, {{"gpus", "0"}, {"failures", "3"}, {"replica", "64"}}) ==
        Told{"range --gpus", "missing --time", "missing --away"});
  CHECK(told(kReshard, {{"new", "tq8"}, {"rows", "8"}}) ==
        Told{"missing --old", "layout --new", "missing --columns"});
  CHECK(told(kMoe, {{"tokens", "-1"}, {"factor", "1.25"}}) ==
        Told{"range --tokens", "missing --top-k", "missing --experts", "missing --load"});
}

TEST_CASE("spares and replicas follow from a count, and from none they do not") {
  const Asked counted(kFailures,
                      {{"gpus", "16384"}, {"failures", "419"}, {"time", "54d"}, {"repair", "24h"}});
  REQUIRE(counted.rules().empty());
  // 419 failures in 54 days are 7.76 a day, so that a repair of a day has as many GPUs away
  CHECK(counted.item("failures.in_repair") == Approx(419.0 / 54));
  CHECK(number(counted.fact("spares")) == 13);
  CHECK(told(kFailures, {{"gpus", "64"}, {"failures", "0"}, {"time", "30d"}, {"repair", "24h"}}) ==
        Told{"rate-unknown --repair"});
  CHECK(told(kFailures, {{"gpus", "64"}, {"replica", "8"}, {"away", "1h"}}) ==
        Told{"rate-unknown --replica"});
  CHECK(told(kFailures, {{"gpus", "64"}}).empty());
}

TEST_CASE("memory holds all experts, time only those that a token visits") {
  const ::Inputs sparse{
      {"params", "37B"}, {"stored_params", "671B"}, {"tokens", "14.8T"}, {"peak", "989TFLOP/s"},
      {"mfu", "40%"},    {"gpus", "2048"},          {"deadline", "60d"}, {"memory", "80GB"}};
  const Asked a(kScale, sparse);
  REQUIRE(a.rules().empty());
  CHECK(a.item("scale.gpus_by_memory.1") == 135);    // 671e9 x 16 B / 80 GB = 134.2
  CHECK(a.item("scale.gpus_by_compute.1") == 1603);  // 6 x 37e9 x 14.8e12 / (60 d x 0.4 x 989e12)
  CHECK(number(a.table("needs").rows[0][5]) == 671e9);
  const Asked dense(kScale, {{"params", "37B"},
                             {"tokens", "14.8T"},
                             {"peak", "989TFLOP/s"},
                             {"mfu", "40%"},
                             {"gpus", "2048"},
                             {"deadline", "60d"},
                             {"memory", "80GB"}});
  CHECK(dense.item("scale.gpus_by_memory.1") == 8);
  CHECK(told(kScale, {{"params", "37B,7B"},
                      {"stored_params", "671B"},
                      {"tokens", "1T"},
                      {"peak", "989TFLOP/s"},
                      {"mfu", "40%"},
                      {"gpus", "8"},
                      {"deadline", "60d"}}) == Told{"one-each --stored-params"});
  CHECK(told(kScale, {{"params", "37B"},
                      {"stored_params", "7B"},
                      {"tokens", "1T"},
                      {"peak", "989TFLOP/s"},
                      {"mfu", "40%"},
                      {"gpus", "8"},
                      {"deadline", "60d"}}) == Told{"range-order --stored-params"});
  CHECK(told(kScale, {{"params", "7B"},
                      {"tokens", "1T"},
                      {"peak", "989TFLOP/s"},
                      {"mfu", "40%"},
                      {"gpus", "8"},
                      {"memory", "80GB"},
                      {"state_width", "18B/param"}}) == Told{"unused --memory", "unused --state-width"});
}

TEST_CASE("the break-even of the link says on which side of it the link is") {
  const auto note = [](std::string_view link) {
    const Asked a(kOffload,
                  {{"gradients", "96MiB"}, {"link", link}, {"host", "307.2GB/s"}, {"gpu", "1008GB/s"}});
    for (const Section& s : a.report.sections)
      for (const Block& b : s.blocks)
        if (const auto* facts = std::get_if<Facts>(&b))
          for (const Fact& f : facts->facts)
            if (f.key == "break_even") return f.note;
    return std::string("none");
  };
  CHECK(note("32GB/s") == "this link is slower");
  CHECK(note("200GB/s") == "this link is as fast or faster");
}
