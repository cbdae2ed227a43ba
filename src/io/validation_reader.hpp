/// Pieces of a validation file: the run of a row, and what a case asks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "reader.hpp"
#include "trainplan/report/validation_rows.hpp"

namespace trainplan {

/// A file of rows while it is read; its defaults stand under the keys that a row leaves out.
class ValidationReader {
  const Document& doc_;
  Issues& issues_;
  nlohmann::json defaults_ = nlohmann::json::object();

  void blame(std::size_t first, const std::string& pointer, bool keep_pointer);
  nlohmann::json setup_of(const Reader& row) const;
  std::optional<Checked<ModelSpec>> model_of(const Reader& row, const nlohmann::json& setup);
  std::optional<Checked<ClusterSpec>> cluster_of(const Reader& row, const nlohmann::json& setup);

 public:
  ValidationReader(const Document& doc, Issues& issues);

  const Document& document() const { return doc_; }
  Issues& issues() const { return issues_; }
  const nlohmann::json& defaults() const { return defaults_; }

  /// The run of a row: its model, accelerator, number of GPUs and fields. Nothing when an error was recorded.
  std::shared_ptr<const PinnedRun> run_of(const Reader& row);
  /// "fullest", "first", "last" or a number.
  int stage_of(const Reader& row) const;
  /// A quantity written under a key; its dimension where `dim` is null.
  std::optional<double> quantity(const Reader& row, std::string_view key, const Dim* dim,
                                 Dim* found = nullptr) const;
};

/// Keys that say which run is meant.
inline constexpr std::string_view kSetupKeys[] = {"model",   "gpu", "gpus", "gpus_per_node",
                                                  "cluster", "run", "stage"};

/// One question, and what a case asks with its figure. Nothing when an error was recorded.
std::optional<Ask> read_ask(ValidationReader& in, const Reader& at);
std::optional<Check> read_check(ValidationReader& in, const Reader& at);

}  // namespace trainplan
