/// Links as collectives use them: what of their rate is reached, and what each hop of a ring takes.
#pragma once

#include <array>

#include "trainplan/cost/inputs.hpp"
#include "trainplan/plan/groups.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula collective_time{
    "collective_time", "time of a collective of a ring",
    Source{"hockney-1994", "alpha-beta: bytes at the rate that is reached, and the hops"},
    std::array{Arg{"bytes", "V", "bytes that a rank sends"}, Arg{"rate", "W", "rate that is reached", 1e-9},
               Arg{"ranks", "n", "ranks of the ring", 1}, Arg{"hop", "alpha", "time of a hop"}},
    []<class N>(Bytes<N> bytes, BytesPerSec<N> rate, Count<N> ranks, Seconds<N> hop) {
      return bytes / rate + (ranks - 1.0) * hop;
    }};

inline constexpr Formula ring_rate{
    "ring_rate", "rate of a ring that leaves a scale-up domain",
    Source{"nccl-perf", "its rings use the NICs of all members in the domain, up to the rate of the domain"},
    std::array{Arg{"fast", "W_up", "rate inside the domain"}, Arg{"inside", "n_in", "members in a domain", 1},
               Arg{"slow", "W_nic", "rate of one NIC"}, Arg{"share", "e", "share that is reached", 0, 1}},
    []<class N>(BytesPerSec<N> fast, Count<N> inside, BytesPerSec<N> slow, Count<N> share) {
      return min(fast, inside * slow) * share;
    }};

/// A link as the collectives of a group see it.
template <class N>
struct ReachedLink {
  BytesPerSec<N> rate;
  Seconds<N> hop;
};

/// A hop between nodes takes about three hops inside one (5.5 to 9.2 us, nccl-tests on B200).
inline constexpr double kHopBetweenNodes = 3;

template <Recorder R>
ReachedLink<typename R::Num> reached_link(R& rec, const Problem& problem, GroupShape g) {
  using N = typename R::Num;
  const TimeConstants& c = problem.calibration().time;
  const ClusterSpec& cluster = problem.cluster();
  const Link link = link_of(cluster, g);
  const auto hop = figure<Seconds<N>>(rec, "alpha", "hop of a ring inside a node", c.ring_step);
  const auto rate = figure<BytesPerSec<N>>(rec, "W", name_of(cluster, link), bandwidth_of(cluster, link));
  if (link != Link::Nic)
    return {rate * figure<Count<N>>(rec, "e_up", "share of the link that is reached", c.scale_up_rate), hop};
  const auto share = figure<Count<N>>(rec, "e_nic", "share of a NIC that is reached", c.nic_rate);
  const auto inside = rec.template in<Count<N>>(
      {"n_in", "ranks of the group in one scale-up domain", "cluster /scale_up_domain"},
      static_cast<double>(members_inside(g, cluster.scale_up_domain)));
  const bool bridged = cluster.accelerator.scale_up_bandwidth.value > 0 && value_of(inside) > 1;
  const auto reached = bridged ? ring_rate(figure<BytesPerSec<N>>(rec, "W_up", cluster.accelerator.link,
                                                                  cluster.accelerator.scale_up_bandwidth),
                                           inside, rate, share)
                               : rate * share;
  return {reached, hop * rec.template in<Count<N>>(
                             {"f_hop", "hop between nodes over one inside", "nccl-tests"}, kHopBetweenNodes)};
}

using LinkFormulas = Chapter<collective_time, ring_rate>;

}  // namespace trainplan
