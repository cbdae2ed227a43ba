// Topics of long runs against figures that were worked out elsewhere; rules between their inputs.
#include "asked.hpp"
#include "catch.hpp"
#include "trainplan/base/slow_rank.hpp"
#include "trainplan/cost/packing.hpp"
#include "trainplan/cost/spares.hpp"

using namespace trainplan;
using study::kCheckpoint, study::kReshard, study::kFailures, study::kStraggler, study::kSpike, study::kData,
    study::kOffload;

TEST_CASE("a failure goes back to the last snapshot that was committed") {
  const Asked slow(
      kCheckpoint,
      {{"bytes", "112GB"}, {"storage", "7GB/s"}, {"interval", "20s"}, {"copy", "0.5s"}, {"failure", "50s"}});
  REQUIRE(slow.rules().empty());
  const Table& saves = slow.table("saves");
  REQUIRE(saves.rows.size() == 2);
  CHECK(number(saves.rows[0][4]) == 36.5);
  CHECK(number(saves.rows[1][4]) == 56.5);
  CHECK(number(slow.fact("redone")) == 30);
  CHECK(number(slow.fact("paused")) == 1);
  const Asked fast(
      kCheckpoint,
      {{"bytes", "112GB"}, {"storage", "20GB/s"}, {"interval", "20s"}, {"copy", "0.5s"}, {"failure", "50s"}});
  CHECK(number(fast.fact("redone")) == 10);
  CHECK(fast.report.verdict == Verdict::None);
  const Asked late(kCheckpoint,
                   {{"bytes", "112GB"}, {"storage", "7GB/s"}, {"interval", "10s"}, {"copy", "0.5s"}});
  CHECK(late.report.verdict == Verdict::DoesNotFit);
  const Asked stops(kCheckpoint, {{"bytes", "112GB"}, {"storage", "7GB/s"}, {"interval", "10s"}});
  CHECK(stops.report.verdict == Verdict::DoesNotFit);
}

TEST_CASE("the failure ends the saves and the waits for a buffer") {
  const Asked a(kCheckpoint, {{"bytes", "112GB"},
                              {"storage", "7GB/s"},
                              {"interval", "10s"},
                              {"copy", "0.5s"},
                              {"buffers", "2"},
                              {"failure", "100s"}});
  CHECK(number(a.fact("paused")) == 53.5);
  CHECK(number(a.table("saves").rows.back()[1]) == 90.5);
  const Asked one(kCheckpoint, {{"bytes", "112GB"},
                                {"storage", "7GB/s"},
                                {"interval", "20s"},
                                {"copy", "5s"},
                                {"buffers", "1"},
                                {"failure", "100s"}});
  CHECK(number(one.fact("paused")) == 26);
  CHECK(one.report.verdict == Verdict::DoesNotFit);  // a buffer is taken for 21 s
}

TEST_CASE("the background writer is as slow as the network of the nodes") {
  const Asked a(kCheckpoint, {{"bytes", "112GB"},
                              {"nodes", "2"},
                              {"nic", "1GB/s"},
                              {"storage", "7GB/s"},
                              {"interval", "20s"},
                              {"copy", "0.5s"},
                              {"failure", "50s"}});
  CHECK(a.item("checkpoint.background") == 56);
  CHECK(a.report.verdict == Verdict::DoesNotFit);
}

TEST_CASE("a framework that is named says the bytes of a parameter") {
  const Asked a(kCheckpoint, {{"params", "405B"}, {"framework", "torchtitan"}});
  CHECK(a.item("checkpoint.bytes") == 405e9 * 12);
  const Asked said(kCheckpoint, {{"params", "405B"}, {"framework", "torchtitan"}, {"width", "14B/param"}});
  CHECK(said.item("checkpoint.bytes") == 405e9 * 14);
  const Asked rows(
      kReshard,
      {{"old", "tp4"}, {"new", "tp8"}, {"rows", "12288"}, {"columns", "4096"}, {"framework", "torchtitan"}});
  CHECK(rows.item("reshard.bytes") == 576 * 1024.0 * 1024);
}

TEST_CASE("what is written and kept") {
  const Asked a(
      kCheckpoint,
      {{"bytes", "5.7TB"}, {"interval", "210s"}, {"keep_last", "5"}, {"keep_every", "1d"}, {"time", "54d"}});
  CHECK(a.item("checkpoint.rate") == Approx(27.14e9).epsilon(1e-3));
  CHECK(a.item("checkpoint.day") == Approx(2.345e15).epsilon(1e-3));
  CHECK(a.item("checkpoint.kept") == Approx(58 * 5.7e12));  // 53 days older than the newest five
  const Asked last(kCheckpoint, {{"bytes", "5.7TB"}, {"interval", "210s"}, {"keep_last", "5"}});
  CHECK(last.item("checkpoint.kept") == Approx(5 * 5.7e12));
}

TEST_CASE("no more checkpoints are kept than are written") {
  const Asked often(kCheckpoint, {{"bytes", "1TB"}, {"interval", "1h"}, {"keep_every", "10min"}});
  CHECK(often.rules() == std::vector<std::string>{"keep-what-is-written"});
  CHECK(Asked(kCheckpoint, {{"bytes", "1TB"}, {"interval", "1h"}, {"keep_every", "1h"}}).rules().empty());
  const Asked few(
      kCheckpoint,
      {{"bytes", "1TB"}, {"interval", "1h"}, {"keep_every", "2h"}, {"keep_last", "5"}, {"time", "5h"}});
  CHECK(few.item("checkpoint.kept") == 5e12);
  const Asked both(
      kCheckpoint,
      {{"bytes", "100GB"}, {"interval", "1h"}, {"keep_last", "5"}, {"keep_every", "2h"}, {"time", "10h"}});
  CHECK(both.item("checkpoint.kept") == Approx(7e11));  // after 2, 4, 6 to 10 hours
}

TEST_CASE("bytes by framework, and writers of more and more width") {
  const Asked a(kCheckpoint, {{"params", "405B"},
                              {"gpus", "16384"},
                              {"nodes", "2048"},
                              {"nic", "50GB/s"},
                              {"storage", "2TB/s"},
                              {"writer", "1GB/s"}});
  CHECK(a.item("megatron-lm.bytes") == 405e9 * 14);
  CHECK(a.item("torchtitan.bytes") == 405e9 * 12);
  CHECK(a.item("deepspeed.weights") == 405e9 * 2);
  CHECK(a.item("checkpoint.per_gpu") == Approx(346e6).epsilon(1e-3));
  CHECK(a.item("checkpoint.one_file") == Approx(5670));
  CHECK(a.item("checkpoint.one_node") == Approx(113.4));
  CHECK(a.item("checkpoint.sharded") == Approx(2.835));
}

TEST_CASE("rules of checkpoints") {
  CHECK(Asked(kCheckpoint, {{"interval", "20s"}}).rules() == std::vector<std::string>{"missing"});
  CHECK(Asked(kCheckpoint, {{"bytes", "1GB"}, {"copy", "1s"}}).rules() ==
        std::vector<std::string>{"missing", "missing"});
  CHECK(Asked(kCheckpoint, {{"bytes", "1GB"}, {"storage", "1GB/s"}, {"copy", "30s"}, {"interval", "20s"}})
            .rules() == std::vector<std::string>{"interval"});
  CHECK(Asked(kCheckpoint, {{"bytes", "1GB"}, {"framework", "megatron"}}).rules() ==
        std::vector<std::string>{"choice"});
  CHECK(Asked(kCheckpoint, {{"bytes", "-1GB"}, {"keep_last", "0"}}).rules() ==
        std::vector<std::string>{"range", "range", "missing"});
}

TEST_CASE("twice as many tensor parallel ranks read halves") {
  const Asked a(kReshard, {{"old", "tp4"}, {"new", "tp8"}, {"rows", "12288"}, {"columns", "4096"}});
  REQUIRE(a.rules().empty());
  CHECK(a.item("reshard.old_rows") == 3072);
  CHECK(a.item("reshard.new_rows") == 1536);
  CHECK(a.item("reshard.bytes") == 672 * 1024.0 * 1024);
  CHECK(a.item("reshard.rank_bytes") == 84 * 1024.0 * 1024);
  const Table& pieces = a.table("pieces");
  REQUIRE(pieces.rows.size() == 8);
  for (std::size_t r = 0; r < 8; ++r) {
    CHECK(number(pieces.rows[r][3]) == static_cast<double>(r / 2));
    CHECK(number(pieces.rows[r][4]) == (r % 2 == 0 ? 0 : 1536));
  }
}

TEST_CASE("whether a node less can be loaded is a matter of the framework") {
  const auto loads = [](std::string_view framework, std::string_view from, std::string_view to,
                        std::string_view part) {
    const Asked a(kReshard, {{"old", from}, {"new", to}, {"framework", framework}});
    for (const auto& row : a.table("frameworks").rows)
      if (words(row[1]) == part) return words(row[2]);
    throw std::runtime_error("no such part");
  };
  CHECK(loads("torchtitan", "nodes16", "nodes15", "weights") == "yes");
  CHECK(loads("torchtitan", "nodes16", "nodes15", "optimizer state") == "yes");
  CHECK(loads("torchtitan", "nodes16", "nodes15", "position in the data") == "no");
  CHECK(loads("torchtitan", "tp4", "tp8", "position in the data") == "yes");
  CHECK(loads("megatron-lm", "nodes16", "nodes15", "position in the data") == "yes");
  CHECK(loads("megatron-lm", "nodes16", "nodes15", "optimizer state") == "yes");
  CHECK(loads("megatron-lm", "tp4", "tp8", "optimizer state") == "with help");
  CHECK(loads("deepspeed", "nodes16", "nodes15", "optimizer state") == "with help");
  CHECK(
      Asked(kReshard, {{"old", "nodes16"}, {"new", "nodes15"}, {"framework", "torchtitan"}}).report.verdict ==
      Verdict::None);
  CHECK(Asked(kReshard, {{"old", "ep4"}, {"new", "ep8"}, {"framework", "deepspeed"}}).report.verdict ==
        Verdict::DoesNotFit);
}

TEST_CASE("rules of layouts") {
  CHECK(Asked(kReshard, {{"old", "tp4"}, {"new", "tp4"}}).rules() == std::vector<std::string>{"layout"});
  CHECK(Asked(kReshard, {{"old", "tq4"}, {"new", "nodes3,tp16"}}).rules() ==
        std::vector<std::string>{"layout", "layout"});
  CHECK(Asked(kReshard, {{"old", "tp4"}, {"new", "tp8"}, {"rows", "8"}}).rules() ==
        std::vector<std::string>{"missing"});
  CHECK(Asked(kReshard, {{"old", "tp0"}, {"new", "tp=8"}}).rules() == std::vector<std::string>{"layout"});
  CHECK(study::layout_of("tp=4,pp2,dp16")->of(Degree::Pp) == 2);
  CHECK_FALSE(study::layout_of("tp4,,dp2"));
  CHECK_FALSE(study::layout_of("4"));
}

TEST_CASE("a count of failures leaves a range of means") {
  const Asked a(kFailures, {{"gpus", "16384"}, {"failures", "419"}, {"time", "54d"}});
  CHECK(a.item("failures.observed") == Approx(3.093 * 3600).epsilon(1e-3));
  CHECK(a.item("failures.low") == Approx(2.8106 * 3600).epsilon(1e-4));
  CHECK(a.item("failures.high") == Approx(3.4120 * 3600).epsilon(1e-4));
  CHECK(a.item("failures.gpu_mtbf") == Approx(50675 * 3600.0).epsilon(1e-4));
  CHECK(a.item("llama3-405b.here") == Approx(a.item("failures.observed")));
  CHECK(number(a.table("causes").rows[0][3]) == Approx(148.0 / 419));
  const Asked none(kFailures, {{"gpus", "8"}, {"failures", "0"}, {"time", "30d"}});
  CHECK(none.has("failures.low"));
  CHECK_FALSE(none.has("failures.high"));
}

TEST_CASE("spares cover the repairs that are under way") {
  CHECK(spares_for(0, 0.99) == 0);
  CHECK(spares_for(1, 0.95) == 3);  // e^-1 (1 + 1 + 1/2 + 1/6) = 0.981
  CHECK(spares_for(1, 0.90) == 2);
  for (const double mean : {3.0, 40.0, 2e5, 8.64e9}) {  // each one fewer is too few
    const double spares = spares_for(mean, 0.95);
    CAPTURE(mean);
    CHECK(gamma_below(spares + 1, mean) <= 0.05);
    CHECK(gamma_below(spares, mean) > 0.05);
  }
  const Asked a(
      kFailures,
      {{"gpus", "16384"}, {"gpu_mtbf", "50000h"}, {"repair", "24h"}, {"replica", "128"}, {"away", "1h"}});
  CHECK(a.item("failures.in_repair") == Approx(7.86432));
  CHECK(number(a.fact("spares")) == 13);
  CHECK(a.item("failures.availability") == Approx(390.625 / 391.625));
  CHECK(Asked(kFailures, {{"gpus", "64"}, {"replica", "128"}, {"failures", "3"}}).rules().size() == 3);
}

TEST_CASE("wait, redistribute or evict") {
  const Asked a(kStraggler, {{"mean", "52.2s"},
                             {"spread", "2%"},
                             {"ranks", "48"},
                             {"overhead", "0.58s"},
                             {"interval", "600s"},
                             {"recovery", "120s"}});
  REQUIRE(a.rules().empty());
  CHECK(a.item("straggler.step") == Approx(55.11).epsilon(1e-4));
  CHECK(a.item("straggler.redistributed") == Approx(56.21).epsilon(1e-4));
  CHECK(a.item("straggler.evict") == 420);
  CHECK(a.item("straggler.slow") == Approx(1.044 * 0.933967318563).epsilon(1e-9));
  CHECK(a.item("straggler.evict_after") == Approx(420 / (1.044 * 0.933967318563)).epsilon(1e-9));
  const Asked many(
      kStraggler,
      {{"mean", "52.2s"}, {"spread", "2%"}, {"ranks", "1024"}, {"interval", "600s"}, {"recovery", "120s"}});
  CHECK(many.item("straggler.slow") ==
        Approx(1.044 * 0.309678188435).epsilon(1e-9));  // now and then the last
  CHECK(many.has("straggler.evict_after"));
  CHECK(Asked(kStraggler, {{"mean", "1s"}, {"spread", "2%"}, {"ranks", "8"}, {"interval", "600s"}}).rules() ==
        std::vector<std::string>{"missing"});
  CHECK(
      Asked(kStraggler,
            {{"mean", "1s"}, {"spread", "2%"}, {"ranks", "8"}, {"interval", "600s"}, {"recovery", "unknown"}})
          .rules()
          .empty());
}

TEST_CASE("a slow rank as far off as the limit says costs at least as much as handing over its work") {
  const Asked a(kStraggler, {{"mean", "10s"}, {"spread", "3%"}, {"ranks", "64"}});
  const std::string limit = std::to_string(a.item("straggler.limit"));
  const Asked b(kStraggler, {{"mean", "10s"}, {"spread", "3%"}, {"ranks", "64"}, {"slow", limit}});
  const double others = 10 + 0.3 * normal_max(63);
  CHECK(others + b.item("straggler.slow") > b.item("straggler.redistributed"));
  CHECK(others + b.item("straggler.slow") < b.item("straggler.redistributed") + 0.1);
}

TEST_CASE("one number more on average raises the expected largest, at least by its lead") {
  for (const double n : {2., 8., 48., 1024., 1e6}) {
    CAPTURE(n);
    CHECK(slow_rank_excess(0, n) == Approx(normal_max(n) - normal_max(n - 1)).margin(1e-12));
    for (const double k : {1., 3., 6., 45.}) {
      CHECK(slow_rank_excess(k, n) >= k - normal_max(n - 1));
      CHECK(slow_rank_excess(k, n) > slow_rank_excess(k - 1, n));
    }
    CHECK(slow_rank_excess(39.9, n) == Approx(39.9 - normal_max(n - 1)).epsilon(1e-12));
  }
}

TEST_CASE("spikes cost steps, and shorten the interval") {
  const Asked a(kSpike, {{"interval_steps", "100"},
                         {"back", "100"},
                         {"noticed", "50"},
                         {"spikes", "20"},
                         {"steps", "1000000"}});
  CHECK(a.item("spike.least") == 150);
  CHECK(a.item("spike.most") == 250);
  CHECK(a.item("spike.mean") == 200);
  CHECK(a.item("spike.share") == Approx(0.004));
  CHECK(Asked(kSpike, {{"interval", "210s"}, {"step", "4.75s"}}).item("spike.interval_steps") ==
        Approx(44.2).epsilon(1e-3));
  CHECK(Asked(kSpike, {{"interval", "61min"}, {"step", "4.75s"}}).item("spike.interval_steps") ==
        Approx(770.5).epsilon(1e-3));
  const Asked b(kSpike, {{"save", "16.38147072s"},
                         {"mtbf", "606720s"},
                         {"spike_mtbf", "7d"},
                         {"interval", "600s"},
                         {"recovery", "120s"}});
  CHECK(b.item("spike.failures_interval") == Approx(4458.467).epsilon(1e-6));
  CHECK(b.item("spike.best_interval") == Approx(3150.113).epsilon(1e-6));
  CHECK(b.item("spike.overhead") == Approx(0.028689).epsilon(1e-4));
  CHECK(Asked(kSpike, {{"step", "4.75s"}}).rules() == std::vector<std::string>{"missing"});
}

TEST_CASE("spikes go back further than failures, and failures have to be noticed") {
  const Asked a(kSpike, {{"save", "16.38147072s"},
                         {"mtbf", "606720s"},
                         {"spike_mtbf", "7d"},
                         {"interval", "600s"},
                         {"recovery", "120s"},
                         {"detect", "600s"},
                         {"step", "52.8s"},
                         {"back", "100"},
                         {"noticed", "0"}});
  REQUIRE(a.rules().empty());
  const double mtbf = 606720, spikes = 7 * 86400.0, saving = 16.38147072 / 600;
  CHECK(a.item("spike.failures_overhead") == Approx(saving + (300 + 600 + 120) / mtbf).epsilon(1e-9));
  CHECK(a.item("spike.overhead") ==
        Approx(saving + (300 + 600 + 120) / mtbf + (300 + 120 + 5280) / spikes).epsilon(1e-9));
}

TEST_CASE("what a forecast refuses of intervals and failures, a study refuses too") {
  const auto rules = [](std::string_view interval, std::string_view mtbf, std::string_view recovery) {
    return Asked(kSpike, {{"save", "600s"},
                          {"mtbf", mtbf},
                          {"spike_mtbf", "7d"},
                          {"interval", interval},
                          {"recovery", recovery},
                          {"step", "5s"}})
        .rules();
  };
  CHECK(rules("60s", "1min", "2h") == std::vector<std::string>{"interval-above-save", "mtbf-above-restart"});
  CHECK(rules("10min", "2h", "2h").empty());
  CHECK(Asked(kSpike, {{"interval", "4s"}, {"step", "5s"}}).rules() ==
        std::vector<std::string>{"interval-above-step"});
  CHECK(Asked(kSpike, {{"save", "6s"}, {"mtbf", "3h"}, {"spike_mtbf", "7d"}, {"recovery", "60s"}}).rules() ==
        std::vector<std::string>{"missing"});
}

TEST_CASE("a document that is longer than a sequence is cut, for its attention as for its packing") {
  const Asked a(kData, {{"lengths", "9000"}, {"sequence", "8192"}});
  CHECK(a.item("data.pairs") == 8192.0 * 8193 / 2 + 808.0 * 809 / 2);
  CHECK(number(a.fact("packed_sequences")) == 2);
  CHECK(Asked(kData, {{"lengths", "9000"}}).item("data.pairs") == 9000.0 * 9001 / 2);
}

TEST_CASE("workers, a queue for a pause, and lengths") {
  const Asked a(kData, {{"global_batch", "384"},
                        {"step", "52.79989845685356s"},
                        {"workers", "4"},
                        {"rate", "2/s"},
                        {"paused", "1"},
                        {"pause", "60s"}});
  REQUIRE(a.rules().empty());
  CHECK(a.report.verdict == Verdict::Fits);
  CHECK(a.item("data.workers_needed") == 4);
  CHECK(a.item("data.prefetch") == 77);
  CHECK(a.item("data.refill") == Approx(105.003).epsilon(1e-5));
  const Asked few(
      kData, {{"tokens", "100B"}, {"time", "25d"}, {"sequence", "8192"}, {"workers", "2"}, {"rate", "2/s"}});
  CHECK(few.report.verdict == Verdict::DoesNotFit);
  CHECK(few.item("data.workers_needed") == 3);
  const Asked mix(kData, {{"lengths", "7168,1024"}, {"sequence", "8192"}, {"ranks", "2"}});
  CHECK(mix.item("data.pairs") == 26218496);
  CHECK(mix.item("data.even_pairs") == 16781312);
  CHECK(mix.item("data.more_pairs") == Approx(0.562363).epsilon(1e-5));
  CHECK(number(mix.fact("packed_sequences")) == 1);
  CHECK(number(mix.fact("padding")) == Approx(0).margin(1e-12));
  CHECK(number(mix.fact("imbalance_by_work")) == Approx(2 * 25693696.0 / 26218496));
}

TEST_CASE("rules of data") {
  CHECK(Asked(kData, {{"workers", "2"}}).rules().size() == 2);
  CHECK(Asked(kData, {{"kept", "9000"}, {"sequence", "8192"}}).rules().size() == 1);
  CHECK(Asked(kData, {{"handed_out", "100"}, {"trained", "108"}}).rules().size() == 1);
  CHECK(Asked(kData, {{"handed_out", "108"}, {"trained", "100"}}).item("data.skipped") == 8);
}

TEST_CASE("documents are packed first fit and dealt by work") {
  CHECK(packed_sequences({5, 4, 3, 3}, 8) == 2);
  CHECK(packed_sequences({20, 4}, 8) == 3);
  CHECK(packed_sequences({}, 8) == 0);
  const std::vector<double> work{8, 1, 7, 2};
  CHECK(imbalance_in_turn(work, 2) == Approx(15.0 / 9));
  CHECK(imbalance_by_work(work, 2) == Approx(1));
  CHECK(imbalance_by_work({}, 2) == 1);
}

TEST_CASE("casting on the host wins below the break-even of the link") {
  const auto at = [](std::string_view link) {
    return Asked(kOffload,
                 {{"gradients", "96MiB"}, {"link", link}, {"host", "307.2GB/s"}, {"gpu", "1008GB/s"}});
  };
  const Asked a = Asked(kOffload, {{"gradients", "96MiB"},
                                   {"link", "32GB/s"},
                                   {"channels", "8"},
                                   {"transfers", "4800M/s"},
                                   {"gpu", "1008GB/s"}});
  CHECK(a.item("offload.host_rate") == Approx(307.2e9));
  CHECK(a.item("offload.on_host") == Approx(4.128768e-3));
  CHECK(a.item("offload.on_gpu") == Approx(6.591049e-3));
  CHECK(a.item("offload.break_even") == Approx(147.2877e9).epsilon(1e-6));
  const std::string even = std::to_string(a.item("offload.break_even")) + "B/s";
  CHECK(at(even).item("offload.on_host") == Approx(at(even).item("offload.on_gpu")).epsilon(1e-9));
  const Asked wait(kOffload, {{"link", "32GB/s"}, {"up", "1GB"}, {"window", "20ms"}});
  CHECK(wait.item("offload.wait") == Approx(0.01125));
  const Asked step(kOffload, {{"link", "32GB/s"},
                              {"params", "1B"},
                              {"gpus_per_node", "8"},
                              {"host", "400GB/s"},
                              {"host_memory", "100GB"}});
  CHECK(step.item("offload.step") == Approx(0.0625 + 0.56 + 0.0625));
  CHECK(step.item("offload.host_memory") == Approx(192e9));
  CHECK(step.report.verdict == Verdict::DoesNotFit);
  CHECK(Asked(kOffload, {{"link", "32GB/s"}}).rules() ==
        std::vector<std::string>{"missing", "missing", "missing"});
}
