#include "hpcboot/redact.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "hpcboot/scheduler.hpp"
#include "support/paths.hpp"
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
                           "APIKEY2",
                           "KEY1",
                           "MY_APIKEYS3",
                           "KEY_1",
                           "OTP",
                           "MFA_CODE",
                           "SESSION_ID",
                           "PHPSESSID",
                           "OPENSTACK_SESSIONID",
                           "DB_PW",
                           "DBPWD_PSWD",
                           "SLACK_WEBHOOK",
                           "X-Amz-Signature",
                           "AccountKey",
                           "PIN",
                           "USER_PIN",
                           "NEXUS_PSW",
                           "GH_PAT",
                           "AZURE_DEVOPS_EXT_PAT",
                           "DBPWD",
                           "ROOTPWD",
                           "pgPwd2",
                           "DBPW",
                           "SEED_PHRASE",
                           "RECOVERY_CODE",
                           "PASSCODE",
                           "TOKENS",
                           "MAX_TOKEN",
                           "NUM_API_TOKENS_KEY",
                           "OMPI_ARGV",
                           "LSB_JOBNAME",
                           "OMPI_MCA_orte_precondition_transports"}) {
    EXPECT_TRUE(is_private_name(name)) << name;
  }
  for (const char* name : {"PWD",
                           "OLDPWD",
                           "RANK",
                           "SLURM_PROCID",
                           "SLURM_JOB_NODELIST",
                           "PBS_JOBID",
                           "PMIX_NAMESPACE",
                           "TORCHELASTIC_RUN_ID",
                           "KEYBOARD_LAYOUT",
                           "MASTER_ADDR",
                           "MASTER_PORT",
                           "KEYBOARD",
                           "MONKEY",
                           "MONKEY1",
                           "SSH_CONNECTION",
                           "SLURM_JOB_KEYS",
                           "SLURM_JOB_UID",
                           "PMIX_SERVER_URI41",
                           "PMIX_PARAM_FILE_PASSED",
                           "I_MPI_PIN",
                           "I_MPI_PIN_DOMAIN",
                           "CPU_PIN",
                           "GPIO_PIN",
                           "--pin",
                           "PATH",
                           "pat",
                           "FILE_PATTERN",
                           "SLURM_TOPOLOGY_ADDR_PATTERN",
                           "TRAINING_PHRASE",
                           "RECOVERY_CODE_PATH",
                           "I_MPI_INFO_SIGN",
                           "XDG_SESSION_ID",
                           "TOKENIZERS_PARALLELISM",
                           "MAX_TOKENS",
                           "--max-new-tokens",
                           "tokens_per_batch",
                           "GIT_AUTHOR_NAME",
                           "COMPASS_HOME",
                           "PIN_MEMORY",
                           "SLURM_TASKS_PER_NODE",
                           "LD_LIBRARY_PATH"}) {
    EXPECT_FALSE(is_private_name(name)) << name;
  }
}

struct Case {
  const char* value;
  const char* redacted;
};

constexpr Case kValues[] = {
    // Nothing to hide.
    {"27000@lic1:27000@lic2", "27000@lic1:27000@lic2"},
    {"27000@lic1,27001@lic2", "27000@lic1,27001@lic2"},
    {"/opt/python@3.11/bin:/usr/bin:/opt/x@2/bin", "/opt/python@3.11/bin:/usr/bin:/opt/x@2/bin"},
    {"local/n1:@/tmp/.ICE-unix/1,unix/n1:/tmp/.ICE-unix/1",
     "local/n1:@/tmp/.ICE-unix/1,unix/n1:/tmp/.ICE-unix/1"},
    {"docker://ghcr.io/a/b:1@sha256:0123456789abcdef0123456789abcdef",
     "docker://ghcr.io/a/b:1@sha256:0123456789abcdef0123456789abcdef"},
    {"n[1:1-2]@0(2)", "n[1:1-2]@0(2)"},
    {"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"},
    {"GPU-8a5f3c1e-1b2c-4d5e-8f90-a1b2c3d4e5f6", "GPU-8a5f3c1e-1b2c-4d5e-8f90-a1b2c3d4e5f6"},
    {"10.0.0.7 51234 10.0.0.1 22", "10.0.0.7 51234 10.0.0.1 22"},
    {"/opt/openfoam/OpenFOAM-v2312/platforms/linux64GccDPInt32Opt/lib",
     "/opt/openfoam/OpenFOAM-v2312/platforms/linux64GccDPInt32Opt/lib"},
    {"/apps/software/PyTorch/2.1.2-foss-2023a-CUDA-12.1.1/lib/python3.11",
     "/apps/software/PyTorch/2.1.2-foss-2023a-CUDA-12.1.1/lib/python3.11"},
    {"/opt/spack/gcc-12.2.0/openmpi-4.1.5-ehw6syvqbovsi2ghgsqjcdjkfe4ylfpz/bin",
     "/opt/spack/gcc-12.2.0/openmpi-4.1.5-ehw6syvqbovsi2ghgsqjcdjkfe4ylfpz/bin"},
    {"/srv/git/x.git/hooks/pre-commit", "/srv/git/x.git/hooks/pre-commit"},
    {"https://example.org/services/T1/B2", "https://example.org/services/T1/B2"},
    {"srun -u -pgpu -N 2 ./a.out", "srun -u -pgpu -N 2 ./a.out"},
    {"squeue -u me -p gpu", "squeue -u me -p gpu"},
    {"docker run -u 1000:1000 -p 8080:80 image", "docker run -u 1000:1000 -p 8080:80 image"},
    {"mkdir -pv /scratch/x && ssh -p22 login1 hostname",
     "mkdir -pv /scratch/x && ssh -p22 login1 hostname"},
    {"docker login registry.example.org", "docker login registry.example.org"},
    {"exit code=1", "exit code=1"},
    {"conda activate sk-learn-environment", "conda activate sk-learn-environment"},
    {"pypi-mirror.example.org/simple", "pypi-mirror.example.org/simple"},
    {"pypi-mirror-of-2024-wheels", "pypi-mirror-of-2024-wheels"},
    {"hf_hub_download", "hf_hub_download"},
    {"", ""},
    {"3", "3"},
    {"n[1-2],gpu[01-16]", "n[1-2],gpu[01-16]"},
    {"2(x3),1", "2(x3),1"},
    {"425656320.0;tcp://10.77.0.11:34159", "425656320.0;tcp://10.77.0.11:34159"},
    {"45[6].server", "45[6].server"},
    {"alice@login1", "alice@login1"},
    {"/opt/slurm/lib:/usr/lib", "/opt/slurm/lib:/usr/lib"},
    {"sk-node[1-4]", "sk-node[1-4]"},
    {"fw_internationalization_of_2024", "fw_internationalization_of_2024"},
    {"known as-internationalizations-2024", "known as-internationalizations-2024"},
    {"AgnosticNetworkInterfaceConfigurationOfTheWholeClusterInTheBasement",
     "AgnosticNetworkInterfaceConfigurationOfTheWholeClusterInTheBasement"},
    {"SCWORKER DO00 GOOGLE_APPLICATION", "SCWORKER DO00 GOOGLE_APPLICATION"},
    // User information.
    {"https://user:pw@host/x", "https://REDACTED@host/x"},
    {"https://ghs_token@host", "https://REDACTED@host"},
    {"me@lab:secret@host", "REDACTED@host"},
    {"see http://u:p@h and ftp://v:q@i", "see http://REDACTED@h and ftp://REDACTED@i"},
    {"postgres://u:p/w@d@db:5432/x", "postgres://REDACTED@db:5432/x"},
    {"u:p@tcp(db:3306)", "REDACTED@tcp(db:3306)"},
    {"docker://u:p@h/a@sha256:0123456789abcdef0123456789abcdef",
     "docker://REDACTED@h/a@sha256:0123456789abcdef0123456789abcdef"},
    {"dsn=u:p=q@db", "dsn=REDACTED@db"},
    {"https://a:p'w@h x", "https://REDACTED@h x"},
    {"u=\"https://a:p<w p@h\" n=3", "u=\"https://REDACTED@h\" n=3"},
    {"http://h:80 http://h:$PORT/x 'http://h:80/x' me@h",
     "http://h:80 http://h:$PORT/x 'http://h:80/x' me@h"},
    {"http://h:x\nme@h", "http://h:x\nme@h"},
    {"https%3A%2F%2Fa%3Apw%40h%2Fx%3Fm%3Da%40b", "https%3A%2F%2FREDACTED%40h%2Fx%3Fm%3Da%40b"},
    {"x?a=https%3a%2f%2fh&b=https%3a%2f%2fa%3apw%40h",
     "x?a=https%3a%2f%2fh&b=https%3a%2f%2fREDACTED%40h"},
    {"https://conda.anaconda.org/t/xx-123-pw/main", "https://conda.anaconda.org/t/REDACTED"},
    {"https://forum.example.org/t/123/2", "https://forum.example.org/t/123/2"},
    // Assignments and options.
    {"password=hunter2", "password=REDACTED"},
    {"a=1 token = x,y b=2", "a=1 token = REDACTED b=2"},
    {"run --token abc --rank 3", "run --token REDACTED --rank 3"},
    {"run --num-tokens 5 --max_tokens=4096", "run --num-tokens 5 --max_tokens=4096"},
    {"run --api-key=abc", "run --api-key=REDACTED"},
    {"{\"rank\":3,\"api_key\":\"a\\\"b c\",\"n\":4}",
     "{\"rank\":3,\"api_key\":\"REDACTED\",\"n\":4}"},
    {"{'secret': 'a b'}", "{'secret': 'REDACTED'}"},
    {"https://host/?access_token=abc&x=1", "https://host/?access_token=REDACTED"},
    {"secret", "secret"},
    // Addresses that are permissions.
    {"https://x.net/f?sv=1&sig=abc%3D&se=2", "https://x.net/f?sv=1&sig=REDACTED"},
    {"https://x.net/api/f?code=abc", "https://x.net/api/f?code=REDACTED"},
    {"https://hooks.slack.com/services/T0/B0/abc done", "https://hooks.slack.com/REDACTED done"},
    {"https://discord.com/api/webhooks/12/abc", "https://discord.com/api/webhooks/REDACTED"},
    {"u=https://api.telegram.org/bot1:a/getMe", "u=https://api.telegram.org/REDACTED"},
    {"https://u:p@x.org/hooks/abc", "https://REDACTED@x.org/hooks/REDACTED"},
    {"https://u:p@hooks.x.org/abc", "https://REDACTED@hooks.x.org/REDACTED"},
    {"https://x.office.com/webhook/a@b/IncomingWebhook/c/d", "https://REDACTED"},
    {"https://x.org/hook/a@b/c?x=1", "https://REDACTED"},
    {"https://events.pagerduty.com/integration/a/enqueue", "https://events.pagerduty.com/REDACTED"},
    {"https://maker.ifttt.com/trigger/x/with/key/abc",
     "https://maker.ifttt.com/trigger/x/with/key/REDACTED"},
    // Commands.
    {"curl -u user:pw https://h/x", "curl -u REDACTED https://h/x"},
    {"curl -uuser:pw --proxy-user=a:b h", "curl -uREDACTED --proxy-user=REDACTED h"},
    {"curl -u 'user:p w' h", "curl -u 'REDACTED' h"},
    {"curl -d \"password=a b\" h", "curl -d \"password=REDACTED\" h"},
    {"curl -H \"Cookie: a=b; c=d\" https://h", "curl -H \"Cookie: REDACTED\" https://h"},
    {"curl -su a:pw h", "curl -su REDACTED h"},
    {"curl -sSLua:pw -U b:pw h", "curl -sSLuREDACTED -U REDACTED h"},
    {"curl -sb 'session=p w' -b jar.txt h", "curl -sb 'REDACTED' -b jar.txt h"},
    {"curl --cert c.pem:pw -E d.pem:pw h", "curl --cert c.pem:REDACTED -E d.pem:REDACTED h"},
    {"curl -su && ssh -su a:b", "curl -su && ssh -su a:b"},
    {"wget --user=me --password=pw h", "wget --user=me --password=REDACTED h"},
    {"mysql -u root -ppw db", "mysql -u root -pREDACTED db"},
    {"mysqldump -pPW db", "mysqldump -pREDACTED db"},
    {"mysqlpump -ppw db", "mysqlpump -pREDACTED db"},
    {"mysql -p db", "mysql -p db"},
    {"unrar x -ppw a.rar", "unrar x -pREDACTED a.rar"},
    {"rar a -hpS a.rar b", "rar a -hpREDACTED a.rar b"},
    {"zip -rP pw a.zip b", "zip -rP REDACTED a.zip b"},
    {"zip -Ppw -r a.zip b", "zip -PREDACTED -r a.zip b"},
    {"poetry config http-basic.x me pw", "poetry config http-basic.x REDACTED REDACTED"},
    {"poetry config virtualenvs.create false", "poetry config virtualenvs.create false"},
    {"poetry config http-basics x", "poetry config http-basics x"},
    {"nmcli dev wifi connect x password pw ifname w",
     "nmcli dev wifi connect x password REDACTED ifname w"},
    {"kubectl create secret generic x --from-literal=a=pw --from-literal b=pw",
     "kubectl create secret REDACTED x --from-literal=a=REDACTED --from-literal b=REDACTED"},
    {"kubectl create configmap x --from-literal=a=b",
     "kubectl create configmap x --from-literal=a=b"},
    {R"(net use x: \\h\s pw)", R"(net use x: \\h\s REDACTED)"},
    {"mytool -u me -p pw", "mytool -u me -p REDACTED"},
    {"/usr/bin/sshpass -p pw ssh me@h", "/usr/bin/sshpass -p REDACTED ssh me@h"},
    {"sshpass -ppw ssh h -p 22", "sshpass -pREDACTED ssh h -p REDACTED"},
    {"ssh h 'mysql -ppw'; ls -p", "ssh h 'mysql -pREDACTED'; ls -p"},
    {"bash -c \"sudo mysql -ppw\"", "bash -c \"sudo mysql -pREDACTED\""},
    {"[\"mysql\",\"-ppw\",\"db\"]", "[\"mysql\",\"-pREDACTED\",\"db\"]"},
    {"docker login -u me -p pw registry", "docker login -u me -p REDACTED registry"},
    {"wandb login pw && python train.py", "wandb login REDACTED && python train.py"},
    {"wandb login --relogin pw", "wandb login --relogin REDACTED"},
    {"huggingface-cli login --token pw", "huggingface-cli login --token REDACTED"},
    {"tool login 0a1b2c3d4e5f60718", "tool login REDACTED"},
    {"aws configure set aws_secret_access_key pw",
     "aws configure set aws_secret_access_key REDACTED"},
    {"setenv API_KEY pw", "setenv API_KEY REDACTED"},
    {"mpiexec -genv API_KEY pw -env TOKEN pw -genv RANK 3 ./a token x",
     "mpiexec -genv API_KEY REDACTED -env TOKEN REDACTED -genv RANK 3 ./a token x"},
    {"t create -a:token -b:token abc x", "t create -a:token -b:token REDACTED x"},
    {"t create -a:token -v abc b:token d x", "t create -a:token -v REDACTED b:token REDACTED x"},
    {"machine h login me password pw", "machine h login me password REDACTED"},
    {"machine h login me account pw", "machine h login me account REDACTED"},
    {"machine h\n  login me\n  password pw\nmachine i\n\tpassword p;w&x\n",
     "machine h\n  login me\n  password REDACTED\nmachine i\n\tpassword REDACTED\n"},
    {"machine h password pw login me", "machine h password REDACTED login me"},
    {"machine h password\n  \"p w\"\n  account\n pw\n",
     "machine h password\n  \"REDACTED\"\n  account\n REDACTED\n"},
    {"default\nlogin me\npassword pw", "default\nlogin me\npassword REDACTED"},
    {"machine learning; the password file", "machine learning; the password file"},
    {"redis-cli -a pw ping", "redis-cli -a REDACTED ping"},
    {"ldapsearch -x -w pw", "ldapsearch -x -w REDACTED"},
    {"echo pw | sudo -S ls", "echo REDACTED | sudo -S ls"},
    {"printf %s pw | gpg --passphrase-fd 0",
     "printf REDACTED REDACTED | gpg --passphrase-fd REDACTED"},
    {"http -a me:pw https://h/x", "http -a REDACTED https://h/x"},
    {"net ads join -U me%pw", "net ads join -U REDACTED"},
    {"redis-cli -h n1 AUTH pw", "redis-cli -h n1 AUTH REDACTED"},
    {"snmpwalk -v2c -c community n1", "snmpwalk -v2c -c REDACTED n1"},
    {"openssl dgst -hmac key f", "openssl dgst -hmac REDACTED f"},
    {"influx -t abc query", "influx -t REDACTED query"},
    {"rabbitmqctl add_user me pw", "rabbitmqctl add_user REDACTED REDACTED"},
    {"kinit me <<<pw", "kinit me <<<REDACTED"},
    {"kinit -V me <<<", "kinit -V me <<<"},
    {"sqlplus \"\"", "sqlplus \"\""},
    {"CREATE USER x IDENTIFIED BY 'pw'", "CREATE USER x IDENTIFIED BY 'REDACTED'"},
    // Other ways to write a name and its value.
    {"{\\\"token\\\":\\\"a b\\\"}", "{\\\"token\\\":\\\"REDACTED\\\"}"},
    {"a?x=1%26token%3Dabc", "a?x=1%26token%3DREDACTED"},
    {"<password>pw</password>", "<password>REDACTED"},
    {"<add key=\"Password\" value=\"pw\"/>", "<add key=\"REDACTED\" value=\"REDACTED\"/>"},
    {"[{\"name\":\"API_KEY\",\"value\":\"pw\"}]",
     "[{\"name\":\"API_KEY\",\"value\":\"REDACTED\"}]"},
    {"os.environ.setdefault('TOKEN', 'pw')", "os.environ.setdefault('TOKEN', 'REDACTED')"},
    {"os.environ['HF_TOKEN'] = 'p w'; n=3", "os.environ['HF_TOKEN'] = 'REDACTED'; n=3"},
    {"e[\"TOKEN\"]=pw n=3", "e[\"TOKEN\"]=REDACTED n=3"},
    {"['token'] is a list", "['token'] is a list"},
    {"APIKEY2=x KEY1=y OTP=z MONKEY=a", "APIKEY2=REDACTED KEY1=REDACTED OTP=REDACTED MONKEY=a"},
    // Headers.
    {"Authorization: Bearer abc.def", "Authorization: REDACTED"},
    {"authorization: basic dXNlcjpwdw==", "authorization: REDACTED"},
    {"header Bearer abc", "header Bearer REDACTED"},
    {"api_key: --password hunter2", "api_key: REDACTED"},
    {"password=mysecret", "password=REDACTED"},
    {"X-Auth: abc", "X-Auth: REDACTED"},
    {"header 'Token 0a1b2c3d4e5f60718'", "header 'Token REDACTED'"},
    {"Negotiate YIIGhgYJKoZIhvcSAQICAQBuggZ1", "Negotiate REDACTED"},
    {"Splunk 12345678-1a2b-3c4d-5e6f-0123456789ab", "Splunk REDACTED"},
    {"Digest username=\"a\", response=\"6629fae49393a05397450978507c4ef1\"",
     "Digest username=\"a\", response=\"REDACTED\""},
    {"token classification, response=6629fae49393a05397450978507c4ef1",
     "token classification, response=6629fae49393a05397450978507c4ef1"},
    {"negotiate the version", "negotiate the version"},
    // Forms of well-known keys.
    {"ghp_0123456789abcdefghijklmnopqrstuvwxyz", "REDACTED"},
    {"use hf_abcdefghijklmnopqrstuvwx now", "use REDACTED now"},
    {"AKIAIOSFODNN7EXAMPLE", "REDACTED"},
    {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "REDACTED"},
    {"-----BEGIN RSA PRIVATE KEY-----\nabc\n", "REDACTED"},
    {"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nabc\n", "REDACTED"},
    // Kubernetes.
    {"kind: Secret\ndata:\n  db: aHVudGVyMg==\n", "REDACTED"},
    {"kind: ConfigMap\n---\nkind: Secret\nstringData:\n  db: hunter2\n", "REDACTED"},
    {"kind: List\nitems:\n- kind: Secret\n  data:\n    db: aHVudGVyMg==\n", "REDACTED"},
    {R"({"apiVersion":"v1","kind":"Secret","data":{"db":"aHVudGVyMg=="}})", "REDACTED"},
    {R"({\"kind\": \"Secret\", \"data\": {\"db\": \"aHVudGVyMg==\"}})", "REDACTED"},
    {"a kind word: secretly", "a kind word: secretly"},
};

TEST(Redact, ValuesTellNoSecret) {
  for (const Case& c : kValues) {
    EXPECT_EQ(redact_value(c.value), c.redacted);
    EXPECT_EQ(redact_value(c.redacted), c.redacted) << "redacted twice";
  }
}

// Only from a minimum length on; shorter words may be anything.
TEST(Redact, KeysAreKnownByTheirBeginningAndLength) {
  const std::pair<const char*, std::size_t> forms[] = {
      {"ghp_", 16},        {"gho_", 16},   {"ghu_", 16},  {"ghs_", 16}, {"ghr_", 16},
      {"github_pat_", 23}, {"glpat-", 16}, {"hf_", 20},   {"sk-", 23},  {"xoxb-", 13},
      {"xoxp-", 13},       {"AKIA", 20},   {"ASIA", 20},  {"AIza", 24}, {"ya29.", 20},
      {"eyJ", 20},         {"npm_", 30},   {"nvapi-", 20}};
  for (const auto& [beginning, length] : forms) {
    std::string word = beginning;
    while (word.size() < length) word += "A1"[word.size() % 2];
    EXPECT_EQ(redact_value(word), "REDACTED") << word;
    word.pop_back();
    EXPECT_EQ(redact_value(word), word);
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

// A replay cannot recognise a launcher whose variables `hpcboot capture` drops.
TEST(Redact, KeepsEveryVariableThatTheLibraryReads) {
  namespace fs = std::filesystem;
  // A word in capitals between quotes is a variable, a value of one, or the title of a scheduler.
  const std::regex quoted("\"([A-Z][A-Z0-9]*(_[A-Z0-9]+)*)\"");
  std::set<std::string> values = {"BATCH", "COMPOSITE", "CUDA", "HIP"};
  for (const Scheduler* scheduler : schedulers()) values.emplace(scheduler->title);
  // Variables of no launcher: arrays and CI systems place no process, and an unknown launcher has
  // no names yet.
  const std::set<std::string> others = {"arrays_and_ci", "unknown_launcher"};
  const fs::path core = test::source_file("bootstrap/core");
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

// Hosts may be called like secrets: a lost one makes a replay fail.
TEST(Redact, KeepsTheHostsOfALauncher) {
  const std::string text =
      "FLUX_URI=local:///tmp/me@realm/hooks/local-0\n"
      "LSB_MCPU_HOSTS=key-1 1 token-2.example.org 42\n"
      "OMPI_MCA_orte_hnp_uri=1.0;tcp://10.0.0.1,token-1:34159\n"
      "PADDLE_TRAINER_ENDPOINTS=n1.uni-passau.de:6070,n2.uni-passau.de:6071\n"
      "PET_RDZV_ENDPOINT=key-service.ns:29400\n"
      "SLURM_JOB_NODELIST=MII-gpu-01.hpc.example.org,MII-gpu-02.hpc.example.org\n"
      "SLURM_NODELIST=xai-gpu-[001-128].cluster.example.org,xai-login-001.cluster.example.org\n"
      "SLURM_NODE_ALIASES=auth-1:10.0.0.1:auth-1,auth-2:10.0.0.2:auth-2\n"
      "SM_HOSTS=[\"auth-1\", \"key-2\",\"token\",\"algo-1\"]\n"
      "TF_CONFIG={\"cluster\":{\"chief\":[\"token-classification-chief-0.default.svc:2222\"],"
      "\"worker\":[\"pass-0:2222\",\"pass-1:2222\"]},\"task\":{\"type\":\"chief\",\"index\":0}}\n"
      "TORCHELASTIC_RUN_ID=12345678:experiment-resnet50-baseline-seed-0001\n";
  EXPECT_EQ(redact(Env::parse(text)).dump(), text);
  EXPECT_EQ(redact(Env::parse(text), Keep::all_variables).dump(), text);
}

// What is no port and no host is a secret in a launcher's variables, too.
TEST(Redact, KeepsNoSecretOfALauncher) {
  const std::string id = "123456789012-1234567890123-", key = "xk3Q9vLm2Zr8Wp5Tn7Yd4Bq6";
  for (const std::string& secret : std::vector<std::string>{
           "password:hunter2", "password: 12345", "password=12345", "[\"--token\",\"hunter2\"]",
           "https://me:hunter2@h/x", "local:///me:hunter2@h", ("xoxb-" + id) + key,
           "xai-" + key + key, std::string("AGE-SECRET") + "-KEY-1AAAAAAAAAAAAAAAAAAAAAAAA",
           "12345678:" + key + key}) {
    const std::string shown =
        redact(Env(std::map<std::string, std::string>{{"SLURM_JOB_ADMIN_COMMENT", secret}})).dump();
    EXPECT_NE(shown.find(kRedacted), std::string::npos) << shown;
    for (const char* part : {"hunter2", "12345", "AAAA", key.c_str()})
      EXPECT_EQ(shown.find(part), std::string::npos) << shown;
  }
}

// A variable may have 128 KiB. The time must be linear: in quadratic time these take minutes, and
// ctest has a limit.
TEST(Redact, ALongValueComesToItsEnd) {
  for (const std::string piece : {"_", "mysql ", "\"a", "token=", "a:@", "login a ", "://"}) {
    std::string text;
    while (text.size() < 400'000) text += piece;
    EXPECT_FALSE(redact_value(text).empty());
  }
}

TEST(Redact, OptionsOfMysqlAreKnownByTheirVariable) {
  const Env env = Env::parse("MYSQL_OPTS=-uroot -phunter2\nMYSQL_ARGS=-phunter2\n");
  EXPECT_EQ(redact(env, Keep::all_variables).dump(),
            "MYSQL_ARGS=-pREDACTED\nMYSQL_OPTS=-uroot -pREDACTED\n");
}

// An ordinary login shell's environment, which users want to see.
TEST(Redact, AnOrdinaryEnvironmentIsKeptAsItIs) {
  const std::string text =
      "BUILD=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b\n"
      "CONDA_DEFAULT_ENV=torch-2.1-py311\nDBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus\n"
      "GIT_COMMIT=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b\nKEYBOARD=us\n"
      "LM_LICENSE_FILE=27000@lic1:27000@lic2\nLS_COLORS=rs=0:di=01;34:*.tar=01;31:*.gz=01;31\n"
      "MODULEPATH=/cvmfs/soft.example.org/modules/all:/opt/modulefiles\nMONKEY=see\n"
      "OMP_PLACES=cores\nPATH=/opt/python@3.11/bin:/usr/bin\nSHLVL=2\n"
      "SSH_CONNECTION=10.0.0.7 51234 10.0.0.1 22\nTERM=xterm-256color\n"
      "TOKENIZERS_PARALLELISM=false\nWM_OPTIONS=linux64GccDPInt32Opt\nXDG_SESSION_ID=41\n"
      "_ModuleTable001_=X01vZHVsZVRhYmxlXyA9IHsKTVR2ZXJzaW9uID0gMywKY19yZWJ1aWxkVGltZSA9IDg2NDAw\n";
  EXPECT_EQ(redact(Env::parse(text), Keep::all_variables).dump(), text);
}

}  // namespace
}  // namespace hpcboot
