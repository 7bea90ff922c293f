#include "options/help.hpp"

#include <unistd.h>

#include <algorithm>

#include "text/display_width.hpp"
#include "text/style.hpp"
#include "text/terminal.hpp"
#include "text/wrap.hpp"

namespace hpcboot::options {
namespace {

constexpr std::size_t kMargin = 2;
constexpr std::size_t kWidestName = 26;  // a longer one has a line of its own

// The text of a help, built line by line.
class Page {
 public:
  Page(std::size_t width, bool has_colour) : width_(width), has_colour_(has_colour) {}

  void title(const std::string& text) {
    text_ += "\n" + styled(Encoded::as_is(text + ":"), Style::bold, has_colour_).str() + "\n";
  }
  void line(const std::string& text) { text_ += text + "\n"; }
  void paragraph(const std::string& text) {
    text_ += "\n";
    // Laid out by its author: printed as it is.
    if (text.rfind(' ', 0) == 0) return line(text);
    for (const std::string& one : wrapped(text, width_)) line(one);
  }

  // Names, with their descriptions in a column beside them.
  void entries(const std::vector<Entry>& all) {
    std::size_t widest = 0;
    for (const Entry& entry : all) {
      const std::size_t width = display_width(entry.name);
      if (width <= kWidestName) widest = std::max(widest, width);
    }
    const std::size_t column = kMargin + widest + 2;
    for (const Entry& entry : all) {
      std::string start = std::string(kMargin, ' ') + entry.name;
      if (display_width(entry.name) > widest) {
        line(start);
        start.clear();
      }
      for (const std::string& one : wrapped(entry.text, width_ - column)) {
        line(start + std::string(column - display_width(start), ' ') + one);
        start.clear();
      }
    }
  }

  // A command line each, with what it does beside it; above it if one does not fit.
  void examples(const std::vector<Entry>& all) {
    std::size_t widest = 0;
    std::size_t longest_text = 0;
    for (const Entry& entry : all) {
      widest = std::max(widest, display_width(entry.name));
      longest_text = std::max(longest_text, display_width(entry.text));
    }
    if (kMargin + widest + 2 + longest_text <= width_) {
      for (const Entry& entry : all) {
        const std::string space(widest - display_width(entry.name) + 2, ' ');
        line("  " + entry.name + (entry.text.empty() ? "" : space + entry.text));
      }
      return;
    }
    for (const Entry& entry : all) {
      for (const std::string& one : wrapped(entry.text, width_ - kMargin - 2)) line("  # " + one);
      for (const std::string& one : wrapped_command(entry.name, width_ - kMargin)) line("  " + one);
    }
  }

  Encoded text() const { return Encoded::as_is(text_); }

 private:
  std::size_t width_;
  bool has_colour_;
  std::string text_;
};

// "Print …." of "print …"
std::string sentence(std::string clause) {
  if (clause.empty()) return clause;
  if (clause[0] >= 'a' && clause[0] <= 'z') clause[0] = static_cast<char>(clause[0] - 'a' + 'A');
  return clause.back() == '?' ? clause : clause + ".";
}

void add_start(Page& page, const Command& command, std::size_t width) {
  for (const std::string& one : wrapped(sentence(command.summary), width)) page.line(one);
  page.line("");
  const char* start = "Usage: ";
  for (const std::string& usage : command.usage) {
    for (const std::string& one : wrapped_command(usage, width - 7)) {
      page.line(start + one);
      start = "       ";
    }
  }
  if (!command.examples.empty()) {
    page.title("Examples");
    page.examples(command.examples);
  }
}

void add_rest(Page& page, const Command& command) {
  for (const std::string& paragraph : command.details) page.paragraph(paragraph);
  for (const Group& group : command.groups) {
    page.title(group.title);
    std::vector<Entry> entries;
    for (const Option& option : group.options)
      entries.push_back(
          {(option.letter() == '\0' ? "    " : "") + names_of(option), described(option)});
    page.entries(entries);
  }
  if (!command.environment.empty()) {
    page.title("Environment");
    page.entries(command.environment);
  }
  if (!command.files.empty()) {
    page.title("Files");
    page.entries(command.files);
  }
  if (!command.exit_codes.empty()) {
    page.title("Exit codes");
    page.entries(command.exit_codes);
  }
  if (!command.more.empty()) page.paragraph("More: " + command.more);
}

}  // namespace

std::string names_of(const Option& option) {
  std::string text = option.letter() == '\0' ? "" : std::string("-") + option.letter() + ", ";
  text += "--" + option.long_name();
  if (option.value.name.empty()) return text;
  return text +
         (option.value.is_optional ? "[=" + option.value.name + "]" : " " + option.value.name);
}

std::string described(const Option& option) {
  std::string text = option.help;
  if (!option.value.otherwise.empty()) text += " [" + option.value.otherwise + "]";
  return text;
}

Encoded help_text(const Command& command, std::size_t width, bool has_colour) {
  Page page(width, has_colour);
  add_start(page, command, width);
  add_rest(page, command);
  return page.text();
}

Encoded help_text(const Program& program, std::size_t width, bool has_colour) {
  Page page(width, has_colour);
  add_start(page, program.command, width);
  page.title("Verbs");
  std::vector<Entry> verbs;
  for (const Command& verb : program.verbs) verbs.push_back({verb.verb, verb.summary});
  page.entries(verbs);
  page.paragraph(program.command.program + " VERB --help says more about each.");
  add_rest(page, with_general_options(program.command));
  return page.text();
}

std::size_t help_width() {
  const int columns = terminal_columns(STDOUT_FILENO, 80);
  return static_cast<std::size_t>(std::clamp(columns, 40, 100));
}

}  // namespace hpcboot::options
