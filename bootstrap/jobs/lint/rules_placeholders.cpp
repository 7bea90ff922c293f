#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <regex>

#include "core/contains.hpp"
#include "rules.hpp"

// Placeholders of a copied script that were not replaced.
namespace hpcboot::lint {
namespace {

constexpr std::size_t kLongest = 300;  // longer text may overflow the stack of std::regex

void add(Report& report, std::size_t at, const std::string& what) {
  report.add(at, "the placeholder " + what + " was not replaced",
             "the scheduler or the program receives it literally",
             "replace it with your own value");
}

// Options for the account, the queue and the mail address.
bool says_whose(Scheduler scheduler, const std::string& option) {
  static constexpr std::array<std::string_view, 4> kSlurm = {"account", "mail-user", "partition",
                                                             "qos"};
  static constexpr std::array<std::string_view, 4> kQsub = {"A", "M", "P", "q"};
  static constexpr std::array<std::string_view, 4> kLsf = {"G", "P", "q", "u"};
  if (scheduler == Scheduler::slurm) return contains(kSlurm, option);
  return scheduler == Scheduler::lsf ? contains(kLsf, option) : contains(kQsub, option);
}

// In the text of a directive: words that occur in no real account, project, folder or address.
bool has_placeholder(const std::string& text, std::smatch& match) {
  static const std::regex word(
      R"(\b((CHANGE_?ME|REPLACE_?ME|FILL_?ME_?IN|def-(x{2,}|some(user|prof)|username|yourname|CHANGEME)|your[-_.]?(account|allocation|email|name|partition|project|queue|username))(?![A-Za-z0-9])|[\w.]+@example\.(com|org|edu))|\{\{[ ]*[\w.]+[ ]*\}\})",
      std::regex::icase);
  static const std::regex angle(R"(<[A-Za-z][\w .-]*>)");
  return std::regex_search(text, match, word) || std::regex_search(text, match, angle);
}

// The text of a directive, without a trailing comment and a --comment, which is for people.
std::string text_of(const Script& script, const Directive& directive) {
  const std::size_t begin = directive.words[0].at;
  const std::size_t line = static_cast<std::size_t>(script.line_of(directive.at)) - 1;
  const std::size_t end = script.lines[line].at + script.lines[line].text.size();
  std::string text(script.text.substr(begin, std::min(end - begin, kLongest)));
  text.resize(std::min(text.find(" #"), text.size()));
  if (directive.scheduler != Scheduler::slurm) return text;
  for (const Option& option : directive.options) {
    const std::size_t at = option.name == "comment" ? text.find(option.value) : std::string::npos;
    if (at != std::string::npos) text.replace(at, option.value.size(), option.value.size(), ' ');
  }
  return text;
}

// The value of one of those options as manuals show it: ACCOUNT_NAME, st-XXXX-1,
// name@university.edu.
bool is_from_a_manual(const std::string& value) {
  static const std::regex bare(
      "ACCOUNT|ALLOCATION|EMAIL|PARTITION|PROJECT|QUEUE|USERNAME|TODO|TBD");
  static const std::regex name(
      "(account|allocation|group|partition|project|queue|user)[_-]?(name|id)|\\[.*\\]|"
      "my[_-]?(account|allocation|email|partition|project|queue|username)",
      std::regex::icase);
  static const std::regex crosses(R"((^|[^A-Za-z0-9])(X{3,}|x{3,})($|[^A-Za-z0-9]))");
  static const std::regex address(
      R"(.*@(university|institution|domain|my[-_.]?domain|your[-_.]?\w+)\.[\w.]+)"
      R"(|(your([-_.]?(address|e?mail|id|name))?|user_?name)@.*)",
      std::regex::icase);
  return std::regex_match(value, bare) || std::regex_match(value, name) ||
         std::regex_search(value, crosses) || std::regex_match(value, address);
}

// /path/to/your/project, --data=/path/to/data: the word itself, not one that only mentions it.
bool is_path_to(const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::size_t begin =
      equals != std::string::npos && word.find_first_of("/$") > equals ? equals + 1 : 0;
  return word.compare(begin, 9, "/path/to/") == 0;
}

void check_directives(const Script& script, Report& report) {
  for (const Directive& directive : script.directives) {
    if (!directive.is_read || directive.words.empty()) continue;
    const std::size_t begin = directive.words[0].at;
    const std::string text = text_of(script, directive);
    std::smatch match;
    if (has_placeholder(text, match)) {
      add(report, begin + static_cast<std::size_t>(match.position()), match.str());
      continue;
    }
    for (const Option& option : directive.options) {
      const std::string value = option.value.substr(0, kLongest);
      if (is_path_to(value) ||
          (says_whose(directive.scheduler, option.name) && is_from_a_manual(value))) {
        add(report, option.value_at, value.substr(0, 60));
      }
    }
  }
}

// Does a word, or the value of an assignment or option, start here?
bool begins_word(std::string_view line, std::size_t at) {
  return at == 0 || std::string_view(" \t=(").find(line[at - 1]) != std::string_view::npos;
}

// The first words of the commands by their offsets. A command comes after those within it in the
// script's list, and takes their place here.
std::vector<const Word*> names_of_commands(const Script& script) {
  std::vector<const Word*> names;
  for (const Command& command : script.shell.commands) {
    if (command.words.empty()) continue;
    while (!names.empty() && names.back()->at >= command.words[0].at) names.pop_back();
    names.push_back(command.words.data());
  }
  return names;
}

// Is it an argument of a program that searches for such text?
bool is_sought(const std::vector<const Word*>& names, std::size_t at) {
  static constexpr std::array<std::string_view, 5> kSeekers = {"grep", "egrep", "sed", "awk",
                                                               "perl"};
  const auto after = std::upper_bound(names.begin(), names.end(), at,
                                      [](std::size_t b, const Word* name) { return b < name->at; });
  return after != names.begin() && contains(kSeekers, (*std::prev(after))->text);
}

// {{key}} of a template engine, if a word starts with it. Deeper inside words and quotes it belongs
// to another program: sed "s/{{NAME}}/x/", sh -c "echo {{x}}".
void check_mustaches(const Script& script, Report& report) {
  static const std::regex mustache(R"(\{\{[{#/^&]?[ ]*[A-Za-z_][\w.]*[ ]*\}?\}\})");
  const std::vector<const Word*> names = names_of_commands(script);
  for (const Line& line : script.lines) {
    for (std::size_t i = line.text.find("{{"); i != std::string_view::npos;
         i = line.text.find("{{", i + 2)) {
      const Kind kind = script.kind_at(line.at + i);
      const bool is_quoted = kind == Kind::double_quoted && i > 0 && line.text[i - 1] == '"';
      if (kind != Kind::code && !is_quoted) continue;
      if (!begins_word(line.text, is_quoted ? i - 1 : i) || is_sought(names, line.at + i)) continue;
      const std::string text(line.text.substr(i, 100));
      std::smatch match;
      if (std::regex_search(text, match, mustache, std::regex_constants::match_continuous))
        add(report, line.at + i, match.str());
    }
  }
}

void check_paths(const Script& script, Report& report) {
  // They print it, compare with it or search for it.
  static constexpr std::array<std::string_view, 8> kSpeakers = {"echo", "printf", "[",   "[[",
                                                                "test", "grep",   "sed", "die"};
  for (const Command& command : script.shell.commands) {
    for (const Word& word : command.assignments) {
      if (is_path_to(word.text)) add(report, word.at, word.text.substr(0, 60));
    }
    if (!command.words.empty() && contains(kSpeakers, command.words[0].text)) continue;
    for (const Word& word : command.words) {
      if (is_path_to(word.text)) add(report, word.at, word.text.substr(0, 60));
    }
  }
}

}  // namespace

void check_placeholders(const Subject& subject, Report& report) {
  check_directives(subject.script, report);
  if (!subject.script.is_shell) return;
  check_mustaches(subject.script, report);
  check_paths(subject.script, report);
}

}  // namespace hpcboot::lint
