#include "slurm_squeue.hpp"

#include <sstream>

#include "hpcboot/error.hpp"
#include "job_command.hpp"

namespace hpcboot::run {
namespace {

constexpr std::size_t kTextWidth = 4096;

// Ignores the user's settings for squeue; times in seconds since 1970.
std::string ask(const Surroundings& s, const std::string& id, const std::string& option,
                const std::string& format) {
  std::vector<std::string> words{"env"};
  for (const auto& [name, value] : s.env.variables()) {
    if (name.rfind("SQUEUE_", 0) == 0 || name == "SLURM_CLUSTERS")
      words.insert(words.end(), {"-u", name});
  }
  words.insert(words.end(), {"SLURM_TIME_FORMAT=%s", "squeue", "--noheader", "--all", "--jobs", id,
                             option, format});
  return answer_of(s, words);
}

[[noreturn]] void refuse_answer(const std::string& id, const std::string& answer) {
  throw Error(ErrorCode::backend_unavailable,
              "squeue does not describe job " + id + ": '" + answer.substr(0, 200) + "'",
              "the requested fields of a running job", "try `squeue --jobs " + id + "` by hand");
}

std::string known(std::string text) {
  if (text == "(null)" || text == "N/A") text.clear();
  return text;
}

// "Comment:64,State:64"
std::string format_of(const std::vector<std::string>& columns, std::size_t width) {
  std::string format;
  for (const std::string& column : columns)
    format += (format.empty() ? "" : ",") + column + ":" + std::to_string(width);
  return format;
}

}  // namespace

std::vector<std::string> squeue_columns(const Surroundings& s, const std::string& id,
                                        const std::string& columns) {
  std::string format;
  for (const char column : columns) format += (format.empty() ? "%" : "\n%") + std::string{column};
  const std::string answer = ask(s, id, "--format", format);
  std::vector<std::string> values;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) values.push_back(known(line));
  if (values.size() != columns.size()) refuse_answer(id, answer);
  return values;
}

std::vector<std::string> squeue_texts(const Surroundings& s, const std::string& id,
                                      const std::vector<std::string>& columns) {
  const std::string answer = ask(s, id, "--Format", format_of(columns, kTextWidth));
  if (answer.size() != columns.size() * kTextWidth + 1) refuse_answer(id, answer);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::string value = answer.substr(i * kTextWidth, kTextWidth);
    value.erase(value.find_last_not_of(' ') + 1);
    values.push_back(known(value));
  }
  return values;
}

// Until all tasks of an array have started, squeue may list several tasks for one job number.
std::string squeue_id(const Surroundings& s, const std::string& number) {
  const std::string answer = ask(s, number, "--Format", format_of({"JobArrayID", "JobID"}, 64));
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream text(line);
    std::string id;
    std::string found;
    if (text >> id >> found && found == number) return id;
  }
  refuse_answer(number, answer);
}

// The leader of a heterogeneous job is component "12+0".
std::vector<std::string> squeue_words(const Surroundings& s, const std::string& id,
                                      const std::vector<std::string>& columns) {
  std::vector<std::string> asked{"JobArrayID"};
  asked.insert(asked.end(), columns.begin(), columns.end());
  const std::string answer = ask(s, id, "--Format", format_of(asked, 64));
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream text(line);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    if (words.size() != asked.size() || (words[0] != id && words[0] != id + "+0")) continue;
    return {words.begin() + 1, words.end()};
  }
  refuse_answer(id, answer);
}

}  // namespace hpcboot::run
