#include "stage.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "hpcboot/error.hpp"
#include "jobs/run/agents/agent_messages.hpp"
#include "jobs/run/ranks/event_loop.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "stage_folder.hpp"
#include "stage_keeper.hpp"

namespace hpcboot::run {
namespace {

constexpr std::chrono::seconds kTimeToRemove{60};
constexpr std::chrono::seconds kTimeForTurn{5};  // the process whose turn it is may be stopped
constexpr useconds_t kBetweenLooks = 10000;

// The double fork detaches the keeper, so that no parent must wait for it or kills it when ending.
void start_keeper(const KeeperOrder& order) {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    const pid_t keeper = fork();
    if (keeper == 0) keep_stage(order);
    _exit(keeper < 0 ? 1 : 0);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child > 0 && status == 0) return;
  throw Error(ErrorCode::backend_unavailable, "cannot start a process to copy the data of --stage",
              "room for another process of this user", "check ulimit -u");
}

}  // namespace

Stage::Stage(const std::string& source, const Env& env, const std::string& launch_id)
    : folder_(stage_folder(stage_base(env), launch_id)), users_(use_stage_folder(folder_)) {
  const FdPair pipe = make_pipe();
  report_ = pipe.first;
  set_nonblocking(report_);
  try {
    start_keeper({source, folder_, pipe.second});
  } catch (const Error&) {
    close(pipe.first);
    close(pipe.second);
    leave();
    throw;
  }
  close(pipe.second);
}

Stage::~Stage() {
  if (report_ >= 0) close(report_);
  try {
    leave();
  } catch (const Error&) {
    return;  // the keeper or a later run removes it
  }
}

std::optional<Staged> Stage::result() {
  char buffer[4096];
  ssize_t count = 0;
  while (report_ >= 0 && (count = read(report_, buffer, sizeof buffer)) != 0) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    text_.append(buffer, static_cast<std::size_t>(count));
  }
  close(std::exchange(report_, -1));
  if (!text_.empty() && text_.front() == kReportError)
    throw Error(read_error(std::string_view(text_).substr(1)));
  const std::size_t end = text_.find(kReportBehindNote);
  if (text_.empty() || end == std::string::npos) {
    throw Error(ErrorCode::backend_unavailable,
                "the process copying the data of --stage to " + folder_ + " was killed",
                "that process to run until the copy is complete",
                "find out what killed it: `dmesg` reports out-of-memory kills");
  }
  return Staged{text_.substr(end + 1), text_.substr(1, end - 1)};
}

// Determines whether others still use the copy or only the keeper waits; of several processes that
// leave at once, one sees that it is the last.
void Stage::leave() {
  const auto until = Clock::now() + kTimeToRemove;
  // One after the other: two at once would each mistake the other for a remaining user.
  LockFile turn(folder_ + "/leaving");
  const auto turn_until = Clock::now() + kTimeForTurn;
  while (turn.is_there() && !turn.try_alone() && Clock::now() < turn_until) usleep(kBetweenLooks);
  const bool is_last = users_->try_alone();
  const bool has_others = !is_last && users_->try_shared();
  users_.reset();
  if (has_others) return;
  while (!remove_if_unused(folder_) && Clock::now() < until) usleep(kBetweenLooks);
}

std::vector<std::string> with_staged(std::vector<std::string> words, const std::string& path) {
  const std::string pattern = kStagedWord;
  for (std::string& word : words) {
    for (std::size_t at = word.find(pattern); at != std::string::npos;
         at = word.find(pattern, at + path.size()))
      word.replace(at, pattern.size(), path);
  }
  return words;
}

}  // namespace hpcboot::run
