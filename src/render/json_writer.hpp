/// JSON text, member by member: escaping, numbers that read back as themselves, indentation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainplan {

/// Members of an object get a key, elements of an array an empty one. A key twice in one object is a mistake
/// of the caller and asserted against.
class JsonWriter {
  struct Level {
    char close;
    bool flat, empty = true;
    std::vector<std::string> keys{};
  };
  std::string out_;
  std::vector<Level> open_;

  void item(std::string_view key);
  void open(std::string_view key, char bracket, char close, bool flat);

 public:
  /// flat: all on one line.
  void object(std::string_view key, bool flat = false) { open(key, '{', '}', flat); }
  void array(std::string_view key, bool flat = false) { open(key, '[', ']', flat); }
  void end();

  void text(std::string_view key, std::string_view value);
  void number(std::string_view key, double value);  // null when not finite
  void boolean(std::string_view key, bool value);
  void null(std::string_view key);

  /// The document, ending in a newline.
  std::string take();
};

}  // namespace trainplan
