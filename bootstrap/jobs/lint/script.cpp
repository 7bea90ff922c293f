#include "script.hpp"

#include <algorithm>
#include <array>

#include "core/contains.hpp"

namespace hpcboot::lint {
namespace {

std::size_t indent_of(std::string_view text) {
  return std::min(text.find_first_not_of(" \t"), text.size());
}

std::vector<Line> split_lines(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    Line line;
    line.text = text.substr(at, end - at);
    line.at = at;
    line.carriage_return = !line.text.empty() && line.text.back() == '\r';
    if (line.carriage_return) line.text.remove_suffix(1);
    line.indent = indent_of(line.text);
    lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Whether the line is a directive, and of which scheduler. Slurm and LSF require it in the first
// column (tested with sbatch 22.05); qsub of PBS skips leading blanks. Grid Engine's #$ is short,
// and `#$HOME` is an ordinary comment, so an option must follow.
std::optional<Directive> directive_of(const Line& line) {
  Directive directive;
  directive.at = line.at;
  std::size_t behind = 0;
  if (starts_with(line.text, "#SBATCH")) {
    directive.scheduler = Scheduler::slurm;
    behind = 7;
  } else if (starts_with(line.text, "#BSUB")) {
    directive.scheduler = Scheduler::lsf;
    behind = 5;
  } else if (starts_with(line.text.substr(line.indent), "#PBS")) {
    directive.scheduler = Scheduler::pbs;
    directive.at += line.indent;
    behind = line.indent + 4;
  } else if (starts_with(line.text, "#$")) {
    const std::string_view rest = line.text.substr(2);
    const std::size_t option = indent_of(rest);
    if (option == 0 || option >= rest.size() || rest[option] != '-') return std::nullopt;
    directive.scheduler = Scheduler::sge;
    behind = 2;
  } else {
    return std::nullopt;
  }
  directive.rest = line.text.substr(behind);
  directive.words = split_directive(directive.rest, line.at + behind);
  directive.options = read_options(directive.scheduler, directive.words);
  return directive;
}

bool stops_at_first_command(Scheduler scheduler) {
  return scheduler == Scheduler::slurm || scheduler == Scheduler::pbs;
}

// Is the interpreter on line 1 a Bourne-like shell? True if line 1 names no interpreter.
bool names_a_shell(const std::vector<Line>& lines) {
  if (lines.empty() || !starts_with(lines[0].text, "#!")) return true;
  std::string_view rest = lines[0].text.substr(2);
  while (!rest.empty()) {
    rest.remove_prefix(indent_of(rest));
    std::string_view word = rest.substr(0, std::min(rest.find_first_of(" \t"), rest.size()));
    rest.remove_prefix(word.size());
    word.remove_prefix(word.find_last_of('/') + 1);  // npos + 1 is 0
    if (word == "env" || starts_with(word, "-")) continue;
    static constexpr std::array<std::string_view, 6> kShells = {"sh",  "bash", "dash",
                                                                "ksh", "zsh",  "ash"};
    return contains(kShells, word);
  }
  return true;
}

}  // namespace

const char* prefix_of(Scheduler scheduler) noexcept {
  static constexpr std::array<const char*, 4> kPrefixes = {"#SBATCH", "#PBS", "#$", "#BSUB"};
  return kPrefixes[static_cast<std::size_t>(scheduler)];
}

const char* submitter_of(Scheduler scheduler) noexcept {
  static constexpr std::array<const char*, 4> kCommands = {"sbatch", "qsub", "qsub", "bsub"};
  return kCommands[static_cast<std::size_t>(scheduler)];
}

Script read_script(std::string_view text) {
  Script script;
  script.text = text;
  script.lines = split_lines(text);
  script.is_shell = names_a_shell(script.lines);
  if (script.is_shell) script.shell = read_shell(text);
  for (std::size_t i = 0; i < script.lines.size(); ++i) {
    Line& line = script.lines[i];
    if (line.indent == line.text.size()) continue;
    if (line.text[line.indent] != '#') {
      // qsub skips a ':' on line 1, an old marker of Bourne shell scripts.
      if (!script.first_command && !(i == 0 && line.text[0] == ':')) script.first_command = i;
      continue;
    }
    const Kind kind = script.kind_at(line.at + line.indent);
    if (kind != Kind::comment) continue;
    if (auto directive = directive_of(line)) {
      line.is_directive = true;
      directive->is_read = !script.first_command || !stops_at_first_command(directive->scheduler);
      script.directives.push_back(*std::move(directive));
    }
  }
  return script;
}

std::optional<Scheduler> Script::scheduler() const {
  for (const Directive& directive : directives) {
    if (directive.is_read) return directive.scheduler;
  }
  return std::nullopt;
}

bool Script::has_directives_of(Scheduler scheduler) const {
  return std::any_of(directives.begin(), directives.end(), [&](const Directive& directive) {
    return directive.is_read && directive.scheduler == scheduler;
  });
}

std::optional<std::string> Script::option(Scheduler scheduler, std::string_view name) const {
  std::optional<std::string> value;
  for (const Directive& directive : directives) {
    if (!directive.is_read || directive.scheduler != scheduler) continue;
    for (const Option& option : directive.options) {
      if (option.name == name) value = option.value;
    }
  }
  return value;
}

int Script::line_of(std::size_t offset) const {
  const auto after =
      std::upper_bound(lines.begin(), lines.end(), offset,
                       [](std::size_t at, const Line& line) { return at < line.at; });
  return std::max(1, static_cast<int>(after - lines.begin()));
}

int Script::column_of(std::size_t offset) const {
  if (lines.empty()) return 1;
  return static_cast<int>(offset - lines[static_cast<std::size_t>(line_of(offset)) - 1].at) + 1;
}

Kind Script::kind_at(std::size_t offset) const {
  if (is_shell) return shell.kinds[offset];
  // In other languages, only comments at the start of a line are recognised.
  const Line& line = lines[static_cast<std::size_t>(line_of(offset)) - 1];
  const bool is_comment = line.indent < line.text.size() && line.text[line.indent] == '#';
  return is_comment ? Kind::comment : Kind::code;
}

}  // namespace hpcboot::lint
