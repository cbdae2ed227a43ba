/// What a plan says of itself, from a derivation or read back from a file, so that two can be compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainplan/base/value.hpp"

namespace trainplan {

/// key: as in the JSON of a plan, without its unit.
struct ReportedSetting {
  std::string key;
  Cell value;
};
struct ReportedItem {
  std::string id, title;
  Value value;
};

/// source: the run, or the file of the report. title: "llama70b on h100x1024". stage: whose GPU the items are
/// of.
struct ReportedPlan {
  std::string source, title;
  int stage = 0;
  std::vector<ReportedSetting> settings;
  std::vector<ReportedItem> items;

  const ReportedItem* find(std::string_view id) const {
    for (const ReportedItem& item : items)
      if (item.id == id) return &item;
    return nullptr;
  }
  const ReportedSetting* setting(std::string_view key) const {
    for (const ReportedSetting& s : settings)
      if (s.key == key) return &s;
    return nullptr;
  }
};

}  // namespace trainplan
