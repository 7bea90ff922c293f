#include "slurm_machine.hpp"

namespace hpcboot::run {
namespace {

class SlurmSbatchTest : public SlurmMachine {};

TEST_F(SlurmSbatchTest, SubmitsItselfWithWhatItWasGranted) {
  slurm({{"SLURM_NTASKS", "4"},
         {"SLURM_NTASKS_PER_NODE", "2"},
         {"SLURM_MEM_PER_CPU", "10"},
         {"SLURM_GPUS_PER_NODE", "h200:1"},
         {"SLURM_RESTART_COUNT", "2"},
         {"SBATCH_WAIT", "1"},
         {"SBATCH_SIGNAL", "USR1@60"},
         {"HPCBOOT_RUN_SECRET", "ab"}});
  set_plain_job();
  refuse_to_requeue();
  set_columns("PaqvDlfWynxhbm", {"main", "acc", "normal", "res", "2", "1-00:00:00", "a|b", "lic:1",
                                 "5", "n[1-2]", "n3", "NO", "gres:gpu:h200:1,gres:nvme:2", "10M"});
  set_texts(
      {"Name", "Comment", "WorkDir", "STDOUT", "STDERR", "STDIN"},
      {"a\nJobState=CANCELLED", "EndTime=2000-01-01T00:00:00", "/home/u", "/o.%j", "/e", "/in"});
  set_script(std::string("a\0b  c\0\0", 8));
  machine().outputs
      ["env -u HPCBOOT_RUN_SECRET -u SBATCH_WAIT -u SLURM_RESTART_COUNT sbatch "
       "--parsable --export=ALL --partition=main --account=acc --qos=normal "
       "--reservation=res --nodes=2 --time=1-00:00:00 --constraint=a|b "
       "--licenses=lic:1 --nice=5 --nodelist=n[1-2] --exclude=n3 --exclusive "
       "--gres=nvme:2 --mem-per-cpu=10 --ntasks=4 --ntasks-per-node=2 "
       "--gpus-per-node=h200:1 --job-name=a\nJobState=CANCELLED "
       "--comment=EndTime=2000-01-01T00:00:00 --chdir=/home/u --output=/o.%j "
       "--error=/e --input=/in --open-mode=append /dev/stdin a b  c "] =
      "sbatch: warning: be quick\n13;cluster\n";
  const QueuedAgain queued = queue_again();
  EXPECT_EQ(queued.how, "sbatch, as 13");
  EXPECT_EQ(queued.job_id, "13");
  EXPECT_TRUE(holds(queued.note, "--signal")) << queued.note;
  EXPECT_EQ(machine().input, kScript);
}

TEST_F(SlurmSbatchTest, ATaskOfAnArraySubmitsItselfAlone) {
  set_task();
  set_plain_job();
  refuse_to_requeue();
  set_script("");
  machine().outputs["env sbatch --parsable --export=ALL --array=3 " + options + " /dev/stdin"] =
      "13\n";
  EXPECT_EQ(queue_again().job_id, "13_3");
}

TEST_F(SlurmSbatchTest, WhatIsEndingIsNotSubmittedAgain) {
  slurm();
  set_plain_job();
  refuse_to_requeue();
  set_script("");
  for (const Texts& state : {Texts{"COMPLETING", "N/A"}, Texts{"RUNNING", "150"}}) {
    set_state({"7", "100", "200", state[0], state[1]});
    EXPECT_TRUE(holds(error_of_queue_again(), "`scontrol requeue 7`: exit code 1: Requested"));
  }
  for (const std::string& command : machine().ran)
    EXPECT_FALSE(holds(command, "sbatch")) << command;
}

TEST_F(SlurmSbatchTest, ArgumentsThatNobodyKnowsAreNotGuessed) {
  slurm();
  set_plain_job();
  refuse_to_requeue();
  set_texts({"Command"}, {"/home/u/job.sh a b"});
  EXPECT_TRUE(holds(error_of_queue_again(), "'/home/u/job.sh a b'")) << error_of_queue_again();
  set_texts({"Command"}, {"/home/u/job.sh"});
  machine().outputs["env sbatch --parsable --export=ALL " + options + " /dev/stdin"] = "13\n";
  EXPECT_EQ(queue_again().job_id, "13");
}

TEST_F(SlurmSbatchTest, WhereNothingIsPossibleTheErrorHasBothReasons) {
  slurm({{"SLURM_HET_SIZE", "2"}});
  set_plain_job();
  refuse_to_requeue();
  EXPECT_TRUE(holds(error_of_queue_again(), "disabled for job 7; job 7 is heterogeneous"));
}

TEST_F(SlurmSbatchTest, AJobOfSallocHasNoScript) {
  slurm();
  set_plain_job();
  refuse_to_requeue();
  set_texts({"Command"}, {"/bin/bash -l"});
  machine().outputs["sh -c exec \"$0\" \"$@\" 2>/dev/null scontrol write batch_script 7 -"] =
      "job script retrieval failed: Job script not specified\n";
  EXPECT_TRUE(holds(error_of_queue_again(), "Slurm has no batch script for job 7"))
      << error_of_queue_again();
}

}  // namespace
}  // namespace hpcboot::run
