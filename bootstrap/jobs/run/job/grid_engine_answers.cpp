#include "grid_engine_answers.hpp"

#include <sstream>
#include <utility>

#include "hpcboot/env.hpp"

namespace hpcboot::run {
namespace {

// A part of it that has elements of one name once: Grid Engine writes no attributes in these.
// nullopt if there is none.
std::optional<std::string_view> between(std::string_view text, const std::string& name) {
  const std::size_t begin = text.find("<" + name + ">");
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin + name.size() + 2);
  const std::size_t end = text.find("</" + name + ">");
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}

// Calls `each` with what every element of that name holds.
template <typename Each>
void for_each_element(std::string_view text, const std::string& name, Each each) {
  for (;;) {
    const auto element = between(text, name);
    if (!element) return;
    each(*element);
    text.remove_prefix(static_cast<std::size_t>(element->data() - text.data()) + element->size());
  }
}

std::string decoded(std::string_view text) {
  static const std::pair<std::string_view, char> kEntities[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&apos;", '\''}, {"&quot;", '"'}};
  std::string plain;
  while (!text.empty()) {
    std::size_t taken = 1;
    char c = text.front();
    for (const auto& [entity, character] : kEntities) {
      if (text.substr(0, entity.size()) != entity) continue;
      taken = entity.size();
      c = character;
    }
    plain += c;
    text.remove_prefix(taken);
  }
  return plain;
}

}  // namespace

std::optional<std::chrono::seconds> grid_engine_time(std::string_view text) {
  long long total = 0;
  for (;;) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    const auto number = part.empty() ? 0 : parse_whole_number(part);  // ":30:" is half an hour
    if (!number || *number < 0) return std::nullopt;
    total = total * 60 + *number;
    if (colon == std::string_view::npos) return std::chrono::seconds(total);
    text.remove_prefix(colon + 1);
  }
}

std::map<std::string, std::string> hard_requests(std::string_view details) {
  std::map<std::string, std::string> requests;
  const auto list = between(details, "JB_hard_resource_list");
  if (!list) return requests;
  std::string name;
  for_each_element(*list, "CE_name", [&](std::string_view found) {
    // What stands next is this request's value.
    const std::string_view rest =
        list->substr(static_cast<std::size_t>(found.data() - list->data()));
    const auto value = between(rest, "CE_stringval");
    if (value) requests[decoded(found)] = decoded(*value);
  });
  return requests;
}

std::optional<long long> start_of_task(std::string_view details, const std::string& task) {
  const std::string mark = "<JAT_task_number>";
  const std::size_t begin = details.find(mark + task + "</JAT_task_number>");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t next = details.find(mark, begin + mark.size());
  const auto text = between(details.substr(begin, next - begin), "JAT_start_time");
  const auto start = text ? parse_whole_number(*text) : std::nullopt;
  if (!start || *start <= 0) return std::nullopt;
  // Univa's has milliseconds.
  constexpr long long kNoSeconds = 100'000'000'000;
  return *start >= kNoSeconds ? *start / 1000 : *start;
}

std::string listed_state(std::string_view list, const std::string& job, const std::string& task) {
  std::string state;
  const std::string end = "</job_list>";
  while (!list.empty()) {
    const std::size_t size = list.find(end);
    const std::string_view entry = list.substr(0, size);
    list.remove_prefix(size == std::string_view::npos ? list.size() : size + end.size());
    if (between(entry, "JB_job_number") != job) continue;
    if (!task.empty() && between(entry, "tasks") != task) continue;
    state = std::string(between(entry, "state").value_or(""));
  }
  return state;
}

std::optional<std::chrono::seconds> queue_limit(const std::string& queue) {
  std::istringstream lines(queue);
  std::string key;
  std::string value;
  for (std::string line; std::getline(lines, line);) {
    if (std::istringstream(line) >> key >> value && key == "h_rt") return grid_engine_time(value);
  }
  return std::nullopt;
}

}  // namespace hpcboot::run
