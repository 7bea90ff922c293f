#include "hpcboot/redact.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "support/temporary_folder.hpp"

namespace hpcboot {
namespace {

TEST(Redact, NamesThatAreKeptBack) {
  for (const char* name : {"PMI_SHARED_SECRET",
                           "PBS_JOBCOOKIE",
                           "SLURM_JWT",
                           "GITHUB_TOKEN",
                           "HF_TOKEN",
                           "wandb_api_key",
                           "WANDB_APIKEY",
                           "SSH_KEY",
                           "SSH_KEYS",
                           "DB_PASSWORD",
                           "PGPASSWORD",
                           "MYSQL_PWD",
                           "ftp_pass",
                           "SSH_ASKPASS",
                           "AWS_ACCESS_KEY_ID",
                           "AWS_REGION",
                           "GOOGLE_APPLICATION_CREDENTIALS",
                           "HTTP_AUTH",
                           "x-private-thing",
                           "--api-key",
                           "client_secret",
                           "OMPI_ARGV",
                           "LSB_JOBNAME",
                           "OMPI_MCA_orte_precondition_transports"}) {
    EXPECT_TRUE(is_private_name(name)) << name;
  }
  for (const char* name :
       {"PWD", "OLDPWD", "RANK", "SLURM_PROCID", "SLURM_JOB_NODELIST", "PBS_JOBID",
        "PMIX_NAMESPACE", "TORCHELASTIC_RUN_ID", "KEYBOARD_LAYOUT", "MASTER_ADDR"}) {
    EXPECT_FALSE(is_private_name(name)) << name;
  }
}

struct Case {
  const char* value;
  const char* redacted;
};

constexpr Case kValues[] = {
    // Nothing to hide.
    {"", ""},
    {"3", "3"},
    {"n[1-2],gpu[01-16]", "n[1-2],gpu[01-16]"},
    {"2(x3),1", "2(x3),1"},
    {"425656320.0;tcp://10.77.0.11:34159", "425656320.0;tcp://10.77.0.11:34159"},
    {"45[6].server", "45[6].server"},
    {"alice@login1", "alice@login1"},
    {"/opt/slurm/lib:/usr/lib", "/opt/slurm/lib:/usr/lib"},
    {"sk-node[1-4]", "sk-node[1-4]"},
    // User information.
    {"https://user:pw@host/x", "https://REDACTED@host/x"},
    {"https://ghs_token@host", "https://REDACTED@host"},
    {"see http://u:p@h and ftp://v:q@i", "see http://REDACTED@h and ftp://REDACTED@i"},
    {"postgres://u:p/w@d@db:5432/x", "postgres://REDACTED@db:5432/x"},
    {"u:p@tcp(db:3306)", "REDACTED@tcp(db:3306)"},
    {"dsn=u:p=q@db", "dsn=REDACTED@db"},
    // Assignments and options.
    {"password=hunter2", "password=REDACTED"},
    {"a=1 token = x,y b=2", "a=1 token = REDACTED b=2"},
    {"run --token abc --rank 3", "run --token REDACTED --rank 3"},
    {"run --api-key=abc", "run --api-key=REDACTED"},
    {"{\"rank\":3,\"api_key\":\"a\\\"b c\",\"n\":4}",
     "{\"rank\":3,\"api_key\":\"REDACTED\",\"n\":4}"},
    {"{'secret': 'a b'}", "{'secret': 'REDACTED'}"},
    {"https://host/?access_token=abc&x=1", "https://host/?access_token=REDACTED"},
    {"secret", "secret"},
    // Headers.
    {"Authorization: Bearer abc.def", "Authorization: REDACTED"},
    {"authorization: basic dXNlcjpwdw==", "authorization: REDACTED"},
    {"header Bearer abc", "header Bearer REDACTED"},
    {"api_key: --password hunter2", "api_key: REDACTED"},
    {"password=mysecret", "password=REDACTED"},
    {"X-Auth: abc", "X-Auth: REDACTED"},
    // Forms of well-known keys.
    {"ghp_0123456789abcdefghijklmnopqrstuvwxyz", "REDACTED"},
    {"use hf_abcdefghijklmnopqrstuvwx now", "use REDACTED now"},
    {"AKIAIOSFODNN7EXAMPLE", "REDACTED"},
    {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "REDACTED"},
    {"-----BEGIN RSA PRIVATE KEY-----\nabc\n", "REDACTED"},
};

TEST(Redact, ValuesTellNoSecret) {
  for (const Case& c : kValues) {
    EXPECT_EQ(redact_value(c.value), c.redacted);
    EXPECT_EQ(redact_value(c.redacted), c.redacted) << "redacted twice";
  }
}

TEST(Redact, KeepsWhatTellsOfALaunch) {
  for (const char* name : {"SLURM_PROCID",
                           "SLURMD_NODENAME",
                           "OMPI_COMM_WORLD_RANK",
                           "PMIX_RANK",
                           "PMI_FD",
                           "PMI_RANK",
                           "MPI_LOCALRANKID",
                           "PALS_RANKID",
                           "FLUX_TASK_RANK",
                           "PBS_NODEFILE",
                           "LSB_MCPU_HOSTS",
                           "JSM_NAMESPACE_RANK",
                           "PE_HOSTFILE",
                           "JOB_ID",
                           "COBALT_JOBID",
                           "RANK",
                           "LOCAL_WORLD_SIZE",
                           "TORCHELASTIC_RUN_ID",
                           "PET_NNODES",
                           "CUDA_VISIBLE_DEVICES",
                           "ZE_AFFINITY_MASK",
                           "NCCL_SOCKET_IFNAME",
                           "HPCBOOT_METHODS",
                           "MASTER_ADDR",
                           "SM_HOSTS",
                           "MV2_COMM_WORLD_RANK"}) {
    EXPECT_TRUE(is_launch_variable(name)) << name;
  }
  for (const char* name :
       {"HOME", "PATH", "USER", "MAIL", "SSH_CONNECTION", "PBS_O_HOME", "SGE_O_HOME", "PBS_O_PATH",
        "SM_HPS", "SM_USER_ARGS", "RANKING", "OLDPWD", "LS_COLORS", "PS1"}) {
    EXPECT_FALSE(is_launch_variable(name)) << name;
  }
}

// A launcher whose variables `hpcboot capture` drops cannot be told by a replay.
TEST(Redact, KeepsEveryVariableThatTheLibraryReads) {
  namespace fs = std::filesystem;
  // A word in capitals between quotes is a variable, or a value of one.
  const std::regex quoted("\"([A-Z][A-Z0-9]*(_[A-Z0-9]+)*)\"");
  const std::set<std::string> values = {"BATCH", "COMPOSITE"};
  // Of nobody: arrays and CI systems place no process, and an unknown launcher has no names yet.
  const std::set<std::string> others = {"arrays_and_ci", "unknown_launcher"};
  const fs::path core = fs::path(HPCBOOT_BOOTSTRAP_README).parent_path() / "core";
  int found = 0;
  for (const fs::path& folder : {core, core / "launchers", core / "schedulers"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".cpp" || others.count(entry.path().stem()) != 0) continue;
      const std::string text = test::read_text(entry.path());
      for (std::sregex_iterator match(text.begin(), text.end(), quoted), end; match != end;
           ++match) {
        const std::string name = (*match)[1];
        if (values.count(name) != 0) continue;
        ++found;
        EXPECT_TRUE(is_launch_variable(name))
            << name << " of " << entry.path().filename()
            << ": add it to the variables of its launcher or scheduler";
      }
    }
  }
  EXPECT_GT(found, 100);
}

TEST(Redact, AnEnvironment) {
  const Env env(std::map<std::string, std::string>{{"SLURM_PROCID", "3"},
                                                   {"PMI_SHARED_SECRET", "1234"},
                                                   {"PBS_JOBCOOKIE", ""},
                                                   {"FLUX_URI", "ssh://me@n1/run"},
                                                   {"HOME", "/home/me"},
                                                   {"PROXY", "http://me:pw@proxy:3128"}});
  EXPECT_EQ(redact(env).dump(),
            "FLUX_URI=ssh://REDACTED@n1/run\nPBS_JOBCOOKIE=\nPMI_SHARED_SECRET=REDACTED\n"
            "SLURM_PROCID=3\n");
  EXPECT_EQ(redact(env, Keep::all_variables).dump(),
            "FLUX_URI=ssh://REDACTED@n1/run\nHOME=/home/me\nPBS_JOBCOOKIE=\n"
            "PMI_SHARED_SECRET=REDACTED\nPROXY=http://REDACTED@proxy:3128\nSLURM_PROCID=3\n");
}

}  // namespace
}  // namespace hpcboot
