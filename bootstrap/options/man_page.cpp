#include "options/man_page.hpp"

#include <algorithm>

#include "options/help.hpp"

namespace hpcboot::options {
namespace {

// Escapes text so that nothing in it is a roff request, and every - can be copied and pasted.
std::string literal(const std::string& text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool at_start = i == 0 || text[i - 1] == '\n';
    if (at_start && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

std::string as_laid_out(const std::string& lines) {
  return ".nf\n" + literal(lines) + "\n.fi\n";
}

std::string paragraph(const std::string& text) {
  return ".PP\n" + (text.rfind(' ', 0) == 0 ? as_laid_out(text) : literal(text) + "\n");
}

std::string entry(const std::string& name, const std::string& text) {
  return ".TP\n.B " + literal(name) + "\n" + literal(text) + "\n";
}

std::string usage_of(const Command& command) {
  std::string lines;
  for (const std::string& usage : command.usage) lines += (lines.empty() ? "" : "\n") + usage;
  return as_laid_out(lines);
}

std::string examples_of(const Command& command) {
  std::string text;
  for (const Entry& example : command.examples) {
    text += ".PP\n";
    if (!example.text.empty()) text += literal(example.text) + ":\n";
    text += ".RS 4\n" + as_laid_out(example.name) + ".RE\n";
  }
  return text;
}

std::string options_section(const Command& command) {
  std::string text;
  for (const Group& group : command.groups) {
    text += ".PP\n.I " + literal(group.title) + "\n";
    for (const Option& option : group.options) text += entry(names_of(option), described(option));
  }
  return text;
}

std::string section(const std::string& title, const std::vector<Entry>& entries) {
  if (entries.empty()) return "";
  std::string text = ".SH " + title + "\n";
  for (const Entry& one : entries) text += entry(one.name, one.text);
  return text;
}

std::string verb_section(const Command& verb) {
  std::string text = ".SS " + literal(verb.program + " " + verb.verb) + "\n" +
                     literal(verb.summary) + ".\n" + usage_of(verb);
  for (const std::string& one : verb.details) text += paragraph(one);
  text += options_section(verb) + examples_of(verb);
  for (const Entry& one : verb.environment) text += entry(one.name, one.text);
  for (const Entry& one : verb.files) text += entry(one.name, one.text);
  if (!verb.exit_codes.empty()) text += ".PP\n.I Exit status\n";
  for (const Entry& one : verb.exit_codes) text += entry(one.name, one.text);
  return text;
}

}  // namespace

Encoded man_page(const Program& program) {
  const Command command = with_general_options(program.command);
  std::string text = ".TH " + upper(command.program) + " 1 \"\" \"" + command.program + " " +
                     program.version + "\" \"User Commands\"\n" + ".SH NAME\n" + command.program +
                     " \\- " + literal(command.summary) + "\n.SH SYNOPSIS\n" + usage_of(command) +
                     ".SH DESCRIPTION\n";
  for (const std::string& one : command.details) text += paragraph(one);
  text += ".SH OPTIONS\n" + options_section(command);
  if (!program.verbs.empty()) text += ".SH VERBS\n";
  for (const Command& verb : program.verbs) text += verb_section(verb);
  text += section("ENVIRONMENT", program.environment) + section("FILES", program.files) +
          section("EXIT STATUS", command.exit_codes);
  text += ".SH EXAMPLES\n" + examples_of(command);
  if (!command.more.empty()) text += ".SH SEE ALSO\n" + literal(command.more) + "\n";
  return Encoded::as_is(text);
}

}  // namespace hpcboot::options
