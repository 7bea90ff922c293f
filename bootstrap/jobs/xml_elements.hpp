#pragma once

#include <optional>
#include <string>
#include <string_view>

// The XML output of Grid Engine commands. Attributes are ignored.
namespace hpcboot {

// The content of the first element of that name; nullopt if there is none.
std::optional<std::string_view> element_in(std::string_view text, const std::string& name);

// Replaces entities.
std::string xml_text(std::string_view text);

// Calls `each` with the content of every element of that name. Elements of the same name must not
// be nested.
template <typename Each>
void for_each_element(std::string_view text, const std::string& name, Each each) {
  for (;;) {
    const auto element = element_in(text, name);
    if (!element) return;
    each(*element);
    text.remove_prefix(static_cast<std::size_t>(element->data() - text.data()) + element->size());
  }
}

}  // namespace hpcboot
