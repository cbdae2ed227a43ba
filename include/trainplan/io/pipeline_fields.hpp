/// The numbers of a pipeline, each once: for its file, the command line and the docs.
#pragma once

#include <span>
#include <string_view>

#include "trainplan/spec/issue.hpp"
#include "trainplan/spec/pipeline.hpp"

namespace trainplan {

/// key as in a file; on the command line '-' stands for '_'. set returns false and fills rule, must and hint
/// of the issue when the text is not legal.
struct PipelineField {
  std::string_view key, type, help, example, otherwise;
  bool (*set)(PipelineSpec& spec, std::string_view text, Issue& out);
};

std::span<const PipelineField> pipeline_fields();

/// The field of that key, spelled with '_'; nullptr when there is none.
const PipelineField* find_pipeline_field(std::string_view key);

/// Sets one field; a mistake is recorded at `where`.
bool set_pipeline_field(PipelineSpec& spec, const PipelineField& field, std::string_view text, Issues& issues,
                        Issue where);

}  // namespace trainplan
