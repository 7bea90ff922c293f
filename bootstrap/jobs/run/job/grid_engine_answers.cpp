#include "grid_engine_answers.hpp"

#include <sstream>

#include "hpcboot/env.hpp"
#include "jobs/xml_elements.hpp"

namespace hpcboot::run {
std::optional<std::chrono::seconds> grid_engine_time(std::string_view text) {
  std::int64_t total = 0;
  for (;;) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    const auto number = part.empty() ? 0 : parse_whole_number(part);  // ":30:" is half an hour
    if (!number || *number < 0 || *number > kLongestWalltime.count()) return std::nullopt;
    total = total * 60 + *number;
    if (total > kLongestWalltime.count()) return std::nullopt;
    if (colon == std::string_view::npos) return std::chrono::seconds(total);
    text.remove_prefix(colon + 1);
  }
}

std::map<std::string, std::string> hard_requests(std::string_view details) {
  std::map<std::string, std::string> requests;
  const auto list = element_in(details, "JB_hard_resource_list");
  if (!list) return requests;
  std::string name;
  for_each_element(*list, "CE_name", [&](std::string_view found) {
    // A value before the next name belongs to this request.
    const std::string_view rest =
        list->substr(static_cast<std::size_t>(found.data() - list->data()));
    const auto value = element_in(rest.substr(0, rest.find("<CE_name")), "CE_stringval");
    if (value) requests[xml_text(found)] = xml_text(*value);
  });
  return requests;
}

std::optional<WallTime> start_of_task(std::string_view details, const std::string& task) {
  const std::string mark = "<JAT_task_number>";
  const std::size_t begin = details.find(mark + task + "</JAT_task_number>");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t next = details.find(mark, begin + mark.size());
  const auto text = element_in(details.substr(begin, next - begin), "JAT_start_time");
  const auto start = text ? parse_whole_number(*text) : std::nullopt;
  if (!start) return std::nullopt;
  // Univa Grid Engine reports milliseconds.
  constexpr std::int64_t kNoSeconds = 100'000'000'000;
  return wall_time_of(*start >= kNoSeconds ? *start / 1000 : *start);
}

std::string listed_state(std::string_view list, const std::string& job, const std::string& task) {
  std::string state;
  const std::string end = "</job_list>";
  while (!list.empty()) {
    const std::size_t size = list.find(end);
    const std::string_view entry = list.substr(0, size);
    list.remove_prefix(size == std::string_view::npos ? list.size() : size + end.size());
    if (element_in(entry, "JB_job_number") != job) continue;
    if (!task.empty() && element_in(entry, "tasks") != task) continue;
    state = std::string(element_in(entry, "state").value_or(""));
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
