/// `study moe`: what a capacity factor drops and fills up, and how long the busiest rank takes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/cost/capacity.hpp"
#include "trainplan/spec/validator.hpp"
#include "trainplan/study/parts.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study {
namespace detail::moe {

inline std::optional<double> of_experts(const Planned& p, std::int64_t Experts::*figure) {
  const Experts& e = p.trial().problem.model().experts;
  return e.count > 0 ? std::optional(static_cast<double>(e.*figure)) : std::nullopt;
}

inline constexpr std::string_view kDense = "the model is dense and has no experts";

inline constexpr Input<kTokens> kTokensRouted{
    {"tokens", "T", "tokens that are routed together", 1, 1e12},
    {.example = "8192", .required = true, .of_plan = [](const Planned& p) {
       return p.item("activations.tokens");
     }}};
inline constexpr Input<kCount> kTopK{
    {"top_k", "k_top", "experts that a token visits", 1, 1024},
    {.example = "8",
     .required = true,
     .of_plan = [](const Planned& p) { return of_experts(p, &Experts::per_token); },
     .lacking = kDense}};
inline constexpr Input<kCount> kExperts{
    {"experts", "E", "experts of a layer", 1, 65536},
    {.example = "128",
     .required = true,
     .of_plan = [](const Planned& p) { return of_experts(p, &Experts::count); },
     .lacking = kDense}};
inline constexpr Input<kCount> kRanks{
    {"ranks", "e_p", "ranks that share the experts of a layer, in the order of the experts", 1, 65536},
    {.example = "8", .otherwise = 1.0, .why = "all experts on one rank", .of_plan = [](const Planned& p) {
       return std::optional(static_cast<double>(p.trial().plan.ep));
     }}};
inline constexpr InputList<kCount> kFactor{{"factor", "c", "capacity factors", 0.01, 1024},
                                           {.example = "1,1.25,1.5,2", .required = true}};
inline constexpr InputList<kCount> kLoad{
    {"load", "f_load", "rows over the mean, of groups of experts of the same size", 0, 65536},
    {.example = "1.5,0.5"}};
inline constexpr InputList<kCount> kRows{{"rows", "R", "token copies of each expert, a histogram", 0, 1e15},
                                         {.example = "96,32"}};

inline constexpr std::array<const Field*, 7> kFields{&kTokensRouted, &kTopK, &kExperts, &kRanks,
                                                     &kFactor,       &kLoad, &kRows};
inline constexpr std::array<const Field*, 3> kWhole{&kTopK, &kExperts, &kRanks};

inline void judge_load(const Given& given, Issues& issues) {
  const std::vector<double>& load = given.find(kLoad)->values;
  const double n = static_cast<double>(load.size()), experts = *given.number(kExperts);
  double sum = 0;
  for (const double l : load) sum += l;
  if (std::fmod(experts, n) != 0)
    refuse(issues, given, kLoad, "load-groups", shown(n) + " loads",
           "divide the experts into groups of the same size: " + shown(experts) + " experts",
           "give as many loads as divide " + shown(experts));
  if (std::abs(sum / n - 1) > 1e-6)
    refuse(issues, given, kLoad, "load-mean", "a mean of " + shown(sum / n), "have a mean of 1",
           "divide each load by " + shown(sum / n));
}

inline void judge_rows(const Given& given, Issues& issues) {
  const std::vector<double>& rows = given.find(kRows)->values;
  const double n = static_cast<double>(rows.size()), experts = *given.number(kExperts);
  const double sent = *given.number(kTokensRouted) * *given.number(kTopK);
  double sum = 0;
  for (const double r : rows) sum += r;
  if (n != experts)
    refuse(issues, given, kRows, "histogram-size", shown(n) + " values",
           "have one value for each of the " + shown(experts) + " experts", "try --experts " + shown(n));
  if (std::abs(sum - sent) > 1e-6 * sent)
    refuse(issues, given, kRows, "histogram-sum", "a sum of " + shown(sum),
           "add up to tokens x top_k = " + shown(sent), "try --tokens " + shown(sum / *given.number(kTopK)));
}

/// An expert that takes no token at all is a capacity factor too small to mean anything.
inline void judge_capacity(const Given& given, Issues& issues) {
  const double mean = *given.number(kTokensRouted) * *given.number(kTopK) / *given.number(kExperts);
  for (const double c : given.find(kFactor)->values)
    if (c * mean < 1)
      refuse(issues, given, kFactor, "capacity", shown(c),
             "leave every expert one token copy, with a mean of " + shown(mean),
             "try " + shown(std::ceil(1 / mean)));
}

inline void judge(const Given& given, Issues& issues) {
  const bool load = given.has_or_refused(kLoad), rows = given.has_or_refused(kRows);
  if (load == rows)
    issues.add({.rule = load ? "exclusive" : "missing",
                .pointer = option_of(kLoad.arg.name),
                .must = load ? "be left out where --rows gives every expert" : "be given, or --rows",
                .hint = load ? "leave out one of --load and --rows" : to_try(kLoad)});
  judge_whole(given, kWhole, issues);
  for (const Field* field : kFields)
    if ((field->says.required || field == &kRanks) && !given.has(*field))
      return;  // the rules below rest on all of them
  if (const double e = *given.number(kExperts), n = *given.number(kRanks); std::fmod(e, n) != 0)
    refuse(issues, given, kRanks, "ranks-divide-experts", shown(n), "divide the " + shown(e) + " experts",
           "try " + std::to_string(std::gcd(static_cast<std::int64_t>(e), static_cast<std::int64_t>(n))));
  if (const double k = *given.number(kTopK), e = *given.number(kExperts); k > e)
    refuse(issues, given, kTopK, "top-k", shown(k), "be at most the " + shown(e) + " experts",
           "try " + shown(e));
  judge_capacity(given, issues);
  if (given.has(kLoad) && !rows) judge_load(given, issues);
  if (given.has(kRows) && !load) judge_rows(given, issues);
}

using Rows = Count<Sym>;

/// Experts with the same number of rows that follow one another.
struct Group {
  double experts = 0;
  Rows rows;
};

struct Routing {
  std::vector<Group> groups;
  Rows mean, sent, experts, largest;
};

inline Routing routing_of(Explain& rec, const Given& given) {
  Routing out;
  const auto tokens = given.in(rec, kTokensRouted);
  const auto top_k = given.in(rec, kTopK);
  out.experts = given.in(rec, kExperts);
  out.sent = rec.apply(dispatches, {"moe.sent", "n_sent", ""}, tokens, top_k);
  out.mean = rec.apply(mean_rows, {"moe.mean", "R_mean", ""}, tokens, top_k, out.experts);
  const auto load = given.in(rec, kLoad);
  for (std::size_t i = 0; i < load.size(); ++i) {
    const std::string n = std::to_string(i + 1), id = "moe.rows." + n, symbol = "R_" + n;
    out.groups.push_back(
        {value_of(out.experts) / static_cast<double>(load.size()),
         rec.apply(loaded_rows, {id, symbol, "token copies of an expert of group " + n}, out.mean, load[i])});
  }
  for (const Rows r : given.in(rec, kRows)) {
    const bool again = !out.groups.empty() && value_of(out.groups.back().rows) == value_of(r);
    if (!again) out.groups.push_back({0, r});
    out.groups.back().experts += 1;
  }
  Rows largest = out.groups.front().rows;
  for (const Group& g : out.groups)
    if (value_of(g.rows) > value_of(largest)) largest = g.rows;
  out.largest = rec.item({"moe.largest", "R_max", "token copies of the busiest expert"}, 1.0 * largest);
  return out;
}

/// A sum over all experts, one addend for each group.
template <class F>
Rows over_experts(const Routing& routing, F of) {
  Sum<Rows> sum;
  for (const Group& g : routing.groups) sum.add(g.experts * of(g.rows));
  return sum.total();
}

inline Table capacity_table(Explain& rec, const Given& given, const Routing& routing) {
  Table table{"capacity",
              "",
              {{"factor", "capacity factor"},
               {"capacity", "capacity"},
               {"dropped_busiest", "dropped of the busiest"},
               {"dropped", "dropped"},
               {"dropped_share", "of what is sent"},
               {"padded", "filled up"},
               {"padded_share", "of what is computed"},
               {"computed", "rows computed"}},
              {}};
  const auto tokens = given.in(rec, kTokensRouted);
  const auto top_k = given.in(rec, kTopK);
  const auto factors = given.in(rec, kFactor);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::string n = "." + shown(value_of(factors[i])), of = " at " + shown(value_of(factors[i]));
    const auto item = [&](const char* id, const char* symbol, const std::string& title) {
      return std::array{"moe." + std::string(id) + n, std::string(symbol), title + of};
    };
    const auto named = [](const std::array<std::string, 3>& of_item) {
      return Item{of_item[0], of_item[1], of_item[2]};
    };
    const auto cap_name = item("capacity", "R_cap", "token copies that an expert takes");
    const Rows cap = rec.apply(expert_capacity, named(cap_name), factors[i], tokens, top_k, routing.experts);
    const auto drop_name = item("dropped", "R_drop", "token copies that find no place");
    const Rows dropped =
        rec.item(named(drop_name), over_experts(routing, [&](Rows r) { return dropped_rows(r, cap); }));
    const auto pad_name = item("padded", "R_pad", "rows of zeros");
    const Rows padded =
        rec.item(named(pad_name), over_experts(routing, [&](Rows r) { return padded_rows(r, cap); }));
    const auto all_name = item("computed", "R_all", "rows that are computed");
    const Rows computed = rec.item(named(all_name), routing.experts * cap);
    const auto drop_share = item("dropped_share", "f_drop", "share that is dropped");
    const auto pad_share = item("padded_share", "f_pad", "share of zeros");
    table.rows.push_back(
        {shown_as(factors[i]), shown_as(cap), shown_as(dropped_rows(routing.largest, cap)), shown_as(dropped),
         shown_as(rec.apply(row_share, named(drop_share), dropped, routing.sent), Unit::Share),
         shown_as(padded), shown_as(rec.apply(row_share, named(pad_share), padded, computed), Unit::Share),
         shown_as(computed)});
  }
  return table;
}

/// Rows of the rank that has most, experts dealt to the ranks in their order.
inline Rows busiest_rank(const Routing& routing, double ranks) {
  const double each = value_of(routing.experts) / ranks;
  Rows busiest{Sym(0.0)};
  std::size_t at = 0;
  double left = routing.groups.front().experts;
  for (double rank = 0; rank < ranks; ++rank) {
    Sum<Rows> rows;
    for (double open = each; open > 0;) {
      if (left == 0) left = routing.groups[++at].experts;
      const double take = std::min(open, left);
      rows.add(take * routing.groups[at].rows);
      open -= take;
      left -= take;
    }
    if (value_of(rows.total()) > value_of(busiest)) busiest = rows.total();
  }
  return busiest;
}

inline Section dropless_section(Explain& rec, const Given& given, const Routing& routing) {
  const Rows ranks = given.in(rec, kRanks);
  const Rows level = rec.item({"moe.level", "R_lev", "token copies of every rank when routing is even"},
                              routing.sent / ranks);
  const Rows busiest = rec.item({"moe.busiest", "R_rank", "token copies of the busiest rank"},
                                busiest_rank(routing, value_of(ranks)));
  rec.apply(hottest_slowdown, {"moe.slowdown", "f_slow", ""}, busiest, level);
  rec.apply(levelling_gain, {"moe.levelling", "f_lev", ""}, busiest, level);
  const Ledger& l = rec.ledger();
  Facts facts{"", {}};
  facts.facts = {
      fact(l, "moe.sent", "sent", Unit::Count),          fact(l, "moe.mean", "mean", Unit::Count),
      fact(l, "moe.largest", "largest", Unit::Count),    fact(l, "moe.level", "level", Unit::Count),
      fact(l, "moe.busiest", "busiest", Unit::Count),    fact(l, "moe.slowdown", "slowdown", Unit::Count),
      fact(l, "moe.levelling", "levelling", Unit::Share)};
  return {"dropless", "Without a capacity", {std::move(facts)}};
}

inline Report answer(Explain& rec, const Given& given, const Planned*) {
  const Routing routing = routing_of(rec, given);
  Report r{"", "Capacity of experts", Verdict::None, {}, {}};
  r.sections.push_back({"capacity", "Capacity", {capacity_table(rec, given, routing)}});
  r.sections.push_back(dropless_section(rec, given, routing));
  return r;
}

}  // namespace detail::moe

inline constexpr Topic kMoe{
    "moe",
    "what a capacity factor of experts drops and fills up, and how long the busiest rank takes",
    "Capacity c k T / E is rounded down, as in the paper of Switch Transformers; Megatron-LM rounds it up.\n"
    "What is dropped passes the layer by its residual; what is filled up costs time like rows of tokens.",
    detail::moe::kFields,
    &detail::moe::judge,
    &detail::moe::answer};

}  // namespace trainplan::study
