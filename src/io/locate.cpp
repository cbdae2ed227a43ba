#include <algorithm>

#include "json.hpp"

namespace trainplan {
namespace {

/// Walks over text that a strict parser has accepted, so it only has to find its way.
class Walker {
  std::string_view text_;
  std::size_t at_ = 0;

 public:
  explicit Walker(std::string_view text) : text_(text) {}
  std::size_t at() const { return at_; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  static bool blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  void skip_blank() {
    while (at_ < text_.size() && blank(text_[at_])) ++at_;
  }
  void skip_char() {
    if (at_ < text_.size()) ++at_;
    skip_blank();
  }
  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    at_ = std::min(at_ + 1, text_.size());
  }
  void skip_value() {
    int depth = 0;
    do {
      const char c = peek();
      if (c == '\0' && at_ >= text_.size()) return;
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++at_;
      } else if (depth > 0) {
        ++at_;
      } else {
        const auto ends = [](char e) { return e == ',' || e == ']' || e == '}' || blank(e); };
        while (at_ < text_.size() && !ends(text_[at_])) ++at_;
      }
    } while (depth > 0);
    skip_blank();
  }
  /// Leaves a key for its value; true when it is this key.
  bool pass_key(std::string_view key) {
    const std::size_t from = at_;
    skip_string();
    const std::string_view raw = text_.substr(from, at_ - from);
    skip_blank();
    skip_char();  // the colon
    if (raw.find('\\') == std::string_view::npos)
      return raw.size() == key.size() + 2 && raw.substr(1, key.size()) == key;
    const nlohmann::json read = nlohmann::json::parse(raw, nullptr, false);
    return read.is_string() && read.get_ref<const std::string&>() == key;
  }
};

/// Moves to the n-th value of that key; false when there is none.
bool enter_object(Walker& walk, std::string_view key, int occurrence, std::size_t& key_at) {
  walk.skip_char();
  while (walk.peek() == '"') {
    const std::size_t from = walk.at();
    if (walk.pass_key(key) && --occurrence == 0) {
      key_at = from;
      return true;
    }
    walk.skip_value();
    if (walk.peek() != ',') return false;
    walk.skip_char();
  }
  return false;
}

bool enter_array(Walker& walk, std::string_view step) {
  std::size_t index = 0;
  for (const char c : step) {
    if (c < '0' || c > '9' || index > kMaxFileBytes) return false;
    index = index * 10 + static_cast<std::size_t>(c - '0');
  }
  walk.skip_char();
  for (std::size_t i = 0; i < index; ++i) {
    walk.skip_value();
    if (walk.peek() != ',') return false;
    walk.skip_char();
  }
  return walk.peek() != ']';
}

/// The next step of the pointer, unescaped; `pointer` keeps the rest.
std::string take_step(std::string_view& pointer) {
  pointer.remove_prefix(1);
  const std::size_t end = std::min(pointer.find('/'), pointer.size());
  std::string step;
  for (std::size_t i = 0; i < end; ++i) {
    const bool escape = pointer[i] == '~' && i + 1 < end;
    if (escape) ++i;
    step += escape ? (pointer[i] == '1' ? '/' : '~') : pointer[i];
  }
  pointer.remove_prefix(end);
  return step;
}

}  // namespace

Place place_of(std::string_view text, std::size_t offset) {
  Place place{1, 1};
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0u) != 0x80u) {
      ++place.column;
    }
  }
  return place;
}

std::string pointer_step(std::string_view key) {
  std::string out = "/";
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

Location locate(std::string_view text, std::string_view pointer, int occurrence) {
  Walker walk(text);
  walk.skip_blank();
  Location found{walk.at(), walk.at()};
  while (!pointer.empty() && pointer.front() == '/') {
    const std::string step = take_step(pointer);
    std::size_t key_at = 0;
    const int n = pointer.empty() ? occurrence : 1;
    if (walk.peek() == '{') {
      if (!enter_object(walk, step, n, key_at)) return found;
      found = {walk.at(), key_at};
    } else if (walk.peek() == '[') {
      if (!enter_array(walk, step)) return found;
      found = {walk.at(), walk.at()};
    } else {
      return found;
    }
  }
  return found;
}

}  // namespace trainplan
