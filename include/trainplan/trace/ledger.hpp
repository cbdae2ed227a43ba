/// The breakdown of a computation: named items over the tape that made them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/base/value.hpp"
#include "trainplan/trace/tape.hpp"

namespace trainplan {

/// One printed number. id is stable; expr is the node of its formula, name the node that later formulas show.
struct LineItem {
  std::string id, symbol, title, formula, source;
  Dim dim{};
  double value = 0;
  std::uint32_t expr = 0, name = 0;
  std::optional<Unit> unit{};  // how it is shown, where its dimension does not say
};

class Ledger {
  Tape tape_;
  std::vector<LineItem> items_;

  /// An item that later formulas show by name, or nullptr.
  const LineItem* named(std::uint32_t node) const {
    for (const LineItem& item : items_)
      if (item.name == node) return &item;
    return nullptr;
  }
  /// The first argument of a maximum of items that has its value.
  const LineItem* winner(std::uint32_t node, double value) const {
    const Node& n = tape_.node(node);
    if (n.op != Op::Max) return n.value == value ? named(node) : nullptr;
    const LineItem* first = winner(n.a, value);
    return first != nullptr ? first : winner(n.b, value);
  }
  bool collect_addends(std::uint32_t node, std::vector<const LineItem*>& parts) const {
    const Node& n = tape_.node(node);
    if (n.op == Op::Add) return collect_addends(n.a, parts) && collect_addends(n.b, parts);
    if (n.op == Op::Literal && n.value == 0) return true;
    const LineItem* part = named(node);
    if (part == nullptr) return false;
    parts.push_back(part);
    return true;
  }

 public:
  Tape& tape() { return tape_; }
  const Tape& tape() const { return tape_; }
  const std::vector<LineItem>& items() const { return items_; }
  void add(LineItem item) { items_.push_back(std::move(item)); }

  /// The item of that id, or nullptr.
  const LineItem* find(std::string_view id) const {
    for (const LineItem& item : items_)
      if (item.id == id) return &item;
    return nullptr;
  }

  /// The items that an item is the sum of, or the one that is its maximum; empty when it is neither.
  std::vector<const LineItem*> parts(const LineItem& item) const {
    std::vector<const LineItem*> parts;
    if (tape_.node(item.expr).op == Op::Max) {
      if (const LineItem* worst = winner(item.expr, item.value)) parts.push_back(worst);
    } else if (!collect_addends(item.expr, parts) || parts.size() < 2) {
      parts.clear();
    }
    return parts;
  }

  /// The inputs, constants and named results that stand in an item's formula, in order, each once.
  std::vector<std::uint32_t> operands(const LineItem& item) const {
    std::vector<std::uint32_t> seen;
    visit_operands(item.expr, seen);
    return seen;
  }

 private:
  void visit_operands(std::uint32_t node, std::vector<std::uint32_t>& seen) const {
    const Node& n = tape_.node(node);
    switch (n.op) {
      case Op::Literal: return;
      case Op::Input:
      case Op::Named:
        for (std::uint32_t s : seen)
          if (s == node) return;
        seen.push_back(node);
        return;
      case Op::Sqrt:
      case Op::Log2:
      case Op::Exp:
      case Op::LambertW:
      case Op::Ceil:
      case Op::Floor: visit_operands(n.a, seen); return;
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Div:
      case Op::Max:
      case Op::Min:
      case Op::Pow:
        visit_operands(n.a, seen);
        visit_operands(n.b, seen);
        return;
    }
  }
};

}  // namespace trainplan
