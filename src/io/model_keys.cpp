#include "model_keys.hpp"

namespace trainplan {

ModelKeys::ModelKeys(Reader in) : in_(std::move(in)) {
  for (const std::string_view group : {"attn_config", "ffn_config"}) {
    const auto found = in_.node().find(std::string(group));
    if (found != in_.node().end() && found->is_object()) groups_.emplace_back(group, *in_.object(group));
  }
}

ModelKeys::At ModelKeys::at(std::string_view key) const {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return {&in_, key};
  for (const auto& [name, reader] : groups_)
    if (name == key.substr(0, dot)) return {&reader, key.substr(dot + 1)};
  return {nullptr, key};
}

bool ModelKeys::has(std::string_view key) const {
  const At a = at(key);
  return a.reader != nullptr && a.reader->has(a.key);
}

bool ModelKeys::contains(std::string_view key) const {
  const At a = at(key);
  return a.reader != nullptr && a.reader->node().contains(std::string(a.key));
}

std::optional<std::int64_t> ModelKeys::integer(Spellings keys, std::int64_t lo, std::int64_t hi) {
  std::optional<std::int64_t> value;
  std::string_view from;
  failed_ = false;
  for (const std::string_view key : keys) {
    if (!has(key)) continue;
    const At a = at(key);
    const std::optional<std::int64_t> n = a.reader->integer(a.key, lo, hi);
    failed_ = failed_ || !n;
    if (!value) {
      value = n.value_or(0);
      from = key;
      spelled_.emplace_back(keys.front(), a.reader->pointer(a.key));
    } else if (n && *value != 0 && *n != *value) {
      a.reader->refuse(a.key, "two-spellings",
                       "be equal to " + std::string(from) + " = " + std::to_string(*value),
                       "remove one of the two");
    }
  }
  return value;
}

std::int64_t ModelKeys::required(Spellings keys, std::int64_t lo, std::int64_t hi, std::string_view example) {
  const std::optional<std::int64_t> value = integer(keys, lo, hi);
  if (!value) in_.require(keys.front(), example);
  return value.value_or(0);
}

std::optional<std::int64_t> ModelKeys::first(Spellings keys, std::int64_t lo, std::int64_t hi) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!has(keys[i])) continue;
    const At a = at(keys[i]);
    spelled_.emplace_back(keys.front(), a.reader->pointer(a.key));
    const std::optional<std::int64_t> n = a.reader->integer(a.key, lo, hi);
    failed_ = !n;
    return n.value_or(0);
  }
  return std::nullopt;
}

std::optional<bool> ModelKeys::boolean(std::string_view key) const {
  const At a = at(key);
  return a.reader == nullptr ? std::nullopt : a.reader->boolean(a.key);
}

std::optional<std::string> ModelKeys::string(std::string_view key) const {
  const At a = at(key);
  return a.reader == nullptr ? std::nullopt : a.reader->string(a.key);
}

void ModelKeys::refuse(std::string_view key, std::string rule, std::string must, std::string hint) const {
  const At a = at(key);
  const bool known = a.reader != nullptr;
  (known ? *a.reader : in_).refuse(known ? a.key : key, std::move(rule), std::move(must), std::move(hint));
}

std::string ModelKeys::pointer_of(std::string_view canonical) const {
  const std::string_view key = canonical.substr(std::min<std::size_t>(1, canonical.size()));
  for (const auto& [name, pointer] : spelled_)
    if (name == key) return pointer;
  return in_.pointer(key);
}

}  // namespace trainplan
