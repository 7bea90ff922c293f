#include <algorithm>

#include "core/schedulers/host_lines.hpp"
#include "description.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/hostlist.hpp"

// Host lists in a variable, in the forms that descriptions support.
namespace hpcboot {
namespace {

const char* separators_of(HostForm form) {
  if (form == HostForm::spaces) return " \t\r\n";
  return form == HostForm::lines ? "\r\n" : ",";
}

const char* expected_of(HostForm form) {
  switch (form) {
    case HostForm::commas:
      return "host names separated by commas";
    case HostForm::spaces:
      return "host names separated by spaces";
    case HostForm::lines:
      return "one host name per line";
    case HostForm::slurm:
      return "a Slurm host list";
    case HostForm::endpoints:
      return "HOST:PORT of every process, separated by commas";
  }
  return "";
}

}  // namespace

std::vector<std::string> parse_hosts(std::string_view text, const HostsDescription& hosts) {
  if (hosts.form == HostForm::slurm) return hostlist::expand(text);
  const auto fail = [&] {
    throw Error(ErrorCode::malformed_value,
                std::string(hosts.variable) + "='" + std::string(text.substr(0, 80)) + "'",
                expected_of(hosts.form), "start the job again, or set HPCBOOT_METHODS");
  };
  const std::string_view separators = separators_of(hosts.form);
  std::vector<std::string> list;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
    std::string_view host = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // Repeated spaces are harmless; between two commas a host is missing.
    if (host.empty() && hosts.form != HostForm::commas && hosts.form != HostForm::endpoints)
      continue;
    if (hosts.form == HostForm::endpoints) {
      const std::size_t colon = host.rfind(':');
      if (colon == std::string_view::npos || !parse_whole_number(host.substr(colon + 1))) fail();
      host = host.substr(0, colon);
      if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    }
    if (!is_host(host) || list.size() >= hostlist::kMaxHosts) fail();
    list.emplace_back(host);
  }
  if (list.empty()) fail();
  return list;
}

std::vector<std::string> unique_hosts(const std::vector<std::string>& list) {
  HostCounter counter;
  for (const std::string& host : list) counter.add(host, 1);
  return counter.take().hosts;
}

}  // namespace hpcboot
