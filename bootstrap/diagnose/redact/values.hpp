#pragma once

#include <cstddef>
#include <string_view>

namespace hpcboot::redaction {

/// How a value is written, which determines where it ends.
enum class Form {
  word,     ///< at white space, or with the quotes or brackets that it begins with
  element,  ///< of XML: at the next tag
  line,     ///< of YAML, "name: a b": at the end of the line
  block,    ///< of YAML: before the next line without more indentation than the name
};

struct Value {
  std::size_t begin;
  Form form = Form::word;
  std::size_t column = 0;  ///< of the name before a block
};

/// The end of the value, with its quotes or brackets; the end of the text if they are not closed.
std::size_t end_of_value(std::string_view text, const Value& value);

/// Whether the value ends where its form says, whatever encloses it.
bool is_delimited(std::string_view text, const Value& value);

/// The position after a quote at `at`, with the backslashes before it: JSON may contain JSON. `at`
/// if there is none.
std::size_t skip_quote(std::string_view text, std::size_t at);

/// The value after the colon at `colon`, if the name that begins at `name` is the first of its line
/// and the value is written as only YAML does; otherwise its form is a word.
Value value_after_colon(std::string_view text, std::size_t name, std::size_t colon);

}  // namespace hpcboot::redaction
