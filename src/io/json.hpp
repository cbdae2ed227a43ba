/// Strict JSON: a file's text to a document, every refusal with its place.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "trainplan/spec/issue.hpp"

namespace trainplan {

inline constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;
inline constexpr int kMaxDepth = 64;

/// Line and column, from 1; columns count characters, not bytes. 0: no place.
struct Place {
  int line = 0, column = 0;
};
Place place_of(std::string_view text, std::size_t offset);

/// Where the value at a JSON pointer stands, and the key before it; of the n-th one where a key is repeated.
/// The nearest parent when the pointer leads nowhere. `text` must be legal JSON.
struct Location {
  std::size_t value = 0, key = 0;
};
Location locate(std::string_view text, std::string_view pointer, int occurrence = 1);

/// One step of a JSON pointer, escaped.
std::string pointer_step(std::string_view key);

/// The content of a file of at most kMaxFileBytes.
std::optional<std::string> read_file(const std::string& path, Issues& issues);

/// Without the byte order mark that some editors write.
std::string_view without_bom(std::string_view text);

/// A key that stands twice is a mistake, told in either case; ReadOn: the last one holds, so that what else
/// is wrong is told in the same run. Its reader must ask for errors from before the text was opened.
enum class Repeated : bool { Refuse, ReadOn };

/// `text` without a byte order mark. Every mistake becomes an issue of `file`. lenient: NaN, Infinity and
/// integers of any length are read as what Python's json module writes with them.
std::optional<nlohmann::json> parse_json(std::string_view text, std::string_view file, Issues& issues,
                                         bool lenient = false, Repeated repeated = Repeated::Refuse);

}  // namespace trainplan
