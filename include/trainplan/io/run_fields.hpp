/// Every field of a run, once: for the run file, the command line and the docs.
#pragma once

#include <span>
#include <string_view>

#include "trainplan/spec/issue.hpp"
#include "trainplan/spec/run.hpp"

namespace trainplan {

/// key as in a run file; on the command line '-' stands for '_'. type: what the text must be, in a few words.
/// otherwise: what holds when it is left out. set returns false and fills rule, got, must and hint of the
/// issue when the text is not legal.
struct RunField {
  std::string_view key, type, help, example, otherwise;
  bool (*set)(RunSpec& run, std::string_view text, Issue& out);
};

std::span<const RunField> run_fields();

/// The field of that key, spelled with '_' or '-'; nullptr when there is none.
const RunField* find_run_field(std::string_view key);

/// Sets one field. `where` gives file, pointer, line and column of the issue that is recorded on a mistake
/// (an unknown key too); an empty pointer becomes "--key".
bool set_field(RunSpec& run, std::string_view key, std::string_view text, Issues& issues,
               const Issue& where = {});

/// "tp=8,pp=16": several fields at once. Every bad part is reported; the good ones are set.
bool set_pins(RunSpec& run, std::string_view pins, Issues& issues, const Issue& where = {});

}  // namespace trainplan
