#include "trainplan/trace/tape.hpp"

#include "catch.hpp"

using namespace trainplan;

namespace {

Sym input(Tape& tape, double value) {
  return {value, tape.add(Node{.op = Op::Input, .value = value}, Label{"x", "an input", "here", {}}), tape};
}

}  // namespace

TEST_CASE("a traced number computes what a double computes, and each operation is one node") {
  Tape tape;
  const Sym x = input(tape, 12), y = input(tape, 5);
  struct Row {
    Sym got;
    double want;
    Op op;
  };
  const Row rows[] = {{x + y, 17, Op::Add},
                      {x - y, 7, Op::Sub},
                      {x * y, 60, Op::Mul},
                      {x / y, 2.4, Op::Div},
                      {larger(x, y), 12, Op::Max},
                      {smaller(x, y), 5, Op::Min},
                      {pow(x, y), 248832, Op::Pow},
                      {sqrt(x), std::sqrt(12.0), Op::Sqrt},
                      {log2(x + y - 1.0), 4, Op::Log2},
                      {exp(x / y), std::exp(2.4), Op::Exp},
                      {lambert_w(x), lambert_w(12.0), Op::LambertW},
                      {normal_max(x), normal_max(12.0), Op::NormalMax},
                      {gamma_quantile(x, y / 10.0), gamma_quantile(12.0, 0.5), Op::GammaQuantile},
                      {ceil(x / y), 3, Op::Ceil},
                      {floor(x / y), 2, Op::Floor}};
  for (const Row& row : rows) {
    const Node& node = tape.node(row.got.node(tape));
    CAPTURE(static_cast<int>(row.op));
    CHECK(row.got.value() == row.want);
    CHECK(node.op == row.op);
    CHECK(node.value == row.want);
  }
  const Node& difference = tape.node((x - y).node(tape));
  CHECK(tape.node(difference.a).value == 12);
  CHECK(tape.node(difference.b).value == 5);
}

TEST_CASE("constants come on the tape only when they meet a traced number") {
  const Sym two = 2.0, three = 3.0;
  const Sym six = two * three + 0.0 * sqrt(three);
  CHECK(six.value() == 6);

  Tape tape;
  CHECK(tape.size() == 0);
  const Sym left = six + input(tape, 1), right = input(tape, 1) - six;
  CHECK(left.value() == 7);
  CHECK(right.value() == -5);
  const Node& sum = tape.node(left.node(tape));
  CHECK(tape.node(sum.a).op == Op::Literal);
  CHECK(tape.node(sum.a).value == 6);
  CHECK(tape.node(sum.b).op == Op::Input);
  const Node& difference = tape.node(right.node(tape));
  CHECK(tape.node(difference.a).op == Op::Input);
  CHECK(tape.node(difference.b).op == Op::Literal);
}

TEST_CASE("labels belong to their node") {
  Tape tape;
  const auto first = tape.add(Node{.op = Op::Input, .value = 1}, Label{"a", "first", "file /a", kBytes});
  const auto second = tape.add(Node{.op = Op::Input, .value = 2}, Label{"b", "second", "file /b", kSeconds});
  CHECK(tape.label(tape.node(first)).symbol == "a");
  CHECK(tape.label(tape.node(second)).origin == "file /b");
  CHECK(tape.label(tape.node(second)).dim == kSeconds);
}

TEST_CASE("value_of sees through quantities and traces") {
  Tape tape;
  CHECK(value_of(2.5) == 2.5);
  CHECK(value_of(Bytes<>{3}) == 3);
  CHECK(value_of(Bytes<Sym>{input(tape, 4)}) == 4);
}
