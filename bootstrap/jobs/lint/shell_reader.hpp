#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Enough of the shell grammar to distinguish commands, comments, quotes and here-documents.
namespace hpcboot::lint {

// What a byte of the script belongs to.
enum class Kind : char { code, single_quoted, double_quoted, comment, here_document };

// A variable that is expanded by the shell that reads the script: not escaped, not in single
// quotes.
struct Expansion {
  std::string name;
  std::size_t at = 0;  // offset of its $
  bool quoted = false;
};

struct Word {
  std::string text;  // without quotes and escapes; expansions as written
  std::size_t at = 0;
  std::vector<Expansion> expansions;
};

// A simple command: `A=1 srun -n 4 ./a.out`. Commands within $(…), (…), if and similar are separate
// entries of the list.
struct Command {
  std::vector<Word> assignments;
  std::vector<Word> words;
  std::vector<Expansion> input;  // of here-documents and here-strings
  std::string output;            // the file it writes to: > FILE, >> FILE
  bool in_function = false;
  bool in_condition = false;   // between if and fi or case and esac
  bool in_background = false;  // ends with &
};

struct Shell {
  std::vector<Command> commands;
  std::vector<Kind> kinds;  // one for each byte of the text
};

// Never fails: reads text that is not valid shell as well as possible.
Shell read_shell(std::string_view text);

}  // namespace hpcboot::lint
