#include <gmock/gmock.h>

#include "invented_site.hpp"
#include "jobs/job_script.hpp"
#include "jobs/site_library.hpp"

namespace hpcboot::jobscripts {
namespace {

using ::testing::HasSubstr;

class JobScripts : public InventedSite {};

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
  SiteProfile torque = site(site_with("torque"));
  torque.set("queue.whole_nodes", "true");
  torque.set("node.gpu_type", "a100");
  plain.account = {};
  EXPECT_THAT(notes(torque, plain), HasSubstr("queue.whole_nodes has no effect: a script for"));
  EXPECT_THAT(notes(torque, plain), HasSubstr("node.gpu_type has no effect: a script for"));
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
