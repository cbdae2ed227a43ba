/// `study reshard OLD NEW`: who reads what from a checkpoint of another layout, and whether it can be loaded.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/cost/reshard.hpp"
#include "trainplan/cost/state.hpp"
#include "trainplan/study/checkpoint_inputs.hpp"
#include "trainplan/study/layout.hpp"

namespace trainplan::study {
namespace detail::reshard {

inline constexpr InputWord kOld{{"old", "", "layout that saved the checkpoint: tp4,pp2,dp16 or nodes16"},
                                {.example = "tp4", .required = true}};
inline constexpr InputWord kNew{{"new", "", "layout that loads it"}, {.example = "tp8", .required = true}};
inline constexpr InputWord kFramework{{"framework", "", "framework that saved it and loads it"},
                                      {.example = "torchtitan"}};
inline constexpr Input<kCount> kGpusPerNode{
    {"gpus_per_node", "G_node", "GPUs of a node, for layouts in nodes", 1, 1024},
    {.example = "8", .otherwise = 8, .why = "the usual server"}};
inline constexpr Input<kCount> kRows{{"rows", "n_r", "rows of a matrix, the side that is cut", 1, 1e9},
                                     {.example = "12288"}};
inline constexpr Input<kCount> kColumns{{"columns", "n_c", "its columns", 1, 1e9}, {.example = "4096"}};
inline constexpr Input<kBytes - kParams> kWidth{
    {"width", "w_ckpt", "bytes of a checkpoint for each parameter", 0.1, 64},
    {.example = "14B/param",
     .otherwise = 14,
     .why = "bf16 weights, fp32 master, two moments",
     .of_given = [](const Given& given) { return checkpoint::width_of(given, kFramework); }}};

inline constexpr std::array<const Field*, 7> kFields{&kOld,  &kNew,     &kFramework, &kGpusPerNode,
                                                     &kRows, &kColumns, &kWidth};
inline constexpr std::array<const Field*, 2> kWords{&kOld, &kNew};

/// With dp worked out where the word gives nodes; nothing when they do not come out even.
inline std::optional<Layout> layout(const Given& given, const InputWord& field) {
  auto out = layout_of(given.word(field));
  if (!out || !out->nodes) return out;
  const std::int64_t others = out->of(Degree::Tp) * out->of(Degree::Pp) * out->of(Degree::Cp);
  const std::int64_t gpus = *out->nodes * static_cast<std::int64_t>(*given.number(kGpusPerNode));
  if (gpus % others != 0 || gpus < others) return std::nullopt;
  out->of(Degree::Dp) = gpus / others;
  return out;
}

inline std::vector<Degree> changed(const Layout& a, const Layout& b) {
  std::vector<Degree> out;
  for (int d = 0; d < kDegrees; ++d)
    if (a.of(static_cast<Degree>(d)) != b.of(static_cast<Degree>(d))) out.push_back(static_cast<Degree>(d));
  return out;
}

inline constexpr std::array<const Field*, 3> kWhole{&kGpusPerNode, &kRows, &kColumns};

inline void judge(const Given& given, Issues& issues) {
  judge_whole(given, kWhole, issues);
  checkpoint::judge_framework(given, kFramework, issues);
  bool good = true;
  for (const InputWord* field : {&kOld, &kNew}) {
    if (given.has(*field) && given.has(kGpusPerNode) && layout(given, *field)) continue;
    good = false;
    if (!given.has(*field) || !given.has(kGpusPerNode)) continue;  // told already
    const bool spelled = layout_of(given.word(*field)).has_value();
    refuse(issues, given, *field, "layout",
           spelled ? "leave a whole dp: GPUs of the nodes / (tp x pp x cp)"
                   : "be degrees from tp, pp, cp, dp, ep, or nodes, separated by ','",
           spelled ? "try another number of nodes, or smaller degrees" : "try tp4,pp2,dp16 or nodes16");
  }
  if (good && changed(*layout(given, kOld), *layout(given, kNew)).empty())
    refuse(issues, given, kNew, "layout", "differ from the old layout",
           "try another tp, pp, dp or number of nodes");
  if (given.has_or_refused(kRows) != given.has_or_refused(kColumns))
    refuse(issues, given, given.has(kRows) ? kColumns : kRows, "missing",
           "be given: rows and columns go together", "try --rows 12288 --columns 4096");
}

inline std::string degree_text(const Layout& l) {
  std::string out;
  for (int d = 0; d < kDegrees; ++d)
    if (l.degrees[static_cast<std::size_t>(d)] > 1)
      out.append(out.empty() ? "" : " ")
          .append(kDegreeNames[d])
          .append(" ")
          .append(std::to_string(l.degrees[static_cast<std::size_t>(d)]));
  return out.empty() ? "one rank" : out;
}

/// Ranks that share the rows of a matrix: tensor parallel ranks when their number changes, else the ranks
/// that shard it with its optimizer state.
struct Cut {
  std::int64_t old_parts = 1, new_parts = 1;
  std::string_view over;
};
inline std::optional<Cut> cut_of(const Layout& a, const Layout& b) {
  if (a.of(Degree::Tp) != b.of(Degree::Tp)) return Cut{a.of(Degree::Tp), b.of(Degree::Tp), "tp"};
  const std::int64_t before = a.of(Degree::Dp) * a.of(Degree::Cp), now = b.of(Degree::Dp) * b.of(Degree::Cp);
  return before != now ? std::optional(Cut{before, now, "dp x cp, where they shard it"}) : std::nullopt;
}

inline Table piece_table(const Cut& cut, std::int64_t rows, double row_bytes) {
  constexpr std::size_t kShown = 16;
  Table t{"pieces",
          "",
          {{"rank", "new rank"},
           {"begin", "rows from"},
           {"end", "up to"},
           {"old_rank", "of old rank"},
           {"old_begin", "its row"},
           {"bytes", "reads"}},
          {}};
  std::size_t all = 0;
  const auto whole = [](std::int64_t n) { return Value{static_cast<double>(n), Unit::Whole}; };
  for (std::int64_t r = 0; r < cut.new_parts; ++r)
    for (const RowSource& s : row_sources(rows, cut.old_parts, cut.new_parts, r))
      if (++all <= kShown)
        t.rows.push_back({whole(r), whole(s.rows.begin), whole(s.rows.end), whole(s.rank),
                          whole(s.rows.begin - rows_of(rows, cut.old_parts, s.rank).begin),
                          Value{row_bytes * static_cast<double>(s.rows.count()), Unit::Memory}});
  if (all > kShown) t.title = "The first of " + std::to_string(all) + " pieces";
  return t;
}

inline Section matrix_section(Explain& rec, const Given& given, const Cut& cut) {
  const auto rows = given.in(rec, kRows), columns = given.in(rec, kColumns);
  const auto parts = [&](std::int64_t n, const char* symbol) {
    return rec.in<Count<Sym>>({symbol, "ranks that share the rows", "layout"}, static_cast<double>(n));
  };
  const auto params =
      rec.item({"reshard.params", "N", "parameters of the matrix"}, as<kParams>(rows * columns));
  const auto bytes = rec.apply(model_state_bytes, {"reshard.bytes", "K", "its part of the checkpoint"},
                               params, given.in(rec, kWidth));
  rec.apply(shard_rows, {"reshard.old_rows", "r_old", "rows of an old rank"}, rows,
            parts(cut.old_parts, "t_old"));
  const auto now = rec.apply(shard_rows, {"reshard.new_rows", "r_new", "rows of a new rank"}, rows,
                             parts(cut.new_parts, "t_new"));
  const auto row = rec.item({"reshard.row_bytes", "K_row", "bytes of a row"}, bytes / rows);
  rec.item({"reshard.rank_bytes", "K_rank", "a new rank reads"}, row * now);
  Facts f{"", {}};
  f.facts.push_back({"over", "rows are cut over", std::string(cut.over), "", ""});
  add_fact(f, rec.ledger(), "reshard.old_rows", "old_rows", Unit::Whole);
  add_fact(f, rec.ledger(), "reshard.new_rows", "new_rows", Unit::Whole);
  add_fact(f, rec.ledger(), "reshard.bytes", "bytes", Unit::Request);
  add_fact(f, rec.ledger(), "reshard.rank_bytes", "rank_bytes", Unit::Request);
  const auto n = static_cast<std::int64_t>(*given.number(kRows));
  Section s{"matrix", "A matrix of it", {std::move(f), piece_table(cut, n, value_of(row))}};
  if (n % cut.old_parts == 0 && n % cut.new_parts == 0 && cut.new_parts % cut.old_parts == 0)
    s.blocks.push_back(
        Notes{"rule",
              {{"new rank r reads old rank floor(r / " + std::to_string(cut.new_parts / cut.old_parts) +
                "); contents and order of the rows stay"}}});
  return s;
}

inline Loads worst(const ReshardRow& row, const std::vector<Degree>& degrees) {
  Loads out = Loads::Yes;
  for (const Degree d : degrees) out = std::max(out, row.when(d));
  return out;
}
inline std::string loads_text(Loads l) {
  switch (l) {
    case Loads::Yes: return "yes";
    case Loads::Needs: return "with help";
    case Loads::No: return "no";
  }
  return "";
}
inline std::string part_text(SavedPart p) {
  return p == SavedPart::Moments ? "optimizer state" : std::string(title_of(p));
}

inline Section framework_section(const std::vector<const FrameworkProfile*>& profiles,
                                 const std::vector<Degree>& degrees) {
  Table t{"frameworks",
          "",
          {{"framework", "framework"},
           {"part", "part"},
           {"loads", "loads"},
           {"needs", "what it needs, or does instead"},
           {"source", "source"}},
          {}};
  for (const FrameworkProfile* f : profiles)
    for (const ReshardRow& row : f->checkpoint.reshard) {
      const Loads l = worst(row, degrees);
      t.rows.push_back({Code{f->id}, part_text(row.part), loads_text(l),
                        l == Loads::Needs ? row.needs
                        : l == Loads::No  ? row.instead
                                          : std::string(),
                        row.source});
    }
  return {"frameworks", "Whether it can be loaded", {std::move(t)}};
}

/// Weights and optimizer state decide; the position in the data is said beside.
inline void conclude(Report& r, const FrameworkProfile& f, const std::vector<Degree>& degrees) {
  Loads model = Loads::Yes, data = Loads::Yes;
  for (const ReshardRow& row : f.checkpoint.reshard) {
    Loads* const of = row.part == SavedPart::Weights || row.part == SavedPart::Moments ? &model
                      : row.part == SavedPart::DataPosition                            ? &data
                                                                                       : nullptr;
    if (of != nullptr) *of = std::max(*of, worst(row, degrees));
  }
  const std::string loads = model == Loads::Yes     ? "loads"
                            : model == Loads::Needs ? "loads with help"
                                                    : "does not load";
  r.headline = {f.name + ": the model " + loads + ", the position in the data " +
                (data == Loads::No      ? "does not"
                 : data == Loads::Needs ? "needs help"
                                        : "does")};
  if (model == Loads::No) r.verdict = Verdict::DoesNotFit;
}

inline Report answer(Explain& rec, const Given& given, const Planned*) {
  const Layout before = *layout(given, kOld), now = *layout(given, kNew);
  const auto degrees = changed(before, now);
  Report r{"", "Another layout", Verdict::None, {}, {}};
  Facts f{"", {}};
  f.facts.push_back({"old", "saved by", degree_text(before), "", ""});
  f.facts.push_back({"new", "loaded by", degree_text(now), "", ""});
  std::string names;
  for (const Degree d : degrees) names.append(names.empty() ? "" : ", ").append(name_of(d));
  f.facts.push_back({"changed", "changed", names, "", ""});
  r.sections.push_back({"layouts", "Layouts", {std::move(f)}});
  if (const auto cut = cut_of(before, now); cut && given.has(kRows))
    r.sections.push_back(matrix_section(rec, given, *cut));
  if (given.shelf == nullptr) return r;
  const auto profiles = checkpoint::profiles_asked(given, kFramework, nullptr);
  r.sections.push_back(framework_section(profiles, degrees));
  if (given.has(kFramework)) conclude(r, *profiles.front(), degrees);
  return r;
}

}  // namespace detail::reshard

inline constexpr Topic kReshard{"reshard",
                                "a checkpoint on another layout: who reads what, what can be loaded",
                                "rows by global coordinates; degrees tp, pp, cp, dp, ep, or nodes",
                                detail::reshard::kFields,
                                &detail::reshard::judge,
                                &detail::reshard::answer,
                                detail::reshard::kWords,
                                true};

}  // namespace trainplan::study
