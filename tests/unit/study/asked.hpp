/// A topic of `study` with inputs as they are typed.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "trainplan/io/load_study.hpp"
#include "trainplan/study/topics.hpp"

using Inputs = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// Inputs, what is wrong with them, and the answer when nothing is.
struct Asked {
  trainplan::Issues issues;
  trainplan::study::Shelf shelf;
  trainplan::Explain rec;
  trainplan::Report report;

  Asked(const trainplan::study::Topic& topic, Inputs inputs) {
    using namespace trainplan;
    shelf = load_shelf(issues);
    study::Given given;
    given.shelf = &shelf;
    for (const auto& [key, text] : inputs) {
      const study::Field* field = study::find_field(topic, key);
      if (field == nullptr) throw std::runtime_error("no such input: " + std::string(key));
      say_input(given, *field, text, study::Giver::Option, issues, {.pointer = option_of(key)});
    }
    study::complete_and_judge(topic, given, nullptr, issues);
    if (!issues.has_errors()) report = topic.answer(rec, given, nullptr);
  }

  double item(std::string_view id) const {
    const trainplan::LineItem* found = rec.ledger().find(id);
    if (found == nullptr) throw std::runtime_error("no such item: " + std::string(id));
    return found->value;
  }
  bool has(std::string_view id) const { return rec.ledger().find(id) != nullptr; }
  /// Rules that were broken, in order.
  std::vector<std::string> rules() const {
    std::vector<std::string> out;
    for (const trainplan::Issue& i : issues.all()) out.push_back(i.rule);
    return out;
  }
  const trainplan::Table& table(std::string_view key) const {
    for (const trainplan::Section& s : report.sections)
      for (const trainplan::Block& b : s.blocks)
        if (const auto* t = std::get_if<trainplan::Table>(&b); t != nullptr && t->key == key) return *t;
    throw std::runtime_error("no such table: " + std::string(key));
  }
  trainplan::Cell fact(std::string_view key) const {
    for (const trainplan::Section& s : report.sections)
      for (const trainplan::Block& b : s.blocks)
        if (const auto* f = std::get_if<trainplan::Facts>(&b))
          for (const trainplan::Fact& one : f->facts)
            if (one.key == key) return one.cell;
    throw std::runtime_error("no such fact: " + std::string(key));
  }
};

inline double number(const trainplan::Cell& cell) { return std::get<trainplan::Value>(cell).number; }
inline std::string words(const trainplan::Cell& cell) { return std::get<std::string>(cell); }
