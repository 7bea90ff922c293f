#include <algorithm>
#include <array>
#include <vector>

#include "secrets.hpp"
#include "text.hpp"

namespace hpcboot::redaction {
namespace {

// What may follow a prefix. `mixed` has letters of both cases, and digits or frequent changes of
// case; `base64_of_lines` is the base64 of files, which addresses do not use.
enum class Body { hex, alphanumeric, capitals, word, mixed, base64, base64_of_lines };

struct KeyForms {
  std::string_view prefixes;  // with spaces between them
  Body body;
  std::size_t least;  // minimum number of characters after the prefix
};

// Keys that their issuers made recognisable.
constexpr KeyForms kKeyForms[] = {
    // Code, packages, images
    {"ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ GR1348941 _gitlab_session= dckr_pat_ dckr_oat_",
     Body::word, 12},
    {"glpat- glptt- glagent- glsoat- glffct- gloas- glcbt- glimt- glrt- glrtr- gldt- glft- glwt-",
     Body::word, 10},
    {"pypi-Ag", Body::word, 12},
    {"pypi-", Body::mixed, 16},
    {"npm_", Body::alphanumeric, 26},
    {"npm_", Body::mixed, 30},
    {"ATATT3 ATCTT3 BBDC- CCIPAT_ cmVmd sgp_ PMAK- ntn_ sbp_ nyk_v0_ tfp_ tk-us- SWMTKN-1-",
     Body::word, 40},
    {"figd_ waka_ RGAPI- SWMKEY-1- sha256~", Body::word, 30},
    {"sqa_ sqp_ squ_ pul- sntryu_ s-s4t2ud- s-s4t2af-", Body::hex, 40},
    {"rubygems_ cosmo_", Body::hex, 32},
    {"vcp_ rdme_ CLOJARS_ AKCp oy2", Body::alphanumeric, 40},
    {"ATBB nfp_ pnu_ lin_api_", Body::alphanumeric, 28},
    {"API- PMAT-", Body::capitals, 26},
    {"sntrys_ ops_eyJ", Body::base64, 40},
    // Models and experiments
    {"hf_", Body::alphanumeric, 17},
    {"api_org_ r8_ sess-", Body::alphanumeric, 30},
    {"nvapi-", Body::word, 14},
    {"sk-proj- sk-svcacct- sk-admin- sk-ant- sk-or- sk-lf- wandb_v1_", Body::word, 20},
    {"sk-", Body::alphanumeric, 20},
    {"xai- pplx- tvly- tgp_v1_ llx- gsk_", Body::word, 20},
    {"hf_ sk-", Body::mixed, 30},
    {"ak_ ck_ oak_ uak_", Body::mixed, 16},
    // Clouds and their services
    {"AKIA ASIA ABIA ACCA AGPA AIDA AIPA ANPA ANVA AROA APKA ASCA A3T", Body::capitals, 16},
    {"ABSK bedrock-api-key-", Body::base64, 20},
    {"da2-", Body::alphanumeric, 26},
    {"LTAI", Body::alphanumeric, 12},
    {"ya29.", Body::word, 15},
    {"AIza GOCSPX- hvs. hvb. hvr. pscale_tkn_ pscale_oauth_ pscale_pw_", Body::word, 20},
    {"akab- amzn.mws. HRKU- tskey- A3- glsa_", Body::word, 30},
    {"1//0 dp.st. fo1_ dnkey-", Body::word, 40},
    {"glc_", Body::base64, 30},
    {"doo_v1_ dop_v1_ dor_v1_ dos_v1_", Body::hex, 40},
    {"dapi", Body::hex, 32},
    {"dp.pt. dp.ct. dp.sa. dp.scim. dp.audit. cfat_ cfut_ cfk_", Body::alphanumeric, 40},
    {"pha_ phc_ phr_ phs_ phx_", Body::alphanumeric, 40},
    {"fm1a_ fm1r_ fm2_", Body::base64, 40},
    {"NRAK- NRBR- NRII- NRJS-", Body::word, 19},
    {"AQVN YC 4b1d", Body::mixed, 35},
    {"t1. dt0 v1.0-", Body::word, 80},
    // Messages, payment, shops
    {"xoxa- xoxb- xoxp- xoxs- xapp-", Body::word, 8},
    {"xox", Body::word, 10},
    {"SG.", Body::word, 33},
    {"xkeysib- IGQVJ fio-u- EAA", Body::word, 60},
    {"EAAA 3MVG sq0", Body::word, 22},
    {"sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", Body::alphanumeric, 10},
    {"pk_live_ pk_test_", Body::alphanumeric, 20},
    {"whsec_", Body::base64, 20},
    {"access_token$production$", Body::alphanumeric, 16},
    {"access-production- access-sandbox- access-development-", Body::hex, 8},
    {"shpat_ shpca_ shppa_ shpss_ shptka_ shippo_live_ shippo_test_", Body::hex, 32},
    {"live_ test_ live_pub_ test_pub_ pubkey-", Body::hex, 31},
    {"key- p8e- ico-", Body::alphanumeric, 32},
    {"EZAK EZTK", Body::alphanumeric, 54},
    {"FLWSECK_TEST- FLWPUBK_TEST- FLWSECK- FLWPUBK-", Body::word, 12},
    {"duffel_test_ duffel_live_ CFPAT-", Body::word, 40},
    {"sm_aat_ sm_pat_ sm_sat_", Body::alphanumeric, 16},
    {"sl.", Body::mixed, 77},
    {"AAAAAAAAAAAAAAAAAAAAA", Body::word, 0},
    {"wx", Body::hex, 16},
    // Of no single issuer: JSON Web Tokens and JSON in base64 (also encoded twice), PASETO, private
    // keys in base64, NKEY, NTLM, age
    {"s.", Body::alphanumeric, 24},
    {"eyJ", Body::base64, 17},
    {"ZXlK LS0tLS1CRUdJTi b3BlbnNzaC1rZXkt TlRMTVNTUAA", Body::base64, 20},
    {"eyAi ewo ew0K WyJ W3si Wwp7 Wwog Ww0K W3sK", Body::base64, 60},
    {"MII LS0t", Body::base64_of_lines, 17},
    {"v1.local. v2.local. v3.local. v4.local. v1.public. v2.public. v3.public. v4.public.",
     Body::word, 15},
    {"k1.local k2.local k3.local k4.local k1.secret k2.secret k3.secret k4.secret", Body::word, 15},
    {"AGE-SECRET-KEY-1", Body::capitals, 20},
    {"SA SC SN SO SP SU SX", Body::capitals, 40},
};

bool is_in(Body body, char c) {
  switch (body) {
    case Body::hex:
      return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    case Body::alphanumeric:
      return is_alphanumeric(c);
    case Body::capitals:
      return is_upper(c) || is_digit(c);
    case Body::word:
    case Body::mixed:
      return is_word(c) || c == '=';
    case Body::base64:
      return is_word(c) || c == '+' || c == '/' || c == '=';
    case Body::base64_of_lines:
      return is_alphanumeric(c) || c == '+' || c == '/' || c == '=';
  }
  return false;
}

std::size_t count(std::string_view text, std::size_t begin, Body body) {
  return end_of(text, begin, [&](char c) { return is_in(body, c); }) - begin;
}

bool is_mixed(std::string_view text) {
  std::size_t changes = 0;  // between capitals and small letters
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (is_lower(text[i]) ? is_upper(text[i - 1]) : is_upper(text[i]) && is_lower(text[i - 1]))
      ++changes;
  }
  return std::any_of(text.begin(), text.end(), is_lower) &&
         std::any_of(text.begin(), text.end(), is_upper) &&
         (std::any_of(text.begin(), text.end(), is_digit) || changes * 3 >= text.size());
}

struct KeyForm {
  std::string_view prefix;
  Body body;
  std::size_t least;
};

// Indexed by the first character, since every word of a text is compared with the forms.
const std::vector<KeyForm>& forms_that_begin_with(char c) {
  static const auto kByCharacter = [] {
    std::array<std::vector<KeyForm>, 128> table;
    for (const KeyForms& forms : kKeyForms) {
      any_part(forms.prefixes, " ", [&](std::string_view prefix) {
        table.at(static_cast<unsigned char>(prefix[0]))
            .push_back({prefix, forms.body, forms.least});
        return false;
      });
    }
    return table;
  }();
  static const std::vector<KeyForm> kNone;
  const auto index = static_cast<unsigned char>(c);
  return index < kByCharacter.size() ? kByCharacter.at(index) : kNone;
}

// Whether a key with a known prefix begins here.
bool has_prefix(std::string_view text) {
  const auto& forms = forms_that_begin_with(text[0]);
  return std::any_of(forms.begin(), forms.end(), [&](const KeyForm& form) {
    if (!starts_with(text, form.prefix)) return false;
    const std::size_t begin = form.prefix.size();
    const std::size_t length = count(text, begin, form.body);
    return length >= form.least &&
           (form.body != Body::mixed || is_mixed(text.substr(begin, length)));
  });
}

bool is_hex_of_one_case(std::string_view text) {
  return std::none_of(text.begin(), text.end(), is_lower) ||
         std::none_of(text.begin(), text.end(), is_upper);
}

// Five groups of five capitals and digits.
bool is_product_key(std::string_view word) {
  constexpr std::size_t kSize = 29;
  constexpr std::size_t kPart = 6;
  bool is_key = word.size() == kSize && std::any_of(word.begin(), word.end(), is_digit);
  for (std::size_t i = 0; is_key && i < kSize; ++i)
    is_key = i % kPart == kPart - 1 ? word[i] == '-' : is_in(Body::capitals, word[i]);
  return is_key;
}

// Keys that are recognised by something inside them; `word` consists of letters, digits and - _ . ~
bool has_mark(std::string_view word) {
  constexpr std::size_t kLeast = 32;
  if (is_product_key(word) || holds(word, ".atlasv1.")) return true;
  if (word.size() < kLeast) return false;
  const std::size_t azure = word.find("Q~");  // client secret of an application
  if (azure != std::string_view::npos && azure >= 4 && is_digit(word[azure - 1]) &&
      word.size() >= azure + kLeast) {
    return true;
  }
  // Twilio: two capitals, 32 hexadecimal digits
  if (word.size() == 34 && is_upper(word[0]) && is_upper(word[1]) &&
      count(word, 2, Body::hex) == 32 && is_hex_of_one_case(word.substr(2)) &&
      std::any_of(word.begin() + 2, word.end(), is_digit)) {
    return true;
  }
  const std::size_t hex = count(word, 0, Body::hex);
  // Mailgun: 32-8-8; Mailchimp: 32-us7
  if (hex == 32 && word.size() == 50 && word[32] == '-' && word[41] == '-') return true;
  if (word.size() <= 37 && starts_with(word.substr(32), "-us") && is_digit(word.back()))
    return true;
  // Airtable: pat, 14 letters, a dot, 64 hexadecimal digits
  if (word.size() >= 82 && starts_with(word, "pat") && count(word, 18, Body::hex) >= 64)
    return true;
  if (holds(word, ".acc_") || holds(word, ".acc-"))  // Authress
    return starts_with(word, "sc_") || starts_with(word, "ext_") || starts_with(word, "scauth_") ||
           starts_with(word, "authress_");
  // Dropbox
  if (word.size() >= 60 && holds(word, "AAAAAAAAAA") && is_mixed(word)) return true;
  return holds(word, "T3BlbkFJ") || holds(word, "JQQJ99") || ends_with(word, "_mmk") ||
         (ends_with(word, "NRAL") && count(word, 0, Body::alphanumeric) == 40);
}

// Part of a key rather than of a name: it changes between letters and digits as often as random
// ones do, even if all its letters are small, or it consists of capitals.
bool is_part_of_key(std::string_view part) {
  const bool is_of_both_cases = std::any_of(part.begin(), part.end(), is_lower) &&
                                std::any_of(part.begin(), part.end(), is_upper);
  if (is_of_both_cases) return part.size() >= 6 && disorder(part) >= 33;
  return part.size() >= 12 &&
         (disorder(part) >= 20 || count(part, 0, Body::capitals) == part.size());
}

// "xai-gpu-1.cluster.example.org" and "MII-1/pe_hostfile", but not "xai-" and a key
bool is_host_or_path(std::string_view word) {
  constexpr std::string_view kSeparators = "-./_";
  const auto is_allowed = [&](char c) {
    return is_alphanumeric(c) || kSeparators.find(c) != std::string_view::npos;
  };
  return end_of(word, 0, is_allowed) == word.size() &&
         word.find_first_of(kSeparators) != std::string_view::npos &&
         !any_part(word, kSeparators, is_part_of_key);
}

// The end of a bot's "123456789:key" or an application's "123456789012|key"; 0 if there is none.
std::size_t end_of_numbered_key(std::string_view text) {
  const std::size_t digits = end_of(text, 0, is_digit);
  if (digits < 8 || digits > 18 || digits >= text.size()) return 0;
  const std::size_t least = text[digits] == ':'                          ? 34
                            : text[digits] == '|' || text[digits] == '%' ? 24
                                                                         : 0;
  if (least == 0) return 0;
  const std::size_t length = count(text, digits + 1, Body::word);
  // "12345678:Experiment-ResNet50-Baseline-Seed-0001" is a name: of the neighbours in random
  // letters and digits, more than half differ in class.
  constexpr std::size_t kOfKeys = 33;
  if (text[digits] == ':' && disorder(text.substr(digits + 1, length)) < kOfKeys) return 0;
  return length >= least ? digits + 1 + length : 0;
}

// A key begins at the start of a word, or after an escape ("%3D", "\n"), which ends in a letter.
bool begins_word(std::string_view text, std::size_t at) {
  if (at == 0 || !is_alphanumeric(text[at - 1])) return true;
  return (at >= 3 && text[at - 3] == '%') || (at >= 2 && text[at - 2] == '\\');
}

bool is_key_character(char c) {
  return is_word(c) || holds("+/=~%$", std::string_view(&c, 1));
}

// Continues past the escape of "=" that JSON may contain.
std::size_t end_of_key(std::string_view text, std::size_t at) {
  std::size_t end = end_of(text, at, is_key_character);
  while (starts_with(text.substr(end), "\\u00")) end = end_of(text, end + 1, is_key_character);
  return end;
}

bool is_marked_character(char c) {
  return is_word(c) || c == '~';
}

}  // namespace

void find_known_keys(std::string_view text, Origin origin, Spans& found) {
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '-' || !begins_word(text, i)) {
      ++i;
      continue;
    }
    // What identifies a key is near its beginning; in a long text without spaces, a key may begin
    // anywhere.
    constexpr std::size_t kMost = 512;
    const std::string_view rest = text.substr(i, kMost);
    const std::string_view word = rest.substr(0, end_of(rest, 0, is_marked_character));
    std::size_t end = i + end_of_numbered_key(rest);
    if (end == i && (has_prefix(rest) || has_mark(word))) end = end_of_key(text, i);
    const bool is_name = origin == Origin::launcher && is_host_or_path(text.substr(i, end - i));
    if (end > i && !is_name) found.push_back({i, end});
    i = std::max(i + 1, end);
  }
}

}  // namespace hpcboot::redaction
