/// Checked access to a parsed file: every mistake is recorded with its place, and reading goes on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "json.hpp"
#include "trainplan/base/quantity.hpp"
#include "trainplan/spec/figure.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// A parsed file. file names it in issues and figures; origin says where it was found.
struct Document {
  std::string file, origin, text;
  nlohmann::json root;
  mutable int mistakes = 0;
};

/// Files written by other tools spell numbers as "8192" and 8192.0 too, and know NaN and Infinity.
enum class Spelling : bool { Strict, Lenient };

/// How a text is opened.
struct Opening {
  bool array = false;  ///< an array in place of an object
  Spelling spelling = Spelling::Strict;
  Repeated repeated = Repeated::Refuse;
};

/// `text` must hold a JSON object (or array, where that is said).
std::optional<Document> open_document(std::string text, std::string file, std::string origin, Issues& issues,
                                      Opening opening = {});

/// One spelling of a choice.
template <class E>
struct Named {
  std::string_view name;
  E value;
};
/// All spellings, or only the usual (first) one of every value.
template <class Choices>
std::vector<std::string_view> names_of(const Choices& choices, bool all = true) {
  std::vector<std::string_view> names;
  for (const auto& c : choices) {
    const auto same = [&](const auto& other) { return other.value == c.value; };
    if (all || &*std::find_if(std::begin(choices), std::end(choices), same) == &c) names.push_back(c.name);
  }
  return names;
}

/// One object of a document. Keys that begin with '_' are comments. A read returns nothing when the key is
/// missing, null or wrong; only the last is a mistake.
class Reader {
  const Document* doc_;
  const nlohmann::json* node_;
  std::string at_;
  Issues* issues_;
  Spelling spelling_;

  const nlohmann::json* value(std::string_view key) const;
  std::optional<std::string_view> choice_text(std::string_view key, std::span<const std::string_view> names,
                                              std::span<const std::string_view> usual) const;
  void read_figure(std::string_view key, Figure& figure, bool power, Dim dim, Dim* found) const;

 public:
  Reader(const Document& doc, const nlohmann::json& node, std::string pointer, Issues& issues,
         Spelling spelling = Spelling::Strict)
      : doc_(&doc), node_(&node), at_(std::move(pointer)), issues_(&issues), spelling_(spelling) {}
  Reader(const Document& doc, Issues& issues, Spelling spelling = Spelling::Strict)
      : Reader(doc, doc.root, "", issues, spelling) {}

  const Document& document() const { return *doc_; }
  const nlohmann::json& node() const { return *node_; }
  std::string pointer(std::string_view key) const { return at_ + pointer_step(key); }
  const std::string& pointer() const { return at_; }
  /// "<file> /pointer", as figures name their origin.
  std::string origin(std::string_view key) const { return doc_->file + " " + pointer(key); }

  /// Records a mistake at a key (at its value, or at the key itself).
  void refuse(std::string_view key, std::string rule, std::string must, std::string hint) const;
  void refuse_key(std::string_view key, std::string rule, std::string must, std::string hint) const;
  void warn(std::string_view key, std::string rule, std::string must, std::string hint) const;

  /// So many mistakes are recorded that no more will be: reading on is of no use.
  bool full() const;
  /// Present and not null.
  bool has(std::string_view key) const { return value(key) != nullptr; }
  /// Records a missing key; `example` completes the hint.
  bool require(std::string_view key, std::string_view example) const;
  /// Records every key that is none of these.
  void allow(std::span<const std::string_view> keys) const;

  /// Lenient: a list with one value for each layer is that value when all are equal.
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t lo, std::int64_t hi) const;
  std::optional<double> real(std::string_view key, double lo, double hi) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> string(std::string_view key) const;
  std::vector<std::string> strings(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key, std::int64_t lo, std::int64_t hi) const;
  template <class E>
  std::optional<E> choice(std::string_view key, std::span<const Named<E>> choices) const {
    const auto names = names_of(choices), usual = names_of(choices, false);
    const auto text = choice_text(key, names, usual);
    for (const Named<E>& c : choices)
      if (text && c.name == *text) return c.value;
    return std::nullopt;
  }
  template <class E, std::size_t N>
  std::optional<E> choice(std::string_view key, const Named<E> (&choices)[N]) const {
    return choice(key, std::span<const Named<E>>(choices));
  }

  /// A quantity as {"value", "source", "assumed"}, a text with its unit, or a number where it has no unit;
  /// null and "unknown" are not known. `figure` keeps its value when the key is missing, but gets the origin.
  void figure(std::string_view key, Dim dim, Figure& figure) const {
    read_figure(key, figure, false, dim, nullptr);
  }
  void power(std::string_view key, Figure& figure) const { read_figure(key, figure, true, kCount, nullptr); }
  /// Of any dimension, which is returned.
  Dim any_figure(std::string_view key, Figure& figure) const {
    Dim dim{};
    read_figure(key, figure, false, kCount, &dim);
    return dim;
  }

  /// An object under a key.
  std::optional<Reader> object(std::string_view key) const;
  /// The objects of an array under a key.
  std::vector<Reader> objects(std::string_view key) const;
};

/// Gives the issues from `first` on that name a pointer of these documents their line and column, drops those
/// that only repeat a mistake found before at the same pointer (a warning hides no error and no other
/// warning), and sorts them by place.
void place_issues(std::span<const Document* const> documents, Issues& issues, std::size_t first);

}  // namespace trainplan
