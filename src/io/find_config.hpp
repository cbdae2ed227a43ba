/// A name on the command line or in a file to the text that it means.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reader.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// Finds and parses a config of a kind ("models", ...). A local file wins: `directory`/name, then that with
/// ".json". Then the shipped config of that name or alias. `where` is the place that named it, for the issue
/// when there is none.
std::optional<Document> find_config(std::string_view kind, std::string_view name, Issues& issues,
                                    const std::string& directory = {}, const Issue& where = {},
                                    Opening opening = {});

/// The shipped config alone, where a file that happens to lie in the current directory must not decide.
std::optional<Document> shipped_config(std::string_view kind, std::string_view name, Issues& issues,
                                       Opening opening = {});

/// A local file, a folder, or a shipped config of any kind.
bool names_anything(std::string_view name);

/// Records that a word names none of several kinds of config, with the name of any of them that is near.
void refuse_unknown(std::span<const std::string_view> kinds, std::string_view name, Issues& issues,
                    const Issue& where = {});

/// Gives issues that name a pointer of a config, found before under `origin`, their line and column. Without
/// one, or without issues, nothing is read.
void place_in_config(std::string_view kind, const std::string& origin, Issues& issues);

/// "llama70b" of "x/llama70b.json" and of "shipped:models/llama70b.json"; the folder's name when the file is
/// "config.json".
std::string config_name(std::string_view origin);

/// Directory part of a path, empty when there is none or the config was shipped.
std::string directory_of(std::string_view origin);

/// The aliases of a shipped text.
std::vector<std::string> aliases_of(const nlohmann::json& root);

}  // namespace trainplan
