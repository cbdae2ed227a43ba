#include "trainplan/io/load_measured.hpp"

#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "csv.hpp"
#include "find_config.hpp"
#include "json.hpp"
#include "measured_cluster.hpp"
#include "measured_line.hpp"
#include "measured_rules.hpp"
#include "measured_run.hpp"
#include "outcome.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/shipped.hpp"

namespace trainplan {

using nlohmann::json;

namespace {

constexpr double kGiB = 0x1p30;
constexpr std::string_view kTableSuffix = ".csv", kShippedRuns = "measured.csv";

/// "/tp must be ...": the first mistake of a text that was put together here.
std::string first_error(const Issues& issues) {
  for (const Issue& i : issues.all())
    if (i.level == Severity::Error)
      return (i.pointer.empty() ? "" : i.pointer.substr(1) + " = " + i.got + " ") + "must " + i.must;
  return {};
}

/// Loaded specs by the text that they come from: many rows share them.
template <class T>
class Shelf {
  std::map<std::string, std::pair<std::optional<Checked<T>>, std::string>> kept_;

 public:
  /// Nothing, and why not, when the text is no legal spec.
  template <class Load>
  const std::optional<Checked<T>>& get(const std::string& text, std::string& why, Load load) {
    auto found = kept_.find(text);
    if (found == kept_.end()) {
      Issues issues;
      auto spec = load(issues);
      found = kept_.emplace(text, std::pair(std::move(spec), first_error(issues))).first;
    }
    why = found->second.second;
    return found->second.first;
  }
};

template <class T, class Load>
std::optional<Checked<T>> shipped_spec(std::string_view kind, const std::string& name, Load load,
                                       Issues& issues) {
  const auto doc = shipped_config(kind, name, issues);
  return doc ? load(doc->text, doc->file, issues) : std::nullopt;
}

Reading reading_of(const json& setup) {
  for (std::size_t i = 0; i < std::size(kReadingNames); ++i)
    if (setup.value("reading", "") == kReadingNames[i]) return static_cast<Reading>(i);
  return Reading::Allocated;
}

Standing standing_of(const std::string& notes) {
  if (notes.find("NONSTANDARD") != std::string::npos) return Standing::Nonstandard;
  return notes.find("FLAG") != std::string::npos ? Standing::Flagged : Standing::Standard;
}

std::string joined(const MeasuredLine& line, std::initializer_list<std::string_view> columns) {
  std::string out;
  for (const std::string_view column : columns) out += line.text(column) + "|";
  return out;
}

std::vector<std::string> sentences(const json& members) {
  std::vector<std::string> out;
  for (const auto& [key, value] : members.items())
    out.push_back(key + " " + (value.is_string() ? value.get<std::string>() : value.dump()));
  return out;
}

/// Accelerators by the name and memory of a GPU.
class Accelerators {
  const MeasuredRules& rules_;
  std::map<std::string, std::optional<ShippedAccelerator>> kept_;

  std::optional<ShippedAccelerator> find(const std::string& gpu, const std::string& memory) const {
    if (auto known = accelerator_of(gpu, memory)) return known;
    auto like = accelerator_of(rules_.accelerator_like(gpu), "");
    if (like) like->guessed = true;
    return like;
  }

 public:
  explicit Accelerators(const MeasuredRules& rules) : rules_(rules) {}

  const std::optional<ShippedAccelerator>& get(const MeasuredLine& line) {
    const std::string &gpu = line.text("gpu"), &memory = line.text("gpu_mem_gb");
    const std::string key = gpu + "|" + memory;
    auto found = kept_.find(key);
    if (found == kept_.end()) found = kept_.emplace(key, find(gpu, memory)).first;
    return found->second;
  }
};

class TableLoader {
  const MeasuredRules& rules_;
  const Checked<Calibration>& calibration_;
  Accelerators accelerators_;
  Shelf<ModelSpec> models_;
  Shelf<ClusterSpec> clusters_;
  Shelf<FrameworkProfile> profiles_;

  /// What stands in the row itself.
  static MeasuredRun plain_row(const MeasuredLine& line) {
    MeasuredRun row;
    row.line = line.line();
    row.id = line.text("id");
    row.source = line.text("source");
    row.source_ref = line.text("source_ref");
    row.model = line.text("model");
    row.gpu = line.text("gpu");
    row.precision = line.text("precision");
    row.release = noted(line, "release ");
    row.sparse = line.whole("moe_experts").has_value();
    row.standing = standing_of(line.text("notes"));
    row.family = joined(line, {"source", "model", "layers", "gpu", "seq", "mbs", "tp", "pp", "vp", "cp", "ep",
                               "precision", "zero_or_fsdp", "recompute"});
    row.contest =
        joined(line, {"source", "model", "layers", "gpu", "gpus", "gbs_sequences", "seq", "precision"}) +
        row.release;
    row.step_time = line.real("step_time_s");
    if (const auto peak = line.real("peak_mem_gib")) row.peak = *peak * kGiB;
    const auto rate = line.real("tokens_per_s_per_gpu");
    const auto batch = line.whole("gbs_sequences"), sequence = line.whole("seq"), gpus = line.whole("gpus");
    if (!row.step_time && rate && batch && sequence && gpus)
      row.step_time =
          static_cast<double>(*batch) * static_cast<double>(*sequence) / (*rate * static_cast<double>(*gpus));
    return row;
  }

  /// The run of a row, or why there is none.
  std::shared_ptr<const PinnedRun> pinned(const MeasuredLine& line, json& setup, std::string& why) {
    for (const char* needed : {"gpus", "seq", "gbs_sequences"})
      if (!line.whole(needed)) return why = std::string(needed) + " not stated", nullptr;
    const json config = rules_.config_of(line, setup);
    if (config.is_null()) return why = "no shape: layers, hidden and heads not stated", nullptr;
    const auto& accelerator = accelerators_.get(line);
    if (!accelerator) return why = "no accelerator " + line.text("gpu"), nullptr;
    if (accelerator->guessed) setup["assumed"]["gpu"] = "taken as " + accelerator->id;
    const std::string run_text = run_of(line, setup).dump(),
                      cluster_text = cluster_of(line, *accelerator, setup.at("cluster")).dump();
    const auto& model = models_.get(config.dump(), why, [&](Issues& issues) {
      return load_model_text(config.dump(), line.text("model"), issues);
    });
    if (!model) return nullptr;
    const auto& cluster = clusters_.get(cluster_text, why, [&](Issues& issues) {
      return load_cluster_text(cluster_text, line.text("gpus") + " " + line.text("gpu"), issues);
    });
    if (!cluster) return nullptr;
    const std::string framework = setup.at("framework");
    const auto& profile = profiles_.get(framework, why, [&](Issues& issues) {
      return shipped_spec<FrameworkProfile>("frameworks", framework, load_framework_text, issues);
    });
    if (!profile) return nullptr;
    Issues issues;
    auto run = load_run_text(run_text, "", issues);
    if (!run || issues.has_errors()) return why = first_error(issues), nullptr;
    auto out = std::make_shared<const PinnedRun>(std::move(*run), *model, *cluster, *profile, calibration_,
                                                 Pinned::Ran);
    if (out->issues().has_errors()) return why = first_error(out->issues()), nullptr;
    return out;
  }

  void judge(MeasuredRun& row) const {
    if (row.run == nullptr) return;
    for (const Rule* rule : broken_rules(row.run->problem(), row.run->plan())) {
      row.broken.emplace_back(rule->id);
      if (is_needed(rule->id))
        row.skipped =
            "breaks " + std::string(rule->id) + ": " + rule->numbers(row.run->problem(), row.run->plan());
    }
    if (!row.skipped.empty()) row.run = nullptr;
  }

 public:
  TableLoader(const MeasuredRules& rules, const Checked<Calibration>& calibration)
      : rules_(rules), calibration_(calibration), accelerators_(rules) {}

  MeasuredRun load(MeasuredLine line) {
    json setup = rules_.setup_of(line);
    for (const auto& [column, value] : setup.at("columns").items()) {
      if (line.text(column).empty()) setup["assumed"][column] = value;
      line.fill(column, value.get<std::string>());
    }
    MeasuredRun row = plain_row(line);
    for (const auto& [column, value] : setup.at("read_as").items())
      line.set(column, value.get<std::string>());
    row.reading = reading_of(setup);
    row.stage = setup.value("stage", "") == "last" ? kLastStage : kFullestStage;
    row.in_sample = setup.value("in_sample", false);
    row.skipped = setup.value("skip", "");
    if (row.skipped.empty()) row.run = pinned(line, setup, row.skipped);
    if (row.run != nullptr) row.sparse = row.run->problem().model().is_sparse();
    judge(row);
    row.not_memory = setup.value("not_memory", "");
    row.assumed = sentences(setup.at("assumed"));
    for (const auto& [key, text] : setup.at("remarks").items())
      row.remarks.push_back(text.get<std::string>());
    if (row.run != nullptr && !row.step_time && !row.peak)
      row.skipped = "neither its step time nor its memory is given";
    return row;
  }
};

std::string name_of_table(std::string_view origin) {
  std::string name = config_name(origin);
  if (name.ends_with(kTableSuffix)) name.resize(name.size() - kTableSuffix.size());
  return name;
}

const Shipped* shipped_table(std::string_view name) {
  for (const Shipped& s : shipped())
    if (s.kind == "validation" && s.name.ends_with(kTableSuffix) &&
        (s.name == name || s.name.substr(0, s.name.size() - kTableSuffix.size()) == name))
      return &s;
  return nullptr;
}

std::optional<MeasuredTable> read_table(std::string_view text, std::string_view file, bool bounds,
                                        std::string_view constants, Issues& issues) {
  const std::size_t first = issues.all().size();
  const auto records = parse_csv(text, file, issues);
  if (!records) return std::nullopt;
  std::vector<MeasuredLine> lines = measured_lines(*records, file, issues);
  if (lines.empty() && !errors_since(issues, first))
    issues.add({.rule = "no-rows",
                .file = std::string(file),
                .got = "a first line alone",
                .must = "have a row for each measured run below the names of its columns",
                .hint = "see docs/inputs/measured.md, or leave the file out: the shipped table is taken",
                .line = 1,
                .column = 1});
  const MeasuredRules rules(issues);
  const auto calibration = load_calibration(issues, constants);
  if (errors_since(issues, first) || !calibration) return std::nullopt;
  MeasuredTable table{name_of_table(file), std::string(file), {}, {}};
  if (bounds && constants.empty()) table.bounds = rules.bounds();
  TableLoader loader(rules, *calibration);
  for (MeasuredLine& line : lines) table.rows.push_back(loader.load(std::move(line)));
  return table;
}

}  // namespace

bool is_measured_table(std::string_view name) {
  return name.ends_with(kTableSuffix) || shipped_table(name) != nullptr;
}

std::optional<MeasuredTable> load_measured_text(std::string_view text, std::string_view file, Issues& issues,
                                                std::string_view constants) {
  return read_table(text, file, false, constants, issues);
}

std::optional<MeasuredTable> shipped_runs(Issues& issues, std::string_view constants) {
  const Shipped* table = shipped_table(kShippedRuns);
  return table == nullptr ? std::nullopt : read_table(table->text, table->name, true, constants, issues);
}

std::optional<MeasuredTable> load_measured(std::string_view name, Issues& issues,
                                           std::string_view constants) {
  std::error_code failed;
  const Shipped* table = shipped_table(name);
  if (table != nullptr && !std::filesystem::exists(std::filesystem::path(name), failed))
    return read_table(table->text, table->name, true, constants, issues);
  const auto text = read_file(std::string(name), issues);
  return text ? read_table(*text, name, false, constants, issues) : std::nullopt;
}

}  // namespace trainplan
