#include "hpcboot/redact.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "hpcboot/launch_source.hpp"
#include "hpcboot/scheduler.hpp"

namespace hpcboot {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return upper(c); });
  return out;
}

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (upper(c) >= 'A' && upper(c) <= 'Z');
}

// Characters of names, options and keys.
bool is_word(char c) {
  return is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::size_t end_of_word(std::string_view text, std::size_t begin) {
  while (begin < text.size() && is_word(text[begin])) ++begin;
  return begin;
}

std::size_t end_of_run(std::string_view text, std::size_t begin) {
  return std::min(text.find_first_of(kSpace, begin), text.size());
}

std::size_t skip(std::string_view text, std::size_t begin, std::string_view characters) {
  return std::min(text.find_first_not_of(characters, begin), text.size());
}

// "https://user:password@host" and "user:password@host": everything before the last @ of the run,
// since a password that was not percent-encoded may hold any character.
std::string redact_user_information(std::string_view text) {
  static constexpr std::string_view kEnds = " \t\r\n\"'<>";
  std::string out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of(kEnds, begin), text.size());
    const std::string_view run = text.substr(begin, end - begin);
    const std::size_t at = run.rfind('@');
    const std::size_t colon = run.find(':');
    if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) {
      out += run;
    } else {
      const std::size_t assigned = run.substr(0, colon).rfind('=');
      std::size_t secret = assigned == std::string_view::npos ? 0 : assigned + 1;
      const std::size_t scheme = run.substr(0, at).find("://");
      if (scheme != std::string_view::npos) secret = scheme + 3;
      out.append(run.substr(0, secret)).append(kRedacted).append(run.substr(at));
    }
    if (end < text.size()) out += text[end];
    begin = end + 1;
  }
  return out;
}

// Where the value begins that stands at `end` after a private name ("name=", "name: ", "'name':",
// "--name "); npos where none follows.
std::size_t value_after(std::string_view text, std::string_view name, std::size_t end) {
  std::size_t next = end;
  if (next < text.size() && (text[next] == '"' || text[next] == '\'')) ++next;
  next = skip(text, next, kSpace);
  if (next < text.size() && (text[next] == '=' || text[next] == ':')) {
    next = skip(text, next + 1, " \t\r\n=:>");
  } else if (name[0] != '-' || next == end) {
    return std::string_view::npos;
  }
  return next < text.size() ? next : std::string_view::npos;
}

// A quoted value ends at its quote, any other at white space only: "a,b" may be one password.
std::size_t end_of_value(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  if (quote != '"' && quote != '\'') return end_of_run(text, begin);
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return text.size();
}

// Where the secret begins that the word in [begin, end) announces; npos where it announces none.
std::size_t announced_by(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view word = text.substr(begin, end - begin);
  const std::string folded = upper(word);
  if (folded == "BEARER" || folded == "BASIC") {
    const std::size_t next = skip(text, end, kSpace);
    return next > end && next < text.size() ? next : std::string_view::npos;
  }
  return is_private_name(word) ? value_after(text, word, end) : std::string_view::npos;
}

// Also past what the secret itself announces: "Authorization: Bearer x", "secret: --token x".
std::size_t end_of_secret(std::string_view text, std::size_t begin) {
  std::size_t end = end_of_value(text, begin);
  for (std::size_t i = begin; i < end;) {
    const std::size_t word_end = end_of_word(text, i);
    if (word_end == i) {
      ++i;
      continue;
    }
    const std::size_t next = announced_by(text, i, word_end);
    if (next != std::string_view::npos && next >= end) end = end_of_value(text, next);
    i = word_end;
  }
  return end;
}

// "password=x", "--token x", "{'api_key': 'x'}", "Bearer x".
std::string redact_assignments(std::string_view text) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t end = end_of_word(text, i);
    if (end == i) {
      out += text[i++];
      continue;
    }
    out += text.substr(i, end - i);
    const std::size_t secret = announced_by(text, i, end);
    i = end;
    if (secret == std::string_view::npos) continue;
    // A quoted value stays quoted, so that JSON stays JSON.
    const bool is_quoted = text[secret] == '"' || text[secret] == '\'';
    const std::string_view quote = is_quoted ? text.substr(secret, 1) : "";
    out.append(text.substr(end, secret - end)).append(quote).append(kRedacted).append(quote);
    i = end_of_secret(text, secret);
  }
  return out;
}

// Keys that their issuers made recognisable, and from how many characters on a word is taken for
// one.
constexpr std::array<std::pair<std::string_view, std::size_t>, 18> kKeyForms = {{
    {"ghp_", 20},
    {"gho_", 20},
    {"ghu_", 20},
    {"ghs_", 20},
    {"ghr_", 20},
    {"github_pat_", 20},
    {"glpat-", 16},
    {"hf_", 20},
    {"sk-", 36},
    {"xoxb-", 16},
    {"xoxp-", 16},
    {"AKIA", 20},
    {"ASIA", 20},
    {"AIza", 30},
    {"ya29.", 20},
    {"eyJ", 24},
    {"npm_", 30},
    {"nvapi-", 20},
}};

bool has_key_form(std::string_view word) {
  return std::any_of(kKeyForms.begin(), kKeyForms.end(), [&](const auto& form) {
    return word.size() >= form.second && starts_with(word, form.first);
  });
}

std::string redact_known_keys(std::string_view text) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t end = end_of_word(text, i);
    if (end == i) {
      out += text[i++];
      continue;
    }
    const std::string_view word = text.substr(i, end - i);
    out += has_key_form(word) ? kRedacted : word;
    i = end;
  }
  return out;
}

// Beside what launchers and schedulers set: which host and devices a process has, and how its
// libraries communicate.
constexpr LaunchVariable kSurroundings[] = {
    {"HOSTNAME", VariableKind::companion},
    {"HOST", VariableKind::companion},
    {"POD_NAME", VariableKind::companion},
    {"SYSTEMNAME", VariableKind::companion},
    {"OMP_NUM_THREADS", VariableKind::setting},
    {"NCCL_*", VariableKind::setting},
    {"RCCL_*", VariableKind::setting},
    {"GLOO_*", VariableKind::setting},
    {"UCX_*", VariableKind::setting},
    {"FI_*", VariableKind::setting},
    {"CUDA_*", VariableKind::setting},
    {"ROCR_*", VariableKind::setting},
    {"HIP_*", VariableKind::setting},
    {"ZE_*", VariableKind::setting},
    {"NVIDIA_VISIBLE_*", VariableKind::setting},
    {"GPU_DEVICE_*", VariableKind::setting},
};

// Calls `visit` with every list of variables that somebody declares, and whether a user's file
// does, until it answers true.
template <typename Visit>
bool any_list(Visit visit) {
  const auto& launchers = launch_sources();
  const auto& jobs = schedulers();
  const auto ask = [&](const auto* one) { return visit(one->variables, !one->file.empty()); };
  return std::any_of(launchers.begin(), launchers.end(), ask) ||
         std::any_of(jobs.begin(), jobs.end(), ask) || visit(VariableList(kSurroundings), false);
}

// The kind of a variable that is declared by its whole name; users write names in any case. What a
// user's file calls a setting may be a secret for all that.
std::optional<VariableKind> declared_kind(std::string_view name) {
  std::optional<VariableKind> kind;
  any_list([&](const VariableList& list, bool is_users) {
    for (const LaunchVariable& entry : list) {
      if (entry.name.size() != name.size() || upper(entry.name) != upper(name)) continue;
      const bool is_secret = entry.kind == VariableKind::secret;
      if (is_secret || (!kind && !is_users)) kind = entry.kind;
    }
    return kind == VariableKind::secret;
  });
  return kind;
}

}  // namespace

bool is_private_name(std::string_view name) {
  if (const auto kind = declared_kind(name)) return *kind == VariableKind::secret;
  const std::string folded = upper(name);
  const std::string_view all(folded);
  const auto holds = [&](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
      return all.find(part) != std::string_view::npos;
    });
  };
  if (holds({"SECRET", "PASS", "TOKEN", "COOKIE", "CREDENTIAL", "AUTH", "PRIVATE", "JWT", "_PWD",
             "-PWD"}) ||
      starts_with(all, "AWS_")) {
    return true;
  }
  std::size_t begin = 0;
  while (begin <= all.size()) {
    const std::size_t end = std::min(all.find_first_of("_-.", begin), all.size());
    const std::string_view word = all.substr(begin, end - begin);
    if (ends_with(word, "KEY") || ends_with(word, "KEYS")) return true;
    begin = end + 1;
  }
  return false;
}

std::string redact_value(std::string_view value) {
  if (value.find("PRIVATE KEY-----") != std::string_view::npos) return std::string(kRedacted);
  return redact_known_keys(redact_assignments(redact_user_information(value)));
}

bool is_launch_variable(std::string_view name) {
  bool is_copy = false;
  const bool is_declared = any_list([&](const VariableList& list, bool) {
    const LaunchVariable* found = list.find(name);
    is_copy = found != nullptr && found->kind == VariableKind::submitter;
    return found != nullptr;
  });
  return is_declared && !is_copy;
}

Env redact(const Env& env, Keep keep) {
  std::map<std::string, std::string> kept;
  for (const auto& [name, value] : env.variables()) {
    if (keep == Keep::launch_variables && !is_launch_variable(name)) continue;
    kept[name] = value.empty()           ? std::string()
                 : is_private_name(name) ? std::string(kRedacted)
                                         : redact_value(value);
  }
  return Env(std::move(kept));
}

}  // namespace hpcboot
