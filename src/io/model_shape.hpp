/// From the keys of a config.json and the row of its family to the shape of the model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "families.hpp"
#include "model_keys.hpp"
#include "trainplan/spec/model.hpp"

namespace trainplan {

/// What follows from a wrong value becomes 1, so that nothing is told that is not the user's mistake.
class ModelShape {
  ModelKeys keys_, root_;
  const Family& family_;
  std::string_view type_;  // as the file spells it
  ModelSpec model_;
  std::vector<bool> sparse_;

  bool nested() const { return &keys_.reader().node() != &root_.reader().node(); }
  bool switched(std::string_view key, bool otherwise) const { return keys_.boolean(key).value_or(otherwise); }
  bool new_falcon() const { return switched("new_decoder_architecture", type_ == "RefinedWeb"); }

  void read_kv_heads();
  void read_heads();
  void read_head_dim();
  void read_latent();
  void read_experts();
  void read_shared_experts(bool routed);
  void read_ffn();
  void read_tables();
  bool tied();
  void read_norms();
  void read_pattern();
  void read_mtp();
  void read_remarks();
  void read_places();
  void place_mlp();

 public:
  ModelShape(const Reader& text, const Reader& root, const Family& family, std::string_view type)
      : keys_(text), root_(root), family_(family), type_(type) {}

  ModelSpec read();
  const ModelKeys& keys() const { return keys_; }
};

}  // namespace trainplan
