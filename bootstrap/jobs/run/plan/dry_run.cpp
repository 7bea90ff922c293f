#include <algorithm>

#include "core/counted.hpp"
#include "hpcboot/encode.hpp"
#include "hpcboot/hostlist.hpp"
#include "hpcboot/redact.hpp"
#include "jobs/run/stage/stage.hpp"
#include "plan.hpp"
#include "text/table.hpp"

namespace hpcboot::run {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kHostColumn = 44;  // leaves room for two numbers and a range

// "set:       A=1 B=2", broken into lines with equal indentation.
std::string paragraph(const std::string& title, const std::vector<std::string>& words) {
  const std::size_t indent = 10;
  std::string text = title + std::string(indent - title.size(), ' ');
  std::size_t column = indent;
  for (const std::string& raw : words) {
    const std::string word = terminal_text(raw).str();
    if (column > indent && column + word.size() > kColumns) {
      text.back() = '\n';
      text += std::string(indent, ' ');
      column = indent;
    }
    text += word + " ";
    column += word.size() + 1;
  }
  text.back() = '\n';
  return text;
}

std::string ranks_text(int first, int count) {
  return count == 1 ? std::to_string(first)
                    : std::to_string(first) + "-" + std::to_string(first + count - 1);
}

class LayoutTable {
 public:
  explicit LayoutTable(const Layout& layout) : layout_(layout) {
    table_.add({"hosts", "ranks", "per host", "rank numbers"});
    for (std::size_t begin = 0; begin < layout.hosts.size();) {
      std::size_t end = begin + 1;
      while (end < layout.hosts.size() && layout.hosts[end].ranks == layout.hosts[begin].ranks)
        ++end;
      add(begin, end);
      begin = end;
    }
  }

  std::string text() const { return table_.text().str(); }

 private:
  // Hosts with equal numbers of ranks share a row; several rows if their names do not fit into one.
  void add(std::size_t begin, std::size_t end) {
    std::vector<std::string> names;
    for (std::size_t i = begin; i < end; ++i) names.push_back(layout_.hosts[i].host);
    std::string text = hostlist::compress(names);
    if (text.size() > kHostColumn && names.size() > 1) {
      const std::size_t middle = begin + names.size() / 2;
      add(begin, middle);
      add(middle, end);
      return;
    }
    if (text.size() > kHostColumn) text = text.substr(0, kHostColumn - 3) + "...";
    const int each = layout_.hosts[begin].ranks;
    const int count = each * static_cast<int>(names.size());
    table_.add({text, std::to_string(count), std::to_string(each), ranks_text(next_, count)});
    next_ += count;
  }

  const Layout& layout_;
  TextTable table_{{Align::left, Align::right, Align::right, Align::left}};
  int next_ = 0;
};

std::string shell_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + bash_quote(word);
  return text;
}

// NAME=VALUE; secrets are redacted.
std::vector<std::string> set_words(const Plan& plan) {
  std::vector<std::string> words;
  for (const auto& [name, value] : plan.set) {
    const std::string shown = is_private_name(name) ? std::string(kRedacted) : redact_value(value);
    words.push_back(name + "=" + bash_quote(shown));
  }
  return words;
}

// The launcher with its environment, ready to paste into a shell.
std::string command_line(const Plan& plan) {
  std::string text;
  for (const std::string& name : plan.unset) text += " -u " + bash_quote(name);
  for (const std::string& word : set_words(plan)) text += " " + word;
  return (text.empty() ? "" : "env" + text + " ") + shell_text(plan.words);
}

std::string agents_text(const Plan& plan) {
  std::string text = "agents:\n";
  for (const AgentPlace& place : plan.agents) {
    std::vector<std::string> words = place.shell;
    words.insert(words.end(), {plan.self, "run-agent"});
    text += "  " + place.host + ": " + shell_text(words) + "\n";
  }
  return text + "\neach rank:\n  " + shell_text(plan.words) + "\n";
}

}  // namespace

std::string dry_run_text(const Plan& plan) {
  const auto hosts = static_cast<std::int64_t>(plan.layout.hosts.size());
  const int ranks = plan.layout.world_size();
  std::string text =
      paragraph("launcher:", {name_of(plan.launcher) + (": " + plan.launcher_origin)});
  text += paragraph("layout:", {counted(ranks, "rank") + " on " + counted(hosts, "host") +
                                ", from " + plan.layout.origin});
  text += "\n" + LayoutTable(plan.layout).text();
  std::string more;
  if (!plan.set.empty()) more += paragraph("set:", set_words(plan));
  if (!plan.unset.empty()) more += paragraph("unset:", plan.unset);
  if (!plan.exported.empty() && hosts > 1) more += paragraph("exported:", plan.exported);
  if (plan.own_session) more += paragraph("session:", {"its own"});
  if (plan.stage) {
    more += paragraph("stage:", {*plan.stage + ", to each host's own disk: " + kStageBases + "; " +
                                 kStagedWord + " is the copy"});
  }
  for (const std::string& note : plan.notes) more += paragraph("note:", {note});
  if (!more.empty()) text += "\n" + more;
  if (!plan.hostfile.empty()) text += std::string("\n") + kHostfileWord + ":\n" + plan.hostfile;
  text += "\n";
  return text +
         (has_agents(plan.launcher) ? agents_text(plan) : "command:\n" + command_line(plan) + "\n");
}

}  // namespace hpcboot::run
