#pragma once

#include <string>
#include <utility>
#include <vector>

#include "../invented.hpp"
#include "jobs/run/job/scheduler_job.hpp"

namespace hpcboot::run {

// A job of PBS, as `qstat -f` of OpenPBS 23.06 shows it, before and after the user's variables.
inline const std::string kPbsStatusBefore = R"(Job Id: 65.pbs
    Job_Name = train
    Job_Owner = alice@pbs
    job_state = R
    queue = workq
    server = pbs
    Checkpoint = u
    ctime = Mon Nov 23 11:52:55 2026
    Error_Path = pbs:/home/alice/proj/train.e65
    exec_host = n1/1+n1/2
    Hold_Types = n
    Join_Path = oe
    Keep_Files = n
    Mail_Points = a
    Output_Path = pbs:/home/alice/proj/train.o65
    Priority = 0
    Rerunable = True
    Resource_List.filesystems = home:grand
    Resource_List.mem = 2gb
    Resource_List.mpiprocs = 4
    Resource_List.ncpus = 2
    Resource_List.ndisks = 2
    Resource_List.nodect = 2
    Resource_List.place = free
    Resource_List.select = 2:ncpus=1:mpiprocs=2:mem=1gb:ndisks=1
    Resource_List.walltime = 00:10:00
    stime = Mon Nov 23 11:52:56 2026
    substate = 42
    Variable_List = PBS_O_HOME=/home/alice,PBS_O_LOGNAME=alice,
	PBS_O_PATH=/usr/local/bin:/usr/bin:/bin:/usr/local
	/games:/opt/pbs/bin,PBS_O_WORKDIR=/home/alice/proj,)";
inline const std::string kPbsStatusAfter = R"(PBS_O_QUEUE=routed,
	PBS_O_HOST=pbs
    comment = Job run at Mon Nov 23 at 11:52 on (n1:ncpus=1)+(n1:ncpus=1)
    run_count = 1
    Submit_arguments = -N train -v CC=2 job.sh
    project = _pbs_project_default
    Submit_Host = pbs

)";

class PbsJobTest : public InventedMachine {
 protected:
  void SetUp() override {
    InventedMachine::SetUp();
    install({"qsub"});
    machine().outputs["sh"] = "66.pbs\n";
    machine().failures["qrerun 65.pbs"] = "qrerun: Unauthorized Request  65.pbs\n";
    machine().files[kScript] = "#!/bin/bash\n";
    in_job("65.pbs");
    show("CC=2,");
  }

  void in_job(const std::string& id, std::map<std::string, std::string> more = {}) {
    more.insert({{"PBS_JOBID", id},
                 {"PBS_ENVIRONMENT", "PBS_BATCH"},
                 {"PBS_NODEFILE", "/var/spool/pbs/aux/" + id}});
    set_env(more);
  }
  // @param replaced pairs of text in the answer and its replacement
  void show(const std::string& variables,
            const std::vector<std::pair<std::string, std::string>>& replaced = {}) {
    std::string text = kPbsStatusBefore + variables + kPbsStatusAfter;
    for (const auto& [from, to] : replaced) {
      const std::size_t place = text.find(from);
      ASSERT_NE(place, std::string::npos) << from;
      text.replace(place, from.size(), to);
    }
    machine().outputs["qstat -f " + std::string(*s.env.text("PBS_JOBID"))] = text;
  }
  QueuedAgain queue_again(const std::string& bad_host = "") {
    return pbs_job(s)->queue_again(bad_host);
  }
  JobState state() { return pbs_job(s)->state(); }
  std::string failure() {
    try {
      queue_again();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::backend_unavailable);
      return error.found();
    }
    return "";
  }
  // Does the shell's input contain this?
  bool tells(const std::string& part) { return holds(machine().input, part); }

  static constexpr const char* kScript = "/var/spool/pbs/mom_priv/jobs/65.pbs.SC";
};

}  // namespace hpcboot::run
