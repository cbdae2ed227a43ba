/// A spec that has passed its validator; there is no other way to make one.
#pragma once

#include <optional>
#include <utility>

#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// `validate(const T&, Issues&)` is found by the type; see spec/validate.hpp.
template <class T>
class Checked {
  T value_;
  explicit Checked(T value) : value_(std::move(value)) {}

 public:
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }

  /// Nothing when the validator reports an error; the reasons are in `issues`.
  static std::optional<Checked> make(T value, Issues& issues) {
    if (!validate(value, issues)) return std::nullopt;
    return Checked{std::move(value)};
  }
};

}  // namespace trainplan
