#include <algorithm>
#include <array>
#include <cctype>

#include "core/byte_order_mark.hpp"
#include "rules.hpp"

// Checks of the characters in the file.
namespace hpcboot::lint {
namespace {

struct Character {
  std::string_view bytes;  // UTF-8
  const char* name;
  const char* plain;
};

// Wrong anywhere that the shell or the scheduler reads.
constexpr std::array<Character, 8> kQuotesAndBlanks = {
    {{"\xE2\x80\x9C", "a typographic quote", "\""},
     {"\xE2\x80\x9D", "a typographic quote", "\""},
     {"\xE2\x80\x9E", "a typographic quote", "\""},
     {"\xE2\x80\x98", "a typographic quote", "'"},
     {"\xE2\x80\x99", "a typographic quote", "'"},
     {"\xC2\xA0", "a non-breaking space", "a plain space"},
     {"\xE2\x80\xAF", "a non-breaking space", "a plain space"},
     {"\xE2\x80\x8B", "a zero-width space", "nothing"}}};

// Wrong at the start of a word, where an option's - was meant.
constexpr std::array<Character, 3> kDashes = {{{"\xE2\x80\x93", "a typographic dash", "- or --"},
                                               {"\xE2\x80\x94", "a typographic dash", "- or --"},
                                               {"\xE2\x88\x92", "a minus sign", "-"}}};

template <std::size_t N>
const Character* character_at(std::string_view text, const std::array<Character, N>& characters) {
  for (const Character& one : characters) {
    if (text.substr(0, one.bytes.size()) == one.bytes) return &one;
  }
  return nullptr;
}

// Harmless between two letters: echo it’s done.
bool is_apostrophe(std::string_view text, std::size_t at) {
  const auto is_letter = [&](std::size_t i) {
    return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0;
  };
  return text.substr(at, 3) == "\xE2\x80\x99" && at > 0 && is_letter(at - 1) && is_letter(at + 3);
}

// Does the scheduler only display the value?
bool is_shown(Scheduler scheduler, const std::string& option) {
  if (scheduler == Scheduler::slurm) return option == "comment" || option == "job-name";
  if (scheduler == Scheduler::lsf) return option == "J" || option == "Jd";
  return option == "N";
}

// Marks what is in plain quotes in [begin, end).
void mark_quoted(std::string_view text, std::size_t begin, std::size_t end,
                 std::vector<bool>& marks) {
  char quote = '\0';
  for (std::size_t i = begin; i < end; ++i) {
    marks[i] = quote != '\0';
    if (quote == '\0' && (text[i] == '"' || text[i] == '\'')) {
      quote = text[i];
    } else if (text[i] == quote) {
      quote = '\0';
    }
  }
}

// For each byte: is it in plain quotes, in text that the scheduler only displays: #SBATCH
// --comment="a – b"?
std::vector<bool> free_text_of(const Script& script) {
  std::vector<bool> marks(script.text.size());
  for (const Directive& directive : script.directives) {
    const Line& line = script.lines[static_cast<std::size_t>(script.line_of(directive.at)) - 1];
    const auto& options = directive.options;
    for (std::size_t i = 0; i < options.size(); ++i) {
      if (!is_shown(directive.scheduler, options[i].name)) continue;
      const std::size_t end =
          i + 1 < options.size() ? options[i + 1].value_at : line.at + line.text.size();
      mark_quoted(script.text, options[i].value_at, end, marks);
    }
  }
  return marks;
}

}  // namespace

void check_line_ends(const Subject& subject, Report& report) {
  const auto& lines = subject.script.lines;
  const auto is_dos = [](const Line& line) { return line.carriage_return; };
  const auto first = std::find_if(lines.begin(), lines.end(), is_dos);
  if (first == lines.end()) return;
  const auto count = std::count_if(lines.begin(), lines.end(), is_dos);
  report.add(
      first->at + first->text.size(),
      std::to_string(count) + (count == 1 ? " line ends" : " lines end") +
          " with a carriage return (Windows line endings)",
      "sbatch and qsub reject the script; a shell reads the \\r as part of each line's last word",
      R"(run sed -i 's/\r$//' FILE, and set the editor to Unix line endings)");
}

void check_byte_order_mark(const Subject& subject, Report& report) {
  if (!has_byte_order_mark(subject.script.text)) return;
  report.add(0, "the file starts with a byte order mark",
             "the first bytes are not #!, so sbatch rejects the file and the kernel cannot run it",
             R"(run sed -i '1s/^\xEF\xBB\xBF//' FILE, and save as UTF-8 without BOM)");
}

void check_shebang(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  if (script.lines.empty()) return;
  if (script.text.substr(0, 2) == "#!") {
    const std::string_view line = script.lines[0].text;
    const std::size_t at = line.find_first_not_of(" \t", 2);
    if (at != std::string_view::npos && line[at] == '/') return;
    report.add(
        Severity::error, 0, "the path after #! does not start with /",
        "the interpreter is looked up in the current folder of the node, and the job ends at once",
        "write #!/bin/bash");
    return;
  }
  if (has_byte_order_mark(script.text)) return;  // has its own rule
  const bool slurm = script.has_directives_of(Scheduler::slurm);
  // A directive names the interpreter: #PBS -S /bin/bash.
  if (script.option(Scheduler::pbs, "S") || script.option(Scheduler::sge, "S") ||
      script.option(Scheduler::lsf, "L")) {
    return;
  }
  const auto late = std::find_if(script.lines.begin(), script.lines.end(), [&](const Line& line) {
    const std::size_t at = std::min(line.text.find_first_not_of(" \t"), line.text.size());
    if (line.text.substr(at, 3) != "#!/") return false;
    return !script.is_shell || script.kind_at(line.at + at) == Kind::comment;
  });
  const Severity severity = slurm ? Severity::error : Severity::warning;
  const char* why =
      slurm ? "sbatch rejects a script that does not start with #!"
            : "the script then runs in the site's default shell or the user's login shell";
  if (late != script.lines.end()) {
    report.add(severity, late->at, "the #! is not at the very start of the file", why,
               "move it to the first column of line 1");
  } else {
    report.add(severity, 0, "the script does not start with #!", why,
               "write #!/bin/bash on line 1");
  }
}

void check_typography(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  const std::vector<bool> is_free_text = free_text_of(script);
  for (std::size_t at = 0; at < script.text.size(); ++at) {
    if (static_cast<unsigned char>(script.text[at]) < 0x80) continue;
    const std::string_view rest = script.text.substr(at);
    const bool begins_word = at == 0 || script.text[at - 1] == ' ' || script.text[at - 1] == '\t';
    const Character* found = character_at(rest, kQuotesAndBlanks);
    if (found == nullptr && begins_word) found = character_at(rest, kDashes);
    if (found == nullptr || is_apostrophe(script.text, at)) continue;
    const Kind kind = script.kind_at(at);
    const auto line = static_cast<std::size_t>(script.line_of(at)) - 1;
    const bool is_code = script.is_shell && kind == Kind::code;
    if (!is_code && !(kind == Kind::comment && script.lines[line].is_directive)) continue;
    if (is_free_text[at]) continue;
    report.add(at, std::string(found->name) + " where a plain character is needed",
               "often copied from a document or a chat; to the shell and the scheduler it is an "
               "ordinary character",
               std::string("write ") + found->plain + " instead");
    at += found->bytes.size() - 1;
  }
}

}  // namespace hpcboot::lint
