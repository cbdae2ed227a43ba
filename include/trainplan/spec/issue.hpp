/// Users' mistakes as data: all of them are collected, each with its place, the rule and a way out.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainplan {

enum class Severity : unsigned char { Error, Warning };

/// file:line:column and pointer say where (line 0: not from a file), got what stands there, must the rule,
/// hint a legal value nearby. rule is a stable id such as "tp-divides-heads". source: whose rule it is and
/// where that stands, empty for rules of this program.
struct Issue {
  Severity level = Severity::Error;
  std::string rule{}, file{}, pointer{}, got{}, must{}, hint{};  // braces: may be left out of an initialiser
  std::string source{};
  int line = 0, column = 0;
};

/// "--tp-overlap" of the field tp_overlap.
inline std::string option_of(std::string_view field) {
  std::string out = "--" + std::string(field);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

class Issues {
  std::vector<Issue> all_;

 public:
  void add(Issue issue) { all_.push_back(std::move(issue)); }
  const std::vector<Issue>& all() const { return all_; }
  std::vector<Issue>& all() { return all_; }
  bool has_errors() const {
    for (const Issue& i : all_)
      if (i.level == Severity::Error) return true;
    return false;
  }
};

}  // namespace trainplan
