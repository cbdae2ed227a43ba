/// A pipeline in numbers from configs/schedules or from a file of the same form.
#pragma once

#include <optional>
#include <string_view>

#include "trainplan/spec/issue.hpp"
#include "trainplan/spec/pipeline.hpp"

namespace trainplan {

/// A local file or a shipped one. The good fields, even when others had errors; nothing only when the file is
/// not a JSON object at all.
std::optional<PipelineSpec> load_pipeline(std::string_view name_or_path, Issues& issues);
std::optional<PipelineSpec> load_pipeline_text(std::string_view text, std::string_view file, Issues& issues);

/// Gives issues about a file that was loaded their line and column.
void place_in_pipeline_file(const PipelineSpec& spec, Issues& issues);

/// Whether a word names such a file, and not a run. A file that has neither's keys is taken for a run.
bool names_a_pipeline(std::string_view name_or_path);

/// Records that a word names neither a pipeline nor a run nor anything else, with what it may stand for;
/// false when it names something.
bool refuse_unknown_pipeline(std::string_view name_or_path, Issues& issues);

}  // namespace trainplan
