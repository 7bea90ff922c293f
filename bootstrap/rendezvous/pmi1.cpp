#include "pmi1.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "pmi_kvs.hpp"

// PMI-1's wire protocol: lines of "cmd=NAME key=value …" over the socket whose descriptor is in
// PMI_FD (Flux RFC 13, "Simple Process Manager Interface v1"; MPICH, src/pmi/simple). Each request
// has one answer; only a barrier waits for other ranks.
namespace hpcboot {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPutDeadline = std::chrono::seconds(30);  // answered by this host's daemon
constexpr milliseconds kFinalizeDeadline = std::chrono::seconds(1);
constexpr std::size_t kLongestLine =
    std::size_t{64} * 1024;  // beyond it the other side does not speak PMI-1

std::optional<int> pmi_fd_of(const Env& env) {
  const auto number = parse_whole_number(env.text("PMI_FD").value_or(""));
  if (!number || *number < 0 || *number >= 1 << 20) return std::nullopt;
  return static_cast<int>(*number);
}

[[noreturn]] void fail(const std::string& found) {
  throw Error(ErrorCode::exchange_failed, "PMI-1 over PMI_FD: " + found,
              "a launcher that answers PMI-1 requests (Hydra's proxy, flux-shell)",
              "restart the program with mpiexec or flux run; or set HPCBOOT_MASTER_ADDR and "
              "HPCBOOT_MASTER_PORT");
}

// Hydra closes the connection once a program has said that it is done.
[[noreturn]] void fail_used() {
  throw Error(
      ErrorCode::exchange_failed,
      "PMI-1 over PMI_FD: the launcher has closed the connection, as it does once a program "
      "of this rank has used it",
      "one use of PMI-1 by each rank of an mpiexec: by hpcboot check, by hpcboot exec, or "
      "once by a program",
      "start each program with an mpiexec of its own; or set HPCBOOT_MASTER_ADDR and "
      "HPCBOOT_MASTER_PORT");
}

class Pmi1Kvs : public PmiKvs {
 public:
  Pmi1Kvs(const Env& env, milliseconds deadline)
      : socket_(pmi_fd_of(env).value_or(-1)),
        rank_(env.require_integer("PMI_RANK", "a PMI-1 launcher")),
        world_size_(env.require_integer("PMI_SIZE", "a PMI-1 launcher", 1)) {
    ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", deadline);
    is_initialised_ = true;
    const auto limits = ask("cmd=get_maxes", "maxes", deadline);
    kvs_ = value_in(ask("cmd=get_my_kvsname", "my_kvsname", deadline), "kvsname");
    const auto length = parse_whole_number(value_in(limits, "vallen_max"));
    if (!length || *length < 16) fail("vallen_max=" + value_in(limits, "vallen_max"));
    // Less than the reported limit: some servers count the final NUL, and lines have their own
    // limit.
    longest_text_ = static_cast<std::size_t>(std::min<std::int64_t>(*length - 8, 900));
  }

  // If a process exits without this, Hydra takes it for a crash and ends the job.
  ~Pmi1Kvs() override {
    if (handed_over_ || broken_) return;
    try {
      ask("cmd=finalize", "finalize_ack", kFinalizeDeadline);
    } catch (const Error&) {
      // The launcher is gone, and so is the job.
    }
  }

  Pmi1Kvs(const Pmi1Kvs&) = delete;
  Pmi1Kvs& operator=(const Pmi1Kvs&) = delete;

  void hand_over() override { handed_over_ = true; }
  int rank() const override { return rank_; }
  int world_size() const override { return world_size_; }
  std::string description() const override { return "pmi1: PMI_FD"; }

 protected:
  void store(const std::string& name, const std::string& text) override {
    ask("cmd=put kvsname=" + kvs_ + " key=" + name + " value=" + text, "put_result", kPutDeadline);
  }

  std::optional<std::string> look_up(int, const std::string& name, milliseconds deadline) override {
    const Fields answer =
        exchange_line("cmd=get kvsname=" + kvs_ + " key=" + name, "get_result", deadline);
    if (!succeeded(answer)) return std::nullopt;
    return value_in(answer, "value");
  }

  // An entry of the server itself in the store that the ranks share.
  std::optional<std::string> process_mapping(milliseconds deadline) override {
    return look_up(0, kProcessMapping, deadline);
  }

  void barrier(milliseconds deadline) override { ask("cmd=barrier_in", "barrier_out", deadline); }
  std::size_t longest_text() const override { return longest_text_; }

 private:
  using Fields = std::map<std::string, std::string, std::less<>>;

  static bool succeeded(const Fields& answer) {
    const auto code = answer.find("rc");
    return code == answer.end() || code->second == "0";
  }

  static std::string value_in(const Fields& answer, const std::string& name) {
    const auto found = answer.find(name);
    if (found == answer.end()) fail("an answer without " + name);
    return found->second;
  }

  // As exchange_line(), but the answer must report success.
  Fields ask(const std::string& line, const std::string& expected, milliseconds deadline) {
    Fields answer = exchange_line(line, expected, deadline);
    if (succeeded(answer)) return answer;
    const auto message = answer.find("msg");
    fail("'" + line.substr(0, 60) + "' was answered with rc=" + answer["rc"] +
         (message == answer.end() ? "" : " " + message->second));
  }

  // Sends a line and reads the answer, which must be of the expected kind.
  Fields exchange_line(const std::string& line, const std::string& expected,
                       milliseconds deadline) {
    // After a failure, a late answer could be taken for the answer to the next request.
    if (broken_) fail("the connection failed earlier");
    broken_ = true;
    const auto end = end_after(deadline);
    const std::string what = line.substr(0, line.find(' '));
    send_all(line + "\n", what, end, deadline);
    const std::string text = receive_line(what, end, deadline);
    Fields fields = parse(text);
    if (fields["cmd"] != expected)
      fail("'" + text.substr(0, 80) + "' is not an answer to '" + what + "'");
    broken_ = false;
    return fields;
  }

  static Fields parse(std::string_view text) {
    Fields fields;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(word.size() + 1, text.size()));
      const std::size_t equals = word.find('=');
      if (equals != std::string_view::npos)
        fields.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
    return fields;
  }

  void wait_for(short event, const std::string& what, Clock::time_point end,
                milliseconds deadline) const {
    while (true) {
      const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
      pollfd entry{socket_, event, 0};
      const int ready =
          left > 0 ? poll(&entry, 1, static_cast<int>(std::min<long>(left, 1 << 30))) : 0;
      if (ready > 0) return;  // also on error, which the next call reports
      if (ready == 0 && left <= 0) fail_late("'" + what + "'", deadline);
      if (ready < 0 && errno != EINTR) fail(std::string("poll: ") + std::strerror(errno));
    }
  }

  void send_all(std::string_view bytes, const std::string& what, Clock::time_point end,
                milliseconds deadline) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        wait_for(POLLOUT, what, end, deadline);
      } else if (errno == EPIPE && !is_initialised_) {
        fail_used();
      } else if (errno != EINTR) {
        fail(std::string("cannot write: ") + std::strerror(errno));
      }
    }
  }

  std::string receive_line(const std::string& what, Clock::time_point end, milliseconds deadline) {
    while (true) {
      const std::size_t newline = received_.find('\n');
      if (newline != std::string::npos) {
        std::string line = received_.substr(0, newline);
        received_.erase(0, newline + 1);
        return line;
      }
      if (received_.size() > kLongestLine) fail("an unterminated answer to '" + what + "'");
      char bytes[4096];
      const ssize_t count = recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
      if (count > 0) {
        received_.append(bytes, static_cast<std::size_t>(count));
      } else if ((count == 0 || errno == ECONNRESET) && !is_initialised_ && received_.empty()) {
        fail_used();
      } else if (count == 0) {
        fail("the launcher closed the connection instead of answering '" + what + "'");
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        wait_for(POLLIN, what, end, deadline);
      } else if (errno != EINTR) {
        fail(std::string("cannot read: ") + std::strerror(errno));
      }
    }
  }

  int socket_;  // not owned: also used by MPI in this process, or after exec
  int rank_;
  int world_size_;
  std::string kvs_;
  std::size_t longest_text_ = 0;
  std::string received_;
  bool is_initialised_ = false;
  bool handed_over_ = false;
  bool broken_ = false;
};

}  // namespace

bool pmi_fd_is_open_socket(const Env& env) {
  const auto fd = pmi_fd_of(env);
  struct stat status {};
  return fd && fstat(*fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

std::unique_ptr<KeyValueStore> open_pmi1_kvs(const Env& env, milliseconds deadline) {
  return std::make_unique<Pmi1Kvs>(env, deadline);
}

}  // namespace hpcboot
