/// Damages JSON texts as editors, transfers and people do: pseudo-random, the same in every run.
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fuzz {

/// What stands where a value is meant: out of range, of the wrong type, not JSON at all.
inline constexpr std::string_view kValues[] = {"-1",
                                               "0",
                                               "-0",
                                               "0.0",
                                               "1",
                                               "2",
                                               "3",
                                               "7.9",
                                               "1e400",
                                               "-1e400",
                                               "1e308",
                                               "1e-308",
                                               "5e-324",
                                               "1e9",
                                               "65535",
                                               "65536",
                                               "4294967296",
                                               "9223372036854775807",
                                               "18446744073709551615",
                                               "18446744073709551616",
                                               "123456789012345678901234567890",
                                               "NaN",
                                               "-Infinity",
                                               "null",
                                               "true",
                                               "false",
                                               "True",
                                               "\"\"",
                                               "\"x\"",
                                               "\"-1\"",
                                               "\"7.9\"",
                                               "\"1e400\"",
                                               "\"nan\"",
                                               "\"8\"",
                                               "\"64\"",
                                               "\"30%\"",
                                               "\"400%\"",
                                               "\"1e300 GB/s\"",
                                               "\"1e-300 GB/s\"",
                                               "\"0 GB/s\"",
                                               "\"-3 GB/s\"",
                                               "\"5 parsecs\"",
                                               "\"4Mi-tokens\"",
                                               "\"1 tokens\"",
                                               "\"1e-9 s\"",
                                               "\"unknown\"",
                                               "\"zero3\"",
                                               "\"hsdp\"",
                                               "\"layers\"",
                                               "\"interleaved\"",
                                               "\"h100-sxm\"",
                                               "\"a\\u0000b\"",
                                               "\"\\ud800\"",
                                               "\"\xC3\xA4\"",
                                               "\"\xFF\"",
                                               "\"\xED\xA0\x80\"",
                                               "\"\t\"",
                                               "[]",
                                               "{}",
                                               "[[[[[[[[]]]]]]]]",
                                               "{\"a\": {\"b\": [1, {\"c\": null}]}}",
                                               "[1, 2, 3]",
                                               "{\"value\": null}",
                                               "{\"value\": -1}",
                                               "{\"value\": \"80 GB\", \"assumed\": 3}",
                                               "'8'",
                                               "0x10",
                                               "08",
                                               "1,000",
                                               "+1",
                                               ".5"};

/// Bytes that break an encoding or a scanner.
inline constexpr std::string_view kJunk[] = {std::string_view("\0", 1),
                                             "\xFF",
                                             "\xC0\xAF",
                                             "\xED\xA0\x80",
                                             "\xF5\x80\x80\x80",
                                             "\xEF\xBB\xBF",
                                             "\xFF\xFE",
                                             "\x80",
                                             "\x1B[31m",
                                             "\\",
                                             "\"",
                                             "/*",
                                             "//",
                                             "#",
                                             "\r",
                                             "\n",
                                             ",",
                                             ",,",
                                             "{",
                                             "}",
                                             "[",
                                             "]",
                                             ":"};

class Mutator {
  std::mt19937_64 engine_;

  struct Span {
    std::size_t from = 0, size = 0;
  };

  /// The standard distributions differ between libraries.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(engine_() % n); }
  template <class Array>
  auto one_of(const Array& values) {
    return values[below(std::size(values))];
  }

  Span span_in(const std::string& text, std::size_t longest) {
    const std::size_t from = below(text.size() + 1);
    return {from, std::min(below(longest) + 1, text.size() - from)};
  }

  static std::size_t end_of_string(const std::string& text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at)
      if (text[at] == '\\') ++at;
    return std::min(at + 1, text.size());
  }

  /// Strings, words and numbers, and single characters; blanks are left out.
  static std::vector<Span> tokens_of(const std::string& text) {
    std::vector<Span> out;
    const auto wordy = [&](std::size_t i) {
      return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '-' ||
                                 text[i] == '.' || text[i] == '+');
    };
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at + 1;
      if (text[at] == '"') end = end_of_string(text, at);
      while (wordy(at) && wordy(end)) ++end;
      if (std::isspace(static_cast<unsigned char>(text[at])) == 0) out.push_back({at, end - at});
      at = end;
    }
    return out;
  }

  static bool scalar(const std::string& text, Span t) {
    return text[t.from] == '"' || std::isalnum(static_cast<unsigned char>(text[t.from])) != 0 ||
           text[t.from] == '-';
  }
  static bool colon_after(const std::string& text, const std::vector<Span>& tokens, std::size_t i) {
    return i + 1 < tokens.size() && text[tokens[i + 1].from] == ':';
  }

  /// Scalars that are keys, or those that are values.
  std::vector<std::size_t> scalars(const std::string& text, const std::vector<Span>& tokens,
                                   bool keys) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (scalar(text, tokens[i]) && colon_after(text, tokens, i) == keys) out.push_back(i);
    return out;
  }

  static void swap_spans(std::string& text, Span a, Span b) {
    if (a.from > b.from) std::swap(a, b);
    if (a.from + a.size > b.from) return;
    const std::string first = text.substr(a.from, a.size), second = text.substr(b.from, b.size);
    text.replace(b.from, b.size, first);
    text.replace(a.from, a.size, second);
  }

  void change_bytes(std::string& text) {
    const Span s = span_in(text, 12);
    switch (below(7)) {
      case 0: text.erase(s.from, s.size); break;
      case 1: text.insert(s.from, text.substr(s.from, s.size)); break;
      case 2: swap_spans(text, s, span_in(text, 12)); break;
      case 3: text.insert(s.from, one_of(kJunk)); break;
      case 4: text.resize(s.from); break;
      case 5: text.insert(s.from, 1, static_cast<char>(below(256))); break;
      default:
        if (s.size > 0)
          text[s.from] = static_cast<char>(static_cast<unsigned char>(text[s.from]) ^ (1u << below(8)));
    }
  }

  void change_tokens(std::string& text) {
    const std::vector<Span> tokens = tokens_of(text);
    if (tokens.empty()) return;
    const Span t = one_of(tokens), other = one_of(tokens);
    switch (below(3)) {
      case 0: text.erase(t.from, t.size); break;
      case 1: text.insert(t.from, text.substr(t.from, t.size)); break;
      default: swap_spans(text, t, other);
    }
  }

  void change_value(std::string& text) {
    const std::vector<Span> tokens = tokens_of(text);
    const std::vector<std::size_t> values = scalars(text, tokens, false);
    if (values.empty()) return;
    const Span t = tokens[one_of(values)], other = tokens[one_of(values)];
    if (below(4) == 0)
      swap_spans(text, t, other);
    else
      text.replace(t.from, t.size, one_of(kValues));
  }

  /// A key twice, a key misspelled, a key with another one's value, a whole member more or less.
  void change_member(std::string& text, const std::vector<std::string>& members) {
    const std::vector<Span> tokens = tokens_of(text);
    const std::vector<std::size_t> keys = scalars(text, tokens, true);
    if (keys.empty()) return;
    const Span k = tokens[one_of(keys)], other = tokens[one_of(keys)];
    const std::string name = text.substr(k.from, k.size);
    switch (below(5)) {
      case 0: text.insert(k.from, name + ": " + std::string(one_of(kValues)) + ", "); break;
      case 1: text.insert(k.from + 1 + below(k.size - 1), 1, static_cast<char>('a' + below(26))); break;
      case 2: swap_spans(text, k, other); break;
      case 3:
        if (!members.empty()) text.insert(k.from, one_of(members) + ", ");
        break;
      default: text.erase(k.from, std::min(text.find('\n', k.from), text.size()) - k.from);
    }
  }

 public:
  explicit Mutator(std::uint64_t start) : engine_(start) {}

  std::size_t pick(std::size_t n) { return below(n); }

  /// One to four changes; most leave legal JSON. `members`: legal members of the kind, as they stand in a
  /// file.
  std::string mutate(std::string text, const std::vector<std::string>& members = {}) {
    for (std::size_t n = 1 + below(4); n > 0; --n) {
      switch (below(8)) {
        case 0: change_bytes(text); break;
        case 1: change_tokens(text); break;
        case 2:
        case 3: change_member(text, members); break;
        default: change_value(text);
      }
    }
    return text;
  }

  /// Only values and members change, so that most texts get through the parser.
  std::string mutate_values(std::string text, const std::vector<std::string>& members = {}) {
    for (std::size_t n = 1 + below(2); n > 0; --n)
      if (below(3) == 0)
        change_member(text, members);
      else
        change_value(text);
    return text;
  }
};

}  // namespace fuzz
