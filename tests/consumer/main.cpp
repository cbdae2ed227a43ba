// A program outside the tree: it includes every installed header, then computes a number and names its unit.
#include "every_header.hpp"

#include <cstdio>

int main() {
  using namespace trainplan;
  const Params<> params{70e9};
  const Bytes<> state = params * BytesPerParam<>{18.0} / 8.0;
  std::printf("%.1f GB\n", state.num() / 1e9);
}
