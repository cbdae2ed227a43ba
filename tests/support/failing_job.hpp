/// A job that computes, saves, fails and recovers, event by event; failures are Poisson and strike at any
/// time.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>

namespace failing_job {

/// Seconds. A failed save is lost with its interval; a failed recovery begins again with noticing. repair:
/// how long a node is away after a failure, nothing where nodes are at hand; without a spare the job waits,
/// and nothing fails meanwhile.
struct Job {
  double mtbf = 0, save = 0, interval = 0, detect = 0, restart = 0, load = 0;
  double repair = 0;
  std::size_t spares = 0;
};

struct Seen {
  double goodput = 0, error = 0;  // of the whole stretch; its standard error, from batches
};

class Simulation {
  Job job_;
  std::mt19937_64 random_;
  double now_ = 0, failure_ = 0;
  std::deque<double> away_;  // when each node in repair is back, in order: all take as long

  /// Wall-clock time of the next failure after this one; the same on every standard library.
  void draw() {
    const double u = (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53;
    failure_ = now_ - job_.mtbf * std::log(u);
  }
  /// A node goes into repair; the job waits for the first to come back when more are away than there are
  /// spares.
  void replace_node() {
    if (job_.repair <= 0) return;
    while (!away_.empty() && away_.front() <= now_) away_.pop_front();
    away_.push_back(now_ + job_.repair);
    if (away_.size() > job_.spares) now_ = away_.front();
  }
  /// Whether so much time passes without a failure; else the clock stops at the failure.
  bool passes(double time) {
    if (now_ + time <= failure_) {
      now_ += time;
      return true;
    }
    now_ = failure_;
    replace_node();
    draw();
    return false;
  }
  void recover() {
    while (!(passes(job_.detect) && passes(job_.restart) && passes(job_.load))) {
    }
  }

 public:
  Simulation(const Job& job, std::uint64_t seed) : job_(job), random_(seed) { draw(); }

  /// Wall-clock time until so many intervals are on storage.
  double run(int intervals) {
    const double begin = now_;
    for (int done = 0; done < intervals;) {
      if (passes(job_.interval) && passes(job_.save))
        ++done;
      else
        recover();
    }
    return now_ - begin;
  }
};

inline Seen simulate(const Job& job, std::uint64_t seed) {
  constexpr int kBatches = 400, kIntervals = 2000;
  Simulation simulation(job, seed);
  double wall = 0, sum = 0, squares = 0;
  for (int i = 0; i < kBatches; ++i) {
    const double time = simulation.run(kIntervals), g = kIntervals * job.interval / time;
    wall += time;
    sum += g;
    squares += g * g;
  }
  const double mean = sum / kBatches;
  return {kBatches * kIntervals * job.interval / wall,
          std::sqrt((squares / kBatches - mean * mean) / (kBatches - 1))};
}

}  // namespace failing_job
