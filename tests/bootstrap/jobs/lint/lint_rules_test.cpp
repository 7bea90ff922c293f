#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "broken_scripts.hpp"
#include "hpcboot/launch_source.hpp"
#include "jobs/lint/lint.hpp"

// For every rule: scripts that violate it, with the position of the finding, and near misses.
namespace hpcboot::lint {
namespace {

TEST(LintRules, BrokenScriptsAreToldWithTheirPlace) {
  for (const Broken& one : broken()) {
    const auto findings = check_script(one.script);
    const bool found = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.rule == one.rule && finding.line == one.line && finding.column == one.column &&
             finding.severity == one.severity;
    });
    std::string all;
    for (const Finding& finding : findings) all += format_line("found", finding).str() + "\n";
    EXPECT_TRUE(found) << one.rule << " " << one.line << ":" << one.column << " in\n"
                       << one.script << all;
  }
}

TEST(LintRules, EveryRuleHasABrokenScript) {
  std::set<std::string> tested;
  for (const Broken& one : broken()) tested.insert(one.rule);
  for (const RuleSummary& rule : rules()) EXPECT_EQ(tested.count(rule.id), 1U) << rule.id;
  EXPECT_EQ(tested.size(), rules().size());
}

struct NearMiss {
  const char* rule;
  std::string script;
};

// No rule at all may report anything here, so that no finding hides behind another rule.
const std::vector<NearMiss>& near_misses() {
  static const std::vector<NearMiss> table = {
      {"shebang", "#! /usr/bin/env bash\n#SBATCH -N 1\n"},
      {"shebang", "#PBS -S /bin/bash\nhostname\n"},
      {"shebang", "#$ -S /bin/bash\nhostname\n"},
      {"shebang", ""},

      {"directive-variable", "#!/bin/bash\n#PBS -o $PBS_O_WORKDIR/out.log\n"},

      {"unknown-option", "#!/bin/bash\n#SBATCH --container-image=x.sqsh --x11\n"},
      {"unknown-option", "#!/bin/bash\n#SBATCH --tasks-per=2 --cpus-per-t 2\n"},
      {"unknown-option", "#!/bin/bash\n#SBATCH --gpus-per-job=2\n"},

      {"unknown-option", "#!/bin/bash\n#SBATCH --threads=2\n"},

      {"directive-empty", "#!/bin/bash\n#SBATCH --exclusive --requeue\n#SBATCH # GPUs\n#$\n"},

      {"memory-twice", "#!/bin/bash\n#SBATCH --mem=0\n#SBATCH --mem-bind=local\n"},

      {"gres-and-gpus", "#!/bin/bash\n#SBATCH --gres=gpu:4\n#SBATCH --gpus-per-node=4\n"},
      {"gres-and-gpus", "#!/bin/bash\n#SBATCH -N 2 --gres=gpu:2 --gpus=4\n"},
      {"gres-and-gpus", "#!/bin/bash\n#SBATCH --gres=lustre:1 --gpus=4\n"},

      {"array-output", "#!/bin/bash\n#SBATCH --array=1-3 -o %A_%a.out\n"},
      {"array-output", "#!/bin/bash\n#SBATCH --array=1-3 -o x-%j.out\n"},
      {"array-output", "#!/bin/bash\n#SBATCH --array=1-3 -o x_%4a.out\n"},
      {"array-output", "#!/bin/bash\n#SBATCH --array=1-3\n#SBATCH -o /dev/null\n"},
      {"array-output", "#!/bin/bash\n#PBS -J 1-3\n#PBS -o logs\n"},
      {"array-output", "#!/bin/bash\n#PBS -J 1-3 -j oe\n#PBS -o logs/ -e err.log\n"},
      {"array-output", "#!/bin/bash\n#$ -t 1-3 -j y\n#$ -e err.log\n"},
      {"array-output", "#!/bin/bash\n#$ -t 1-3\n#$ -o x.$TASK_ID.log\n"},
      {"array-output", "#!/bin/bash\n#BSUB -J x\n#BSUB -o out.log\n"},

      {"array-rerun", "#!/bin/bash\n#PBS -J 1-3\n#PBS -r y\n"},
      {"array-rerun", "#!/bin/bash\n#PBS -J 1-3\n"},
      {"array-rerun", "#!/bin/bash\n#PBS -r n\n"},
      {"array-rerun", "#!/bin/bash\n#PBS -t 1-3\n#PBS -r n\n"},

      {"more-ranks", kSlurm + "mpirun -np 8 ./a\n"},
      {"more-ranks", kSlurm + "mpirun --oversubscribe -np 16 ./a\n"},
      {"more-ranks", kSlurm + "mpirun ./nbody -n 100000\n"},
      {"more-ranks", kSlurm + "mpirun --mca btl self,tcp -x A python3 bench.py -n 64\n"},
      {"more-ranks", kSlurm + "mpirun --new-option ./bench -n 64\n"},
      {"more-ranks", kSlurm + "mpirun -np 4 ./a : -np 16 ./b\n"},
      {"more-ranks", kSlurm + "mpirun -np $N ./a\nmpirun -np 16 --host a:16 ./b\n"},
      {"more-ranks", kSlurm + "#SBATCH --cpus-per-task=2\nsrun -K -n 16 ./a\n"},
      {"more-ranks", kSlurm + "srun -K --overcommit -n 16 ./a\n"},
      {"more-ranks", kSlurm + "#SBATCH --exclusive\nmpirun -np 128 ./a\n"},
      {"more-ranks", kSlurm + "if [ -n \"$BIG\" ]; then mpirun -np 16 ./a; fi\n"},
      {"more-ranks", kPbs + "#PBS -l select=1:ncpus=16:ompthreads=1\nmpirun -np 16 ./a\n"},
      {"more-ranks", kPbs + "#PBS -l select=2:system=x\nmpirun -np 16 ./a\n"},

      {"more-ranks", "#!/bin/bash\n#SBATCH -N 1024\nsrun -K -n 8192 ./a\n"},
      {"more-ranks", "#!/bin/bash\n#SBATCH -N 4\nsrun -K --nodes=1 --ntasks=128 --exact ./a\n"},
      {"more-ranks",
       "#!/bin/bash\n#SBATCH -N 1 -n 2 --gpus=4 --cpus-per-gpu=8\nsrun -K -n 4 ./a\n"},
      {"more-ranks", "#!/bin/bash\n#SBATCH -N 2 --ntasks-per-socket=4\nsrun -K -n 16 ./a\n"},
      {"more-ranks", "#!/bin/bash\n#SBATCH -n 1 --tres-per-task=cpu:4\nsrun -K -n 2 ./a\n"},
      {"more-ranks", kSlurm + "mpirun --mca rmaps_base_oversubscribe 1 -np 16 ./a\n"},

      {"background-steps",
       kSlurm + "srun -K ./scheduler &\nsrun -K ./worker &\npython client.py\n"},
      {"background-steps", kSlurm + "srun --overlap nvidia-smi -l 5 >g.log &\npython train.py\n"},
      {"background-steps", kSlurm + "srun -K ./a &\nuntil grep -q ready log; do :; done\n"},
      {"background-steps", kSlurm + "srun -K ./a &\nsrun -K ./b &\nwait\n"},
      {"background-steps", kSlurm + "srun -n 1 nvidia-smi dmon &\nsrun -K ./b\n"},
      {"background-steps", kSlurm + "srun -K ./a && echo ok\n"},
      {"background-steps", kSlurm + "for i in 1 2; do srun -K -n 2 ./a & done\nwait -n\n"},

      {"srun-elsewhere", "#!/bin/bash\nsrun -K -n 4 ./a\n"},
      {"srun-elsewhere", kPbs + "if command -v srun; then srun -K -n 4 ./a; fi\n"},

      {"torchrun-alone", kSlurm + "srun -K --ntasks-per-node=1 torchrun --nnodes=2 a.py\n"},
      {"torchrun-alone", "#!/bin/bash\n#SBATCH -N 1\ntorchrun --nproc_per_node=4 a.py\n"},
      {"torchrun-alone",
       kSlurm + "for h in $HOSTS; do ssh $h torchrun --nnodes=2 a.py & done; wait\n"},

      {"torchrun-alone", kSlurm + "ibrun torchrun --nnodes=2 a.py\n"},
      {"torchrun-alone", kSlurm + "accelerate config default\nsrun -K accelerate launch a.py\n"},
      {"launcher-in-srun", kSlurm + "srun -K torchrun --nnodes 8 --nproc_per_node 1 a.py\n"},
      {"launcher-in-srun", kSlurm + "srun -K torchrun --nnodes 8 --nproc-per-node=1 a.py\n"},

      {"signal-and-trap",
       "#!/bin/bash\n#SBATCH --signal=B:USR1@60\ntrap 'save' USR1\n./a &\nwait\n"},
      {"signal-and-trap", "#!/bin/bash\n#SBATCH --signal=USR1@60\ntrap 'rm -rf tmp' EXIT\n./a\n"},

      {"typography", "#!/bin/bash\n# “quoted” – in a comment\necho \"“x” – it’s\" '–'\n"},
      {"typography", "#!/bin/bash\n#SBATCH --job-name=entraînement\necho \"naïve – “fine”\" é–è\n"},

      {"typography", "#!/bin/bash\necho it’s done\n"},

      {"typography", "#!/bin/bash\n#SBATCH --comment=\"it’s a run – second\" -J 'a “b”'\n"},
      {"typography", "#!/bin/bash\n#BSUB -Jd \"a run – the “second”\"\n"},

      {"placeholder", "#!/bin/bash\nsed \"s/{{NAME}}/$USER/\" template > out\n"},
      {"placeholder", "#!/bin/bash\nsed -e s/{{NAME}}/$USER/ template > out\n"},
      {"placeholder", "#!/bin/bash\ndocker run img sh -c \"echo {{x}}\"\n"},
      {"placeholder", "#!/bin/bash\ngrep -q \"{{name}}\" template\n"},
      {"placeholder", "#!/bin/bash\ngrep \"$(echo a)\" {{name}}\n"},
      {"placeholder",
       "#!/bin/bash\nd=$(mktemp -d /tmp/x.XXXXXX)\necho \"PARTITION ACCOUNT_NAME\"\n"},
      {"placeholder", "#!/bin/bash\n#SBATCH -A project -p queue --qos=user -w n[1-2]\n"},
      {"placeholder", "#!/bin/bash\n#PBS -A accounting -q USER -M youri@uni.edu\n"},
      {"placeholder", "#!/bin/bash\n#SBATCH --job-name=XXXX --mail-user=me@uni.edu -p gpu_xxl\n"},
      {"placeholder",
       "#!/bin/bash\necho usage: $0 /path/to/data\n[ \"$1\" != /path/to/data ] || exit\n"},
      {"placeholder",
       "#!/bin/bash\ncd \"$HOME/path/to/x\" || exit\n: \"${D:?like D=/path/to/data}\"\n"},
      {"placeholder", "#!/bin/bash\n##SBATCH --account=<account>\n# sbatch -A <account> job.sh\n"},
      {"placeholder", "#!/bin/bash\nsort <in >out\ndiff <(a) <(b)\n"},
      {"placeholder", "#!/bin/bash\ndocker ps --format '{{.Names}}' --f \"{{.ID}}\"\n"},
      {"placeholder", "#!/bin/bash\ncat >t <<'EOF'\n{{ name }}\nEOF\n"},
      {"placeholder", "#!/bin/bash\n#SBATCH -A def-smith # <account>\n"},
      {"placeholder", "#!/bin/bash\n#BSUB -R \"select[mem<4000 && tmp>10]\"\n"},
      {"placeholder",
       "#!/bin/bash\n#SBATCH -J my_project -A my_allocation2 -D /home/me/my_account\n"},
      {"placeholder", "#!/bin/bash\n#PBS -N my_queue_sim -o /home/me/my_queue/ -P my_projects\n"},
      {"placeholder", "#!/bin/bash\n#SBATCH -J changements -o replacements/%j -A def-xxl\n"},
      {"placeholder", "#!/bin/bash\n#SBATCH --comment=\"<not your account>\"\n"},

      {"directive-after-command",
       "#!/bin/bash\n\n# words\n#SBATCH -N 1\n\n#SBATCH -n 1\nhostname\n"},
      {"directive-after-command",
       "#!/bin/bash\ncat >job.sh <<EOF\n#SBATCH -N 1\nEOF\nsbatch job.sh\n"},
      {"directive-after-command", "#!/bin/bash\necho \"\n#SBATCH -N 1\n\" >job.sh\n"},
      {"directive-after-command", "#!/bin/bash\nhostname\n##SBATCH -N 1\n# words\n"},
      {"directive-after-command", "#!/bin/bash\n. /etc/profile\n#$ -N x\n#$ -cwd\n"},
      {"directive-after-command", "#!/bin/sh\nmyjob arg1\n#BSUB -P myproj\n"},

      {"directive-not-read", "#!/bin/bash\n##SBATCH --nodes=2\n#### SBATCH --nodes=2\n"},
      {"directive-not-read", "#!/bin/bash\n# SBATCH options follow\n#PBSPRO\n# PBS and Slurm\n"},
      {"directive-not-read", "#!/bin/bash\n# sbatch --nodes=2 job.sh\n#sbatch -N 2 job.sh\n"},
      {"directive-not-read", "#!/bin/bash\n# BATCH SIZE - 4\n# WATCH -n 1\n#W -n\n"},

      {"directive-not-read",
       "#!/bin/bash\n# $ ls -l\n# $ - a price\n# 5 $ -cwd\n#bsub -n 4 job.sh\n"},
      {"directive-not-read",
       "#!/bin/bash\n#sbatch --test-only job.sh\n#sbatch is read\n# pbs -N x\n"},

      {"directive-form",
       "#!/bin/bash\n#SBATCH --part gpu --tasks-per-node 2 --exclusi --time-m 10\n"},
      {"directive-form", "#!/bin/bash\n#SBATCH -N2 -n4 -pgpu -t 10 -J nodes\n"},
      {"directive-form", "#!/bin/bash\n#SBATCH --nodes 2 --ntasks-per-node 1 # comment\n"},
      {"directive-form", "#!/bin/bash\n#SBATCH -N 1\n#SBATCH hetjob\n#SBATCH -N 2\n"},
      {"directive-form", "#!/bin/bash\n#SBATCH --job-name=\"my job\" --mem 4G --exclusive -H\n"},
      {"directive-form", "#!/bin/bash\n#PBS -lselect=1 -N x -V\n"},

      {"directive-variable", "#!/bin/bash\n#SBATCH --output=logs/%x-%j.out # not $HOME\n"},
      {"directive-variable", "#!/bin/bash\n#PBS -v DATA=$HOME/data -o $PBS_JOBID.out\n"},
      {"directive-variable", "#!/bin/bash\n#$ -o $HOME/$JOB_ID.out\n"},

      {"time-format", "#!/bin/bash\n#SBATCH -t 30\n#SBATCH --time-min=1-12:30\n"},
      {"time-format", "#!/bin/bash\n#SBATCH --time=1-00:00:00   # a day\n"},
      {"time-format", "#!/bin/bash\n#SBATCH --time=UNLIMITED\n"},
      {"time-format", "#!/bin/bash\n#SBATCH --time=infinite\n"},
      {"more-ranks", "#!/bin/bash\nenv\nnice -n\n"},
      {"time-format", "#!/bin/bash\n#PBS -l select=1:ncpus=1,walltime=72:00:00\n"},
      {"time-format", "#!/bin/bash\n#PBS -l walltime=3600\n"},
      {"time-format", "#!/bin/bash\n#BSUB -W 4:30\n"},
      {"time-format", "#!/bin/bash\n#BSUB -W 120/hostA\n"},
      {"time-format", "#!/bin/bash\n#$ -l h_rt=24:00:00,h_vmem=8g\n"},

      {"directive-overridden", "#!/bin/bash\n#SBATCH --mail-type=END\n#SBATCH --mail-type=FAIL\n"},
      {"directive-overridden", "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --nodes=2\n"},
      {"directive-overridden", "#!/bin/bash\n#PBS -l select=1\n#PBS -l walltime=1:00\n"},
      {"directive-overridden",
       "#!/bin/bash\n#BSUB -R \"span[hosts=1]\"\n#BSUB -R \"rusage[mem=1]\"\n"},
      {"directive-overridden", "#!/bin/bash\n#$ -l gpu=1\n#$ -l h_rt=1:0:0\n"},

      {"select-mixed", "#!/bin/bash\n#PBS -l select=2:ncpus=4:mpiprocs=1,place=scatter\n"},
      {"select-mixed", "#!/bin/bash\n#PBS -l nodes=2:ppn=4\n#PBS -l mem=4gb\n"},

      {"tasks-nodes", kSlurm + "#SBATCH --ntasks=8\n"},
      {"tasks-nodes", "#!/bin/bash\n#SBATCH --ntasks=5\n#SBATCH --ntasks-per-node=4\n"},

      {"ranks-gpus", kSlurm + "#SBATCH --gres=gpu:a100:4\nsrun -K ./a\n"},
      {"ranks-gpus", kSlurm + "#SBATCH --gpus-per-task=1\nsrun -K ./a\n"},
      {"ranks-gpus", kSlurm + "#SBATCH --gres=tmp:40\nsrun -K ./a\n"},
      {"ranks-gpus", kSlurm + "#SBATCH --gpus-per-node=2\nsrun -K -n 4 ./a\nmpirun -np 4 ./a\n"},
      {"ranks-gpus", kSlurm + "#SBATCH --gpus-per-node=2\nsrun $OPTIONS ./a\n"},
      {"ranks-gpus", kSlurm + "#SBATCH --gpus-per-node=2\nmake -j 4\n"},
      {"ranks-gpus",
       "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gpus-per-node=4\nsrun -K torchrun "
       "--nproc_per_node=4 a.py\n"},
      {"ranks-gpus", kPbs + "#PBS -l select=2:ncpus=8:ngpus=4\nmpiexec ./a\n"},
      {"ranks-gpus",
       kPbs + "#PBS -l select=2:ncpus=8:mpiprocs=8:ngpus=2:ompthreads=1\nmpirun -np 4 ./a\n"},
      {"ranks-gpus",
       kPbs + "#PBS -l select=2:ncpus=8:mpiprocs=8:ngpus=2:ompthreads=1\nmpirun -np $N ./a\n"},
      {"ranks-gpus", kPbs + "#PBS -l select=2:ncpus=8:mpiprocs=8:ngpus=2:ompthreads=1\n"
                            "mpirun --npernode 2 ./a\n"},
      {"ranks-gpus", kPbs + "#PBS -l nodes=2:ppn=4:gpus=4\nmpirun ./a\n"},
      {"ranks-gpus",
       kPbs + "#PBS -l nodes=2:ppn=4:gpus=2\nmpirun --version\nmpirun -np $((N * 2)) ./a\n"},
      {"ranks-gpus", kPbs + "#PBS -l nodes=2:ppn=4:gpus=2\nmpirun \"${options[@]}\" ./a\n"},
      {"ranks-gpus", kPbs + "#PBS -l nodes=2:ppn=4:gpus=2\nmpirun -np 4 --map-by ppr:2:node ./a\n"},
      {"ranks-gpus",
       "#!/bin/bash\n#BSUB -n 8\n#BSUB -R \"span[ptile=4]\"\n#BSUB -gpu num=4\nmpirun ./a\n"},
      {"ranks-gpus",
       "#!/bin/bash\n#BSUB -n 8\n#BSUB -R \"span[ptile=4]\"\n#BSUB -gpu num=1/task\nmpirun ./a\n"},

      {"omp-threads", kPbs + "#PBS -l select=2:ncpus=8:mpiprocs=4:ompthreads=2\nmpiexec ./a\n"},
      {"omp-threads",
       kPbs + "#PBS -l select=2:ncpus=8:mpiprocs=4\nexport OMP_NUM_THREADS=2\nmpiexec ./a\n"},
      {"omp-threads", kPbs + "#PBS -l select=2:ncpus=4:mpiprocs=1\nmpiexec ./a\n"},
      {"omp-threads", kPbs + "#PBS -l select=2:ncpus=4:mpiprocs=4\npython a.py\n"},

      {"env-before-srun", kSlurm + "srun -K bash -c 'eval \"$(hpcboot env)\"; ./train'\n"},
      {"env-before-srun", kSlurm + "srun -K ./train\neval \"$(hpcboot env)\"\n"},
      {"env-before-srun", kSlurm + "eval \"$(hpcboot env)\"\nsrun -n 1 ./train\n"},
      {"env-before-srun",
       kSlurm + "eval \"$(hpcboot env)\"\nsrun -K torchrun --rdzv-endpoint=$MASTER_ADDR a.py\n"},
      {"env-before-srun", kSlurm + "eval \"$(my-hpcboot env)\"\nsrun -K ./train\n"},
      {"env-before-srun", "#!/bin/bash\neval \"$(hpcboot env)\"\nsrun -K ./train\n"},
      {"early-rank", kSlurm + "srun -K -n 1 ./a --seed $SLURM_PROCID\n"},
      {"early-rank", "#!/bin/bash\n#SBATCH -n 1\nsrun ./a --seed $SLURM_PROCID\n"},
      {"early-rank", kSlurm + "srun -K bash -c './train $SLURM_PROCID'\n"},
      {"early-rank", kSlurm + "srun -K bash -c \"./train \\$SLURM_PROCID\"\n"},
      {"early-rank", kSlurm + "srun -K bash -c './train '\\''$SLURM_PROCID'\\'''\n"},
      {"early-rank", kSlurm + "srun -K bash <<'EOF'\n./a $SLURM_PROCID\nEOF\n"},
      {"early-rank", kSlurm + "srun -K bash <<\\EOF\n./a $SLURM_PROCID\nEOF\n"},
      {"early-rank",
       kSlurm + "work() { RANK=$SLURM_PROCID ./a; }\nexport -f work\nsrun -K bash -c work\n"},
      {"early-rank",
       kSlurm + "CMD=\"torchrun --node_rank \\$SLURM_PROCID\"\nsrun -K bash -c \"$CMD\"\n"},
      {"early-rank",
       kSlurm + "cat > wrap.sh <<'EOF'\n./a $SLURM_PROCID\nEOF\nsrun -K bash wrap.sh\n"},
      {"early-rank",
       kSlurm + "cat > wrap.sh <<EOF\n./a \\$SLURM_PROCID\nEOF\nsrun -K bash wrap.sh\n"},
      {"early-rank", kSlurm + "cat > log <<EOF\nbegin $SLURM_PROCID\nEOF\nsrun -K ./a\n"},
      {"early-rank", kSlurm + "cat > w.sh <<EOF\n$SLURM_PROCID\nEOF\nsrun -n 1 bash w.sh\n"},
      {"early-rank", kSlurm + "echo rank $SLURM_PROCID # srun $SLURM_PROCID\nsrun -K ./a\n"},
      {"early-rank",
       kSlurm + "if [ -n \"$1\" ]; then R=$SLURM_PROCID; ./a $R; exit; fi\nsrun -K $0 x\n"},
      {"early-rank", "#!/bin/bash\n#SBATCH -N 2\nsrun -K ./a --local-rank $SLURM_LOCALID\n"},
      {"early-rank", "#!/bin/bash\n#SBATCH -t 10\nexport RANK=$SLURM_PROCID\nsrun ./a\n"},
      {"early-rank", "#!/bin/bash\nexport RANK=$SLURM_PROCID\nexec python train.py\n"},
      {"early-rank", "#!/bin/bash\n#SBATCH -n 1\nexport RANK=$SLURM_PROCID\nsrun ./a\n"},

      {"kill-on-bad-exit", kSlurm + "srun -lK ./a\nsrun -K1 ./a\nsrun --kill-on-bad-exit=1 ./a\n"},
      {"kill-on-bad-exit",
       kSlurm + "srun hostname\nsrun -n 1 ./a\nsrun -N1 --ntasks-per-node=1 ./a\n"},
      {"kill-on-bad-exit", kSlurm + "srun --pty bash\nsrun -n $N ./a\nsrun $ARGS ./a\n"},
      {"kill-on-bad-exit", kSlurm + "export SLURM_KILL_BAD_EXIT=1\nsrun ./a\n"},
      {"kill-on-bad-exit", kSlurm + "echo srun ./a '\nsrun ./a\n'\n# srun ./a\n"},
      {"kill-on-bad-exit", "#!/bin/bash\n#SBATCH -n 1\nsrun ./a\n"},
      {"kill-on-bad-exit", "#!/bin/bash\nsrun ./a\n"},

      {"launcher-in-srun", kSlurm + "srun -n 1 mpirun ./a\nsrun -K ./mpirun_test\n"},
      {"launcher-in-srun",
       kSlurm + "srun -K --ntasks-per-node=1 torchrun --nproc_per_node=4 a.py\n"},
      {"launcher-in-srun", kSlurm + "srun -K torchrun --nproc_per_node=1 a.py\n"},

      {"master-port", "#!/bin/bash\nexport MASTER_PORT=$((10000 + SLURM_JOB_ID % 20000))\n"},
      {"master-port", "#!/bin/bash\nMASTER_PORT=$(shuf -i 20000-29999 -n 1)\necho MASTER_PORT\n"},
      {"master-port", "#!/bin/bash\n#SBATCH --exclusive\nexport MASTER_PORT=29500\n"},
      {"master-port",
       "#!/bin/bash\ntorchrun --master_port=$PORT --rdzv_endpoint=localhost:0 a.py\n"},
      {"master-port",
       kSlurm + "srun -K bash -c 'MASTER_PORT=$((9000 + SLURM_JOB_ID % 999)) ./a'\n"},
      {"master-port", kSlurm + "echo \"srun bash -c 'MASTER_PORT=29500 ./a'\"\n"},
      {"master-port", "#!/bin/bash\necho '\nexport MASTER_PORT=29500\n'\n"},

      {"master-address", "#!/bin/bash\n#SBATCH -N 1\nexport MASTER_ADDR=localhost\n"},
      {"master-address", kSlurm + "export MASTER_ADDR=$(hostname)\n"},

      {"master-address",
       kSlurm +
           "if [ \"$N\" = 1 ]; then MASTER_ADDR=localhost; else MASTER_ADDR=$(hostname); fi\n"},
      {"master-address", kSlurm + "case $N in 1) MASTER_ADDR=localhost ;; esac\n"},

      {"cd-unquoted", kPbs + "cd \"$PBS_O_WORKDIR\"\ncd \"${TMPDIR:?}\"/x\n"},
      {"cd-unquoted", kSlurm + "pushd \"$SLURM_TMPDIR\" || exit\npopd || exit\n"},
      {"cd-unquoted", kPbs + "echo cd $PBS_O_WORKDIR\ncd data/run1\n"},
      {"cd-unquoted", "#!/bin/zsh\n#PBS -N x\ncd $PBS_O_WORKDIR\n"},
  };
  return table;
}

TEST(LintRules, NearMissesAreClean) {
  std::set<std::string> known;
  for (const RuleSummary& rule : rules()) known.insert(rule.id);
  for (const NearMiss& one : near_misses()) {
    EXPECT_EQ(known.count(one.rule), 1U) << one.rule;
    std::string all;
    for (const Finding& finding : check_script(one.script))
      all += format_text("found", finding).str();
    EXPECT_EQ(all, "") << one.rule << "\n" << one.script;
  }
}

// The second finding is often a consequence of the first.
TEST(LintRules, ADirectiveIsToldOneThingOnly) {
  for (const char* words : {"SBATCH -nodes=2 -ntasks=4", "SBATCH one two", "SBATCH -nodes=2 two",
                            "PBS --nodes=2 --time=1", "SBATCH -N 1\n#PBS -N x\n#PBS -q y"}) {
    std::map<std::string, int> count;
    for (const Finding& finding : check_script(std::string("#!/bin/bash\n#") + words + "\n"))
      EXPECT_EQ(++count[finding.rule], 1) << words << ": " << finding.found;
    EXPECT_FALSE(count.empty()) << words;
  }
}

TEST(LintRules, AreTurnedOffByNameOrInTheScript) {
  const std::string script = kPbs + "cd $PBS_O_WORKDIR\nexport MASTER_PORT=1\n";
  EXPECT_EQ(check_script(script).size(), 2U);
  EXPECT_EQ(check_script(script, {"cd-unquoted"}).size(), 1U);
  EXPECT_EQ(check_script(script + "# hpcboot-lint: disable=cd-unquoted\n").size(), 1U);
  EXPECT_EQ(check_script(script + "# hpcboot-lint: disable=cd-unquoted,master-port here\n").size(),
            0U);
  EXPECT_EQ(check_script(script + "echo '# hpcboot-lint: disable=cd-unquoted'\n").size(), 2U);
}

TEST(LintRules, FindingsAreInTheOrderOfTheirPlaces) {
  const auto findings =
      check_script(kSlurm + "cd $TMPDIR; srun ./a $SLURM_PROCID\nset -e\n#SBATCH -t 1h\n");
  ASSERT_EQ(findings.size(), 4U);
  EXPECT_TRUE(
      std::is_sorted(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
        return std::make_pair(a.line, a.column) < std::make_pair(b.line, b.column);
      }));
}

TEST(LintRules, ControlCharactersOfAScriptAreNotPrinted) {
  for (const Finding& finding : check_script("#!/bin/bash\n#SBATCH --time=\x1b[31m1h\n")) {
    EXPECT_EQ(format_text("f", finding).str().find('\x1b'), std::string::npos);
  }
}

TEST(LintRules, DeepNestingAndUnclosedQuotesEnd) {
  for (const char* unit :
       {"$(", "`", "${a:-", "\"$(", "a=(", "(", "{ ", "<<E\n", "$((", "'", "<("}) {
    std::string text = "#!/bin/bash\n";
    for (int i = 0; i < 20000; ++i) text += unit;
    EXPECT_LT(check_script(text).size(), 10U) << unit;
  }
}

// Covers new launchers automatically.
TEST(LintRules, EarlyRankKnowsEveryLaunchersIdentity) {
  int count = 0;
  for (const LaunchSource* launcher : launch_sources()) {
    if (launcher->level != Level::mpi_launcher && launcher->level != Level::scheduler_step)
      continue;
    for (const LaunchVariable& variable : launcher->variables) {
      if (variable.kind != VariableKind::identity || variable.name.back() == '*') continue;
      const std::string script =
          kSlurm + "srun -K bash -c \"./train $" + std::string(variable.name) + "\"\n";
      const auto findings = check_script(script);
      EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
        return f.rule == "early-rank";
      })) << variable.name;
      ++count;
    }
  }
  EXPECT_GE(count, 20);
}

}  // namespace
}  // namespace hpcboot::lint
