#pragma once

#include <optional>
#include <string>
#include <string_view>

// The XML of Grid Engine's commands, which write no attributes into the elements that matter.
namespace hpcboot {

// What the first element of that name holds; nullopt if there is none.
std::optional<std::string_view> element_in(std::string_view text, const std::string& name);

// With its entities replaced.
std::string xml_text(std::string_view text);

// Calls `each` with what every element of that name holds. None may be within another of the same
// name.
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
