#include "pbs_fixture.hpp"

namespace hpcboot::run {
namespace {

class PbsSubmissionTest : public PbsJobTest {};

TEST_F(PbsSubmissionTest, SubmitsItselfElse) {
  const QueuedAgain again = queue_again("n2");
  EXPECT_EQ(again.how, "qsub, as 66.pbs");
  EXPECT_EQ(again.job_id, "66.pbs");
  EXPECT_FALSE(again.exit_code);
  EXPECT_EQ(again.note, "n2 is not excluded: PBS has no option for that");
  EXPECT_TRUE(tells("cd -- /home/alice/proj || exit 1\n")) << machine().input;
  EXPECT_TRUE(tells("export HOME=/home/alice\n")) << machine().input;
  EXPECT_TRUE(tells("export PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/opt/pbs/bin\n"));
  EXPECT_TRUE(tells("export CC=2\n"));
  EXPECT_TRUE(
      tells("\nexec /invented/qsub -C '' -N train -j oe -k n -m a -q routed -r y "
            "-l filesystems=home:grand -l place=free "
            "-l select=2:ncpus=1:mpiprocs=2:mem=1gb:ndisks=1 -l walltime=00:10:00 "
            "-v CC " +
            std::string(kScript) + "\n"))
      << machine().input;
}

TEST_F(PbsSubmissionTest, OneThatIsNotToBeRerunIsNot) {
  show("", {{"Rerunable = True", "Rerunable = False"}});
  queue_again();
  EXPECT_FALSE(holds(machine().ran, "qrerun 65.pbs"));
  EXPECT_TRUE(tells(" -r n "));
}

TEST_F(PbsSubmissionTest, AsksForWhatTheUserAskedFor) {
  show("", {{"Output_Path = pbs:/home/alice/proj/train.o65", "Output_Path = pbs:/home/alice/log"},
            {"Checkpoint = u", "Account_Name = phys 1\n    Checkpoint = s"},
            {"Priority = 0", "Priority = 5\n    Mail_Users = a@b,c@d"},
            {"= _pbs_project_default",
             "= projx\n    umask = 27\n    group_list = g1\n"
             "    stagein = a@pbs:b,c@pbs:d"}});
  EXPECT_EQ(queue_again().note, "its output overwrites that of this job, in pbs:/home/alice/log");
  for (const char* words :
       {" -A 'phys 1' ", " -c s ", " -p 5 ", " -M a@b,c@d ", " -P projx ", " -W umask=27 ",
        " -W group_list=g1 ", " -W 'stagein=\"a@pbs:b,c@pbs:d\"' ", " -o pbs:/home/alice/log "})
    EXPECT_TRUE(tells(words)) << words << machine().input;
}

// Torque passes the script's arguments with -F.
TEST_F(PbsSubmissionTest, AnArgumentThatLooksLikeAnOptionIsNone) {
  show("", {{"Output_Path = pbs:/home/alice/proj/train.o65", "job_arguments = -o"}});
  EXPECT_EQ(queue_again().note, "");
  EXPECT_TRUE(tells(" -F -o ")) << machine().input;
}

TEST_F(PbsSubmissionTest, VariablesKeepTheirValues) {
  show("A=a b\\,c;$HOME`x`,NL=l1\n  l2,E=,HPCBOOT_RUN_SECRET=s3,PBS_JOBCOOKIE=x,SHLVL=2,");
  queue_again();
  EXPECT_TRUE(tells("export A='a b,c;$HOME`x`'\n")) << machine().input;
  EXPECT_TRUE(tells("export NL='l1\n  l2'\n"));
  EXPECT_TRUE(tells(" -v A,E,NL "));
  EXPECT_FALSE(tells("s3"));
}

// qsub -v does not support quotes.
TEST_F(PbsSubmissionTest, QuotesGoByTheEnvironmentAsAWhole) {
  in_job("65.pbs", {{"OTHER", "1"}, {"PBS_CONF_FILE", "/etc/x"}});
  show(R"(Q=say \"hi\",BS=c:\\x,T=it\'s,F%%=() { :;},)");
  EXPECT_EQ(queue_again().note, "without the variables F%%");
  EXPECT_TRUE(tells("export Q='say \"hi\"'\n")) << machine().input;
  EXPECT_TRUE(tells("export BS='c:\\x'\n"));
  EXPECT_TRUE(tells("export T='it'\\''s'\n")) << machine().input;
  EXPECT_TRUE(tells("unset OTHER\n"));
  EXPECT_FALSE(tells("unset PBS_CONF_FILE"));
  EXPECT_TRUE(tells(" -V /var"));
}

TEST_F(PbsSubmissionTest, ATaskOfAnArrayIsSubmittedAloneWithItsNumber) {
  in_job("65[3].pbs", {{"PBS_ARRAY_INDEX", "3"}, {"PBS_ARRAY_ID", "65[].pbs"}});
  machine().files["/var/spool/pbs/mom_priv/jobs/65[3].pbs.SC"] = "#!/bin/bash\n";
  show("", {{"train.o65", "train.o65.3"}, {"train.e65", "train.e65.3"}});
  queue_again();
  EXPECT_TRUE(tells("export PBS_ARRAY_INDEX=3\n")) << machine().input;
  EXPECT_TRUE(tells(" -v PBS_ARRAY_ID,PBS_ARRAY_INDEX "));
  EXPECT_FALSE(tells(" -o "));
  EXPECT_FALSE(tells(" -J "));
}

TEST_F(PbsSubmissionTest, AProgramInPlaceOfAScriptIsNamed) {
  show("", {{"    project",
             "    executable = <jsdl-hpcpa:Executable>/bin/bash</jsdl-hpcpa:Executabl\n\te>\n"
             "    argument_list = <jsdl-hpcpa:Argument>-c</jsdl-hpcpa:Argument>"
             "<jsdl-hpcpa:Argument>a &lt; b &amp;amp; c</jsdl-hpcpa:Argument>\n    project"}});
  machine().files.clear();
  queue_again();
  EXPECT_TRUE(tells(" -- /bin/bash -c 'a < b &amp; c'\n")) << machine().input;
}

// The names are those of Torque 6.1.
TEST_F(PbsSubmissionTest, TorqueCountsNodesAndHasArgumentsForTheScript) {
  show("", {{"Resource_List.select = 2:ncpus=1:mpiprocs=2:mem=1gb:ndisks=1",
             "Resource_List.nodes = 2:ppn=4\n    Resource_List.neednodes = 2:ppn=4"},
            {"    Resource_List.place = free\n", ""},
            {"    project = _pbs_project_default\n", "    job_arguments = --epochs 3\n"}});
  queue_again();
  EXPECT_TRUE(tells(" -F '--epochs 3' ")) << machine().input;
  EXPECT_TRUE(tells(" -l nodes=2:ppn=4 "));
  EXPECT_TRUE(tells(" -l mem=2gb "));
  EXPECT_FALSE(tells("neednodes"));
}

TEST_F(PbsSubmissionTest, WhatQsubSaysIsHandedOn) {
  machine().outputs.erase("sh");
  machine().failures["sh"] = "qsub: Bad UID for job execution\n";
  EXPECT_EQ(failure(), "qsub on n1: exit code 1: qsub: Bad UID for job execution");
}

TEST_F(PbsSubmissionTest, WhatCannotBeSubmittedIsSaid) {
  machine().files.clear();
  EXPECT_EQ(failure(), "the job's script: " + std::string(kScript) + " cannot be read");
  show("", {{"    project", "    interactive = True\n    project"}});
  EXPECT_EQ(failure(), "an interactive job");
  machine().outputs["qstat -f 65.pbs"] = "";
  EXPECT_EQ(failure(), "`qstat -f 65.pbs` shows no job_state");
}

}  // namespace
}  // namespace hpcboot::run
