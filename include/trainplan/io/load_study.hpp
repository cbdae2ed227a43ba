/// The inputs of a study topic from a file or from the command line.
#pragma once

#include <string_view>

#include "trainplan/spec/issue.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan {

/// Reads `text` as a value of the field; a mistake is recorded at `where`. "unknown" leaves a field that is
/// not required unknown, whatever a plan or a default says.
void say_input(study::Given& given, const study::Field& field, std::string_view text, study::Giver giver,
               Issues& issues, Issue where);

/// A local file or a shipped one of configs/studies, for this topic; what is wrong with it is recorded.
void load_study(std::string_view name_or_path, const study::Topic& topic, study::Given& given,
                Issues& issues);
/// The same from a text, which issues name `file`.
void load_study_text(std::string_view text, std::string_view file, const study::Topic& topic,
                     study::Given& given, Issues& issues);

/// Every shipped framework profile and published count of failures.
study::Shelf load_shelf(Issues& issues);

/// Gives issues about the file that was loaded their line and column.
void place_in_study_file(const study::Given& given, Issues& issues);

/// Whether a word names such a file, and not a run, which would name a model or a cluster.
bool names_a_study(std::string_view name_or_path);

}  // namespace trainplan
