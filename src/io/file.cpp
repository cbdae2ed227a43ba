#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "json.hpp"

namespace trainplan {
namespace {

Issue about(const std::string& path, std::string rule, std::string got, std::string must, std::string hint) {
  return {.rule = std::move(rule),
          .file = path,
          .got = std::move(got),
          .must = std::move(must),
          .hint = std::move(hint)};
}

Issue too_large(const std::string& path, const std::string& got) {
  return about(path, "file-too-large", got, "be at most 4 MiB",
               "a config.json has a few kilobytes; was a weights file meant?");
}

/// Reads at most one byte more than allowed: a pipe or device does not tell its size.
std::optional<std::string> read_bounded(std::FILE* in) {
  std::string text;
  std::array<char, 65536> block;
  while (text.size() <= kMaxFileBytes) {
    const std::size_t n = std::fread(block.data(), 1, block.size(), in);
    text.append(block.data(), n);
    if (n < block.size()) break;
  }
  if (std::ferror(in) != 0) return std::nullopt;
  return text;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, Issues& issues) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (status.type() == fs::file_type::not_found) {
    issues.add(about(path, "file-missing", "no such file", "exist", "check the path"));
    return std::nullopt;
  }
  if (fs::is_directory(status)) {
    const bool config = fs::exists(fs::path(path) / "config.json", failed);
    issues.add(about(path, "file-directory", "a directory", "be a file",
                     config ? "try " + (fs::path(path) / "config.json").string() : "name a file in it"));
    return std::nullopt;
  }
  if (fs::is_regular_file(status)) {
    const auto size = fs::file_size(path, failed);
    if (!failed && size > kMaxFileBytes) {
      issues.add(too_large(path, std::to_string(size) + " bytes"));
      return std::nullopt;
    }
  }
  errno = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rb"), &std::fclose);
  std::optional<std::string> text;
  if (in != nullptr) text = read_bounded(in.get());
  if (!text) {
    const std::string why = errno != 0 ? std::strerror(errno) : "read error";
    issues.add(about(path, "file-unreadable", why, "be readable", "check its permissions"));
    return std::nullopt;
  }
  if (text->size() > kMaxFileBytes) {
    issues.add(too_large(path, "more than 4 MiB"));
    return std::nullopt;
  }
  return text;
}

}  // namespace trainplan
