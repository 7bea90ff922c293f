#include "rendezvous/pmi1.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>

#include "fuzz.hpp"
#include "input.hpp"
#include "rendezvous/pmi_kvs.hpp"

namespace {

using namespace hpcboot;

// A launcher at the other end of PMI_FD, in the thread of its rank: it runs when the rank waits for
// an answer. Its answers are correct, corrupted or arbitrary.
class Launcher {
 public:
  explicit Launcher(fuzz::Input& input) : input_(input) {
    fuzz::require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_) == 0, "a socket pair");
    current = this;
  }
  ~Launcher() {
    current = nullptr;
    close(ends_[0]);
    if (ends_[1] >= 0) close(ends_[1]);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  int fd() const { return ends_[0]; }
  // Was every answer so far correct?
  bool is_good() const { return is_good_; }

  void act() {
    char bytes[4096];
    for (ssize_t count; (count = recv(ends_[1], bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
      received_.append(bytes, static_cast<std::size_t>(count));
    bool has_answered = false;
    for (std::size_t end; (end = received_.find('\n')) != std::string::npos; has_answered = true) {
      say(answer_to(received_.substr(0, end)));
      received_.erase(0, end + 1);
    }
    // A rank that waits without a request would wait in vain: the launcher disconnects, so that no
    // time passes.
    if (has_answered || ends_[1] < 0) return;
    close(ends_[1]);
    ends_[1] = -1;
  }

  inline static Launcher* current = nullptr;

 private:
  void say(std::string line) {
    const std::string good = line;
    const unsigned how = input_.u8();
    if (how >= 240) {
      line = std::string(input_.text());
    } else if (how >= 200) {
      fuzz::change(input_, line);
    }
    if (line != good) is_good_ = false;
    line += '\n';
    if (how % 8 == 7) line.pop_back();  // the line continues
    is_good_ = is_good_ && line.back() == '\n';
    (void)!send(ends_[1], line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  static std::string word(const std::string& line, const std::string& name) {
    const std::size_t at = line.find(name);
    if (at == std::string::npos) return "";
    const std::string rest = line.substr(at + name.size());
    return rest.substr(0, rest.find(' '));
  }

  std::string answer_to(const std::string& line) {
    const std::string name = line.substr(0, line.find(' '));
    if (name == "cmd=init") return "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1";
    if (name == "cmd=get_maxes") return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=64";
    if (name == "cmd=get_my_kvsname") return "cmd=my_kvsname kvsname=kvs_7_0";
    if (name == "cmd=barrier_in") return "cmd=barrier_out rc=0";
    if (name == "cmd=finalize") return "cmd=finalize_ack rc=0";
    const std::string key = word(line, " key=");
    if (key == kProcessMapping) return "cmd=get_result rc=0 value=(vector,(0,2,1))";
    if (name == "cmd=put") {
      values_[key] = word(line, " value=");
      return "cmd=put_result rc=0 msg=success";
    }
    const auto found = values_.find(key);
    if (found == values_.end()) return "cmd=get_result rc=-1 msg=not_found";
    return "cmd=get_result rc=0 msg=success value=" + found->second;
  }

  fuzz::Input& input_;
  int ends_[2] = {-1, -1};
  bool is_good_ = true;
  std::string received_;
  std::map<std::string, std::string> values_;
};

}  // namespace

// Names defined by the linker's --wrap=poll.
extern "C" {
int __real_poll(pollfd* entries, nfds_t count, int timeout);
int __wrap_poll(pollfd* entries, nfds_t count, int timeout);
int __wrap_poll(pollfd* entries, nfds_t count, int /*timeout*/) {
  if (Launcher::current != nullptr) Launcher::current->act();
  return __real_poll(entries, count, 0);
}
}

// A rank of a PMI-1 launcher: from a correct launcher it gets back what was put; with any other, a
// call returns what was answered, or fails.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(fuzz::text_of(data, size));
  const std::string value(input.take(input.u8()));
  fuzz::require(unescape_from_pmi(escape_for_pmi(value)) == value, "unescaping inverts escaping");
  fuzz::require(escape_for_pmi(value).find_first_of(" =;\n") == std::string::npos,
                "escaped text is a single word");
  unescape_from_pmi(value);
  Launcher launcher(input);
  const std::map<std::string, std::string> variables = {
      {"PMI_FD", std::to_string(launcher.fd())}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}};
  bool is_done = false;
  fuzz::allow_error([&] {
    constexpr std::chrono::seconds kDeadline{60};
    const auto kvs = open_pmi1_kvs(Env(variables), kDeadline);
    kvs->put("key", value);
    kvs->commit(kDeadline);
    const std::string got = kvs->get(0, "key", kDeadline);
    fuzz::require(!launcher.is_good() || got == value, "get() returns what was put");
    const std::vector<int> nodes = kvs->node_map(kDeadline);
    fuzz::require(nodes.empty() || nodes.size() == 2, "a node for each rank, or none");
    kvs->fence(kDeadline);
    is_done = true;
  });
  fuzz::require(is_done || !launcher.is_good(), "all calls succeed with a correct launcher");
  return 0;
}
