#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hpcboot/error.hpp"
#include "jobs/job_script.hpp"
#include "jobs/site_library.hpp"

namespace hpcboot::jobscripts {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kSite = R"(description = "a test"
documentation = "https://example.org"
scheduler = "slurm"
launcher = "srun"
[node]
gpus = 4
cores = 32
memory_gb = 100
[queue]
time = "01:00:00"
)";

class JobScripts : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "hpcboot-test.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  SiteProfile site(const std::string& text = kSite) const {
    return SiteProfile::read(write("site.toml", text));
  }

  // The error message for this profile.
  std::string error_of(const std::string& text) const {
    try {
      site(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed_file);
      return error.what();
    }
    return "no error";
  }

  static std::string error_of_set(SiteProfile profile, const std::string& key,
                                  const std::string& value) {
    try {
      profile.set(key, value);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed_value);
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, what.size(), with);
}

TEST_F(JobScripts, ProfileHasTheValuesOfItsFile) {
  const SiteProfile profile = site();
  EXPECT_EQ(profile.name(), "site");
  EXPECT_EQ(profile.text("description"), "a test");
  EXPECT_EQ(profile.number("node.gpus"), 4);
  EXPECT_EQ(profile.text("queue.name"), "");
  EXPECT_FALSE(profile.truth("queue.requeue"));
  EXPECT_TRUE(profile.list("build.modules").empty());
}

TEST_F(JobScripts, UnknownKeyNamesFileLineKeyAndTheNearest) {
  const std::string error = error_of(replaced(kSite, "cores = 32", "cpus = 32\ncores = 32"));
  EXPECT_THAT(error, HasSubstr("site.toml:7: unknown key node.cpus"));
  EXPECT_THAT(error, HasSubstr("write node.gpus"));
  EXPECT_THAT(error_of(kSite + std::string("[qeue]\nx = 1\n")),
              HasSubstr("site.toml:12: unknown key qeue.x"));
}

TEST_F(JobScripts, WrongTypeNamesFileLineAndKey) {
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

TEST_F(JobScripts, MissingKeyAndBrokenTomlAreErrors) {
  EXPECT_THAT(error_of(replaced(kSite, "cores = 32\n", "")),
              HasSubstr("site.toml: the key node.cores is missing"));
  EXPECT_THAT(error_of(replaced(kSite, "[node]", "[node")), HasSubstr("site.toml:5: "));
  EXPECT_THROW(SiteProfile::read(folder_ / "absent.toml"), Error);
}

TEST_F(JobScripts, SetChangesAKeyOfAnyType) {
  SiteProfile profile = site();
  profile.set("node.gpus", "2");
  profile.set("queue.requeue", "true");
  profile.set("build.modules", "gcc,cuda/12.2");
  profile.set("storage.scratch", "${SCRATCH:-/scratch}");
  EXPECT_EQ(profile.number("node.gpus"), 2);
  EXPECT_TRUE(profile.truth("queue.requeue"));
  EXPECT_THAT(profile.list("build.modules"), ::testing::ElementsAre("gcc", "cuda/12.2"));
  EXPECT_EQ(profile.text("storage.scratch"), "${SCRATCH:-/scratch}");
}

TEST_F(JobScripts, SetOfWhatDoesNotFitIsAnErrorThatSaysWhat) {
  EXPECT_THAT(error_of_set(site(), "queue.nam", "short"), HasSubstr("write queue.name"));
  EXPECT_THAT(error_of_set(site(), "node.gpus", "four"), HasSubstr("a whole number"));
  EXPECT_THAT(error_of_set(site(), "node.gpus", "99999999999"), HasSubstr("a whole number"));
  EXPECT_THAT(error_of_set(site(), "queue.requeue", "yes"), HasSubstr("true or false"));
  EXPECT_THAT(error_of_set(site(), "queue.name", "a;b"), HasSubstr("character"));
  EXPECT_THAT(error_of_set(site(), "storage.scratch", "$(id)"), HasSubstr("path"));
  EXPECT_THAT(error_of_set(site(), "storage.scratch", "a\nb"), HasSubstr("path"));
  EXPECT_THAT(error_of_set(site(), "queue.options", "a\nb"), HasSubstr("control character"));
}

TEST_F(JobScripts, ATemplateThatNamesNoValueIsAnError) {
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

TEST_F(JobScripts, SectionsAndListsRender) {
  const ShippedFiles texts = {
      {"a",
       "{{#none}}\nno\n{{/none}}\n{{^none}}\nyes\n{{/none}}\n{{#list}}\n- {{.}} "
       "{{{.}}}\n{{/list}}\n{{#zero}}no{{/zero}}{{{n}}}\n"}};
  const TemplateRenderer templates(texts);
  const TemplateValues values = {
      {"none", ""}, {"list", std::vector<std::string>{"a", "b c"}}, {"zero", 0}, {"n", 7}};
  EXPECT_EQ(templates.render("a", values, Quoting::shell), "yes\n- a a\n- 'b c' b c\n7\n");
}

TEST_F(JobScripts, OwnSitesWinAndUnknownOnesNameTheNearest) {
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

TEST_F(JobScripts, EveryShippedSiteCanBeRead) {
  const SiteLibrary library{Env(std::map<std::string, std::string>{})};
  EXPECT_GE(library.names().size(), 10U);
  for (const std::string& name : library.names()) EXPECT_EQ(library.read(name).name(), name);
}

TEST_F(JobScripts, ATimeAsSlurmWritesItIsAnErrorWithItsHoursMinutesAndSeconds) {
  const TemplateRenderer templates(shipped_templates());
  const auto remedy_of = [&](const char* time) -> std::string {
    ScriptRequest request;
    request.job = "ddp";
    request.time = time;
    try {
      render_job_script(templates, site(), request);
    } catch (const Error& error) {
      return error.remedy();
    }
    return "no error";
  };
  EXPECT_THAT(remedy_of("2-00:00:00"), HasSubstr("write 48:00:00, as Slurm reads"));
  EXPECT_THAT(remedy_of("1-12"), HasSubstr("write 36:00:00,"));
  EXPECT_THAT(remedy_of("1-12:30"), HasSubstr("write 36:30:00,"));
  EXPECT_THAT(remedy_of("30"), HasSubstr("write 00:30:00,"));
  EXPECT_THAT(remedy_of("30:00"), HasSubstr("write 00:30:00,"));
  EXPECT_THAT(remedy_of("90"), HasSubstr("write 01:30:00,"));
  for (const char* time : {"1h", "1:60:00", "", "-5", "1-", "1-1-1"})
    EXPECT_THAT(remedy_of(time), HasSubstr("correct --time")) << time;
}

// The site with another scheduler than Slurm.
std::string site_with(const std::string& scheduler) {
  return replaced(replaced(kSite, "\"slurm\"", "\"" + scheduler + "\""), "srun", "mpirun");
}

TEST_F(JobScripts, LsfCountsWholeMinutesAndGetsNoneTooFew) {
  const TemplateRenderer templates(shipped_templates());
  ScriptRequest request;
  request.job = "ddp";
  for (const auto& [time, limit] : {std::pair{"00:00:45", "00:01"},
                                    {"01:30:59", "01:31"},
                                    {"01:59:01", "02:00"},
                                    {"100:00:00", "100:00"}}) {
    request.time = time;
    EXPECT_THAT(render_job_script(templates, site(site_with("lsf")), request),
                HasSubstr(std::string("#BSUB -W ") + limit + "\n"));
  }
}

TEST_F(JobScripts, PbsTakesOnlyArraysThatMayBeRerun) {
  const TemplateRenderer templates(shipped_templates());
  const auto may_rerun = [&](const char* scheduler, const char* job, const char* requeue) {
    SiteProfile profile = site(site_with(scheduler));
    profile.set("queue.requeue", requeue);
    ScriptRequest request;
    request.job = job;
    const std::string script = render_job_script(templates, profile, request);
    const auto has = [&](const char* line) { return script.find(line) != std::string::npos; };
    EXPECT_NE(has("\n#PBS -r y\n"), has("\n#PBS -r n\n"));
    return has("\n#PBS -r y\n");
  };
  for (const char* job : {"array", "ddp"}) EXPECT_TRUE(may_rerun("pbs", job, "true"));
  EXPECT_TRUE(may_rerun("pbs", "array", "false"));
  EXPECT_FALSE(may_rerun("pbs", "ddp", "false"));
  EXPECT_FALSE(may_rerun("torque", "array", "false"));
}

TEST_F(JobScripts, AnOptionThatComesToNothingIsNoted) {
  const TemplateRenderer templates(shipped_templates());
  const auto notes = [&](const SiteProfile& profile, const ScriptRequest& request) {
    render_job_script(templates, profile, request);
    std::string all;
    for (const std::string& note : notes_on(profile, request)) all += note + "\n";
    return all;
  };
  for (const char* job : {"single", "dp", "array"}) {
    ScriptRequest request;
    request.job = job;
    request.launcher = "mpirun";
    EXPECT_THAT(notes(site(), request), HasSubstr("--launcher has no effect: the job"));
    request.launcher = {};
    request.ranks_per_node = 4;
    EXPECT_THAT(notes(site(), request), HasSubstr("--ranks-per-node has no effect: the job"));
    request.ranks_per_node = 1;
    EXPECT_EQ(notes(site(), request), "");
  }
  const SiteProfile lab =
      site(replaced(replaced(kSite, "\"slurm\"", "\"none\""), "\"srun\"", "\"mpirun\""));
  const SiteProfile pods = SiteLibrary(Env()).read("kubernetes");
  ScriptRequest plain;
  plain.job = "ddp";
  EXPECT_EQ(notes(lab, plain), "");
  plain.account = "me";
  plain.time = "01:00:00";
  EXPECT_THAT(notes(lab, plain), HasSubstr("--account has no effect"));
  EXPECT_THAT(notes(lab, plain), HasSubstr("--time has no effect"));
  EXPECT_EQ(notes(site(), plain), "");
  ScriptRequest pod;
  pod.job = "pytorchjob";
  pod.time = "01:00:00";
  EXPECT_EQ(notes(pods, pod), "");
  pod.mail = "me@example.org";
  pod.launcher = "torchrun";
  EXPECT_THAT(notes(pods, pod), HasSubstr("--mail has no effect"));
  EXPECT_THAT(notes(pods, pod), HasSubstr("the operator starts torchrun"));
}

TEST_F(JobScripts, AWalltimeWithinTheWarningHasNone) {
  ScriptRequest request;
  request.job = "ddp";
  for (const char* time : {"00:01:00", "00:02:00"}) {
    request.time = time;
    EXPECT_THAT(notes_on(site(), request), ElementsAre(HasSubstr("there will be no warning")));
  }
  request.time = "00:02:01";
  EXPECT_THAT(notes_on(site(), request), testing::IsEmpty());
  request.time = "00:01:00";
  request.program = "solver";
  EXPECT_THAT(notes_on(site(), request), testing::IsEmpty());
}

TEST_F(JobScripts, NamesOfKubernetesAreWhatItTakes) {
  const auto error_of_name = [&](const char* key, const std::string& value) {
    return error_of_set(site(), std::string("kubernetes.") + key, value);
  };
  for (const std::string& name :
       std::vector<std::string>{"Team", "a_b", "-a", "a-", "a.b", std::string(64, 'a')})
    EXPECT_THAT(error_of_name("namespace", name), HasSubstr("not a name that Kubernetes accepts"))
        << name;
  for (const std::string& name :
       std::vector<std::string>{"a..b", ".a", "a.", "A", "a:b", std::string(254, 'a')})
    EXPECT_THAT(error_of_name("data_claim", name), HasSubstr("not a name that Kubernetes accepts"))
        << name;
  for (const char* name : {"hca", "/hca", "rdma/", "rdma/a/b", "RDMA/hca", "rdma/hca: 1", "a,b/c"})
    EXPECT_NE(error_of_name("rdma_resource", name), "no error") << name;
  EXPECT_EQ(error_of_name("namespace", "team-1"), "no error");
  for (const std::string end : {"a", "z", "0", "9"}) {
    EXPECT_EQ(error_of_name("namespace", end), "no error");
    EXPECT_EQ(error_of_name("rdma_resource", end + "/" + end), "no error");
  }
  for (const char* name : {"a/A", "a/Z"})
    EXPECT_EQ(error_of_name("rdma_resource", name), "no error");
  EXPECT_EQ(error_of_name("data_claim", "data.v2"), "no error");
  EXPECT_EQ(error_of_name("rdma_resource", "rdma.example.com/HCA_a.1"), "no error");
  EXPECT_EQ(error_of_name("rdma_resource", ""), "no error");
}

TEST_F(JobScripts, AManifestNamesWhatItNeeds) {
  SiteProfile pods = SiteLibrary(Env()).read("kubernetes");
  ScriptRequest request;
  request.job = "pytorchjob";
  const TemplateRenderer templates(shipped_templates());
  EXPECT_NO_THROW(render_job_script(templates, pods, request));
  pods.set("kubernetes.rdma_resource", "");
  EXPECT_NO_THROW(render_job_script(templates, pods, request));
  pods.set("kubernetes.rdma_devices", "1");
  EXPECT_THROW(render_job_script(templates, pods, request), Error);
  pods.set("kubernetes.rdma_devices", "0");
  pods.set("kubernetes.output_claim", "");
  EXPECT_THROW(render_job_script(templates, pods, request), Error);
}

// In toml++ 3.3, checking whether these are blanks is undefined behaviour.
TEST_F(JobScripts, TomlBeyondAsciiStandsInTextsAndComments) {
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

TEST_F(JobScripts, ARequestThatDoesNotFitIsAnError) {
  const TemplateRenderer templates(shipped_templates());
  const auto error_of = [&](const ScriptRequest& request) -> std::string {
    try {
      render_job_script(templates, site(), request);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed_value);
      return error.what();
    }
    return "no error";
  };
  ScriptRequest request;
  request.job = "ddpp";
  EXPECT_THAT(error_of(request), HasSubstr("write ddp"));
  request.job = "ddp";
  EXPECT_EQ(error_of(request), "no error");
  request.nodes = 2;
  EXPECT_THAT(error_of(request), HasSubstr("--nodes 2"));
  request.nodes = {};
  request.gpus_per_node = 5;
  EXPECT_THAT(error_of(request), HasSubstr("--gpus-per-node 5"));
  request.gpus_per_node = {};
  request.ranks_per_node = 0;
  EXPECT_THAT(error_of(request), HasSubstr("--ranks-per-node 0"));
  request.ranks_per_node = {};
  for (const char* time : {"1h", "90", "1:60:00", "-1:00:00", "01:00", "01:00:00\n#SBATCH"}) {
    request.time = time;
    EXPECT_THAT(error_of(request), HasSubstr("walltime"));
  }
  request.time = "00:00:00";
  EXPECT_THAT(error_of(request), HasSubstr("a time greater than 0"));
  request.program = {};
  request.time = {};
  request.account = "a\n#SBATCH --x";
  EXPECT_THAT(error_of(request), HasSubstr("--account"));
  request.account = {};
  request.mail = "a@b.c\n#SBATCH --x";
  EXPECT_THAT(error_of(request), HasSubstr("--mail"));
  request.mail = {};
  request.launcher = "srnu";
  EXPECT_THAT(error_of(request), HasSubstr("closest match: srun"));
}

TEST_F(JobScripts, AProgramIsOneWordAndNotCompared) {
  const TemplateRenderer templates(shipped_templates());
  const auto error_of = [&](const char* job, const char* program) -> std::string {
    ScriptRequest request;
    request.job = job;
    request.program = program;
    try {
      render_job_script(templates, site(), request);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed_value);
      return error.what();
    }
    return "no error";
  };
  for (const char* program : {"python train.py", "python\ttrain.py", "python\n#SBATCH --x"})
    EXPECT_THAT(error_of("ddp", program), HasSubstr("write --program python, and give its"));
  EXPECT_THAT(error_of("compare", "python"), HasSubstr("the job compare with --program python"));
  for (const char* job : {"single", "dp", "ddp", "multinode_srun", "multinode_mpirun", "array"})
    EXPECT_EQ(error_of(job, "python"), "no error");
}

TEST_F(JobScripts, AProgramTakesTheTrainersPlace) {
  ScriptRequest request;
  request.job = "ddp";
  request.program = "./solver";
  const std::string script =
      render_job_script(TemplateRenderer(shipped_templates()), site(), request);
  EXPECT_THAT(script, HasSubstr(" -- ./solver \"${options[@]}\" \"$@\""));
  EXPECT_THAT(script, testing::Not(HasSubstr("TRAINER OPTION")));
}

// The share of a node with 32 cores, 100 GB and 4 GPUs that a job requests.
TEST_F(JobScripts, CoresAndMemoryFollowTheGpus) {
  const TemplateRenderer templates(shipped_templates());
  const struct {
    const char* job;
    std::optional<int> gpus;
    std::optional<int> ranks;
    const char* directives;
  } kCases[] = {
      {"single",
       {},
       {},
       "per-node=1\n#SBATCH --cpus-per-task=8\n#SBATCH --gpus-per-node=1\n#SBATCH --mem=25G\n"},
      {"single", 0, {}, "per-node=1\n#SBATCH --cpus-per-task=16\n#SBATCH --mem=50G\n"},
      {"dp",
       {},
       {},
       "per-node=1\n#SBATCH --cpus-per-task=32\n#SBATCH --gpus-per-node=4\n#SBATCH --mem=100G\n"},
      {"dp", 0, {}, "per-node=1\n#SBATCH --cpus-per-task=32\n#SBATCH --mem=100G\n"},
      {"ddp",
       {},
       {},
       "per-node=4\n#SBATCH --cpus-per-task=8\n#SBATCH --gpus-per-node=4\n#SBATCH --mem=100G\n"},
      {"ddp",
       2,
       {},
       "per-node=2\n#SBATCH --cpus-per-task=8\n#SBATCH --gpus-per-node=2\n#SBATCH --mem=50G\n"},
      {"ddp", 2, 4,
       "per-node=4\n#SBATCH --cpus-per-task=4\n#SBATCH --gpus-per-node=2\n#SBATCH --mem=50G\n"},
      {"ddp", 0, {}, "per-node=2\n#SBATCH --cpus-per-task=16\n#SBATCH --mem=100G\n"},
      {"ddp", 0, 8, "per-node=8\n#SBATCH --cpus-per-task=4\n#SBATCH --mem=100G\n"},
  };
  for (const auto& c : kCases) {
    ScriptRequest request;
    request.job = c.job;
    request.gpus_per_node = c.gpus;
    request.ranks_per_node = c.ranks;
    EXPECT_THAT(render_job_script(templates, site(), request), HasSubstr(c.directives));
  }
}

TEST_F(JobScripts, SharesOfTheLargestNodeAreExact) {
  const std::string text = replaced(
      replaced(replaced(kSite, "gpus = 4", "gpus = 1000000"), "cores = 32", "cores = 1000000"),
      "memory_gb = 100", "memory_gb = 1000000");
  ScriptRequest request;
  request.job = "ddp";
  request.gpus_per_node = 500'000;
  EXPECT_THAT(
      render_job_script(TemplateRenderer(shipped_templates()), site(text), request),
      HasSubstr("per-node=500000\n#SBATCH --cpus-per-task=1\n#SBATCH --gpus-per-node=500000\n"
                "#SBATCH --mem=500000G\n"));
}

// 67108863 nodes of 32 cores are 2147483616 cores.
TEST_F(JobScripts, AJobsCoresFitAnInt) {
  const TemplateRenderer templates(shipped_templates());
  const std::string text = replaced(kSite, "scheduler = \"slurm\"\nlauncher = \"srun\"",
                                    "scheduler = \"sge\"\nlauncher = \"mpirun\"") +
                           "parallel_environment = \"mpi\"\n";
  ScriptRequest request;
  request.job = "multinode_mpirun";
  request.gpus_per_node = 0;
  request.nodes = 67'108'863;
  EXPECT_THAT(render_job_script(templates, site(text), request), HasSubstr(" 2147483616\n"));
  request.nodes = 67'108'864;
  try {
    render_job_script(templates, site(text), request);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.found(), "--nodes 67108864 for the job multinode_mpirun");
    EXPECT_THAT(error.expected(), HasSubstr("at most 67108863 nodes"));
  }
}

}  // namespace
}  // namespace hpcboot::jobscripts
