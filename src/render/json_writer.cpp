#include "json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <utility>

namespace trainplan {
namespace {

/// Bytes of the well-formed UTF-8 sequence at `at`, or 0.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned a = byte(at), b = byte(at + 1);
  if (a < 0x80) return 1;
  if (a >= 0xc2 && a <= 0xdf) return follows(at + 1) ? 2 : 0;
  if (a >= 0xe0 && a <= 0xef) {
    const bool overlong = a == 0xe0 && b < 0xa0, surrogate = a == 0xed && b >= 0xa0;
    return follows(at + 1) && follows(at + 2) && !overlong && !surrogate ? 3 : 0;
  }
  if (a >= 0xf0 && a <= 0xf4) {
    const bool overlong = a == 0xf0 && b < 0x90, too_large = a == 0xf4 && b >= 0x90;
    return follows(at + 1) && follows(at + 2) && follows(at + 3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    const char c = text[at];
    if (length == 0)
      out += "\\ufffd";
    else if (length > 1)
      out.append(text.substr(at, length));
    else if (c == '"' || c == '\\')
      out.append("\\").append(1, c);
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
    at += std::max<std::size_t>(length, 1);
  }
  return out + '"';
}

std::string number_text(double v) {
  constexpr double kExact = 0x1p53;
  if (!std::isfinite(v)) return "null";
  if (v == std::trunc(v) && std::abs(v) <= kExact) return fmt::format("{:.0f}", v == 0 ? 0.0 : v);
  return fmt::format("{}", v);
}

}  // namespace

void JsonWriter::item(std::string_view key) {
  if (open_.empty()) return;
  Level& level = open_.back();
  if (!std::exchange(level.empty, false)) out_ += level.flat ? ", " : ",";
  if (!level.flat) out_.append("\n").append(2 * open_.size(), ' ');
  if (level.close != '}') return;
  assert(std::find(level.keys.begin(), level.keys.end(), key) == level.keys.end() &&
         "a key twice in one object");
  level.keys.emplace_back(key);
  out_.append(quoted(key)).append(": ");
}

void JsonWriter::open(std::string_view key, char bracket, char close, bool flat) {
  const bool inside_flat = !open_.empty() && open_.back().flat;
  item(key);
  out_ += bracket;
  open_.push_back({close, flat || inside_flat});
}

void JsonWriter::end() {
  const Level level = std::move(open_.back());
  open_.pop_back();
  if (!level.flat && !level.empty) out_.append("\n").append(2 * open_.size(), ' ');
  out_ += level.close;
}

void JsonWriter::text(std::string_view key, std::string_view value) {
  item(key);
  out_ += quoted(value);
}
void JsonWriter::number(std::string_view key, double value) {
  item(key);
  out_ += number_text(value);
}
void JsonWriter::boolean(std::string_view key, bool value) {
  item(key);
  out_ += value ? "true" : "false";
}
void JsonWriter::null(std::string_view key) {
  item(key);
  out_ += "null";
}

std::string JsonWriter::take() {
  assert(open_.empty());
  return std::move(out_) + "\n";
}

}  // namespace trainplan
