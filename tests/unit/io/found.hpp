/// Looking into collected issues.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// The issue of that rule at that pointer, or nullptr.
inline const Issue* find_issue(const Issues& issues, std::string_view rule, std::string_view pointer) {
  for (const Issue& i : issues.all())
    if (i.rule == rule && i.pointer == pointer) return &i;
  return nullptr;
}

/// "file:line:column [rule] pointer = got" of every issue, one a line.
inline std::string listed(const Issues& issues) {
  std::string out;
  for (const Issue& i : issues.all())
    out += i.file + ":" + std::to_string(i.line) + ":" + std::to_string(i.column) + " [" + i.rule + "] " +
           i.pointer + " = " + i.got + "\n";
  return out;
}

/// Every issue must say where, what, why and a way out.
inline bool complete(const Issues& issues) {
  return std::all_of(issues.all().begin(), issues.all().end(), [](const Issue& i) {
    return !i.rule.empty() && !i.file.empty() && !i.must.empty() && !i.hint.empty();
  });
}

}  // namespace trainplan
