#include <gtest/gtest.h>

#include <string>

#include "hpcboot/redact.hpp"

// Where the value of a private name ends, in each way to write one.
namespace hpcboot {
namespace {

struct Case {
  const char* value;
  const char* redacted;
};

constexpr Case kValues[] = {
    // Brackets.
    {R"({"password": {"value": "pw"}})", R"({"password": REDACTED})"},
    {R"({"tokens": ["abc", "pw"], "n": 4})", R"({"tokens": REDACTED, "n": 4})"},
    {R"({"secrets": {"db": "pw"}})", R"({"secrets": REDACTED})"},
    {R"({"secrets": {"db": "p}w"}, "rank": 3})", R"({"secrets": REDACTED, "rank": 3})"},
    {R"({"secrets":{"db":["p]w's",{}]},"rank":3})", R"({"secrets":REDACTED,"rank":3})"},
    {R"({\"secrets\": {\"db\": \"p}w\"}, \"rank\": 3})", R"({\"secrets\": REDACTED, \"rank\": 3})"},
    {R"(-d '{"token": ["a b", "pw"]}' -v)", R"(-d '{"token": REDACTED}' -v)"},
    {"password={don't pw};n=3", "password=REDACTED;n=3"},
    {"password=[a]b pw", "password=REDACTED pw"},
    {"password=[a pw", "password=REDACTED"},
    {"password={a \"b} pw", "password=REDACTED"},
    // Quotes.
    {R"({\\\"password\\\":\\\"pw\\\"})", R"({\\\"password\\\":\\\"REDACTED\\\"})"},
    {R"({\\\"password\\\":\\\"p\\\\\\\"w\\\", \\\"n\\\": 3})",
     R"({\\\"password\\\":\\\"REDACTED\\\", \\\"n\\\": 3})"},
    {R"({\"password\":\"p\\\"w\",\"n\":3})", R"({\"password\":\"REDACTED\",\"n\":3})"},
    {R"({\"password\":\"p\\\\\",\"n\":3})", R"({\"password\":\"REDACTED\",\"n\":3})"},
    {"password = \"\"\"\npw\nmore\"\"\" n=3", "password = \"REDACTED\" n=3"},
    {"password = '''p'w''' n=3", "password = 'REDACTED' n=3"},
    {"password=\"\" n=3", "password=\"REDACTED\" n=3"},
    // Words of a shell and of libpq.
    {R"(--password correct\ pw --rank 3)", "--password REDACTED --rank 3"},
    {R"(host=h password=p\ w)", "host=h password=REDACTED"},
    {R"(password=p\\ rank=3)", "password=REDACTED rank=3"},
    {"--password token=\"a pw\" n=3", "--password REDACTED n=3"},
    {"--token <password>a pw</password> n=3", "--token REDACTED n=3"},
    // YAML.
    {"password: |\n  pw\n\n  more\nrank: 3\n", "password: REDACTED\nrank: 3\n"},
    {"password: >-\n  pw\n  more", "password: REDACTED"},
    {"db:\n  password: |2\n    pw\n   more\n  rank: 3\n", "db:\n  password: REDACTED\n  rank: 3\n"},
    {"- password: |\n    pw\n  rank: 3\n", "- password: REDACTED\n  rank: 3\n"},
    {"secrets:\n  db: pw\n  a: b\nrank: 3\n", "secrets:\n  REDACTED\nrank: 3\n"},
    {"tokens:\n- pw\n- b\nrank: 3\n", "tokens:\nREDACTED\nrank: 3\n"},
    {"password:\nrank: 3\n", "password:\nREDACTED 3\n"},
    {"rank: 3\npassword: a pw\nn: 4\n", "rank: 3\npassword: REDACTED\nn: 4\n"},
    {"password: a pw\r\nn: 4\n", "password: REDACTED\r\nn: 4\n"},
    {"token: abc rank: 3", "token: REDACTED rank: 3"},
    // Connection strings. PWD is a folder elsewhere.
    {"DRIVER={x};UID=me;PWD=pw", "DRIVER={x};UID=me;PWD=REDACTED"},
    {"Driver=x;Uid=a;Pwd=p w;", "Driver=x;Uid=a;Pwd=REDACTED w;"},
    {"Server=h; User Id=a; Pwd=pw", "Server=h; User Id=a; Pwd=REDACTED"},
    {"UID=me;PWD={a pw};n=3", "UID=me;PWD=REDACTED;n=3"},
    {"PWD={a pw};UID=me", "PWD=REDACTED;UID=me"},
    {"PWD=pw;UID=me", "PWD=REDACTED"},
    {"dsn=x%3BPWD%3Dpw%3Bn%3D3 n=3", "dsn=x%3BPWD%3DREDACTED n=3"},
    {"https://x/api?pwd=pw&n=3", "https://x/api?pwd=REDACTED"},
    {R"({"uid": "a", "pwd": "pw"})", R"({"uid": "a", "pwd": "REDACTED"})"},
    {"user=me pwd=pw", "user=me pwd=REDACTED"},
    {"PWD=/home/me OLDPWD=/tmp", "PWD=/home/me OLDPWD=/tmp"},
    {"PWD=home UID=me", "PWD=home UID=me"},
    {"pwd=$(pwd); pwd=\"/tmp\"; cd $PWD; pwd", "pwd=$(pwd); pwd=\"/tmp\"; cd $PWD; pwd"},
    {"sh: pwd: command not found", "sh: pwd: command not found"},
    // XML.
    {"<password>a pw</password> <rank>3</rank>", "<password>REDACTED <rank>3</rank>"},
    {"<password type=\"plain\">a pw</password>", "<password type=\"plain\">REDACTED"},
    {"<password>\n  a pw\n</password>\n", "<password>\n  REDACTED\n"},
    {"<password><![CDATA[a pw]]></password>", "<password>REDACTED"},
    {"<password></password> <rank>3</rank>", "<password>REDACTED <rank>3</rank>"},
    {"<token s= Bearer pw n=\"3\">pw", "<token s= Bearer REDACTED n=\"3\">REDACTED"},
    {"<password n=\"3\"/> rank", "<password n=\"3\"/> rank"},
    {"run <token-list >out 2>&1", "run <token-list >REDACTED 2>&1"},
};

TEST(RedactedValues, EndWhereTheirFormSays) {
  for (const Case& c : kValues) {
    EXPECT_EQ(redact_value(c.value), c.redacted);
    EXPECT_EQ(redact_value(c.redacted), c.redacted) << "redacted twice";
  }
}

// The time must be linear: in quadratic time these take minutes, and ctest has a limit.
TEST(RedactedValues, LongOnesComeToTheirEnd) {
  for (const std::string piece :
       {"token=[",    "token={'", "token=\\",  "token: |\n",   "token: a ",
        "\ntoken: a", "<token>",  "<token ",   "token\",\\\"", "a\\ ",
        "token=a\\ ", "\\",       "token:\n ", "token=\"\"\"", "[{",
        "- token: ",  "PWD=",     ";PWD={",    "pwd=a;",       "token='a"}) {
    std::string text;
    while (text.size() < 200'000) text += piece;
    EXPECT_FALSE(redact_value(text).empty());
  }
}

}  // namespace
}  // namespace hpcboot
