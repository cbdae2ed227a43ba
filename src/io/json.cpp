#include "json.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "encoding.hpp"
#include "text.hpp"

namespace trainplan {
namespace {

using nlohmann::json;
constexpr int kMaxRefusals = 10;  // of values in one file; finding their places takes time

/// Records issues of one text with their places.
class Refusal {
  std::string_view text_, file_;
  Issues& issues_;

 public:
  Refusal(std::string_view text, std::string_view file, Issues& issues)
      : text_(text), file_(file), issues_(issues) {}
  std::string_view text() const { return text_; }

  bool at(std::size_t offset, std::string rule, const std::string& got, std::string must, std::string hint,
          std::string pointer = {}) {
    const Place place = place_of(text_, offset);
    issues_.add({.rule = std::move(rule),
                 .file = std::string(file_),
                 .pointer = std::move(pointer),
                 .got = clipped(got),
                 .must = std::move(must),
                 .hint = std::move(hint),
                 .line = place.line,
                 .column = place.column});
    return false;
  }
};

/// Length of the UTF-8 sequence at `at`, 0 when it is none (overlong forms and surrogates included).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0u) != 0x80u) return 0;
  const unsigned second = byte(at + 1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return length;
}

bool check_encoding(Refusal& refuse) {
  const std::string_view text = refuse.text();
  const bool wide_mark = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  if (wide_mark || text.substr(0, 4).find('\0') != std::string_view::npos)
    return refuse.at(0, "encoding", "UTF-16 or UTF-32", "be UTF-8", "convert it: iconv -f UTF-16 -t UTF-8");
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return refuse.at(zero, "encoding", "byte 0x00", "be UTF-8 text", "remove it; is the file damaged?");
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0) {
      constexpr char kHex[] = "0123456789abcdef";
      const auto bad = static_cast<unsigned char>(text[i]);
      return refuse.at(i, "encoding", std::string("byte 0x") + kHex[bad >> 4] + kHex[bad & 15], "be UTF-8",
                       "convert it: iconv -f LATIN1 -t UTF-8");
    }
    i += length;
  }
  return true;
}

bool check_depth(Refusal& refuse) {
  const std::string_view text = refuse.text();
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth)
        return refuse.at(i, "json-depth", std::to_string(kMaxDepth + 1) + " levels or more",
                         "nest at most " + std::to_string(kMaxDepth) + " levels deep",
                         "no config needs more than five");
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

/// What to write where the parser stopped at a word or a character, by the parser's own reason.
std::string way_out(const std::string& word, char c, std::string_view reason) {
  static constexpr std::string_view kWords[] = {"true", "false", "null"};
  const std::string_view near = nearest(word, kWords);
  if (!near.empty()) return "did you mean " + std::string(near) + "?";
  if (!word.empty() && word.front() != '-' && reason.starts_with("invalid literal"))
    return "put a text in double quotes: \"" + clipped(word) + "\"";
  if (c == '\'') return "use double quotes";
  if (c == '+' || c == '.' || reason.find("digit") != std::string_view::npos)
    return "write a number like 8, -1, 0.5 or 1e9";
  if (reason.find("control character") != std::string_view::npos)
    return "close the quotes in the same line, and write \\n or \\t for a line end or a tab";
  if (reason.find("backslash") != std::string_view::npos) return "write \\\\ for a backslash in a text";
  return "check the quotes, brackets and commas before it";
}

/// Explains why the parser stopped at a character.
bool explain_syntax(Refusal& refuse, std::size_t offset, const std::string& token, std::string_view what) {
  const std::string_view text = refuse.text();
  if (text.find_first_not_of(" \t\r\n", offset) == std::string_view::npos)
    return refuse.at(text.size(), "json-truncated", "end of the text",
                     "be complete: something opened here is not closed",
                     "restore the missing end of the file");
  const auto word_char = [&](std::size_t i) {
    return i < text.size() && (std::isalpha(static_cast<unsigned char>(text[i])) != 0 || text[i] == '-');
  };
  std::size_t from = offset, to = offset;
  while (from > 0 && word_char(from - 1)) --from;
  while (word_char(to)) ++to;
  const std::string word(text.substr(std::min(from, text.size()), to - from));
  const std::string low = lower(word);
  if (low == "nan" || low == "inf" || low == "infinity" || low == "-infinity" || low == "-inf" ||
      low == "-nan")
    return refuse.at(from, "json-number", word, "be a finite number: JSON has no " + word,
                     "use null where the value is not known");
  if (low == "true" || low == "false" || low == "none" || low == "null")
    return refuse.at(from, "json-syntax", word, "be legal JSON: true, false and null in lower case",
                     "try " + (low == "none" ? "null" : low));
  const std::size_t previous =
      offset == 0 ? std::string_view::npos : text.find_last_not_of(" \t\r\n", offset - 1);
  const char c = offset < text.size() ? text[offset] : '\0';
  if ((c == '}' || c == ']') && previous != std::string_view::npos && text[previous] == ',')
    return refuse.at(previous, "json-syntax", ",", "be legal JSON: no comma before a closing bracket",
                     "remove the comma");
  if (c == '/' || c == '#')
    return refuse.at(offset, "json-syntax", std::string(1, c), "be legal JSON: there are no comments",
                     "put the remark into a key that begins with _");
  const bool string = token.size() > 1 && token.front() == '"' && token.size() <= offset + 1;
  const bool closing = what.find("; expected '}'") + 1 != 0 || what.find("; expected ']'") + 1 != 0;
  const bool glued = offset > 0 && std::isdigit(static_cast<unsigned char>(text[offset - 1])) != 0;
  if (closing)
    return refuse.at(string ? offset + 1 - token.size() : offset, "json-syntax", token.empty() ? word : token,
                     "be legal JSON: a comma or the end of the list comes here",
                     glued ? "write a number like 8, 0.5 or 1e9" : "put a comma before it");
  const std::size_t cut = what.find("; expected ");
  const std::size_t dash = what.rfind(" - ");
  std::string reason = cut != std::string_view::npos    ? "expected " + std::string(what.substr(cut + 11))
                       : dash != std::string_view::npos ? std::string(what.substr(dash + 3))
                                                        : "";
  reason = clipped(reason.substr(0, reason.find("; last read")));
  const bool single = token.size() == 1 || word.empty();
  return refuse.at(single ? offset : from, "json-syntax",
                   word.empty() ? (c == '\0' ? token : std::string(1, c)) : word,
                   reason.empty() ? "be legal JSON" : "be legal JSON: " + reason, way_out(word, c, reason));
}

/// Numbers that Python's json module writes, and for each a zero of the same length that no one writes: the
/// parser sees the zero, so that all places stay as they are.
struct NotFinite {
  std::string_view word, zero;
  double value;
};
constexpr NotFinite kNotFinite[] = {
    {"-Infinity", "-0E888888", -std::numeric_limits<double>::infinity()},
    {"Infinity", "0E888888", std::numeric_limits<double>::infinity()},
    {"NaN", "0E8", std::numeric_limits<double>::quiet_NaN()},
};

std::string without_not_finite(std::string_view text) {
  std::string out(text);
  const auto part_of_word = [&](std::size_t at) {
    const char c = at < text.size() ? text[at] : ' ';
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.';
  };
  bool quoted = false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (quoted && out[i] == '\\') {
      ++i;
    } else if (out[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      for (const NotFinite& n : kNotFinite)
        if (text.substr(i).starts_with(n.word) && !part_of_word(i + n.word.size()) &&
            (i == 0 || !part_of_word(i - 1)))
          out.replace(i, n.zero.size(), n.zero);
    }
  }
  return out;
}

/// Builds the document and refuses what nlohmann's own builder lets pass: repeated keys, 2^64.
class Builder {
  struct Level {
    json* node;
    std::string key;
  };
  Refusal& refuse_;
  json root_;
  std::vector<Level> open_;
  std::map<std::string, int> repeated_;  // pointer -> times seen
  int refusals_ = 0, repetitions_ = 0;
  bool lenient_;

  json* put(json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& top = open_.back();
    if (top.node->is_array()) {
      top.node->push_back(std::move(value));
      return &top.node->back();
    }
    json& slot = (*top.node)[top.key];
    slot = std::move(value);
    return &slot;
  }
  std::string pointer() const {
    std::string out;
    for (const Level& level : open_) {
      // The innermost array does not hold the value yet, the others do.
      const std::size_t index = level.node->size() - (&level == &open_.back() ? 0 : 1);
      out += pointer_step(level.node->is_array() ? std::to_string(index) : level.key);
    }
    return out;
  }
  void refuse_repeated() {
    ++repetitions_;
    if (++refusals_ > kMaxRefusals) return;
    const std::string at = pointer();
    const int seen = ++repeated_.try_emplace(at, 1).first->second;
    const std::size_t offset = locate(refuse_.text(), at, seen).key;
    const Place first = place_of(refuse_.text(), locate(refuse_.text(), at).key);
    refuse_.at(offset, "json-duplicate-key", "",
               "appear once; it stands already at " + std::to_string(first.line) + ":" +
                   std::to_string(first.column),
               "remove one of the two", at);
  }

 public:
  Builder(Refusal& refuse, bool lenient) : refuse_(refuse), lenient_(lenient) {}
  bool ok() const { return refusals_ == 0; }
  /// Nothing is wrong but keys that stand twice: what was read last holds, and the rest can be judged.
  bool readable() const { return refusals_ == repetitions_; }
  json take() { return std::move(root_); }

  bool null() { return put(nullptr), true; }
  bool boolean(bool v) { return put(v), true; }
  bool number_integer(json::number_integer_t v) { return put(v), true; }
  bool number_unsigned(json::number_unsigned_t v) { return put(v), true; }
  bool number_float(json::number_float_t v, const std::string& text) {
    for (const NotFinite& n : kNotFinite)
      if (lenient_ && text == n.zero) return put(n.value), true;
    if (!lenient_ && text.find_first_of(".eE") == std::string::npos && ++refusals_ <= kMaxRefusals) {
      const std::string at = pointer();  // what follows may be broken, but the walk to it never gets there
      refuse_.at(locate(refuse_.text(), at).value, "json-number", text, "be an integer of at most 64 bits",
                 "try a smaller number", at);
    }
    return put(v), true;
  }
  bool string(std::string& v) { return put(std::move(v)), true; }
  bool binary(json::binary_t&) { return false; }
  bool key(std::string& v) {
    Level& top = open_.back();
    top.key = v;
    if (top.node->contains(v)) refuse_repeated();
    return true;
  }
  bool start_object(std::size_t) { return open_.push_back({put(json::object()), {}}), true; }
  bool start_array(std::size_t) { return open_.push_back({put(json::array()), {}}), true; }
  bool end_object() { return open_.pop_back(), true; }
  bool end_array() { return open_.pop_back(), true; }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& why) {
    const std::size_t offset = std::min(position == 0 ? 0 : position - 1, refuse_.text().size());
    constexpr int kNumberOverflow = 406;
    if (why.id == kNumberOverflow)
      return refuse_.at(offset - std::min(offset, token.size() - 1), "json-number", token,
                        "be a number below 1.8e308", "try a smaller number", pointer());
    return explain_syntax(refuse_, offset, token, why.what());
  }
};

}  // namespace

std::string_view without_bom(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

bool is_utf8(std::string_view text, std::string_view file, Issues& issues) {
  Refusal refuse(text, file, issues);
  return check_encoding(refuse);
}

std::optional<json> parse_json(std::string_view text, std::string_view file, Issues& issues, bool lenient,
                               Repeated repeated) {
  Refusal refuse(text, file, issues);
  if (text.size() > kMaxFileBytes) {
    refuse.at(0, "file-too-large", std::to_string(text.size()) + " bytes", "be at most 4 MiB", "shorten it");
    return std::nullopt;
  }
  if (!check_encoding(refuse)) return std::nullopt;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    refuse.at(0, "json-empty", text.empty() ? "an empty file" : "only blanks", "hold one JSON object",
              "write { } at least");
    return std::nullopt;
  }
  if (!check_depth(refuse)) return std::nullopt;
  Builder builder(refuse, lenient);
  const bool read =
      lenient ? json::sax_parse(without_not_finite(text), &builder) : json::sax_parse(text, &builder);
  const bool usable = builder.ok() || (repeated == Repeated::ReadOn && builder.readable());
  if (!read || !usable) return std::nullopt;
  return builder.take();
}

}  // namespace trainplan
