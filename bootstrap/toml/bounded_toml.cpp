#include "bounded_toml.hpp"

#include <algorithm>
#include <string>

#include "core/schedulers/read_file.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

// The text behind a string or comment that begins at the start of `toml`: dots in them part no key.
std::string_view after_quoted(std::string_view toml) {
  const char quote = toml.front();
  const std::string three(3, quote);
  const bool has_escapes = quote == '"';
  const bool is_long = toml.substr(0, 3) == three;
  std::size_t at = is_long ? 3 : 1;
  for (; at < toml.size(); ++at) {
    if (has_escapes && toml[at] == '\\') {
      ++at;
    } else if (is_long ? toml.substr(at, 3) == three : toml[at] == quote || toml[at] == '\n') {
      break;
    }
  }
  if (!is_long) return toml.substr(std::min(at + 1, toml.size()));
  // Up to two more quotes may stand before the three that end it.
  at = std::min(at + 3, toml.size());
  for (int more = 0; more < 2 && at < toml.size() && toml[at] == quote; ++more) ++at;
  return toml.substr(at);
}

}  // namespace

int line_of_long_key(std::string_view toml) {
  std::size_t dots = 0;
  for (std::string_view rest = toml; !rest.empty();) {
    const char c = rest.front();
    const std::size_t line_of_c = toml.size() - rest.size();
    if (c == '"' || c == '\'') {
      rest = after_quoted(rest);
      continue;
    }
    if (c == '#') {
      rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
      continue;
    }
    if (c == '.' && ++dots >= kMostKeyParts) {
      const auto before = toml.substr(0, line_of_c);
      return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    }
    if (c == '=' || c == ',' || c == '{' || c == '}' || c == '[' || c == ']' || c == '\n') dots = 0;
    rest.remove_prefix(1);
  }
  return 0;
}

toml::table parse_toml(std::string_view text, const std::string& file) {
  const auto wrong = [&](int line, const std::string& what, const std::string& expected) {
    return Error(ErrorCode::malformed_file, file + ":" + std::to_string(line) + ": " + what,
                 expected, "correct this line");
  };
  if (text.size() > kLongestToml)
    throw wrong(1, "the file has " + std::to_string(text.size()) + " bytes", "at most 1 MiB");
  if (const int line = line_of_long_key(text); line != 0) {
    throw wrong(line, "a dotted key of more than " + std::to_string(kMostKeyParts) + " parts",
                "a key such as node.gpus");
  }
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw wrong(static_cast<int>(error.source().begin.line), std::string(error.description()),
                "TOML: NAME = VALUE, texts in double quotes");
  }
}

toml::table read_toml_file(const std::filesystem::path& file) {
  const FileText read = read_whole(file.string(), FileKind::regular);
  if (!read.text) {
    throw Error(ErrorCode::unreadable_file,
                "the file " + file.string() + " cannot be read: " + read.reason,
                "a profile such as jobscripts/sites/generic_slurm.toml", "correct the path");
  }
  return parse_toml(*read.text, file.string());
}

}  // namespace hpcboot
