#include <gtest/gtest.h>

#include <string>

#include "hpcboot/redact.hpp"

// One sample of each of many formats, assembled when the test runs: complete samples would trigger
// every secret scanner. tests/measure-secrets tests a public list of formats.
namespace hpcboot {
namespace {

constexpr const char* kHex = "0123456789abcdef";
constexpr const char* kCapitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr const char* kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

// Random letters, but the same in each run.
std::string body(const std::string& alphabet, std::size_t count) {
  std::string text;
  std::uint32_t state = 2463534242U;
  while (text.size() < count) {
    state ^= state << 13U;
    state ^= state >> 17U;
    state ^= state << 5U;
    text += alphabet[state % alphabet.size()];
  }
  return text;
}

std::string hex(std::size_t count) {
  return body(kHex, count);
}

std::string word(std::size_t count) {
  return body(kLetters, count);
}

std::string capitals(std::size_t count) {
  return body(kCapitals, count);
}

// Eight successive characters of the secret, after the prefix that all secrets of its kind share.
bool shows(const std::string& text, const std::string& secret) {
  for (std::size_t i = 0; i + 8 <= secret.size(); ++i) {
    if (text.find(secret.substr(i, 8)) != std::string::npos) return true;
  }
  return false;
}

struct Format {
  const char* name;
  std::string before;  // its start, in pieces
  std::string secret;
};

std::vector<Format> formats() {
  const std::string discord = std::string("https://discord.") + "com/api/webhooks/";
  return {
      {"GitHub, classic", std::string("gh") + "p_", word(36)},
      {"GitHub, OAuth", std::string("gh") + "o_", word(36)},
      {"GitHub, of an installation", std::string("gh") + "s_", word(36)},
      {"GitHub, fine-grained", std::string("github") + "_pat_", word(22) + "_" + word(59)},
      {"GitLab", std::string("glp") + "at-", word(20)},
      {"GitLab, CI", std::string("glcb") + "t-64_", word(20)},
      {"Bitbucket", std::string("ATB") + "B", word(32)},
      {"Atlassian", std::string("ATAT") + "T3", word(180) + "=" + hex(8)},
      {"CircleCI", std::string("CCIP") + "AT_", word(22) + "_" + hex(40)},
      {"Artifactory", std::string("AK") + "Cp", word(69)},
      {"npm", std::string("np") + "m_", word(36)},
      {"PyPI", std::string("pyp") + "i-AgEIcHlwaS5vcmc", word(80)},
      {"PyPI, test", std::string("pyp") + "i-AgENdGVzdC5weXBpLm9yZw", word(80)},
      {"RubyGems", std::string("ruby") + "gems_", hex(48)},
      {"NuGet", std::string("oy") + "2", body("abcdefghijklmnopqrstuvwxyz234567", 43)},
      {"Docker Hub", std::string("dckr") + "_pat_", word(27)},
      {"Docker Swarm", std::string("SWM") + "TKN-1-", hex(50) + "-" + hex(25)},
      {"SonarQube", std::string("sq") + "p_", hex(40)},
      {"Sourcegraph", std::string("sg") + "p_", hex(40)},
      {"Buildkite", std::string("bk") + "ua_", hex(40)},
      {"Sentry", std::string("sntr") + "yu_", hex(64)},
      {"Pulumi", std::string("pu") + "l-", hex(40)},
      {"OpenShift", std::string("sha") + "256~", word(43)},
      {"Hugging Face", std::string("h") + "f_", word(34)},
      {"Hugging Face, of an organisation", std::string("api") + "_org_", word(34)},
      {"NVIDIA NGC", std::string("nva") + "pi-", word(64)},
      {"OpenAI", std::string("s") + "k-", word(20) + "T3Blbk" + "FJ" + word(20)},
      {"OpenAI, of a project", std::string("sk-") + "proj-", word(120)},
      {"Anthropic", std::string("sk-") + "ant-api03-", word(93) + "AA"},
      {"Groq", std::string("gs") + "k_", word(52)},
      {"xAI", std::string("xa") + "i-", word(80)},
      {"Kaggle", std::string("KGA") + "T_", hex(32)},
      {"LangSmith", std::string("lsv2") + "_pt_", hex(32) + "_" + hex(10)},
      {"RunPod", std::string("rp") + "a_", capitals(40) + word(6)},
      {"Cerebras", std::string("cs") + "k-", body("abcdefghijklmnopqrstuvwxyz0123456789", 48)},
      {"Fireworks", std::string("f") + "w_", word(24)},
      {"Modal, id", std::string("a") + "k-", word(22)},
      {"Modal, secret", std::string("a") + "s-", word(22)},
      {"Anyscale", std::string("esecr") + "et_", body("abcdefghijklmnopqrstuvwxyz0123456789", 26)},
      {"ElevenLabs", std::string("s") + "k_", hex(48)},
      {"Replicate", std::string("r") + "8_", word(37)},
      {"Weights & Biases", std::string("wandb") + "_v1_", word(77)},
      {"AWS, id", std::string("AK") + "IA", capitals(16)},
      {"AWS, temporary id", std::string("AS") + "IA", capitals(16)},
      {"AWS, secret", "", word(17) + "/" + word(10) + "+" + word(11)},
      {"AWS Bedrock", std::string("AB") + "SK", word(120)},
      {"Google API", std::string("AI") + "za", word(35)},
      {"Google OAuth, access", std::string("ya2") + "9.", word(100)},
      {"Google OAuth, refresh", std::string("1/") + "/0", word(100)},
      {"Google OAuth, client", std::string("GOC") + "SPX-", word(28)},
      {"Azure, client", word(3), std::string("8") + "Q~" + word(34)},
      {"Azure, storage", std::string("AccountName=x;Account") + "Key=", word(86) + "=="},
      {"Azure, shared access",
       "https://x.blob.core.windows.net/c/f?sv=2024&sig=", word(43) + "%3D"},
      {"Alibaba", std::string("LT") + "AI", word(20)},
      {"DigitalOcean", std::string("dop") + "_v1_", hex(64)},
      {"DigitalOcean, of which a log has only a part", std::string("dop") + "_v1_", hex(40)},
      {"Databricks", std::string("da") + "pi", hex(32)},
      {"Databricks, of a service", std::string("do") + "se", hex(32)},
      {"Google Cloud Storage", std::string("GOO") + "G1E", capitals(55)},
      {"DigitalOcean Spaces", std::string("DO") + "00", capitals(16)},
      {"Scaleway", std::string("SC") + "W", capitals(17)},
      {"Honeycomb", std::string("hca") + "ik_", body("abcdefghijklmnopqrstuvwxyz0123456789", 58)},
      {"Globus", std::string("A") + "gp", word(88)},
      {"Doppler", std::string("dp.") + "pt.", word(43)},
      {"Heroku", std::string("HR") + "KU-", word(60)},
      {"Cloudflare", std::string("cf") + "ut_", word(40) + hex(8)},
      {"Fly.io", std::string("fm") + "2_", word(110)},
      {"Vault", std::string("hv") + "s.", word(95)},
      {"Vault, old", std::string("s") + ".", word(24)},
      {"Terraform", word(14), std::string(".atlas") + "v1." + word(67)},
      {"Tailscale", std::string("ts") + "key-auth-", word(16) + "-" + word(32)},
      {"1Password", std::string("op") + "s_eyJ", word(250)},
      {"PlanetScale", std::string("psca") + "le_pw_", word(43)},
      {"Dynatrace", std::string("dt0") + "c01.", capitals(24) + "." + capitals(64)},
      {"Grafana", std::string("gl") + "sa_", word(32) + "_" + hex(8)},
      {"New Relic", std::string("NR") + "AK-", capitals(27)},
      {"Postman", std::string("PM") + "AK-", hex(24) + "-" + hex(34)},
      {"Slack, bot", std::string("xo") + "xb-", "123456789012-1234567890123-" + word(24)},
      {"Slack, user", std::string("xo") + "xp-", "123456789012-1234567890123-" + word(32)},
      {"Slack, application", std::string("xa") + "pp-", "1-A0123456789-1234567890123-" + hex(64)},
      {"Slack, workflow", std::string("xw") + "fp-", "123456789012-" + word(32)},
      {"Slack, webhook", std::string("https://hooks.") + "slack.com/",
       "services/T" + capitals(8) + "/B" + capitals(8) + "/" + word(24)},
      {"Slack, webhook without https", std::string("hooks.") + "slack.com/",
       "services/T" + capitals(8) + "/B" + capitals(8) + "/" + word(24)},
      {"Discord, webhook", discord, "123456789012345678/" + word(68)},
      {"Teams, webhook", std::string("https://x.webhook.") + "office.com/",
       "webhookb2/" + hex(8) + "@" + hex(8) + "/IncomingWebhook/" + hex(32) + "/" + hex(8)},
      {"Mattermost, webhook", "https://chat.example.org/hooks/", word(26)},
      {"Google Chat, webhook", "https://chat.googleapis.com/v1/spaces/A/messages?key=", word(39)},
      {"Telegram, bot", "", "123456789:" + word(35)},
      {"Telegram, address", "https://api.telegram.org/", "bot123456789:" + word(35) + "/getMe"},
      {"Discord, bot", "M", word(25) + "." + word(6) + "." + word(38)},
      {"SendGrid", std::string("S") + "G.", word(22) + "." + word(43)},
      {"SendGrid, shortest", std::string("S") + "G.", word(33)},
      {"Mailgun", std::string("ke") + "y-", hex(32)},
      {"Mailchimp", "", hex(32) + "-us12"},
      {"Brevo", std::string("xkey") + "sib-", hex(64) + "-" + word(16)},
      {"Twilio", std::string("S") + "K", hex(32)},
      {"Stripe", std::string("sk") + "_live_", word(24)},
      {"Stripe, restricted", std::string("rk") + "_live_", word(24)},
      {"Stripe, webhook", std::string("wh") + "sec_", word(32)},
      {"Square", std::string("sq0") + "atp-", word(22)},
      {"Shopify", std::string("shp") + "at_", hex(32)},
      {"Facebook", std::string("EA") + "AC", word(120)},
      {"Notion", std::string("nt") + "n_", "12345678901" + word(35)},
      {"Linear", std::string("lin") + "_api_", word(40)},
      {"Figma", std::string("fig") + "d_", word(40)},
      {"MaxMind", word(6), "_" + word(29) + "_mmk"},
      {"age", std::string("AGE-SECRET") + "-KEY-1", capitals(58)},
      {"JSON Web Token", std::string("ey") + "J",
       word(33) + ".ey" + "J" + word(40) + "." + word(43)},
      {"JSON Web Token, in base64", std::string("ZX") + "lK", word(100)},
      {"PASETO", std::string("v2.") + "local.", word(80)},
      {"a private key", std::string("-----BEGIN OPENSSH PRIVATE") + " KEY-----\n", word(70)},
      {"a private key of PGP", std::string("-----BEGIN PGP PRIVATE") + " KEY BLOCK-----\n",
       word(64)},
      {"a private key in base64", std::string("LS0tLS1CR") + "UdJTi", word(64)},
      {"a private key without its first line", std::string("MI") + "IE", word(64)},
      {"Kubernetes, a Secret", "kind: Secret\ndata:\n  x: ", word(24)},
      {"a key of no one, at random", "", word(40)},
  };
}

TEST(SecretFormats, AreKeptOutWhereverTheyStand) {
  ASSERT_GE(formats().size(), 95U);
  for (const Format& format : formats()) {
    const std::string sample = format.before + format.secret;
    for (const std::string& value :
         {sample, "run --pet " + sample + " --rank 3", "--pet=" + sample,
          "{\"pet\":\"" + sample + "\"}", "bash -c 'PET=" + sample + " run'"}) {
      const Env env(std::map<std::string, std::string>{{"PET", value}});
      const std::string captured = redact(env, Keep::all_variables).dump();
      EXPECT_FALSE(shows(captured, format.secret)) << format.name << ": " << captured;
      EXPECT_EQ(redact_value(redact_value(value)), redact_value(value)) << "redacted twice";
    }
  }
}

// Only the position of such a key is special: 32 or 40 hexadecimal digits and the like.
TEST(SecretFormats, WithoutAFormAreKeptOutAfterTheNameOfTheirService) {
  for (const char* name : {"WANDB", "COMET_X", "NEPTUNE", "KAGGLE_X", "DATADOG", "NEW_RELIC_X",
                           "JFROG", "TWITTER_X", "MAPBOX", "LOB", "SUMO_X"}) {
    for (const std::string& key : {hex(32), hex(40), hex(64), word(25)}) {
      const Env env(
          std::map<std::string, std::string>{{name, key}, {"PET", "x " + (name + ("=" + key))}});
      EXPECT_FALSE(shows(redact(env, Keep::all_variables).dump(), key)) << name << "=" << key;
    }
    const std::string harmless = std::string(name) + "=my-project\n";
    EXPECT_EQ(redact(Env::parse(harmless), Keep::all_variables).dump(), harmless);
  }
  const std::string before(2000, ' ');  // where the key is in a long text does not matter
  EXPECT_EQ(redact_value(before + "x comet=" + word(5000) + " y"), before + "x comet=REDACTED y");
}

}  // namespace
}  // namespace hpcboot
