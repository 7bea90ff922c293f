#pragma once

#include <cstddef>
#include <string_view>

namespace hpcboot::redaction {

/// What may follow a prefix. `mixed` has letters of both cases, and digits or frequent changes of
/// case; `base64_of_lines` is the base64 of files, which addresses do not use.
enum class Body {
  hex,
  alphanumeric,
  capitals,
  word,
  mixed,
  mixed_alphanumeric,
  base64,
  base64_of_lines
};

struct KeyForms {
  std::string_view prefixes;  ///< with spaces between them
  Body body;
  std::size_t least;  ///< minimum number of characters after the prefix
};

/// Keys that their issuers made recognisable.
inline constexpr KeyForms kKeyForms[] = {
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
    {"bkua_", Body::hex, 40},
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
    {"KGAT_", Body::hex, 32},
    {"sk_", Body::hex, 48},
    {"lsv2_pt_ lsv2_sk_", Body::word, 32},
    {"csk- rpa_", Body::alphanumeric, 40},
    {"esecret_", Body::alphanumeric, 20},
    {"fw_", Body::mixed_alphanumeric, 20},
    {"ak- as-", Body::mixed_alphanumeric, 22},
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
    {"dapi dose", Body::hex, 32},
    {"DO00", Body::capitals, 16},
    {"SCW", Body::capitals, 17},
    {"GOOG", Body::capitals, 20},
    {"hcaik_ hcbik_", Body::alphanumeric, 40},
    {"Ag", Body::mixed_alphanumeric, 60},
    {"dp.pt. dp.ct. dp.sa. dp.scim. dp.audit. cfat_ cfut_ cfk_", Body::alphanumeric, 40},
    {"pha_ phc_ phr_ phs_ phx_", Body::alphanumeric, 40},
    {"fm1a_ fm1r_ fm2_", Body::base64, 40},
    {"NRAK- NRBR- NRII- NRJS-", Body::word, 19},
    {"AQVN YC 4b1d", Body::mixed, 35},
    {"t1. dt0 v1.0-", Body::word, 80},
    // Messages, payment, shops
    {"xoxa- xoxb- xoxp- xoxs- xapp- xwfp-", Body::word, 8},
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

}  // namespace hpcboot::redaction
