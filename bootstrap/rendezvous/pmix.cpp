#include "pmix.hpp"

#include <pmix.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "core/bounded_call.hpp"
#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "pmi_kvs.hpp"
#include "pmix_library.hpp"
#include "pmix_use.hpp"
#include "stored_entry.hpp"

namespace hpcboot {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kFinalizeDeadline = std::chrono::seconds(5);
constexpr auto kRollCall = std::chrono::seconds(1);
constexpr auto kLeave = std::chrono::seconds(1);
constexpr auto kAskAgain = std::chrono::seconds(1);
constexpr const char* kPresent = ".present";
constexpr pmix_status_t kNoSuchProcess = -17;  // PMIX_ERR_PROC_ENTRY_NOT_FOUND, deprecated since 4

class PmixKvs : public KeyValueStore {
 public:
  PmixKvs(const PmixLibrary& pmix, const Env& env, std::chrono::milliseconds deadline)
      : pmix_(pmix), use_(env, deadline) {
    start(deadline);
    try {
      // Job-level keys belong to the whole namespace.
      const SharedPmixAnswer size = request(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
      await("the job size", *size, deadline);
      world_size_ = static_cast<int>(size->number);
      store(name_of(kPresent), "");  // published by the first commit()
    } catch (...) {
      finish();
      throw;
    }
  }

  // Without PMIx_Finalize, the launcher takes the exit of this process for a crash and ends the
  // job.
  ~PmixKvs() override { finish(); }

  PmixKvs(const PmixKvs&) = delete;
  PmixKvs& operator=(const PmixKvs&) = delete;

  // Escaped, since PMIx's strings end at a NUL byte.
  void put(const std::string& key, const std::string& value) override {
    require_storable(key, value);
    store(own_name(key), escape_for_pmi(value));
  }

  void commit(std::chrono::milliseconds) override { pmix_.check("PMIx_Commit", pmix_.commit()); }

  // No fence first: it would not tell which rank is missing.
  std::string get(int rank, const std::string& key, std::chrono::milliseconds deadline) override {
    const std::string what = "'" + key + "' from rank " + std::to_string(rank);
    const auto text = look_up(rank, own_name(key), what, end_after(deadline));
    if (!text) fail_late("no " + what, deadline);
    const auto value = unescape_from_pmi(*text);
    if (!value) fail_damaged(what, *text, description());
    return *value;
  }

  void fence(std::chrono::milliseconds deadline) override {
    const auto end = end_after(deadline);
    if (use_.number() > 1) return fence_by_keys(end, deadline);
    const auto status = begin_pmix_fence(pmix_)->wait(end);
    if (!status) fail_late(missing_ranks(), deadline);
    pmix_.check("PMIx_Fence_nb", *status);
  }

  std::vector<int> node_map(std::chrono::milliseconds deadline) override {
    // Not PMIX_NODEID, which OpenPMIx 4 provides only for ranks of this host.
    std::vector<SharedPmixAnswer> answers;
    answers.reserve(static_cast<std::size_t>(world_size_));
    for (int rank = 0; rank < world_size_; ++rank) {
      answers.push_back(request(static_cast<pmix_rank_t>(rank), PMIX_HOSTNAME, only_here()));
    }
    const auto end = end_after(deadline);
    std::map<std::string, int> node_of_name;
    std::vector<int> nodes;
    for (const SharedPmixAnswer& answer : answers) {
      if (answer->wait(end) != PMIX_SUCCESS) return {};
      const auto next = static_cast<int>(node_of_name.size());
      nodes.push_back(node_of_name.emplace(answer->text, next).first->second);
    }
    return nodes;
  }

  int rank() const override { return static_cast<int>(self_.rank); }
  int world_size() const override { return world_size_; }
  std::string description() const override { return pmix_.description(); }

 private:
  // PMIx_Init and PMIx_Finalize wait for the launcher without a timeout.
  void start(std::chrono::milliseconds deadline) {
    struct Begin {
      pmix_proc_t self{};
      pmix_status_t status = PMIX_ERROR;
    };
    const auto begin = std::make_shared<Begin>();
    PMIX_PROC_CONSTRUCT(&begin->self);
    const bool in_time = bounded_call(
        [begin, init = pmix_.init] { begin->status = init(&begin->self, nullptr, 0); }, deadline);
    if (!in_time) {
      throw Error(ErrorCode::deadline_exceeded,
                  "PMIx_Init took more than " + std::to_string(deadline.count()) + " ms (" +
                      pmix_.path + ")",
                  "a PMIx server that answers this process",
                  "check the output of the launcher and the log of slurmd; or set "
                  "HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT");
    }
    pmix_.check("PMIx_Init", begin->status);
    self_ = begin->self;
  }

  void finish() noexcept {
    try {
      if (fences_ > 0) await_passed_fences();
    } catch (const std::exception&) {
      // The others wait for this rank as long as their deadlines allow.
    }
    try {
      bounded_call([finalize = pmix_.finalize] { finalize(nullptr, 0); }, kFinalizeDeadline);
    } catch (const std::exception&) {
      // No thread can be started; this process is about to end in any case.
    }
  }

  // MPI stores its own values for this process, too.
  std::string name_of(const std::string& what) const {
    const int use = use_.number();
    return "hpcboot" + (use > 1 ? std::to_string(use) : "") + what;
  }
  std::string own_name(const std::string& key) const { return name_of("-" + stored_key(key)); }

  // What a rank has committed under this name; nullopt if it comes too late. A server that does not
  // know the name either holds the request or answers "not found" at once, so the request is
  // repeated; also one that is held, since OpenPMIx 4 drops those for a rank whose process ends.
  std::optional<std::string> look_up(int rank, const std::string& name, const std::string& what,
                                     Clock::time_point end) {
    auto pause = std::chrono::milliseconds(2);
    while (true) {
      const SharedPmixAnswer answer = request(static_cast<pmix_rank_t>(rank), name);
      const auto status = answer->wait(std::min(end, Clock::now() + kAskAgain));
      if (status == PMIX_SUCCESS) return answer->text;
      if (status && !is_unknown_yet(*status))
        pmix_.fail(("asking PMIx for " + what).c_str(), *status);
      if (end - Clock::now() <= pause) return std::nullopt;
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, std::chrono::milliseconds(100));
    }
  }

  // OpenPMIx 4's servers may complete a fence without a rank whose earlier process has left, so
  // later uses do without.
  void fence_by_keys(Clock::time_point end, std::chrono::milliseconds deadline) {
    const std::string name = name_of(".fence" + std::to_string(++fences_));
    store(name, "");
    pmix_.check("PMIx_Commit", pmix_.commit());
    for (int rank = 0; rank < world_size_; ++rank) {
      const std::string what = "rank " + std::to_string(rank);
      if (!look_up(rank, name, what, end)) fail_late(what + " did not arrive at a fence", deadline);
    }
  }

  // What a process has stored vanishes with it, so it stays until the others have passed its
  // fences. One of which nothing is known has left itself.
  void await_passed_fences() {
    const auto end = Clock::now() + kLeave;
    const std::string name = name_of(".left");
    store(name, "");
    pmix_.check("PMIx_Commit", pmix_.commit());
    for (int rank = 0; rank < world_size_; ++rank) look_up(rank, name, "a rank's end", end);
  }

  // Of a rank that has not committed, or whose earlier process has ended.
  static bool is_unknown_yet(pmix_status_t status) {
    return status == PMIX_ERR_NOT_FOUND || status == kNoSuchProcess || status == PMIX_ERR_TIMEOUT;
  }

  void store(const std::string& name, std::string text) const {
    pmix_value_t value;
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_STRING;
    value.data.string = text.data();  // PMIx copies it; the field is merely not const
    pmix_.check("PMIx_Put", pmix_.put(PMIX_GLOBAL, name.c_str(), &value));
  }

  // Restricts a request to the data that the launcher gave this process at start-up, without
  // contacting a server. Static, since PMIx reads it from its own thread. PMIX_INFO_LOAD would
  // require linking libpmix.
  static const pmix_info_t* only_here() {
    static const pmix_info_t info = [] {
      pmix_info_t made{};
      std::strcpy(made.key, PMIX_OPTIONAL);
      made.value.type = PMIX_BOOL;
      made.value.data.flag = true;
      return made;
    }();
    return &info;
  }

  SharedPmixAnswer request(pmix_rank_t rank, std::string key, const pmix_info_t* how = nullptr) {
    pmix_proc_t proc = self_;
    proc.rank = rank;
    return ask_pmix(pmix_, proc, std::move(key), how);
  }

  // Which ranks have not called commit(): "ranks 2,3 did not arrive at a fence". Takes at most
  // kRollCall.
  std::string missing_ranks() {
    std::vector<SharedPmixAnswer> answers;
    answers.reserve(static_cast<std::size_t>(world_size_));
    for (int rank = 0; rank < world_size_; ++rank)
      answers.push_back(request(static_cast<pmix_rank_t>(rank), name_of(kPresent)));
    const auto end = Clock::now() + kRollCall;
    std::string ranks;
    int missing = 0;
    for (int rank = 0; rank < world_size_; ++rank) {
      if (answers[static_cast<std::size_t>(rank)]->wait(end) == PMIX_SUCCESS) continue;
      if (++missing <= 8) ranks += (ranks.empty() ? "" : ",") + std::to_string(rank);
    }
    if (missing == 0) return "all ranks have checked in, but the fence did not complete";
    return (missing == 1 ? "rank " : "ranks ") + ranks +
           (missing > 8 ? " and " + std::to_string(missing - 8) + " more" : "") +
           " did not arrive at a fence";
  }

  [[noreturn]] static void fail_late(const std::string& what, std::chrono::milliseconds deadline) {
    throw Error(ErrorCode::deadline_exceeded,
                what + " within " +
                    std::to_string(std::chrono::ceil<std::chrono::seconds>(deadline).count()) +
                    " s",
                "every rank of the launch to start within the deadline",
                "check the output of that rank and its host: did it start?");
  }

  void await(const std::string& what, PmixAnswer& answer,
             std::chrono::milliseconds deadline) const {
    const auto status = answer.wait(end_after(deadline));
    if (!status) fail_late("PMIx did not provide " + what, deadline);
    if (*status != PMIX_SUCCESS) pmix_.fail(("asking PMIx for " + what).c_str(), *status);
  }

  const PmixLibrary& pmix_;
  const PmixUse use_;
  pmix_proc_t self_{};
  int world_size_ = 1;
  int fences_ = 0;  // by keys
};

}  // namespace

std::string load_pmix(const Env& env) {
  return PmixLibrary::get(env).description();
}

std::unique_ptr<KeyValueStore> open_pmix_kvs(const Env& env, std::chrono::milliseconds deadline) {
  return std::make_unique<PmixKvs>(PmixLibrary::get(env), env, deadline);
}

}  // namespace hpcboot
