#include <algorithm>
#include <array>
#include <optional>

#include "core/contains.hpp"
#include "declared_variables.hpp"
#include "hpcboot/redact.hpp"
#include "secrets.hpp"
#include "text.hpp"

namespace hpcboot {
namespace {

using namespace redaction;

constexpr std::string_view kSeparators = "_-.";

template <std::size_t N>
bool is_any(std::string_view text, const std::array<std::string_view, N>& names) {
  return contains(names, text);
}

// Words that contain a private one but mean something else. AUTHORITY and AUTHORIZATION are not
// among them.
constexpr std::array<std::string_view, 21> kHarmlessWords = {
    "PASSED",    "PASSES",    "PASSING",     "PASSIVE",   "PASSAGE",  "PASSTHROUGH", "BYPASS",
    "COMPASS",   "AUTHOR",    "AUTHORS",     "AUTHORED",  "TOKENIZE", "TOKENIZER",   "TOKENIZERS",
    "TOKENIZED", "TOKENISER", "SECRETARIAT", "SECRETARY", "MONKEY",   "DONKEY",      "TURKEY"};

// "max_tokens" and "TOKENS_PER_BATCH" are numbers.
constexpr std::array<std::string_view, 6> kCounts = {"MAX", "MIN", "N", "NUM", "PER", "TOTAL"};

// Anywhere in a word, also of "DBPASSWORD1" and "accessToken".
constexpr std::array<std::string_view, 16> kPrivateParts = {
    "SECRET", "PASS",      "TOKEN",  "COOKIE",  "CREDENTIAL", "AUTH",   "PRIVATE", "JWT",
    "APIKEY", "ACCESSKEY", "PASSWD", "WEBHOOK", "SIGNATURE",  "BEARER", "CREDS",   "MNEMONIC"};

// Whole words, without digits at their end. Those of the second list also name other things, so
// that launchers may use them.
constexpr std::array<std::string_view, 3> kPrivateWords = {"CRED", "PSWD", "USERPWD"};
constexpr std::array<std::string_view, 17> kPrivateUnlessDeclared = {
    "PSW",  "OTP",  "TOTP", "PW",     "SIG",      "SAS",       "PSK",       "SALT",      "NONCE",
    "CSRF", "XSRF", "KEYS", "SESSID", "SESSKEYS", "SESSIONID", "PHPSESSID", "JSESSIONID"};

// Ends of names of which the last word alone often names another thing: a pattern, a way to bind
// processes, a phrase.
constexpr std::array<std::string_view, 11> kPrivateEnds = {
    "_PAT",     "SEED_PHRASE", "RECOVERY_PHRASE", "RECOVERY_CODE", "RECOVERY_CODES", "MFA_CODE",
    "2FA_CODE", "USER_PIN",    "HSM_PIN",         "CARD_PIN",      "PKCS11_PIN"};

// DBPWD and DBPW; PWD and OLDPWD are folders.
bool ends_in_pwd(std::string_view word) {
  if (word == "PWD" || word == "OLDPWD") return false;
  return ends_with(word, "PWD") || (word.size() >= 4 && ends_with(word, "PW"));
}

bool ends_in_key(std::string_view word) {
  return ends_with(word, "KEY") || ends_with(word, "KEYS");
}

bool is_private_word(std::string_view word, bool is_declared) {
  if (is_any(word, kHarmlessWords)) return false;
  if (std::any_of(kPrivateParts.begin(), kPrivateParts.end(),
                  [&](std::string_view part) { return holds(word, part); })) {
    return true;
  }
  // APIKEY2, KEY1
  while (!word.empty() && is_digit(word.back())) word.remove_suffix(1);
  if (is_any(word, kHarmlessWords)) return false;
  if (is_any(word, kPrivateWords)) return true;
  if (is_declared) return ends_in_key(word) && word != "KEYS";
  return ends_in_key(word) || ends_in_pwd(word) || is_any(word, kPrivateUnlessDeclared);
}

bool has_private_end(std::string_view name) {
  return std::any_of(kPrivateEnds.begin(), kPrivateEnds.end(),
                     [&](std::string_view end) { return ends_with(name, end); });
}

// XDG_SESSION_ID of systemd is a number that counts from 1.
bool is_session(std::string_view name) {
  if (starts_with(name, "XDG_")) return false;
  return holds(name, "SESSION_ID") || holds(name, "SESSION-ID") || holds(name, "SESSION.ID");
}

// Services whose keys are letters and digits like any other; those with a form are in
// key_forms.cpp.
constexpr std::array<std::string_view, 70> kServices = {
    "ADAFRUIT",     "ADOBE",      "AIRTABLE",   "ALGOLIA",    "ALIBABA",    "ARTIFACTORY",
    "ASANA",        "ATLASSIAN",  "BEAMER",     "BINTRAY",    "BITBUCKET",  "BITTREX",
    "CLEARML",      "CLOUDFLARE", "CODECOV",    "COHERE",     "COINBASE",   "COMET",
    "CONFLUENCE",   "CONFLUENT",  "CONTENTFUL", "DATADOG",    "DISCORD",    "DRONECI",
    "DROPBOX",      "ETSY",       "FACEBOOK",   "FASTLY",     "FINICITY",   "FINNHUB",
    "FLICKR",       "FRESHBOOKS", "GITTER",     "HEROKU",     "HUBSPOT",    "INTERCOM",
    "JFROG",        "JIRA",       "KAGGLE",     "KRAKEN",     "KUCOIN",     "LAUNCHDARKLY",
    "LINKEDIN",     "LOOKER",     "MAILCHIMP",  "MAILGUN",    "MATTERMOST", "MERAKI",
    "MESSAGEBIRD",  "NEPTUNE",    "NETLIFY",    "NEWRELIC",   "NYTIMES",    "OKTA",
    "PLAID",        "RAPIDAPI",   "SENDBIRD",   "SENTRY",     "SNYK",       "SONAR",
    "SQUARESPACE",  "TELEGR",     "TRAVIS",     "GOCARDLESS", "MAPBOX",     "CONTRIBSYS",
    "NEWYORKTIMES", "TWITCH",     "TWITTER",    "WANDB"};

// Short names, or names of other things, too: only as separate words.
constexpr std::array<std::string_view, 7> kServicesByWord = {"API",  "LINEAR", "LOB",    "SUMO",
                                                             "XRAY", "YANDEX", "ZENDESK"};

// Words for what such a service's variable may well contain: what was built or run, and where.
constexpr std::array<std::string_view, 8> kPublicWords = {"COMMIT", "SHA",     "HASH", "REVISION",
                                                          "DIGEST", "RELEASE", "PATH", "DIR"};

}  // namespace

bool redaction::is_name_of_service(std::string_view name) {
  const std::string folded = upper(name);
  if (any_part(folded, kSeparators, [](auto word) { return is_any(word, kPublicWords); }))
    return false;
  if (any_part(folded, kSeparators, [](auto word) { return is_any(word, kServicesByWord); }))
    return true;
  std::string squeezed;  // NEW_RELIC, LINKED_IN
  std::copy_if(folded.begin(), folded.end(), std::back_inserter(squeezed), is_alphanumeric);
  return std::any_of(kServices.begin(), kServices.end(),
                     [&](std::string_view service) { return holds(squeezed, service); });
}

bool is_private_name(std::string_view name) {
  if (const auto kind = declared_kind(name)) return *kind == VariableKind::secret;
  const std::string folded = upper(name);
  const std::string_view all(folded);
  // "PWD" and "OLDPWD" are folders.
  if (starts_with(all, "AWS_") || holds(all, "_PWD") || holds(all, "-PWD")) return true;
  const auto counts = [&] {
    return any_part(all, kSeparators, [](auto word) { return is_any(word, kCounts); });
  };
  const auto is_private = [&](bool is_declared) {
    if (!is_declared && (is_session(all) || has_private_end(all) || all == "PIN")) return true;
    return any_part(all, kSeparators, [&](auto word) {
      return is_private_word(word, is_declared) && !(word == "TOKENS" && counts());
    });
  };
  // Declarations are searched only if they matter: every word of a text is checked here.
  return is_private(false) && (!is_launch_variable(name) || is_private(true));
}

}  // namespace hpcboot
