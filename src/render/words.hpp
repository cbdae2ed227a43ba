/// Words of a report that all formats share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "trainplan/render/render.hpp"

namespace trainplan {

/// Without control characters: text from a user's file must not steer a terminal.
std::string printable(std::string_view text);

/// `empty` stands for a cell without a value.
std::string cell_text(const Cell& cell, std::string_view empty);

/// The values of a sentence become text; `glue` turns each into what must stay on one line.
std::string sentence_text(const Sentence& sentence, std::string (*glue)(std::string_view));
std::string sentence_text(const Sentence& sentence);

/// The verdict's word and the headline after it; the word is not said twice.
struct Headline {
  std::string word, rest;
};
Headline headline_text(const Report& report, std::string (*glue)(std::string_view));

/// A number, with its range or without.
bool is_number(const Cell& cell);

/// A column with a number in any row; it is aligned to the right.
bool has_numbers(const Table& table, std::size_t column);

/// The result of an explanation, rounded for reading.
std::string result_text(const Explanation& e);

/// "sharded_state, zero-2020 section 5".
std::string source_text(const Explanation& e);

/// The formats, one file each.
std::string text_report(const Report& report, const Style& style);
std::string markdown_report(const Report& report);
std::string json_report(const Report& report);

/// Calls the overload for each alternative of a variant.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace trainplan
