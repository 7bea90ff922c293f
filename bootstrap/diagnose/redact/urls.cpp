#include <algorithm>

#include "core/contains.hpp"
#include "secrets.hpp"
#include "text.hpp"

namespace hpcboot::redaction {
namespace {

constexpr std::string_view kEnds = " \t\r\n\"'<>`";

// "repository@sha256:…" names a container image.
bool is_digest(std::string_view text, std::size_t at) {
  return starts_with(text.substr(at + 1), "sha256:") || starts_with(text.substr(at + 1), "sha512:");
}

std::size_t last_at(std::string_view run) {
  std::size_t at = run.rfind('@');
  while (at != std::string_view::npos && is_digest(run, at)) {
    at = at == 0 ? std::string_view::npos : run.rfind('@', at - 1);
  }
  return at;
}

// Lists with an @ and a colon but no user: license servers ("27000@a:27000@b"), folders
// ("/opt/python@3.11/bin:/bin"), abstract sockets ("local/n1:@/tmp/x"), hosts and slots as Open MPI
// packs them ("n[1:1-2]@0(2)").
bool is_list_without_users(std::string_view run) {
  const bool of_folders = !run.empty() && (run[0] == '/' || starts_with(run, "~/"));
  // "user:27000@host" may be a password of digits.
  const bool of_ports = run.find('@') < run.find(':');
  return !any_part(run, ":,;", [&](std::string_view piece) {
    const std::size_t at = piece.find('@');
    if (at == std::string_view::npos) return false;
    const bool is_port = of_ports && at > 0 && at <= 5 && end_of(piece, 0, is_digit) == at;
    const bool is_folder = of_folders && (piece[0] == '/' || starts_with(piece, "~/"));
    const std::size_t digits = end_of(piece, at + 1, is_digit);
    const bool is_packed = digits > at + 1 && digits < piece.size() && piece[digits] == '(';
    return !is_port && !is_folder && !is_packed && !starts_with(piece, "@/");
  });
}

// Whether a URL whose host would start at `host` has none, as "file:///x".
bool has_no_host(std::string_view run, std::size_t host) {
  return host < run.size() && run[host] == '/';
}

// "https://user:password@host" and "user:password@host": everything before the last @ of the run,
// since a password that is not percent-encoded may contain any character.
Span user_of(std::string_view run) {
  const std::size_t at = last_at(run);
  const std::size_t colon = run.find(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) return {0, 0};
  const std::size_t assigned = run.substr(0, colon).rfind('=');
  std::size_t secret = assigned == std::string_view::npos ? 0 : assigned + 1;
  const std::size_t scheme = run.substr(0, at).find("://");
  if (scheme != std::string_view::npos) {
    secret = scheme + 3;
    // "local:///tmp/me@realm/x" is a file.
    if (has_no_host(run, secret) && !holds(run.substr(secret, at - secret), ":")) return {0, 0};
  } else if (is_list_without_users(run.substr(secret))) {
    return {0, 0};
  }
  return {secret, at};
}

bool is_hook(std::string_view segment) {
  const std::string folded = upper(segment);
  const auto names = {"HOOK",      "HOOKS",           "WEBHOOK", "WEBHOOKS",
                      "WEBHOOKB2", "INCOMINGWEBHOOK", "KEY",     "TOKEN"};
  return contains(names, folded);
}

bool is_host_of_hooks(std::string_view host) {
  return starts_with(host, "hooks.") || holds(host, ".webhook.") || starts_with(host, "hc-ping.") ||
         starts_with(host, "events.pagerduty.") || starts_with(host, "ntfy.");
}

std::size_t begin_of_host(std::string_view run) {
  const std::size_t scheme = run.find("://");
  if (scheme != std::string_view::npos) return scheme + 3;
  const std::size_t assigned = run.find('=');
  return assigned == std::string_view::npos ? 0 : assigned + 1;
}

// The start of the secret in a URL whose host starts at `host`; npos if it has none.
std::size_t secret_of_path(std::string_view run, std::size_t host, bool has_scheme) {
  std::size_t slash = run.find('/', host);
  if (slash == std::string_view::npos) return slash;
  const std::string_view name = run.substr(host, slash - host);
  if (is_host_of_hooks(name)) return slash + 1;
  const bool is_of_conda = holds(name, "conda");
  while (slash != std::string_view::npos) {
    const std::size_t next = run.find('/', slash + 1);
    const std::string_view segment = run.substr(slash + 1, next - slash - 1);
    // Telegram's: /bot123456:key/sendMessage
    if (starts_with(segment, "bot") && segment.size() > 3 && is_digit(segment[3])) return slash + 1;
    if (is_of_conda && segment == "t" && next != std::string_view::npos) return next + 1;
    const bool may_be = has_scheme || starts_with(segment, "webhook");
    if (may_be && next != std::string_view::npos && is_hook(segment)) return next + 1;
    slash = next;
  }
  return slash;
}

// "https://hooks.slack.com/services/T/B/x": anyone who has the URL may post. @param host behind a
// user, if there is one
Span hook_of(std::string_view run, std::size_t host, bool has_scheme) {
  // "local:///run/hooks/x" is a file, and without a scheme, so is "n1/hooks/x".
  if (has_no_host(run, host)) return {0, 0};
  if (!has_scheme && !holds(run.substr(host, run.find('/', host) - host), ".")) return {0, 0};
  const std::size_t secret = secret_of_path(run, host, has_scheme);
  return secret < run.size() ? Span{secret, run.size()} : Span{0, 0};
}

// "https%3A%2F%2Fuser%3Apassword%40host" in a parameter of another URL
void find_encoded_users(std::string_view run, std::size_t begin, Spans& found) {
  constexpr std::string_view kScheme = "%3A%2F%2F";
  constexpr std::string_view kSlash = "%2F";
  constexpr std::string_view kAt = "%40";
  if (!holds(run, kAt)) return;
  const std::string folded = upper(run);
  for (std::size_t at = folded.find(kScheme); at != std::string_view::npos;
       at = folded.find(kScheme, at)) {
    at += kScheme.size();
    std::string_view authority = std::string_view(folded).substr(at);
    authority = authority.substr(0, authority.find(kSlash));
    authority = authority.substr(0, authority.find_first_of("/?&"));
    const std::size_t user = authority.rfind(kAt);
    if (user != std::string_view::npos) found.push_back({begin + at, begin + at + user});
  }
}

void find_in_run(std::string_view run, std::size_t begin, Spans& found) {
  const std::size_t host = begin_of_host(run);
  const std::size_t length = std::min(run.find('/', host), run.size()) - host;
  const bool posts = is_host_of_hooks(run.substr(host, length));
  // The path of a hook may contain an @.
  const Span user = posts && !holds(run.substr(host, length), "@") ? Span{0, 0} : user_of(run);
  const bool has_scheme = host >= 3 && run.substr(host - 3, 3) == "://";
  const auto add = [&](const Span& one) {
    if (one.end > one.begin) found.push_back({begin + one.begin, begin + one.end});
  };
  add(user);
  add(hook_of(run, host, has_scheme));
  // "https://h/hook/a@b/x": the @ may end a user, or belong to the path.
  if (user.end > user.begin) add(hook_of(run, user.end + 1, has_scheme));
  find_encoded_users(run, begin, found);
}

// Whether the run ends within "https://user:pass", whose password goes on after a quote or a blank.
bool ends_in_password(std::string_view run) {
  const std::size_t scheme = run.rfind("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view authority = run.substr(scheme + 3);
  const std::size_t colon = authority.find(':');
  if (colon == std::string_view::npos || authority[0] == '[') return false;
  const std::size_t port = end_of(authority, colon + 1, is_digit);
  const bool is_port =
      port == authority.size() || (port > colon + 1 && holds("/?#,;", authority.substr(port, 1)));
  return !is_port && !holds(authority, "@") && authority.find('/') > colon;
}

std::size_t end_of_run(std::string_view text, std::size_t begin) {
  constexpr std::size_t kMost = 256;  // characters of a password
  const std::size_t end = find_any(text, begin, kEnds);
  if (!ends_in_password(text.substr(begin, end - begin))) return end;
  const std::string_view rest = text.substr(end, kMost);
  const std::size_t at = std::min(rest.find('@'), rest.find('\n'));
  const bool goes_on = at < rest.size() && rest[at] == '@' && rest.find("://") > at;
  return goes_on ? find_any(text, end + at, kEnds) : end;
}

}  // namespace

void find_in_addresses(std::string_view text, Spans& found) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = end_of_run(text, begin);
    find_in_run(text.substr(begin, end - begin), begin, found);
    begin = end + 1;
  }
}

}  // namespace hpcboot::redaction
