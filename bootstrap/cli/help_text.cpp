#include "help_text.hpp"

#include <regex>
#include <sstream>

#include "text/terminal.hpp"

namespace hpcboot::tool {
namespace {

void add_all(std::vector<std::string>& words, const std::string& text, const std::regex& pattern) {
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    words.push_back(match->str());
}

}  // namespace

std::string help_of(const Verb& verb) {
  const CapturedOutput output;
  verb.run({"--help"});
  return output.text();
}

std::vector<std::string> words_after(const Verb& verb) {
  static const std::regex kChoice(R"([a-z]+(\|[a-z]+)+)");
  static const std::regex kWord("[a-z]+");
  static const std::regex kOptionLine(R"(^  (-[a-z] \[ )?(--[a-z][a-z-]*).*)");
  std::vector<std::string> words;
  std::istringstream lines(help_of(verb));
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.rfind("Usage:", 0) == 0) {
      // Behind the verb: what stands before it are launchers ("srun|mpirun …").
      const std::size_t at = line.find("hpcboot " + std::string(verb.name));
      const std::string usage = at == std::string::npos ? "" : line.substr(at);
      if (std::regex_search(usage, match, kChoice)) add_all(words, match.str(), kWord);
    } else if (std::regex_match(line, match, kOptionLine)) {
      words.push_back(match[2]);
    }
  }
  return words;
}

}  // namespace hpcboot::tool
