#include "hpcboot/doctor.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

// Each check with described environments and machines: what it reports, and when it reports
// nothing.
namespace hpcboot {
namespace {

using Status = FindingStatus;

const std::string kTask =
    "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_STEP_ID=0\nSLURM_PROCID=0\nSLURM_LOCALID=0\n"
    "SLURM_NODEID=0\nSLURM_STEP_NUM_TASKS=4\nSLURM_STEP_NUM_NODES=2\nSLURM_STEP_NODELIST=n[1-2]\n"
    "SLURM_STEP_TASKS_PER_NODE=2(x2)\n";
const std::string kTwoLocal =
    "HPCBOOT_RANK=0\nHPCBOOT_WORLD_SIZE=2\nHPCBOOT_LOCAL_RANK=0\nHPCBOOT_LOCAL_SIZE=2\n"
    "HPCBOOT_NUM_NODES=1\nHPCBOOT_NODE_RANK=0\n";

Interface interface(const char* name, const char* address) {
  Interface i;
  i.name = name;
  i.address = address;
  return i;
}

FolderFacts folder(const char* file_system, bool local) {
  FolderFacts f;
  f.path = "/work";
  f.file_system = file_system;
  f.local = local;
  f.writable = true;
  f.free_bytes = std::uint64_t{50} << 30U;
  return f;
}

using Describe = std::function<void(Facts&, SystemFacts&)>;

std::vector<Finding> look(const std::string& dump, const Describe& describe) {
  Facts facts;
  SystemFacts system;
  describe(facts, system);
  ResolveOptions options;
  options.allocation.read_files = false;
  Situation s = situation_of(Env::parse(dump), facts, options);
  s.system = system;
  return diagnose(s);
}

struct Case {
  const char* what;
  std::string dump;
  Describe describe;
  std::string finding;
  std::optional<Status> status;  // nullopt: the check has no finding
  const char* message = "";      // a part of it
  const char* remedy = "";
};

const std::vector<Case>& cases() {
  const Describe nothing = [](Facts&, SystemFacts&) {};
  const auto mpirun = [](const char* path) {
    return Describe([=](Facts&, SystemFacts& system) { system.mpirun = path; });
  };
  const auto root = [](const char* path) {
    return Describe([=](Facts&, SystemFacts& system) {
      system.mpirun = path;
      system.is_root = true;
    });
  };
  const auto interfaces = [](std::vector<Interface> all) {
    return Describe([=](Facts& facts, SystemFacts&) { facts.interfaces = all; });
  };
  const auto own = [](std::vector<std::string> addresses) {
    return Describe([=](Facts& facts, SystemFacts& system) {
      facts.hostname = "n1";
      system.own_addresses = addresses;
    });
  };
  const auto cores = [](int usable, int all) {
    return Describe([=](Facts&, SystemFacts& system) {
      system.usable_cores = usable;
      system.all_cores = all;
    });
  };
  const auto quota = [](int limit) {
    return Describe([=](Facts&, SystemFacts& system) {
      system.usable_cores = system.all_cores = 8;
      system.quota_cores = limit;
    });
  };
  const auto gpu = [](const char* driver, int count) {
    return Describe([=](Facts& facts, SystemFacts& system) {
      facts.device_count = count;
      system.nvidia_driver = driver;
    });
  };
  const auto port = [](bool taken) {
    return Describe([=](Facts&, SystemFacts& system) {
      system.master_port_taken = taken;
      system.first_ephemeral_port = 32768;
      system.last_ephemeral_port = 60999;
    });
  };
  const auto work = [](const char* name, bool local) {
    return Describe([=](Facts&, SystemFacts& system) { system.work_folder = folder(name, local); });
  };
  const auto runs = [](const std::function<void(FolderFacts&)>& change) {
    return Describe([=](Facts&, SystemFacts& system) {
      system.runs_folder = folder("nfs", false);
      change(*system.runs_folder);
    });
  };
  const auto limits = [](std::uint64_t files, std::uint64_t locked, bool infiniband) {
    return Describe([=](Facts&, SystemFacts& system) {
      system.open_files_limit = files;
      system.locked_bytes_limit = locked;
      system.has_infiniband = infiniband;
    });
  };
  const Describe no_threads = [](Facts&, SystemFacts& system) {
    system.thread_error =
        Error(ErrorCode::exchange_failed,
              "cannot start a thread: Resource temporarily unavailable (ulimit -u: 0)", "more",
              "raise ulimit -u; in a job or a container, also the pids limit of its control group");
  };
  const auto clock = [](bool synchronised) {
    return Describe([=](Facts&, SystemFacts& system) { system.clock_synchronised = synchronised; });
  };
  const auto torch = [](const char* version) {
    return Describe([=](Facts&, SystemFacts& system) { system.libtorch = version; });
  };
  const auto kvs = [](const char* kind, const char* library, const char* error = "") {
    return Describe([=](Facts&, SystemFacts& system) {
      system.kvs = kind;
      system.kvs_library = library;
      if (*error != 0)
        system.kvs_error = Error(ErrorCode::backend_unavailable, error, "x", "install it");
    });
  };
  const std::string pmix_alone = "PMIX_NAMESPACE=prterun-1\nPMIX_RANK=0\n";
  // Without a job id no port can be derived.
  const std::string hydra_alone = "PMI_RANK=0\nPMI_SIZE=4\nMPI_LOCALRANKID=0\nMPI_LOCALNRANKS=2\n";
  const auto eth0 = interface("eth0", "10.0.0.1");
  const auto docker0 = interface("docker0", "172.17.0.1");
  auto mybridge = interface("mybridge", "10.99.0.1");
  mybridge.kind = "bridge";
  mybridge.port_kinds = {"veth"};
  const auto lo = interface("lo", "127.0.0.1");

  static const std::vector<Case> table = {
      {"alone", "", nothing, "launcher", Status::ok, "alone"},
      {"a rank", kTask, nothing, "launcher", Status::ok, "rank 0 of 4, launcher slurm"},
      {"damaged", "OMPI_COMM_WORLD_RANK=1\n", nothing, "launcher", Status::problem,
       "error 21 (missing_variable)", "start the program through mpirun"},
      {"mpirun below srun", kTask + "RANK=3\nWORLD_SIZE=8\nLOCAL_RANK=1\n", nothing,
       "other launchers", Status::warning, "generic", "HPCBOOT_METHODS"},
      {"agreeing witnesses", kTask, nothing, "other launchers", std::nullopt},

      {"an exchange is needed", pmix_alone, kvs("pmix", "pmix: OpenPMIx 4"), "launcher",
       Status::note, "must exchange it", "hpcboot exec"},
      {"no exchange is offered", pmix_alone, nothing, "launcher", Status::problem, "error 29"},
      {"an exchange, needed", pmix_alone, kvs("pmix", "pmix: OpenPMIx 4"), "exchange", Status::ok,
       "OpenPMIx 4"},
      {"a library that cannot be loaded", pmix_alone, kvs("pmix", "", "no libpmix.so.2"),
       "exchange", Status::problem, "no libpmix.so.2", "install it"},
      {"the same, not needed", kTask, kvs("pmix", "", "no libpmix.so.2"), "exchange", Status::note,
       "where rank 0 is"},
      {"no exchange, needed", hydra_alone, kvs("", ""), "exchange", Status::problem, "no way",
       "HPCBOOT_EXCHANGE_DIR"},
      {"no exchange, not needed", kTask, kvs("", ""), "exchange", Status::ok, "none is offered"},
      {"PMI2, needed", hydra_alone, kvs("pmi2", "pmi2: libpmi2.so.0"), "exchange", Status::warning,
       "once", "--mpi=pmix"},
      {"an exchange for one rank", "", kvs("", ""), "exchange", std::nullopt},

      {"batch script", "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_NTASKS=4\n", nothing,
       "tasks", Status::note, "4 tasks on 2 hosts", "srun hpcboot doctor"},
      {"job of one task", "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n1\nSLURM_NTASKS=1\n", nothing,
       "tasks", Status::ok},
      {"batch script of Flux", "FLUX_ENCLOSING_ID=f2fXM4ytT\n", nothing, "tasks", Status::note,
       "does not say how many tasks", "flux run hpcboot doctor"},
      {"under srun", kTask, nothing, "tasks", std::nullopt},

      {"Open MPI 5 needs PMIx", kTask + "SLURM_MPI_TYPE=pmi2\n", mpirun("/opt/ompi/bin/prterun"),
       "mpi", Status::problem, "rank 0 of 1", "--mpi=pmix"},
      {"Open MPI 5 with PMIx", kTask + "SLURM_MPI_TYPE=pmix_v4\n", mpirun("/opt/ompi/bin/prterun"),
       "mpi", Status::ok},
      {"Open MPI 4 without PMI", kTask + "SLURM_MPI_TYPE=none\n", mpirun("/usr/bin/orterun"), "mpi",
       Status::warning, "no PMI", "--mpi=pmix"},
      {"Open MPI 5 with the site's default", kTask + "PMIX_NAMESPACE=slurm.pmix.5.0\nPMIX_RANK=0\n",
       mpirun("/opt/ompi/bin/prterun"), "mpi", Status::ok},
      {"Open MPI 4 alone", "", mpirun("/usr/bin/orterun"), "mpi", Status::ok, "orterun"},
      {"MPICH under PMIx", kTask + "SLURM_MPI_TYPE=pmix\n", mpirun("/usr/bin/mpiexec.hydra"), "mpi",
       Status::note, "Hydra", "pmi2"},
      {"Intel MPI without its PMI", kTask + "I_MPI_ROOT=/opt/intel\n", nothing, "mpi",
       Status::warning, "I_MPI_PMI_LIBRARY", "I_MPI_PMI_LIBRARY"},
      {"no mpirun", "", mpirun(""), "mpi", Status::ok, "no mpirun"},
      {"mpirun is not known", "", nothing, "mpi", std::nullopt},

      {"root with Open MPI 4", "", root("/usr/bin/orterun"), "root", Status::warning,
       "refuses to run as root", "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
      {"root with Open MPI 5", "OMPI_ALLOW_RUN_AS_ROOT=1\n", root("/opt/ompi/bin/prterun"), "root",
       Status::warning},
      {"root, and it is allowed", "OMPI_ALLOW_RUN_AS_ROOT=1\nOMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n",
       root("/usr/bin/orterun"), "root", Status::ok, "OMPI_ALLOW_RUN_AS_ROOT"},
      {"root with MPICH", "", root("/usr/bin/mpiexec.hydra"), "root", std::nullopt},
      {"root without mpirun", "", root(""), "root", std::nullopt},
      {"root under mpirun",
       "OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_LOCAL_RANK=0\n"
       "OMPI_COMM_WORLD_LOCAL_SIZE=2\n",
       root("/usr/bin/orterun"), "root", std::nullopt},
      {"not root", "", mpirun("/usr/bin/orterun"), "root", std::nullopt},

      {"one good interface", "", interfaces({lo, eth0}), "interface", Status::ok, "eth0, 10.0.0.1"},
      {"docker decoy", "", interfaces({lo, docker0, eth0}), "interface", Status::note, "docker0",
       "hpcboot env"},
      {"a decoy that only the kernel knows", "", interfaces({lo, mybridge, eth0}), "interface",
       Status::note, "mybridge (bridge)", "hpcboot env"},
      {"docker decoy, NCCL_SOCKET_IFNAME set", "NCCL_SOCKET_IFNAME==eth0\n",
       interfaces({docker0, eth0}), "interface", Status::ok},
      {"only loopback on one host", "", interfaces({lo}), "interface", Status::note},
      {"only loopback on two hosts", kTask, interfaces({lo, docker0}), "interface", Status::problem,
       "only loopback"},
      {"an interface that does not exist", "HPCBOOT_INTERFACE=ib0\n", interfaces({eth0}),
       "launcher", Status::problem, "HPCBOOT_INTERFACE='ib0'"},
      {"NCCL's prefix matches", "NCCL_SOCKET_IFNAME=ib,eth\n", interfaces({eth0}),
       "NCCL_SOCKET_IFNAME", std::nullopt},
      {"NCCL's exact name does not", "NCCL_SOCKET_IFNAME==eth\n", interfaces({eth0}),
       "NCCL_SOCKET_IFNAME", Status::problem, "=eth", "hpcboot env"},
      {"NCCL excludes", "NCCL_SOCKET_IFNAME=^docker\n", interfaces({eth0}), "NCCL_SOCKET_IFNAME",
       std::nullopt},
      {"Gloo takes no prefix", "GLOO_SOCKET_IFNAME=eth\n", interfaces({eth0}), "GLOO_SOCKET_IFNAME",
       Status::problem, "eth0"},

      {"own name", "", own({"10.0.0.1"}), "own name", Status::ok, "n1 resolves to 10.0.0.1"},
      {"own name on loopback, one host", "", own({"127.0.1.1"}), "own name", Status::note,
       "127.0.1.1"},
      {"own name on loopback, two hosts", kTask, own({"127.0.1.1"}), "own name", Status::warning,
       "127.0.1.1", "GLOO_SOCKET_IFNAME"},
      {"own name on loopback, GLOO_SOCKET_IFNAME set", kTask + "GLOO_SOCKET_IFNAME=eth0\n",
       own({"127.0.1.1"}), "own name", Status::note},
      {"own name does not resolve", kTask, own({}), "own name", Status::warning,
       "does not resolve"},

      {"name server silent about the own name", kTask,
       [](Facts& facts, SystemFacts& s) {
         facts.hostname = "n1.here";
         s.unanswered_names = {"n1.here"};
       },
       "own name", Status::warning, "the name server does not answer for this host's name n1.here",
       "GLOO_SOCKET_IFNAME"},
      {"name server silent about the own name, one host", "",
       [](Facts& facts, SystemFacts& s) {
         facts.hostname = "n1.here";
         s.unanswered_names = {"n1.here"};
       },
       "own name", Status::note, "the name server does not answer", "/etc/resolv.conf"},

      {"master", kTask, nothing, "master", Status::ok, "n1"},
      {"name server silent about the master", kTask,
       [](Facts&, SystemFacts& s) { s.unanswered_names = {"n1"}; }, "master", Status::problem,
       "the name server does not answer for n1", "HPCBOOT_MASTER_ADDR"},
      {"master does not resolve", kTask, [](Facts&, SystemFacts& s) { s.master_resolves = false; },
       "master", Status::problem, "does not resolve", "HPCBOOT_MASTER_ADDR"},
      {"master on loopback", kTask + "HPCBOOT_MASTER_ADDR=127.0.0.1\n", nothing, "master",
       Status::problem, "is a loopback address"},
      {"master by exchange",
       "OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=4\nOMPI_COMM_WORLD_LOCAL_RANK=1\n", nothing,
       "master", Status::note, "exchange"},
      {"derived port", kTask, port(false), "master port", Status::ok},
      {"taken port", kTask, port(true), "master port", Status::problem, "taken",
       "HPCBOOT_MASTER_PORT"},
      {"ephemeral port", kTask + "HPCBOOT_MASTER_PORT=40000\n", port(false), "master port",
       Status::warning, "32768 to 60999"},
      {"root's port", kTask + "HPCBOOT_MASTER_PORT=80\n",
       [](Facts& facts, SystemFacts&) { facts.user_id = 1000; }, "master port", Status::problem,
       "root"},

      {"threads unset, several ranks", kTwoLocal, cores(8, 8), "threads", Status::warning,
       "each of 2 local ranks", "OMP_NUM_THREADS=4"},
      {"threads unset, bound ranks", kTwoLocal, cores(4, 8), "threads", Status::ok},
      {"threads unset, one rank", "", cores(8, 8), "threads", Status::ok},
      {"threads fit", kTwoLocal + "OMP_NUM_THREADS=4\n", cores(8, 8), "threads", Status::ok},
      {"too many threads", kTwoLocal + "OMP_NUM_THREADS=8\n", cores(8, 8), "threads",
       Status::warning, "OMP_NUM_THREADS=8", "OMP_NUM_THREADS=4"},
      {"threads fit a quota", kTwoLocal + "OMP_NUM_THREADS=2\n", quota(4), "threads", Status::ok},
      {"more threads than a quota allows", kTwoLocal + "OMP_NUM_THREADS=4\n", quota(4), "threads",
       Status::warning, "2 local ranks, and a quota of 4 CPUs' time"},
      {"nested threads", "OMP_NUM_THREADS=8,2\n", cores(8, 8), "threads", Status::ok},
      {"not a number of threads", "OMP_NUM_THREADS=all\n", cores(8, 8), "threads", Status::warning,
       "not a number"},

      {"gpu", "CUDA_VISIBLE_DEVICES=0,3\n", gpu("535.54", 4), "gpu", Status::ok, "driver 535.54"},
      {"gpu by UUID", "CUDA_VISIBLE_DEVICES=GPU-1\n", gpu("535.54", 1), "gpu", Status::ok},
      {"gpu index out of range", "CUDA_VISIBLE_DEVICES=0,4\n", gpu("535.54", 4), "gpu",
       Status::problem, "out of range", "from 0 to 3"},
      {"gpu listed twice", "CUDA_VISIBLE_DEVICES=0,0\n", gpu("535.54", 4), "gpu", Status::warning,
       "listed twice", "unset it"},
      {"driver without devices", "", gpu("535.54", 0), "gpu", Status::warning, "no /dev/nvidia",
       "--gres"},
      {"no driver", "", gpu("", 0), "gpu", Status::note, "CPU"},
      {"no driver but a mask", "CUDA_VISIBLE_DEVICES=0\n", gpu("", 0), "gpu", Status::warning},
      {"all hidden", "CUDA_VISIBLE_DEVICES=\n", gpu("535.54", 2), "gpu", Status::note, "hidden"},
      {"more ranks than devices",
       "HPCBOOT_RANK=0\nHPCBOOT_WORLD_SIZE=4\nHPCBOOT_LOCAL_RANK=0\nHPCBOOT_LOCAL_SIZE=4\n",
       gpu("535.54", 2), "gpu", Status::warning, "share"},

      {"few descriptors", kTask, limits(200, 0, false), "open files", Status::warning, "200",
       "ulimit -n"},
      {"descriptors", kTask, limits(UINT64_MAX, 0, false), "open files", Status::ok, "unlimited"},
      {"no threads", "", no_threads, "processes", Status::problem, "(ulimit -u: 0)", "pids limit"},
      {"locked memory without InfiniBand", kTask, limits(1024, 0, false), "locked memory",
       std::nullopt},
      {"little locked memory", kTask, limits(1024, 65536, true), "locked memory", Status::warning,
       "64 KiB", "ulimit -l"},
      {"locked memory", kTask, limits(1024, UINT64_MAX, true), "locked memory", Status::ok},

      {"LibTorch", "", torch("LibTorch 1.13.1"), "libtorch", Status::ok, "1.13.1"},
      {"no LibTorch", "", torch(""), "libtorch", Status::note, "without"},

      {"shared folder", kTask, work("nfs", false), "working folder", Status::ok, "nfs"},
      {"local folder, two hosts", kTask, work("tmpfs", true), "working folder", Status::warning,
       "tmpfs", "all hosts share"},
      {"local folder, one host", "", work("overlay", true), "working folder", Status::ok},
      {"runs", "", runs([](FolderFacts&) {}), "runs", Status::ok, "51200 MiB"},
      {"local runs, two hosts", kTask, runs([](FolderFacts& f) { f.local = true; }), "runs",
       Status::warning, "cannot see it", "--runs-dir"},
      {"local runs, one host", "", runs([](FolderFacts& f) { f.local = true; }), "runs",
       Status::ok},
      {"shared runs, two hosts", kTask, runs([](FolderFacts&) {}), "runs", Status::ok},
      {"read-only runs", "", runs([](FolderFacts& f) { f.writable = false; }), "runs",
       Status::problem, "cannot be written", "--runs-dir"},
      {"runs that cannot be reached", "",
       runs([](FolderFacts& f) { f.error = "Permission denied"; }), "runs", Status::problem,
       "cannot be used: Permission denied", "--runs-dir"},
      {"runs that are not made yet", "", runs([](FolderFacts& f) { f.not_made_yet = "a/runs"; }),
       "runs", Status::ok, "a/runs, not made yet: /work on nfs"},
      {"runs that cannot be made", "", runs([](FolderFacts& f) {
         f.not_made_yet = "a/runs";
         f.writable = false;
       }),
       "runs", Status::problem, "a/runs, not made yet: /work cannot be written"},
      {"full runs", "", runs([](FolderFacts& f) { f.free_bytes = 1U << 20U; }), "runs",
       Status::warning, "1 MiB"},
      {"clock of the file system", "", runs([](FolderFacts& f) { f.clock_ahead_seconds = -90; }),
       "clock", Status::warning, "90 s behind"},
      {"clocks almost together", "", runs([](FolderFacts& f) { f.clock_ahead_seconds = 1.9; }),
       "clock", Status::ok},
      {"clock ahead", "", runs([](FolderFacts& f) { f.clock_ahead_seconds = 2.1; }), "clock",
       Status::warning, "2 s ahead of"},
      {"clocks together", "", runs([](FolderFacts& f) { f.clock_ahead_seconds = 0.1; }), "clock",
       Status::ok},
      {"synchronised", "", clock(true), "clock", Status::ok},
      {"not synchronised", "", clock(false), "clock", Status::note},
  };
  return table;
}

TEST(Doctor, EachCheckSaysWhatItFound) {
  for (const Case& c : cases()) {
    std::optional<Finding> found;
    for (const Finding& finding : look(c.dump, c.describe)) {
      if (finding.name == c.finding) found = finding;
    }
    ASSERT_EQ(found.has_value(), c.status.has_value()) << c.what;
    if (!found) continue;
    EXPECT_EQ(name_of(found->status), name_of(*c.status)) << c.what << ": " << found->message;
    EXPECT_NE(found->message.find(c.message), std::string::npos)
        << c.what << ": " << found->message;
    EXPECT_NE(found->remedy.find(c.remedy), std::string::npos) << c.what << ": " << found->remedy;
    if (found->status == Status::problem || found->status == Status::warning) {
      EXPECT_FALSE(found->remedy.empty()) << c.what;
    }
  }
}

// All texts of all checks, for people to review.
TEST(Doctor, SaysWhatWasRead) {
  std::string said;
  for (const Case& c : cases()) {
    said += std::string(c.what) + ":\n";
    for (const Finding& finding : look(c.dump, c.describe)) {
      if (finding.name != c.finding) continue;
      said += "  " + std::string(name_of(finding.status)) + ": " + finding.message + "\n";
      if (!finding.remedy.empty()) said += "  do: " + finding.remedy + "\n";
    }
  }
  EXPECT_EQ(said, test::read_text(test::source_file("tests/golden/doctor.expected")));
}

TEST(Doctor, OfAForeignEnvironmentItLooksAtNothingElse) {
  for (const Finding& finding : look("", [](Facts&, SystemFacts&) {})) {
    EXPECT_EQ(finding.status, Status::ok) << finding.name << ": " << finding.message;
  }
}

TEST(Doctor, SecretsAreNeverPrinted) {
  const std::string secret = "hunter2hunter2";
  // The second, a URL, is an error of the launcher check.
  for (const std::string& address : {"password=" + secret, "https://u:" + secret + "@n1"}) {
    const auto findings =
        look("OMP_NUM_THREADS=password=" + secret + "\nHPCBOOT_MASTER_ADDR=" + address +
                 "\nNCCL_SOCKET_IFNAME=token=" + secret + "\nPMI_SHARED_SECRET=" + secret + "\n",
             [](Facts& facts, SystemFacts& system) {
               facts.interfaces = {interface("eth0", "10.0.0.1")};
               system.usable_cores = system.all_cores = 2;
             });
    EXPECT_GE(findings.size(), 2U);
    for (const Finding& finding : findings) {
      EXPECT_EQ((finding.message + finding.remedy).find(secret), std::string::npos) << finding.name;
    }
  }
}

}  // namespace
}  // namespace hpcboot
