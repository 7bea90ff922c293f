#include <iostream>  // standard input
#include <iterator>

#include "hpcboot/hostlist.hpp"
#include "options.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;

int hosts(const Arguments& arguments) {
  po::options_description hidden;
  hidden.add_options()("action", po::value<std::string>())("expressions",
                                                           po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("action", 1).add("expressions", -1);
  const auto values = parse(
      arguments,
      "Usage: hpcboot hosts expand|compress|count|first EXPR...\n\n"
      "Slurm host lists: n[9-11],gpu[001-3,7],r[1-2]n[01-02], separated by commas or white space;\n"
      "text after the last bracket is taken too. EXPR - reads standard input.\n\n"
      "  expand    one host a line, order and repeats kept\n"
      "  compress  a short list that expands to the same hosts\n"
      "  count     how many, without expanding\n"
      "  first     the first, without expanding\n",
      po::options_description("Options"), hidden, positional);
  if (!values) return 0;
  if (values->count("action") == 0)
    throw UsageError("hosts takes expand, compress, count or first, then a host list");
  const auto action = (*values)["action"].as<std::string>();
  if (values->count("expressions") == 0)
    throw UsageError("hosts " + action + " takes a host list, or - for standard input");
  std::string list;
  for (const std::string& expression : (*values)["expressions"].as<std::vector<std::string>>()) {
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
  } else if (action == "first") {
    out() << hostlist::first(list) << "\n";
  } else {
    throw UsageError("hosts knows expand, compress, count and first, not '" + action + "'");
  }
  return 0;
}

}  // namespace

const Verb kHosts{"hosts", "expand, compress or count a Slurm host list", hosts};

}  // namespace hpcboot::tool
