#include <iostream>  // standard input
#include <iterator>

#include "hpcboot/hostlist.hpp"
#include "options.hpp"

namespace hpcboot::tool {
namespace {

options::Command hosts_command() {
  options::Command command{
      "hpcboot",
      "hosts",
      "expand, compress or count a Slurm host list",
      {"hpcboot hosts expand|compress|count|first EXPR…"},
      {{"hpcboot hosts expand 'n[01-03],gpu7'", "n01, n02, n03, gpu7: one per line"},
       {"hpcboot hosts count \"$SLURM_JOB_NODELIST\"", "how many hosts"}}};
  command.details = {
      "Accepts Slurm's host lists: n[9-11],gpu[001-3,7],r[1-2]n[01-02], separated by commas or "
      "white space; text after the last bracket is allowed. If EXPR is -, it is read from standard "
      "input.",
      "  expand    print one host per line; order and duplicates are kept\n"
      "  compress  print a short list that expands to the same hosts\n"
      "  count     print the number of hosts, without expanding\n"
      "  first     print the first host, without expanding"};
  command.operands = {{"action", options::choice({"expand", "compress", "count", "first"}), 1},
                      {"expressions", options::list("EXPR"), -1}};
  command.exit_codes = {{"0", "ok"},
                        {"2", "the command line is wrong"},
                        {"25, 26", "the list is malformed, or expands to too many hosts"}};
  return command;
}

int hosts(const Call& call) {
  if (call.values.count("action") == 0)
    throw UsageError("hosts takes expand, compress, count or first, then a host list");
  const auto action = call.values["action"].as<std::string>();
  if (call.values.count("expressions") == 0)
    throw UsageError("hosts " + action + " takes a host list, or - for standard input");
  std::string list;
  for (const std::string& expression : call.values["expressions"].as<std::vector<std::string>>()) {
    if (!list.empty()) list += ",";
    if (expression == "-") {
      list.append(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
    } else {
      list += expression;
    }
  }
  if (action == "expand") {
    for (const std::string& host : hostlist::expand(list)) out() << host << "\n";
  } else if (action == "compress") {
    out() << hostlist::compress(hostlist::expand(list)) << "\n";
  } else if (action == "count") {
    out() << hostlist::count(list) << "\n";
  } else {
    out() << hostlist::first(list) << "\n";
  }
  return 0;
}

}  // namespace

const Verb kHosts{hosts_command, hosts};

}  // namespace hpcboot::tool
