#pragma once

#include <memory>

#include "../invented.hpp"
#include "jobs/run/job/scheduler_job.hpp"

// A job of Slurm, whose commands print the same as those of 22.05.
namespace hpcboot::run {

using Texts = std::vector<std::string>;

class SlurmMachine : public InventedMachine {
 protected:
  std::string squeue(const std::string& option, const std::string& format) const {
    return "env SLURM_TIME_FORMAT=%s squeue --noheader --all --jobs " + id + " " + option + " " +
           format;
  }
  static std::string format_of(const Texts& columns, const std::string& width) {
    std::string format;
    for (const std::string& column : columns)
      format += (format.empty() ? "" : ",") + column + ":" + width;
    return format;
  }
  static std::string padded(const Texts& texts, std::size_t width) {
    std::string all;
    for (const std::string& text : texts) all += text + std::string(width - text.size(), ' ');
    return all + "\n";
  }
  std::string state_command() const {
    return squeue("--Format",
                  format_of({"JobArrayID", "StartTime", "EndTime", "State", "PreemptTime"}, "64"));
  }
  // Task 3 of array 6, whose own number is 7.
  void set_task() {
    id = "7";
    const std::string asked = squeue("--Format", format_of({"JobArrayID", "JobID"}, "64"));
    machine().outputs[asked] = padded({"6_4", "6"}, 64) + padded({"6_3", "7"}, 64);
    slurm({{"SLURM_ARRAY_JOB_ID", "6"}, {"SLURM_ARRAY_TASK_ID", "3"}});
    id = "6_3";
  }
  void set_state(const Texts& words) { machine().outputs[state_command()] = padded(words, 64); }
  void set_columns(const std::string& letters, const Texts& values) {
    std::string format;
    std::string answer;
    for (const char letter : letters)
      format += (format.empty() ? "%" : "\n%") + std::string{letter};
    for (const std::string& value : values) answer += value + "\n";
    machine().outputs[squeue("--format", format)] = answer;
  }
  void set_texts(const Texts& columns, const Texts& texts) {
    machine().outputs[squeue("--Format", format_of(columns, "4096"))] = padded(texts, 4096);
  }
  // A job as submitted by sbatch from a script without options.
  void set_plain_job() {
    set_columns("PaqvDlfWynxhbm", {"main", "(null)", "(null)", "(null)", "2", "10:00", "(null)",
                                   "(null)", "0", "", "", "OK", "N/A", "0"});
    set_texts({"Name", "Comment", "WorkDir", "STDOUT", "STDERR", "STDIN"},
              {"job.sh", "(null)", "/home/u", "/home/u/slurm-%j.out", "/home/u/slurm-%j.out",
               "/dev/null"});
    set_state({id, "1795434655", "1795435255", "RUNNING", "N/A"});
    machine()
        .outputs["sh -c exec \"$0\" \"$@\" 2>/dev/null scontrol write batch_script " + id + " -"] =
        kScript;
  }
  std::string requeue(const std::string& excluded = "") const {
    return "sh -c trap '' TERM; scontrol requeue \"$1\" || exit 1; [ -z \"$2\" ] || scontrol "
           "update "
           "\"JobId=$1\" \"ExcNodeList=$2\" || exit 2 sh " +
           id + " " + excluded;
  }
  void refuse_to_requeue() {
    machine().failures[requeue()] =
        "Requested operation is presently disabled for job " + id + "\n";
    machine().outputs["scontrol update JobId=" + id + " Requeue=1"] = "";
  }
  // A batch script that is an ancestor of this process.
  void set_script(const std::string& arguments) {
    machine().files["/proc/self/stat"] = "40 (hpcboot) S 30 1 1 0";
    machine().files["/proc/30/cmdline"] = std::string("sh\0-c\0", 6);
    machine().files["/proc/30/stat"] = "30 (a) S (sh) S 20 1 1 0";
    machine().files["/proc/20/cmdline"] =
        std::string("/bin/bash\0/var/spool/slurmd/job00007/slurm_script\0", 50) + arguments;
  }
  std::unique_ptr<SchedulerJob> the_job() const { return slurm_job(s); }
  QueuedAgain queue_again(const std::string& bad_host = "") const {
    return the_job()->queue_again(bad_host);
  }
  std::string error_of_queue_again() const {
    try {
      queue_again();
    } catch (const Error& error) {
      return error.found();
    }
    return "";
  }

  // For set_plain_job().
  const std::string options =
      "--partition=main --nodes=2 --time=10:00 --mem=0 --job-name=job.sh --chdir=/home/u "
      "--output=/home/u/slurm-%j.out --open-mode=append";
  static constexpr const char* kScript = "#!/bin/bash\nhpcboot run -- ./train\n";
  std::string id = "7";
};

}  // namespace hpcboot::run
