#include <algorithm>
#include <array>
#include <string_view>

#include "core/contains.hpp"
#include "script.hpp"
#include "slurm_names.hpp"

namespace hpcboot::lint {
namespace {

// sbatch's short options that take a value, with their long names (sbatch(1), Slurm 22.05
// to 25.05).
struct ShortOption {
  char letter;
  const char* name;
};
constexpr std::array<ShortOption, 27> kSlurmShort = {
    {{'A', "account"},      {'a', "array"},      {'B', "extra-node-info"},
     {'b', "begin"},        {'C', "constraint"}, {'c', "cpus-per-task"},
     {'D', "chdir"},        {'d', "dependency"}, {'e', "error"},
     {'F', "nodefile"},     {'G', "gpus"},       {'i', "input"},
     {'J', "job-name"},     {'L', "licenses"},   {'M', "clusters"},
     {'m', "distribution"}, {'N', "nodes"},      {'n', "ntasks"},
     {'o', "output"},       {'p', "partition"},  {'q', "qos"},
     {'S', "core-spec"},    {'t', "time"},       {'w', "nodelist"},
     {'x', "exclude"},      {'P', "dependency"}, {'U', "account"}}};

// sbatch's long options without a value, or with a value only after =.
bool stands_alone(std::string_view name) {
  static constexpr std::array<std::string_view, 17> kAlone = {
      "exclusive", "requeue",       "no-requeue", "hold",       "overcommit",  "oversubscribe",
      "share",     "contiguous",    "parsable",   "wait",       "test-only",   "spread-job",
      "reboot",    "use-min-nodes", "no-kill",    "ignore-pbs", "get-user-env"};
  return contains(kAlone, name);
}

using Words = std::vector<DirectiveWord>;

// Uses the next word as the value, if there is one and it is not an option.
void take_value(Option& option, Words& words, std::size_t& i) {
  if (i + 1 >= words.size() || (words[i + 1].text.rfind('-', 0) == 0 && !words[i + 1].has_quotes))
    return;
  ++i;
  words[i].is_value = true;
  option.value = words[i].text;
  option.value_at = words[i].at;
}

Option slurm_option(Words& words, std::size_t& i) {
  const std::string& text = words[i].text;
  Option option;
  option.at = option.value_at = words[i].at;
  if (text.rfind("--", 0) == 0) {
    const std::size_t equals = std::min(text.find('='), text.size());
    option.name = slurm_option_name(std::string_view(text).substr(2, equals - 2));
    if (equals < text.size()) {
      option.value = text.substr(equals + 1);
      option.value_at += equals + 1;
    } else if (!stands_alone(option.name)) {
      take_value(option, words, i);
    }
    return option;
  }
  const char letter = text.size() > 1 ? text[1] : '-';
  const auto* const known =
      std::find_if(kSlurmShort.begin(), kSlurmShort.end(),
                   [&](const ShortOption& one) { return one.letter == letter; });
  if (known == kSlurmShort.end()) {
    option.name = text.substr(1);
  } else {
    option.name = known->name;
    if (text.size() > 2) {
      option.value = text.substr(2);
      option.value_at += 2;
    } else {
      take_value(option, words, i);
    }
  }
  return option;
}

// qsub options are single letters; the value may follow the letter directly.
Option pbs_option(Words& words, std::size_t& i) {
  const std::string& text = words[i].text;
  Option option;
  option.at = option.value_at = words[i].at;
  option.name = text.substr(1, 1);
  if (text.size() > 2) {
    option.value = text.substr(2);
    option.value_at += 2;
  } else if (option.name.find_first_of("fhIVXz") == std::string::npos) {
    take_value(option, words, i);
  }
  return option;
}

// Options of Grid Engine and LSF are words; everything up to the next option is their value.
Option word_option(Words& words, std::size_t& i) {
  Option option;
  option.at = option.value_at = words[i].at;
  option.name = words[i].text.substr(1);
  while (i + 1 < words.size() &&
         (words[i + 1].text.rfind('-', 0) != 0 || words[i + 1].has_quotes)) {
    words[++i].is_value = true;
    if (option.value.empty()) {
      option.value_at = words[i].at;
    } else {
      option.value += ' ';
    }
    option.value += words[i].text;
  }
  return option;
}

}  // namespace

std::vector<DirectiveWord> split_directive(std::string_view rest, std::size_t at) {
  std::vector<DirectiveWord> words;
  std::size_t i = 0;
  while (i < rest.size()) {
    if (rest[i] == ' ' || rest[i] == '\t') {
      ++i;
      continue;
    }
    if (rest[i] == '#') break;
    DirectiveWord word;
    word.at = at + i;
    char quote = '\0';
    for (; i < rest.size(); ++i) {
      const char c = rest[i];
      if (c == '\\' && quote != '\'' && i + 1 < rest.size()) {
        word.text += rest[++i];
      } else if (quote != '\0') {
        if (c == quote) {
          quote = '\0';
        } else {
          word.text += c;
        }
      } else if (c == '"' || c == '\'') {
        quote = c;
        word.has_quotes = true;
      } else if (c == ' ' || c == '\t' || c == '#') {
        break;
      } else {
        word.text += c;
      }
    }
    words.push_back(word);
  }
  return words;
}

std::vector<Option> read_options(Scheduler scheduler, Words& words) {
  std::vector<Option> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].text.rfind('-', 0) != 0) continue;
    switch (scheduler) {
      case Scheduler::slurm:
        options.push_back(slurm_option(words, i));
        break;
      case Scheduler::pbs:
        options.push_back(pbs_option(words, i));
        break;
      case Scheduler::sge:
      case Scheduler::lsf:
        options.push_back(word_option(words, i));
        break;
    }
  }
  return options;
}

}  // namespace hpcboot::lint
