#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell_reader.hpp"

// A batch script as the rules see it: lines, directives, commands.
namespace hpcboot::lint {

enum class Scheduler { slurm, pbs, sge, lsf };

// "#SBATCH", "#PBS", "#$", "#BSUB"
const char* prefix_of(Scheduler scheduler) noexcept;
// The command that reads them: "sbatch", "qsub", "bsub".
const char* submitter_of(Scheduler scheduler) noexcept;

struct Option {
  std::string name;   // Slurm: the long name, even if written -n; others: without the dash
  std::string value;  // several words are joined by spaces, as in -pe mpi 16
  std::size_t at = 0;
  std::size_t value_at = 0;
};

// A word of a directive, with its quotes removed.
struct DirectiveWord {
  std::string text;
  std::size_t at = 0;
  bool has_quotes = false;
  bool is_value = false;  // of the preceding option
};

struct Directive {
  Scheduler scheduler = Scheduler::slurm;
  std::size_t at = 0;
  std::string_view rest;  // of the line, after the prefix
  bool is_read = true;    // false after the first command, if the scheduler stops there
  std::vector<DirectiveWord> words;
  std::vector<Option> options;
};

struct Line {
  std::string_view text;  // without its line end
  std::size_t at = 0;
  std::size_t indent = 0;  // blanks and tabs at its start
  bool carriage_return = false;
  bool is_directive = false;  // one of those in Script::directives
};

struct Script {
  std::string_view text;
  std::vector<Line> lines;
  std::vector<Directive> directives;         // without those in here-documents and quotes
  std::optional<std::size_t> first_command;  // index of the line where Slurm and PBS stop reading
  bool is_shell = true;                      // line 1 names no other interpreter
  Shell shell;                               // no commands if is_shell is false

  // The scheduler of the first directive that is read.
  std::optional<Scheduler> scheduler() const;
  bool has_directives_of(Scheduler scheduler) const;
  // The last value of an option among the directives that are read.
  std::optional<std::string> option(Scheduler scheduler, std::string_view name) const;

  int line_of(std::size_t offset) const;
  int column_of(std::size_t offset) const;
  Kind kind_at(std::size_t offset) const;
};

// `text` must outlive the result.
Script read_script(std::string_view text);

// The words of a directive, split as sbatch does: quotes, backslashes, # starts a comment.
std::vector<DirectiveWord> split_directive(std::string_view rest, std::size_t at);

// The options among the words, as the scheduler's command parses them; marks the words that are
// values.
std::vector<Option> read_options(Scheduler scheduler, std::vector<DirectiveWord>& words);

}  // namespace hpcboot::lint
