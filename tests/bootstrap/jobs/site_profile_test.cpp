#include <gmock/gmock.h>

#include "invented_site.hpp"
#include "jobs/job_script.hpp"
#include "jobs/site_library.hpp"

namespace hpcboot::jobscripts {
namespace {

using ::testing::HasSubstr;

class SiteProfiles : public InventedSite {};

TEST_F(SiteProfiles, ProfileHasTheValuesOfItsFile) {
  const SiteProfile profile = site();
  EXPECT_EQ(profile.name(), "site");
  EXPECT_EQ(profile.text("description"), "a test");
  EXPECT_EQ(profile.number("node.gpus"), 4);
  EXPECT_EQ(profile.text("queue.name"), "");
  EXPECT_FALSE(profile.truth("queue.requeue"));
  EXPECT_TRUE(profile.list("build.modules").empty());
}

TEST_F(SiteProfiles, UnknownKeyNamesFileLineKeyAndTheNearest) {
  const std::string error = error_of(replaced(kSite, "cores = 32", "cpus = 32\ncores = 32"));
  EXPECT_THAT(error, HasSubstr("site.toml:7: unknown key node.cpus"));
  EXPECT_THAT(error, HasSubstr("write node.gpus"));
  EXPECT_THAT(error_of(kSite + std::string("[qeue]\nx = 1\n")),
              HasSubstr("site.toml:12: unknown key qeue.x"));
}

TEST_F(SiteProfiles, WrongTypeNamesFileLineAndKey) {
  const struct {
    const char* from;
    const char* to;
    const char* key;
  } kCases[] = {
      {"gpus = 4", "gpus = \"4\"", "site.toml:6: node.gpus"},
      {"gpus = 4", "gpus = 4.0", "site.toml:6: node.gpus"},
      {"gpus = 4", "gpus = -1", "site.toml:6: node.gpus"},
      {"gpus = 4", "gpus = 4\ngpu_type = \"a b\"", "site.toml:7: node.gpu_type"},
      {"\"slurm\"", "\"slrum\"",
       "site.toml:3: scheduler: 'slrum' is unknown; closest match: slurm"},
      {"\"slurm\"", "3", "site.toml:3: scheduler"},
      {"time =", "requeue = 1\ntime =", "site.toml:10: queue.requeue"},
      {"time =", "options = \"-x\"\ntime =", "site.toml:10: queue.options"},
      {"time =", "options = [\"-x\", 3]\ntime =", "site.toml:10: queue.options"},
      {"\"a test\"", "\"a\\ntest\"", "site.toml:1: description"},
  };
  for (const auto& c : kCases)
    EXPECT_THAT(error_of(replaced(kSite, c.from, c.to)), HasSubstr(c.key));
}

TEST_F(SiteProfiles, MissingKeyAndBrokenTomlAreErrors) {
  EXPECT_THAT(error_of(replaced(kSite, "cores = 32\n", "")),
              HasSubstr("site.toml: the key node.cores is missing"));
  EXPECT_THAT(error_of(replaced(kSite, "[node]", "[node")), HasSubstr("site.toml:5: "));
  EXPECT_THROW(SiteProfile::read(folder_ / "absent.toml"), Error);
}

TEST_F(SiteProfiles, SetChangesAKeyOfAnyType) {
  SiteProfile profile = site();
  profile.set("node.gpus", "2");
  profile.set("queue.requeue", "true");
  profile.set("build.modules", "gcc,cuda/12.2");
  profile.set("storage.scratch", "${SCRATCH:-/scratch}");
  EXPECT_EQ(profile.number("node.gpus"), 2);
  EXPECT_TRUE(profile.truth("queue.requeue"));
  EXPECT_THAT(profile.list("build.modules"), ::testing::ElementsAre("gcc", "cuda/12.2"));
  EXPECT_EQ(profile.text("storage.scratch"), "${SCRATCH:-/scratch}");
  profile.set("queue.options", "--nodelist=n1,n2,,--exclusive,");
  EXPECT_THAT(profile.list("queue.options"),
              ::testing::ElementsAre("--nodelist=n1,n2", "--exclusive"));
}

TEST_F(SiteProfiles, SetOfWhatDoesNotFitIsAnErrorThatSaysWhat) {
  EXPECT_THAT(error_of_set(site(), "queue.nam", "short"), HasSubstr("write queue.name"));
  EXPECT_THAT(error_of_set(site(), "node.gpus", "four"), HasSubstr("a whole number"));
  EXPECT_THAT(error_of_set(site(), "node.gpus", "99999999999"), HasSubstr("a whole number"));
  EXPECT_THAT(error_of_set(site(), "queue.requeue", "yes"), HasSubstr("true or false"));
  EXPECT_THAT(error_of_set(site(), "queue.name", "a;b"), HasSubstr("character"));
  EXPECT_THAT(error_of_set(site(), "storage.scratch", "$(id)"), HasSubstr("path"));
  EXPECT_THAT(error_of_set(site(), "storage.scratch", "a\nb"), HasSubstr("path"));
  EXPECT_THAT(error_of_set(site(), "queue.options", "a\nb"), HasSubstr("control character"));
}

TEST_F(SiteProfiles, ATemplateThatNamesNoValueIsAnError) {
  const TemplateValues values = {{"name", "x"}, {"on", true}};
  const ShippedFiles texts = {
      {"a", "one\n{{#on}}{{name}}{{/on}}\n{{>b}}\n"}, {"b", "\n{{nmae}}\n"}, {"c", "{{>d}}"}};
  const TemplateRenderer templates(texts);
  try {
    templates.render("a", values, Quoting::shell);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::malformed_file);
    EXPECT_THAT(error.what(), HasSubstr("b.mustache:2: {{nmae}} is not a value"));
    EXPECT_THAT(error.what(), HasSubstr("write name"));
  }
  EXPECT_THROW(templates.render("c", values, Quoting::shell), Error);
  EXPECT_THROW(templates.render("absent", values, Quoting::shell), Error);
}

TEST_F(SiteProfiles, SectionsAndListsRender) {
  const ShippedFiles texts = {
      {"a",
       "{{#none}}\nno\n{{/none}}\n{{^none}}\nyes\n{{/none}}\n{{#list}}\n- {{.}} "
       "{{{.}}}\n{{/list}}\n{{#zero}}no{{/zero}}{{{n}}}\n"}};
  const TemplateRenderer templates(texts);
  const TemplateValues values = {
      {"none", ""}, {"list", std::vector<std::string>{"a", "b c"}}, {"zero", 0}, {"n", 7}};
  EXPECT_EQ(templates.render("a", values, Quoting::shell), "yes\n- a a\n- 'b c' b c\n7\n");
}

TEST_F(SiteProfiles, OwnSitesWinAndUnknownOnesNameTheNearest) {
  const std::string mine = replaced(kSite, "a test", "mine");
  write("own/hpcboot/sites/two.toml", mine);
  const SiteLibrary library(Env(std::map<std::string, std::string>{
                                {"XDG_CONFIG_HOME", (folder_ / "own").string()}, {"HOME", "/x"}}),
                            {{"one", kSite}, {"two", kSite}});
  EXPECT_THAT(library.names(), ::testing::ElementsAre("one", "two"));
  EXPECT_EQ(library.read("one").text("description"), "a test");
  EXPECT_EQ(library.read("two").text("description"), "mine");
  EXPECT_EQ(library.text_of("one"), kSite);
  EXPECT_EQ(library.text_of("two"), mine);
  EXPECT_THAT([&] { library.read("tow"); }, ::testing::Throws<Error>(::testing::Property(
                                                &Error::remedy, HasSubstr("write two"))));
  EXPECT_THROW(library.text_of("tow"), Error);
  EXPECT_TRUE(library.has_as_shipped("one"));
  EXPECT_FALSE(library.has_as_shipped("two"));
  EXPECT_FALSE(library.has_as_shipped("three"));
  EXPECT_EQ(SiteLibrary(Env(std::map<std::string, std::string>{{"HOME", "/home/me"}})).own_sites(),
            "/home/me/.config/hpcboot/sites");
}

TEST_F(SiteProfiles, EveryShippedSiteCanBeRead) {
  const SiteLibrary library{Env(std::map<std::string, std::string>{})};
  EXPECT_GE(library.names().size(), 10U);
  for (const std::string& name : library.names()) EXPECT_EQ(library.read(name).name(), name);
}

TEST_F(SiteProfiles, TomlBeyondAsciiStandsInTextsAndComments) {
  const std::string head = "# \xc3\xa9\n";
  EXPECT_NO_THROW(site(head + replaced(kSite, "\"slurm\"", "\"slurm\" # \xc3\xa9")));
  const auto error_of_more = [&](const std::string& more) {
    return error_of(std::string(kSite) + "\n[storage]\n" + more);
  };
  EXPECT_EQ(error_of_more("note = \"\xc3\xa9 \\\\\xc3\xa9\""), "no error");
  EXPECT_EQ(error_of_more("note = \"\"\"a\\\nb\xc3\xa9\"\"\""), "no error");
  for (const char* more : {"\xc3\xa9 = 1", "note = \xc3\xa9", "note = \"a\" \xc3\xa9"})
    EXPECT_THAT(error_of_more(more), HasSubstr("outside strings and comments")) << more;
  for (const char* more :
       {"note = \"\"\"\\\xc3\xa9\"\"\"", "note = \"\"\"\\ \xc3\xa9\"\"\"",
        "note = \"\"\"a\\\n \xc3\xa9\"\"\"", "note = \"\"\"\\\n\\t\xc3\xa9\"\"\""})
    EXPECT_THAT(error_of_more(more), HasSubstr("after a backslash")) << more;
  for (const char* more :
       {"note = 0n\"\xc3\xa9\"", "note = 1.\"\xc3\xa9\"", "note = 1979-05-27 \"\xc3\xa9\"",
        "note = [\n1 \"\xc3\xa9\"\n]", "note = \"a\"\"\xc3\xa9\"", "note = 5=\"\xc3\xa9\"",
        "note = {a = 5=\"\xc3\xa9\"}", "note = 5[\"\xc3\xa9\"]"})
    EXPECT_THAT(error_of_more(more), HasSubstr("a quote within a value")) << more;
  EXPECT_EQ(error_of("# '\"\n" + std::string(kSite) +
                     "\n[build]\ncommands = [ \"a\", # \"b\n  'c',\n]\n" +
                     "[\"storage\"]\n\"note\" = \"d\"\n"),
            "no error");
}

}  // namespace
}  // namespace hpcboot::jobscripts
