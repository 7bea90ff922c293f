#pragma once

#include <string>
#include <vector>

#include "jobs/lint/lint.hpp"

// For every lint rule: scripts that violate it, with the position of the finding.
namespace hpcboot::lint {

inline const std::string kSlurm =
    "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=4\n";  // 3 lines
inline const std::string kPbs = "#!/bin/bash\n#PBS -N x\n";           // 2 lines

struct Broken {
  const char* rule;
  std::string script;
  int line;
  int column;
  Severity severity;
};

inline constexpr Severity kError = Severity::error;
inline constexpr Severity kWarning = Severity::warning;

inline const std::vector<Broken>& broken() {
  static const std::vector<Broken> table = {
      {"crlf", "#!/bin/bash\r\n#SBATCH -N 1\r\n", 1, 12, kError},
      {"crlf", "#!/bin/bash\n#SBATCH -N 1\r\n", 2, 13, kError},
      {"byte-order-mark", "\xEF\xBB\xBF#!/bin/bash\n#SBATCH -N 1\n", 1, 1, kError},

      {"shebang", "#SBATCH -N 1\nhostname\n", 1, 1, kError},
      {"shebang", "\n#!/bin/bash\n#SBATCH -N 1\n", 2, 1, kError},
      {"shebang", " #!/bin/bash\n#SBATCH -N 1\n", 1, 1, kError},
      {"shebang", "#PBS -N x\nhostname\n", 1, 1, kWarning},
      {"shebang", "hostname\n", 1, 1, kWarning},

      {"shebang", "#!bin/bash\n#SBATCH -N 1\n", 1, 1, kError},

      {"typography", "#!/bin/bash\n#SBATCH –nodes=2\n", 2, 9, kError},
      {"typography", "#!/bin/bash\n#SBATCH --job-name=“x”\n", 2, 20, kError},
      {"typography", kSlurm + "srun -K ./a “x”\n", 4, 13, kError},
      {"typography", kSlurm + "srun -K ./a —epochs 3\n", 4, 13, kError},
      {"typography", kSlurm + "srun -K\xC2\xA0./a\n", 4, 8, kError},
      {"typography", "#!/bin/bash\n#SBATCH --comment=\"a –b\" -A “b\n", 2, 31, kError},

      {"placeholder", "#!/bin/bash\n#SBATCH --account=<account>\n", 2, 19, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH --account=def-someuser\n", 2, 19, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH -A def-xxx\n", 2, 12, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH --mail-user=<your mail>\n", 2, 21, kError},
      {"placeholder", "#!/bin/bash\n#PBS -A CHANGE_ME\n", 2, 9, kError},
      {"placeholder", "#!/bin/bash\n#PBS -A {{account}}\n", 2, 9, kError},
      {"placeholder", "#!/bin/bash\n#BSUB -P YOUR_PROJECT\n", 2, 10, kError},
      {"placeholder", "#!/bin/bash\n#BSUB -P MY_PROJECT\n", 2, 10, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH -D /home/your_username/run\n", 2, 18, kError},
      {"placeholder", "#!/bin/bash\npython train.py --data {{ data }}\n", 2, 24, kError},
      {"placeholder", "#!/bin/bash\ncd {{folder}} || exit\n", 2, 4, kError},
      {"placeholder", "#!/bin/bash\nDATA={{data}}\n", 2, 6, kError},
      {"placeholder", "#!/bin/bash\ncd \"{{folder}}\" || exit\n", 2, 5, kError},
      {"placeholder", "#!/bin/bash\ncd {{folder}}/code || exit\n", 2, 4, kError},
      {"placeholder", "#!/bin/bash\necho $(grep x y) {{key}}\n", 2, 18, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH --account=XXXXXX\n", 2, 19, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH -A ACCOUNT_NAME\n", 2, 12, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH --partition=PARTITION\n", 2, 21, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH --mail-user=name@university.edu\n", 2, 21, kError},
      {"placeholder", "#!/bin/bash\n#PBS -A st-XXXX-1-gpu\n", 2, 9, kError},
      {"placeholder", "#!/bin/bash\n#BSUB -q QUEUE_NAME\n", 2, 10, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH --account=project_id\n", 2, 19, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH --account=[account]\n", 2, 19, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH --account=TODO\n", 2, 19, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH --mail-user=your@email.com\n", 2, 21, kError},
      {"placeholder", "#!/bin/bash\n#PBS -M USERNAME@uni.edu\n", 2, 9, kError},
      {"placeholder", "#!/bin/bash\n#BSUB -u jdoe@university.ac.uk\n", 2, 10, kError},
      {"placeholder", "#!/bin/bash\n#SBATCH --output=/path/to/logs/%j.out\n", 2, 18, kError},
      {"placeholder", "#!/bin/bash\ncd /path/to/your/project\n", 2, 4, kError},
      {"placeholder", "#!/bin/bash\npython a.py --data=\"/path/to/data\"\n", 2, 13, kError},
      {"placeholder", "#!/bin/bash\nexport DATA=/path/to/data\n", 2, 8, kError},

      {"directive-after-command", kSlurm + "set -e\n#SBATCH --mem=4G\n", 5, 1, kError},
      {"directive-after-command", kPbs + "module load x\n\n  #PBS -q q\n", 5, 3, kError},
      {"directive-after-command", "import os\n#SBATCH -N 1\n", 2, 1, kError},

      {"directive-not-read", "#!/bin/bash\n# SBATCH --nodes=2\n", 2, 1, kWarning},
      {"directive-not-read", "#!/bin/bash\n  #SBATCH --nodes=2\n", 2, 1, kWarning},
      {"directive-not-read", "#!/bin/bash\n#SBACTH --nodes=2\n", 2, 1, kWarning},
      {"directive-not-read", "#!/bin/bash\n#SBATH -N 2\n", 2, 1, kWarning},
      {"directive-not-read", "#!/bin/bash\n# PBS -N x\n", 2, 1, kWarning},
      {"directive-not-read", "#!/bin/bash\n# BSUB -n 4\n", 2, 1, kWarning},
      {"directive-not-read", "#!/bin/bash\n#$ -N x\n# $ -cwd\n", 3, 1, kWarning},
      {"directive-not-read", "#!/bin/bash\n#sbatch --nodes=2\n", 2, 1, kWarning},
      {"directive-not-read", "#!/bin/bash\n#sbatch -N 2 -t 10 # comment\n", 2, 1, kWarning},
      {"directive-not-read", "#!/bin/bash\n#pbs -l select=1\n", 2, 1, kWarning},

      {"directive-form", "#!/bin/bash\n#SBATCH -nodes=2\n", 2, 9, kError},
      {"directive-form", "#!/bin/bash\n#SBATCH -N 2 -partition=gpu\n", 2, 14, kError},
      {"directive-form", "#!/bin/bash\n#SBATCH nodes=2\n", 2, 9, kError},
      {"directive-form", "#!/bin/bash\n#SBATCH --job-name=my job\n", 2, 23, kError},
      {"directive-form", "#!/bin/bash\n#SBATCH -p=gpu\n", 2, 11, kError},
      {"directive-form", "#!/bin/bash\n#SBATCH --nodes = 2\n", 2, 17, kError},
      {"directive-form", "#!/bin/bash\n#PBS --nodes=2\n", 2, 6, kError},
      {"directive-form", "#!/bin/bash\n#PBS nodes=2:ppn=4\n", 2, 6, kError},

      {"directive-variable", "#!/bin/bash\n#SBATCH --output=$HOME/%j.out\n", 2, 9, kError},
      {"directive-variable", "#!/bin/bash\n#SBATCH -J run_${NAME}\n", 2, 9, kError},
      {"directive-variable", "#!/bin/bash\n#SBATCH --comment=\"$(date)\"\n", 2, 9, kError},
      {"directive-variable", "#!/bin/bash\n#SBATCH --output=~/%j.out\n", 2, 9, kError},
      {"directive-variable", "#!/bin/bash\n#PBS -l walltime=$TIME\n", 2, 6, kError},

      {"directive-variable", "#!/bin/bash\n#PBS -o /scratch/${USER}/out.log\n", 2, 6, kWarning},

      {"unknown-option", "#!/bin/bash\n#SBATCH --partiton=main\n", 2, 9, kError},
      {"unknown-option", "#!/bin/bash\n#SBATCH -N 1 --tme=10\n", 2, 14, kError},
      {"unknown-option", "#!/bin/bash\n#SBATCH --gpu=2\n", 2, 9, kError},
      {"unknown-option", "#!/bin/bash\n#SBATCH --n=2\n", 2, 9, kError},
      {"unknown-option", "#!/bin/bash\n#SBATCH --excl\n", 2, 9, kError},
      {"unknown-option", "#!/bin/bash\n#SBATCH --cpu-bind=cores\n", 2, 9, kError},
      {"unknown-option", "#!/bin/bash\n#SBATCH --cpu-per-task=2\n", 2, 9, kError},

      {"directive-empty", "#!/bin/bash\n#SBATCH\n#SBATCH -N 1\n", 2, 1, kWarning},
      {"directive-empty", "#!/bin/bash\n#PBS \n", 2, 1, kWarning},
      {"directive-empty", "#!/bin/bash\n#SBATCH --account=\n", 2, 9, kError},
      {"directive-empty", "#!/bin/bash\n#SBATCH -N 1 -p\n", 2, 14, kError},
      {"directive-empty", "#!/bin/bash\n#PBS -A\n", 2, 6, kError},

      {"memory-twice", "#!/bin/bash\n#SBATCH --mem=1G\n#SBATCH --mem-per-cpu=2G\n", 3, 9, kError},
      {"memory-twice", "#!/bin/bash\n#SBATCH --mem-per-gpu=1G --mem=2G\n", 2, 26, kError},

      {"gres-and-gpus", "#!/bin/bash\n#SBATCH --gres=gpu:2\n#SBATCH --gpus-per-node=4\n", 3, 9,
       kWarning},
      {"gres-and-gpus", "#!/bin/bash\n#SBATCH -N 2 --gpus=2\n#SBATCH --gres=gpu:a100:2\n", 3, 9,
       kWarning},

      {"array-output", "#!/bin/bash\n#SBATCH --array=1-3 -o out.log\n", 2, 21, kWarning},
      {"array-output", "#!/bin/bash\n#SBATCH --array=1-3\n#SBATCH -o x_%A.out\n", 3, 9, kWarning},
      {"array-output", "#!/bin/bash\n#SBATCH --array=1-3\n#SBATCH -o %4x_%.a.out\n", 3, 9,
       kWarning},
      {"array-output", "#!/bin/bash\n#SBATCH --array=1-3 -o %A_%a.out -e err.log\n", 2, 34,
       kWarning},
      {"array-output", "#!/bin/bash\n#PBS -J 1-3\n#PBS -o out.log\n", 3, 6, kWarning},
      {"array-output", "#!/bin/bash\n#PBS -J 1-3\n#PBS -e err.log\n", 3, 6, kWarning},
      {"array-output", "#!/bin/bash\n#$ -t 1-3\n#$ -j n -e err.log\n", 3, 9, kWarning},
      {"array-output", "#!/bin/bash\n#BSUB -J x[1-3]\n#BSUB -eo %J.err\n", 3, 7, kWarning},
      {"array-output", "#!/bin/bash\n#$ -t 1-3\n#$ -o out.log\n", 3, 4, kWarning},
      {"array-output", "#!/bin/bash\n#BSUB -J \"x[1-3]\"\n#BSUB -o %J.out\n", 3, 7, kWarning},

      {"array-rerun", "#!/bin/bash\n#PBS -J 1-3\n#PBS -r n\n", 3, 6, kError},
      {"array-rerun", "#!/bin/bash\n#PBS -rn -J 1-3\n", 2, 6, kError},

      {"more-ranks", kSlurm + "mpirun -np 16 ./a\n", 4, 1, kError},
      {"more-ranks", kSlurm + "srun -K -n 16 ./a\n", 4, 1, kError},
      {"more-ranks", "#!/bin/bash\n#SBATCH --ntasks=1\nsrun -K -n 2 ./a\n", 3, 1, kError},
      {"more-ranks", kPbs + "#PBS -l select=2:ncpus=4:ompthreads=1\nmpirun -np 16 ./a\n", 4, 1,
       kError},
      {"more-ranks", kPbs + "#PBS -l nodes=1:ppn=8\nmpiexec -n 16 ./a\n", 4, 1, kError},
      {"more-ranks", "#!/bin/bash\n#BSUB -n 8\nmpirun -np 16 ./a\n", 3, 1, kError},
      {"more-ranks", "#!/bin/bash\n#BSUB -n 8\ntime -p mpirun -np 16 ./a\n", 3, 9, kError},
      {"more-ranks", "#!/bin/bash\n#$ -pe mpi 8\nmpirun -np 16 ./a\n", 3, 1, kError},

      {"background-steps", kSlurm + "srun -K ./a &\n", 4, 1, kError},
      {"background-steps", kSlurm + "srun -K -n 1 ./a &\nsrun -K -n 2 ./b > log &\necho done\n", 5,
       1, kError},

      {"background-steps", kSlurm + "srun -K ./a &\nsqueue\ncp log $HOME\n./b &\n", 4, 1, kError},

      {"srun-elsewhere", kPbs + "srun -K -n 4 ./a\n", 3, 1, kError},
      {"srun-elsewhere", "#!/bin/bash\n#BSUB -n 4\nsrun -K -n 4 ./a\n", 3, 1, kError},

      {"torchrun-alone", kSlurm + "torchrun --nnodes=2 train.py\n", 4, 1, kWarning},
      {"torchrun-alone", kSlurm + "accelerate launch --num_machines 2 a.py\n", 4, 1, kWarning},
      {"torchrun-alone", kSlurm + "python -m torch.distributed.run --nnodes 2 a.py\n", 4, 11,
       kWarning},

      {"signal-and-trap",
       "#!/bin/bash\n#SBATCH --signal=USR1@60\ntrap 'save' SIGUSR1\n./a &\nwait\n", 2, 9, kWarning},

      {"mixed-schedulers", "#!/bin/bash\n#SBATCH -N 1\n#PBS -N x\n", 3, 1, kWarning},
      {"mixed-schedulers", "#!/bin/bash\n#PBS -N x\n#$ -N x\n", 3, 1, kWarning},

      {"time-format", "#!/bin/bash\n#SBATCH --time=1h\n", 2, 16, kError},
      {"time-format", "#!/bin/bash\n#SBATCH -t 1:2:3:4\n", 2, 12, kError},
      {"time-format", "#!/bin/bash\n#SBATCH --time=24h00\n", 2, 16, kError},
      {"time-format", "#!/bin/bash\n#SBATCH --time=1.5\n", 2, 16, kError},
      {"time-format", "#!/bin/bash\n#PBS -l select=1,walltime=1h\n", 2, 18, kError},
      {"time-format", "#!/bin/bash\n#BSUB -W 1:00:00\n", 2, 10, kError},
      {"time-format", "#!/bin/bash\n#$ -l mem=4G,h_rt=2h\n", 2, 14, kError},

      {"directive-overridden", "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --nodes=2\n", 3, 9, kWarning},
      {"directive-overridden", "#!/bin/bash\n#SBATCH --part=a\n#SBATCH -p b\n", 3, 9, kWarning},
      {"directive-overridden",
       "#!/bin/bash\n#SBATCH --tasks-per-node=4\n#SBATCH --ntasks-per-node=8\n", 3, 9, kWarning},
      {"directive-overridden",
       "#!/bin/bash\n#PBS -l walltime=1:00\n#PBS -l select=1,walltime=2:00\n", 3, 18, kWarning},
      {"directive-overridden", "#!/bin/bash\n#BSUB -q a\n#BSUB -q b\n", 3, 7, kWarning},
      {"directive-overridden", "#!/bin/bash\n#$ -pe mpi 4\n#$ -pe mpi 8\n", 3, 4, kWarning},

      {"select-mixed", "#!/bin/bash\n#PBS -l select=2:ncpus=4\n#PBS -l ncpus=4\n", 3, 9, kError},
      {"select-mixed", "#!/bin/bash\n#PBS -l nodes=2,select=2\n", 2, 9, kError},
      {"select-mixed", "#!/bin/bash\n#PBS -l select=2:ncpus=4\n#PBS -l mem=10gb\n", 3, 9, kError},
      {"select-mixed", "#!/bin/bash\n#PBS -l arch=linux,select=2\n", 2, 9, kError},

      {"tasks-nodes", kSlurm + "#SBATCH --ntasks=4\n", 4, 9, kWarning},

      {"ranks-gpus", kSlurm + "#SBATCH --gres=gpu:a100:2\nsrun -K ./a\n", 3, 9, kWarning},
      {"ranks-gpus", kSlurm + "#SBATCH --gpus-per-node=8\nmpirun ./a\n", 3, 9, kWarning},
      {"ranks-gpus", "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -n 8\n#SBATCH --gpus=4\nsrun -K ./a\n", 3,
       9, kWarning},
      {"ranks-gpus",
       kPbs + "#PBS -l select=2:ncpus=8:mpiprocs=4:ngpus=2:ompthreads=2\nmpiexec ./a\n", 3, 9,
       kWarning},
      {"ranks-gpus",
       "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --tasks-per-node=4\n#SBATCH --gpus-per-n=2\nsrun -K "
       "./a\n",
       3, 9, kWarning},
      {"ranks-gpus",
       kPbs + "#PBS -l select=2:ncpus=8:mpiprocs=8:ngpus=2:ompthreads=1\nmpirun -np 16 ./a\n", 3, 9,
       kWarning},
      {"ranks-gpus", kPbs + "#PBS -l nodes=2:ppn=4:gpus=2\nmpirun ./a\n", 3, 9, kWarning},
      {"ranks-gpus", kPbs + "#PBS -l nodes=2:ppn=4:gpus=2\nmpirun -np 8 ./a\n", 3, 9, kWarning},
      {"ranks-gpus",
       "#!/bin/bash\n#BSUB -n 8\n#BSUB -R \"span[ptile=4]\"\n#BSUB -gpu num=2\nmpirun ./a\n", 4, 7,
       kWarning},
      {"ranks-gpus",
       "#!/bin/bash\n#BSUB -n 8 -R span[ptile=4] -gpu \"num=2:mode=shared\"\nmpirun -np 8 ./a\n", 2,
       29, kWarning},

      {"omp-threads", kPbs + "#PBS -l select=2:ncpus=8:mpiprocs=4\nmpiexec ./a\n", 3, 9, kWarning},

      {"env-before-srun", kSlurm + "eval \"$(hpcboot env)\"\nsrun -K ./train\n", 4, 1, kWarning},
      {"env-before-srun", kSlurm + "eval $(./build/bin/hpcboot env)\nsrun -K ./train\n", 4, 1,
       kWarning},
      {"env-before-srun", kSlurm + "eval \"`hpcboot env`\"\nmpirun ./train\n", 4, 1, kWarning},
      {"env-before-srun",
       kSlurm + "srun -K ./a\neval \"$(hpcboot env)\"\nsrun -n 1 ./b\nmpirun ./c\n", 5, 1,
       kWarning},

      {"early-rank", kSlurm + "srun -K ./train --rank $SLURM_PROCID\n", 4, 24, kError},
      {"early-rank", kSlurm + "srun -K ./train --rank=\"${SLURM_LOCALID}\"\n", 4, 25, kError},
      {"early-rank", kSlurm + "srun -K bash -c \"./train $SLURM_PROCID\"\n", 4, 26, kError},
      {"early-rank", kSlurm + "time srun -K \\\n  ./train $SLURM_NODEID\n", 5, 11, kError},
      {"early-rank", kSlurm + "if srun -K ./a $SLURM_PROCID; then echo; fi\n", 4, 16, kError},
      {"early-rank", kSlurm + "out=$(srun -K ./a $SLURM_PROCID)\n", 4, 19, kError},
      {"early-rank", kSlurm + "srun -K bash <<EOF\n./a $SLURM_PROCID\nEOF\n", 5, 5, kError},
      {"early-rank", kSlurm + "export RANK=$SLURM_PROCID\nsrun -K ./a\n", 4, 13, kError},
      {"early-rank", kSlurm + "cat > wrap.sh <<EOF\n./a $SLURM_PROCID\nEOF\nsrun -K bash wrap.sh\n",
       5, 5, kError},
      {"early-rank",
       kSlurm + "cat <<EOF >./wrap.sh\n./a $SLURM_PROCID\nEOF\nsrun -K bash -c \"./wrap.sh 3\"\n",
       5, 5, kError},
      {"early-rank", kSlurm + "tee w.sh <<EOF\n./a $SLURM_PROCID\nEOF\nsrun -K ./w.sh\n", 5, 5,
       kError},
      {"early-rank", kSlurm + "LOG=$((SLURM_NODEID * 4))\nsrun -K ./a\n", 4, 8, kWarning},
      {"early-rank", kSlurm + "CMD=\"torchrun --node_rank $SLURM_PROCID\"\nsrun -K $CMD\n", 4, 27,
       kError},
      {"early-rank", kPbs + "mpirun ./a $OMPI_COMM_WORLD_RANK\n", 3, 12, kError},
      {"early-rank", kPbs + "RANK=$PMI_RANK mpiexec ./a\n", 3, 6, kError},

      {"kill-on-bad-exit", kSlurm + "srun ./a\n", 4, 1, kWarning},
      {"kill-on-bad-exit", kSlurm + "A=1 exec srun -N 1 -n 4 --mpi pmix python train.py\n", 4, 10,
       kWarning},
      {"kill-on-bad-exit", kSlurm + "env A=1 srun ./a\n", 4, 9, kWarning},
      {"kill-on-bad-exit", kSlurm + "timeout -k 5 60 srun ./a\n", 4, 17, kWarning},
      {"kill-on-bad-exit", "#!/bin/bash\n#SBATCH -n 4\nsrun -l ./a\n", 3, 1, kWarning},

      {"launcher-in-srun", kSlurm + "srun -K mpirun -np 4 ./a\n", 4, 9, kError},
      {"launcher-in-srun", kSlurm + "srun -K -n 2 --mpi=none /opt/bin/mpiexec ./a\n", 4, 25,
       kError},
      {"launcher-in-srun", kSlurm + "srun -K torchrun --nproc_per_node=4 train.py\n", 4, 9, kError},
      {"launcher-in-srun", kSlurm + "srun -K torchrun --nproc-per-node gpu a.py\n", 4, 9, kError},

      {"master-port", "#!/bin/bash\nexport MASTER_PORT=29500\n", 2, 8, kWarning},
      {"master-port", "#!/bin/bash\nMASTER_PORT=\"29500\" ./a\n", 2, 1, kWarning},
      {"master-port", "#!/bin/bash\nexport MASTER_PORT=${MASTER_PORT:-29500}\n", 2, 8, kWarning},
      {"master-port", "#!/bin/bash\ntorchrun --master-port 29500 a.py\n", 2, 10, kWarning},
      {"master-port", kSlurm + "srun -K bash -c 'MASTER_PORT=29500 ./a'\n", 4, 18, kWarning},
      {"master-port", kSlurm + "srun -K bash -lc \"x=1; export MASTER_PORT=29500\"\n", 4, 31,
       kWarning},
      {"master-port", "#!/bin/bash\ntorchrun --rdzv_endpoint=$HOST:29500 a.py\n", 2, 10, kWarning},

      {"master-address", kSlurm + "export MASTER_ADDR=localhost\n", 4, 8, kError},
      {"master-address", kSlurm + "torchrun --master_addr 127.0.0.1 a.py\n", 4, 10, kError},
      {"master-address", kSlurm + "torchrun --rdzv-endpoint=localhost:0 a.py\n", 4, 10, kError},
      {"master-address", kSlurm + "if a; then b; fi\nMASTER_ADDR=localhost\n", 5, 1, kError},
      {"master-address", kPbs + "#PBS -l select=2\nMASTER_ADDR=localhost\n", 4, 1, kError},

      {"cd-unquoted", kPbs + "cd $PBS_O_WORKDIR\n", 3, 4, kWarning},
      {"cd-unquoted", kSlurm + "pushd $SLURM_TMPDIR\n", 4, 7, kWarning},
      {"cd-unquoted", kSlurm + "cd ${SLURM_SUBMIT_DIR}/run || exit\n", 4, 4, kWarning},
  };
  return table;
}

}  // namespace hpcboot::lint
