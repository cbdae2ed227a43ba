/// The inputs of a study topic: each is declared once, for the command line, files, docs and the answer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trainplan/derive/derivation.hpp"
#include "trainplan/trace/formula.hpp"
#include "trainplan/trace/ledger.hpp"

namespace trainplan::study {

/// The plan that inputs may come from, with the ledger of its fullest stage.
struct Planned {
  const Derivation& derivation;
  const Ledger& ledger;

  const Trial& trial() const { return derivation.chosen; }
  /// A figure of the ledger; nothing where the plan does not have it.
  std::optional<double> item(std::string_view id) const {
    const LineItem* found = ledger.find(id);
    return found != nullptr ? std::optional(found->value) : std::nullopt;
  }
};

class Given;

/// A value that follows from what else is given, and from where.
struct Follows {
  double value = 0;
  std::string origin{};
};

/// A number, numbers separated by ',', or a word.
enum class Kind : unsigned char { One, List, Word };

/// What a field may have beside its name. example: as one would type it. otherwise and why: what holds when
/// nothing gives it, and on what ground. of_plan: where a plan gives it. of_given: where another input that
/// the user gives says it, before a plan. words: the choices of a word; none: any text. device: the figure
/// that the name of an accelerator stands for. lacking: why a plan may have none.
struct FieldSays {
  std::string_view example;
  bool required = false;
  std::optional<double> otherwise{};
  std::string_view why{};
  std::optional<double> (*of_plan)(const Planned&) = nullptr;
  std::optional<Unit> unit{};  // how it is shown, where its dimension does not say
  std::span<const std::string_view> words{};
  Figure Accelerator::*device = nullptr;
  std::string_view lacking{};
  std::optional<Follows> (*of_given)(const Given&) = nullptr;
};

/// arg.name is the key of a file; on the command line '-' stands for '_'. Range in base units.
struct Field {
  Arg arg;
  Dim dim{};
  Kind kind = Kind::One;
  FieldSays says;
};

/// A field with its dimension in the type.
template <Dim D>
struct Input : Field {
  constexpr Input(const Arg& a, const FieldSays& s) : Field{a, D, Kind::One, s} {}
};
template <Dim D>
struct InputList : Field {
  constexpr InputList(const Arg& a, const FieldSays& s) : Field{a, D, Kind::List, s} {}
};
struct InputWord : Field {
  constexpr InputWord(const Arg& a, const FieldSays& s) : Field{a, {}, Kind::Word, s} {}
};

}  // namespace trainplan::study
