/// What a question gives for the inputs of a topic, and where each value stands.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/spec/issue.hpp"
#include "trainplan/study/field.hpp"
#include "trainplan/study/shelf.hpp"
#include "trainplan/trace/recorder.hpp"

namespace trainplan::study {

/// Who gave a value: the last one wins.
enum class Giver : unsigned char { Default, Plan, File, Option };

/// Values in base units, or a word. Neither: said to be unknown. names: of the accelerators that stand for
/// the values, empty where a value is a number. origin: "--mean", "slow.json /mean", "plan". text: as it was
/// typed. refused: it is no legal value, which is told. used: the answer has asked for it.
struct Said {
  const Field* field = nullptr;
  Giver giver = Giver::Option;
  std::vector<double> values{};
  std::string word{}, origin{}, text{};
  std::vector<std::string> names{};
  bool refused = false;
  mutable bool used = false;

  bool known() const { return !values.empty() || !word.empty(); }
};

class Given {
  std::vector<Said> all_;

 public:
  std::string title{}, file{};   // of the file of inputs, if any
  const Shelf* shelf = nullptr;  // what is shipped; outlives the answer

  const std::vector<Said>& all() const { return all_; }

  /// Later values for the same field take the place of earlier ones.
  void say(Said said) {
    for (Said& old : all_)
      if (old.field == said.field) {
        old = std::move(said);
        return;
      }
    all_.push_back(std::move(said));
  }

  const Said* find(const Field& field) const {
    for (const Said& said : all_)
      if (said.field == &field) return &said;
    return nullptr;
  }
  bool has(const Field& field) const {
    const Said* said = find(field);
    return said != nullptr && said->known();
  }

  /// A value that is refused still says that it was asked for.
  bool has_or_refused(const Field& field) const {
    const Said* said = find(field);
    return said != nullptr && (said->known() || said->refused);
  }

  /// Where a field can be changed, for an issue about it.
  Issue place(const Field& field) const {
    const Said* said = find(field);
    std::string typed = said != nullptr ? said->text : std::string();
    if (said != nullptr && said->giver == Giver::File)
      return {.file = file, .pointer = "/" + std::string(field.arg.name), .got = std::move(typed)};
    return {.pointer = option_of(field.arg.name), .got = std::move(typed)};
  }

  /// The value as an input of formulas; the field must be known.
  template <Dim D, Recorder R>
  Quantity<D, typename R::Num> in(R& rec, const Input<D>& input) const {
    return leaf<D>(rec, input, 0);
  }
  template <Dim D, Recorder R>
  std::optional<Quantity<D, typename R::Num>> maybe(R& rec, const Input<D>& input) const {
    return has(input) ? std::optional(in(rec, input)) : std::nullopt;
  }
  /// Empty where it is not known.
  template <Dim D, Recorder R>
  std::vector<Quantity<D, typename R::Num>> in(R& rec, const InputList<D>& input) const {
    std::vector<Quantity<D, typename R::Num>> out;
    for (std::size_t i = 0; has(input) && i < find(input)->values.size(); ++i)
      out.push_back(leaf<D>(rec, input, i));
    return out;
  }
  /// The bare number, where a decision rests on it.
  std::optional<double> number(const Field& field) const {
    return has(field) ? std::optional(use(field).values.front()) : std::nullopt;
  }
  /// Of the accelerator that value stands for; empty without one.
  std::string_view name_of(const Field& field, std::size_t i) const {
    const Said* said = find(field);
    return said != nullptr && i < said->names.size() ? std::string_view(said->names[i]) : std::string_view();
  }
  std::string_view word(const InputWord& input) const {
    return has(input) ? std::string_view(use(input).word) : std::string_view();
  }

 private:
  const Said& use(const Field& field) const {
    const Said& said = *find(field);
    said.used = true;
    return said;
  }
  template <Dim D, Recorder R>
  Quantity<D, typename R::Num> leaf(R& rec, const Field& field, std::size_t i) const {
    const Said& said = use(field);
    return rec.template in<Quantity<D, typename R::Num>>({field.arg.symbol, field.arg.meaning, said.origin},
                                                         said.values[i]);
  }
};

}  // namespace trainplan::study
