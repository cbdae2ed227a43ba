// Searches against a loop that tries everything: the same legal plans, the same best twenty, the same front.
#include "trainplan/search/search.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "cases.hpp"
#include "catch.hpp"

using namespace trainplan;

namespace {

constexpr unsigned kCases = 50;

/// A plan of a recipe with what was found about it.
struct Tried {
  bool offloads;
  Plan plan;
  double step, device, gate, limit;
};

/// Every value of every axis, one loop inside the other, judged by the rules alone.
std::vector<Tried> tried_by_loops(const cases::Case& c) {
  std::vector<Tried> all;
  const Problem& base = *c.problem;
  const ModelSpec& m = base.model();
  const std::int64_t gpus = base.cluster().gpus();
  const auto pinned = [](const auto& given, auto value) { return !given || *given == value; };
  const auto judge = [&](const Problem& problem, Plan plan) {
    if (!legal(problem, plan)) return;
    const auto cost = evaluate(problem, plan);
    const bool full = host_is_full(problem, cost.host.node.num());
    all.push_back({problem.recipe.offload.optimizer > 0, plan, cost.step.step.num(),
                   full ? std::numeric_limits<double>::infinity() : cost.memory.device.num(), cost.gate.num(),
                   cost.limit.num()});
  };
  std::vector<Modules> sets;
  const bool by_module = base.profile().selective == SelectivePolicy::Modules;
  if (!by_module) sets = {bit(Module::CoreAttention)};
  if (by_module) sets = {bit(Module::LayerNorm), bit(Module::Mlp)};
  if (by_module && m.is_sparse()) {
    const Modules light = bit(Module::MoeAct) | bit(Module::LayerNorm);
    sets.push_back(bit(Module::MoeAct));
    sets.push_back(m.is_latent() ? static_cast<Modules>(light | bit(Module::MlaUpProj)) : light);
    sets.push_back(bit(Module::Moe));
  }
  const auto rebuild = [&](const Problem& problem, Plan plan) {
    for (const Recompute r : {Recompute::None, Recompute::Selective, Recompute::Layers, Recompute::Full}) {
      if (!pinned(c.run.recompute, r)) continue;
      plan.recompute = r;
      plan.recompute_layers = 0;
      plan.modules = Plan{}.modules;
      if (r == Recompute::None || r == Recompute::Full) judge(problem, plan);
      if (r == Recompute::Selective)
        for (const Modules set : sets) {
          plan.modules = set;
          judge(problem, plan);
        }
      if (r == Recompute::Layers)
        for (int k = 1; k < m.layers; ++k) {
          plan.recompute_layers = static_cast<std::uint16_t>(k);
          // All of the layers are recompute full.
          if (legal(problem, plan) && k < stage_layers(m, plan, plan.pp / 2)) judge(problem, plan);
        }
    }
  };
  const auto cut_layers = [&](const Problem& problem, Plan plan) {
    for (std::size_t s = 0; s < kScheduleCount; ++s)
      for (int v = 1; v <= (plan.pp == 1 ? 1 : m.layers); ++v) {
        plan.schedule = static_cast<Schedule>(s);
        plan.vpp = static_cast<std::uint16_t>(v);
        if (plan.pp == 1 && plan.schedule != Schedule::OneFOneB) continue;
        plan.layout = Layout::Equal;
        plan.first_layers = plan.last_layers = 0;
        rebuild(problem, plan);
        if (plan.pp == 1) continue;
        plan.layout = Layout::EmbeddingAndLoss;
        const bool as_equal = plan.pp == 2 && v == 1 && m.layers % 2 == 0;  // then the split is the same
        if (!as_equal) rebuild(problem, plan);
        plan.layout = Layout::FirstAndLast;
        // The split that the planner makes by itself may move more layers than the others.
        Plan own = plan;
        choose_layout(m.layers, problem.profile().uneven_stages, own);
        const std::int64_t even = m.layers / plan.pp / v * v;
        for (int first = 1; first < m.layers; ++first)
          for (int last = 1; last < m.layers; ++last) {
            const bool near =
                std::abs(first - even) <= kEndsMoved * v && std::abs(last - even) <= kEndsMoved * v;
            const bool is_own =
                own.layout == Layout::FirstAndLast && own.first_layers == first && own.last_layers == last;
            if ((!near && !is_own) || (first == last && first * plan.pp == m.layers)) continue;
            plan.first_layers = static_cast<std::uint16_t>(first);
            plan.last_layers = static_cast<std::uint16_t>(last);
            rebuild(problem, plan);
          }
      }
  };
  for (const bool offloads : {false, true}) {
    Problem problem = base;
    problem.recipe.global_batch = c.batch;
    if (offloads && base.profile().host.together) continue;
    problem.recipe.offload.optimizer = offloads ? 1 : 0;
    for (int t = 1; t <= gpus; ++t)
      for (int p = 1; p <= gpus; ++p)
        for (int x = 1; x <= gpus; ++x)
          for (int e = 1; e <= (m.is_sparse() ? m.experts.count : 1); ++e)
            for (const int f : m.is_sparse() && t > 1 ? std::vector<int>{1, t} : std::vector<int>{1})
              for (const ShardingRows& rows : base.profile().shardings)
                for (int b = 1; b <= std::min<std::int64_t>(c.batch, kLargestMicroBatch); ++b) {
                  if (gpus % (t * p * x) != 0 || !pinned(c.run.tp, t) || !pinned(c.run.pp, p) ||
                      !pinned(c.run.cp, x) || !pinned(c.run.micro_batch, b) || e > gpus / p)
                    continue;
                  Choice choice{.tp = t, .pp = p, .cp = x, .ep = e, .etp = f, .vpp = 1, .micro_batch = b};
                  choice.schedule = Schedule::OneFOneB;
                  choice.sharding = rows.mode;
                  Plan plan = Planner(problem, c.run, 0).complete(choice).second;
                  const std::uint32_t ranks = plan.dp * plan.cp;
                  for (std::uint32_t shard = 1; shard <= ranks; ++shard) {
                    if (plan.sharding == Sharding::Hsdp ? shard == 1 || shard == ranks || ranks % shard != 0
                                                        : shard != plan.shard)
                      continue;
                    for (const bool reshard : {true, false})
                      for (const bool each : {true, false}) {
                        if ((reshard != plan.reshard && !may_keep_gathered(problem, plan)) ||
                            (each != plan.sync_each_micro_batch && !may_put_off_reduction(problem, plan)))
                          continue;
                        Plan mode = plan;
                        mode.shard = shard;
                        mode.reshard = reshard;
                        mode.sync_each_micro_batch = each;
                        cut_layers(problem, mode);
                      }
                  }
                }
  }
  return all;
}

std::vector<std::pair<double, double>> numbers_of(const std::vector<Candidate>& plans) {
  std::vector<std::pair<double, double>> out;
  for (const Candidate& c : plans) out.emplace_back(c.step, c.device);
  return out;
}

/// Steps and memory of the best twenty within `room`, and of the front.
std::vector<std::pair<double, double>> best_of(const std::vector<Tried>& all, Room room) {
  std::vector<std::pair<double, double>> out;
  for (const Tried& t : all)
    if (t.device <= (room == Room::Planned ? t.limit : t.gate)) out.emplace_back(t.step, t.device);
  std::sort(out.begin(), out.end());
  if (out.size() > 20) out.resize(20);
  return out;
}
std::vector<std::pair<double, double>> front_of(const std::vector<Tried>& all, double longest) {
  std::vector<std::pair<double, double>> out;
  for (const Tried& t : all) {
    if (t.device > t.gate || t.step > longest) continue;
    const bool beaten = std::any_of(all.begin(), all.end(), [&](const Tried& o) {
      return o.device <= t.device && o.step <= t.step && (o.device < t.device || o.step < t.step);
    });
    if (!beaten) out.emplace_back(t.step, t.device);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void backwards(std::size_t n, const std::function<void(std::size_t)>& body) {
  while (n > 0) body(--n);
}

}  // namespace

TEST_CASE(
    "the plans, the best twenty and the front are those of trying everything, with bounds and without") {
  std::size_t rooms[3] = {}, sparse = 0;
  for (unsigned seed = 0; seed < kCases; ++seed) {
    CAPTURE(seed);
    const cases::Case c = cases::make(seed);
    const std::vector<Tried> all = tried_by_loops(c);
    const PlanSpace space = plan_space(c.planner(), c.batch);
    std::set<std::pair<bool, Plan>> expected, got;
    for (const Tried& t : all) expected.emplace(t.offloads, t.plan);
    for (std::uint64_t i = 0; i < space.size(); ++i)
      got.emplace(space.problem(space.arrangement_of(i)).recipe.offload.optimizer > 0, space.at(i));
    CHECK(got.size() == space.size());
    CHECK(got == expected);
    sparse += c.problem->model().is_sparse();
    if (all.empty()) continue;
    const Found found = search_plans(space, {}, one_after_the_other);
    ++rooms[static_cast<int>(found.room)];
    if (found.room == Room::None) {
      CHECK(best_of(all, Room::Gate).empty());
      double least = std::numeric_limits<double>::infinity();
      for (const Tried& t : all) least = std::min(least, t.device);
      CHECK(found.smallest.kept().front().device == least);
    } else {
      if (found.room == Room::Gate) CHECK(best_of(all, Room::Planned).empty());
      CHECK(numbers_of(found.best.kept()) == best_of(all, found.room));
      CHECK(numbers_of(found.front.kept()) == front_of(all, found.best.kept().front().step * 1.25));
    }
    const SearchCounts& n = found.counts;
    CHECK(n.legal == all.size());
    CHECK(n.evaluated + n.slow + n.beaten + n.large == n.legal);
    CHECK(n.fit + n.tight + n.not_fit == n.evaluated);
    CHECK(n.by_state + n.by_activations + n.by_working == n.above);
    CHECK(n.above >= n.not_fit);
    const Found plain = search_plans(space, {.bounds = false}, one_after_the_other);
    CHECK(plain.counts.evaluated == plain.counts.legal);
    CHECK(numbers_of(plain.best.kept()) == numbers_of(found.best.kept()));
    CHECK(numbers_of(plain.front.kept()) == numbers_of(found.front.kept()));
    CHECK(numbers_of(plain.near.kept()) == numbers_of(found.near.kept()));
    CHECK(numbers_of(plain.smallest.kept()) == numbers_of(found.smallest.kept()));
  }
  for (const std::size_t n : rooms) CHECK(n > 0);
  CHECK(sparse > 5);
}

TEST_CASE("answer and counts are the same whatever the order of the parts") {
  for (unsigned seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    const cases::Case c = cases::make(seed);
    const PlanSpace space = plan_space(c.planner(), c.batch);
    const Found one = search_plans(space, {}, one_after_the_other),
                other = search_plans(space, {}, backwards);
    CHECK(one.counts.evaluated == other.counts.evaluated);
    CHECK(one.counts.slow == other.counts.slow);
    const auto indices = [](const std::vector<Candidate>& plans) {
      std::vector<std::uint64_t> out;
      for (const Candidate& p : plans) out.push_back(p.index);
      return out;
    };
    CHECK(indices(one.best.kept()) == indices(other.best.kept()));
    CHECK(indices(one.front.kept()) == indices(other.front.kept()));
  }
}

TEST_CASE("the stage that is looked at is the fullest of all") {
  std::size_t middle = 0;
  for (unsigned seed = 0; seed < kCases; ++seed) {
    CAPTURE(seed);
    const cases::Case c = cases::make(seed);
    const PlanSpace space = plan_space(c.planner(), c.batch);
    for (std::uint64_t i = 0; i < space.size(); i += 1 + space.size() / 200) {
      const Problem& problem = space.problem(space.arrangement_of(i));
      const Plan plan = space.at(i);
      const auto cost = evaluate(problem, plan);
      for (int stage = 0; stage < plan.pp; ++stage)
        CHECK(evaluate_stage(problem, plan, stage).memory.device <= cost.memory.device);
      middle += plan.pp > 2;
    }
  }
  CHECK(middle > 100);
}

TEST_CASE("no plan is below the bounds of its arrangement and its shape") {
  std::size_t seen = 0;
  for (unsigned seed = 0; seed < kCases; ++seed) {
    CAPTURE(seed);
    const cases::Case c = cases::make(seed);
    const PlanSpace space = plan_space(c.planner(), c.batch);
    for (std::uint32_t i = 0; i < space.arrangements().size(); i += 1 + i / 8) {
      const Arrangement& a = space.arrangements()[i];
      const auto whole = detail::bounded(space, i);
      const detail::ShapeBounds bounds(space, a);
      for (const Shape& s : space.interior(a).shapes) {
        const double step = bounds.step(s), device = bounds.device(s);
        CHECK(whole.step <= step * (1 + 1e-9));
        double before = 0, full = 0;
        detail::FirstStage first;
        for (std::uint32_t r = s.first; r < s.last; ++r) {
          const Plan plan = space.at(a.first + r);
          const auto cost = evaluate(space.problem(a), plan);
          CAPTURE(plan.tp, plan.pp, plan.vpp, plan.cp, plan.ep, plan.micro_batch,
                  static_cast<int>(plan.schedule), static_cast<int>(plan.recompute), plan.recompute_layers);
          CHECK(cost.step.step.num() >= step);
          CHECK(cost.memory.device.num() >= device);
          if (plan.recompute == Recompute::None) before = cost.step.step.num();
          if (plan.recompute != Recompute::Selective || !c.problem->model().is_sparse())
            CHECK(cost.step.step.num() >= before * (1 - detail::kBoundSlack));
          if (plan.recompute == Recompute::Full) full = cost.memory.device.num();
          const detail::FirstStage now(space.problem(a), plan, Evaluation(space.problem(a), plan).memory());
          if (plan.recompute == Recompute::None) first = now;
          if (plan.recompute != Recompute::Layers) continue;
          CHECK(now.device >= first.with(plan.recompute_layers));
          if (plan.recompute_layers % 3 == 0) first = now;
          before = cost.step.step.num();
          CHECK(cost.memory.device.num() >= full * (1 - detail::kBoundSlack));
          ++seen;
        }
      }
    }
  }
  CHECK(seen > 1000);
}
