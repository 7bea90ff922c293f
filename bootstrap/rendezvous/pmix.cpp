#include "pmix.hpp"

#include <pmix.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "core/bounded_call.hpp"
#include "core/major_version.hpp"
#include "core/time_left.hpp"
#include "dynamic_library.hpp"
#include "hpcboot/error.hpp"
#include "pmi_kvs.hpp"
#include "pmix_server.hpp"
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

// The functions in use, from the libpmix of the launcher or of the machine.
class Library {
 public:
  static const Library& get(const Env& env) {
    static const Library library(pmix_library_names(env));
    return library;
  }

  // "pmix: OpenPMIx 4.2.2 (/usr/lib/libpmix.so.2)"
  std::string description() const {
    const std::string version = get_version();
    return "pmix: " + version.substr(0, version.find(" (")) + " (" + path + ")";
  }

  decltype(&::PMIx_Init) init = nullptr;
  decltype(&::PMIx_Finalize) finalize = nullptr;
  decltype(&::PMIx_Put) put = nullptr;
  decltype(&::PMIx_Commit) commit = nullptr;
  decltype(&::PMIx_Get_nb) get_nb = nullptr;
  decltype(&::PMIx_Fence_nb) fence_nb = nullptr;
  decltype(&::PMIx_Error_string) error_string = nullptr;
  decltype(&::PMIx_Get_version) get_version = nullptr;
  std::string path;

 private:
  explicit Library(const std::vector<std::string>& names) {
    DynamicLibrary file(names, refuse);
    file.load(init, "PMIx_Init");
    file.load(finalize, "PMIx_Finalize");
    file.load(put, "PMIx_Put");
    file.load(commit, "PMIx_Commit");
    file.load(get_nb, "PMIx_Get_nb");
    file.load(fence_nb, "PMIx_Fence_nb");
    file.load(error_string, "PMIx_Error_string");
    file.load(get_version, "PMIx_Get_version");
    path = file.path();
    check_version();
  }

  // Parses "OpenPMIx 4.2.2 (PMIx Standard: …". The signatures of the functions in use have not
  // changed since version 2.
  void check_version() const {
    const std::string_view text = get_version();
    const auto major = major_version(text);
    if (!major || *major >= 2) return;
    refuse(path + " is " + std::string(text.substr(0, text.find(" ("))) +
           ", but version 2 or newer is required");
  }

  [[noreturn]] static void refuse(const std::string& reason) {
    throw Error(ErrorCode::backend_unavailable,
                "the launcher offers PMIx, but its library cannot be used: " + reason,
                "libpmix.so.2 on the library path",
                "install libpmix2 or load the pmix module; or set HPCBOOT_MASTER_ADDR and "
                "HPCBOOT_MASTER_PORT");
  }
};

[[noreturn]] void fail(const Library& pmix, const char* call, pmix_status_t status) {
  throw Error(ErrorCode::exchange_failed,
              std::string(call) + " returned " + pmix.error_string(status) + " (" + pmix.path + ")",
              "a PMIx server that serves this process",
              "start the program with mpirun or srun --mpi=pmix, and make sure that both use the "
              "same version of PMIx; or set HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT");
}

// The outcome of one call that PMIx answers from its own thread. Shared with the callback, which
// may run after the caller has timed out.
struct Answer {
  std::string key;  // of a request; PMIx reads it from its own thread
  std::mutex mutex;
  std::condition_variable arrived;
  std::optional<pmix_status_t> status;
  std::string text;
  std::uint32_t number = 0;

  void set(pmix_status_t result) {
    const std::lock_guard<std::mutex> lock(mutex);
    status = result;
    arrived.notify_all();
  }

  // The status, or nullopt if the end came first.
  std::optional<pmix_status_t> wait(Clock::time_point end) {
    std::unique_lock<std::mutex> lock(mutex);
    arrived.wait_until(lock, end, [&] { return status.has_value(); });
    return status;
  }
};

using SharedAnswer = std::shared_ptr<Answer>;

void on_value(pmix_status_t status, pmix_value_t* value, void* data) {
  const std::unique_ptr<SharedAnswer> answer(static_cast<SharedAnswer*>(data));
  if (status == PMIX_SUCCESS && value != nullptr) {
    // The type is checked before the union is read: local ranks are 16 bits wide, sizes 32.
    if (value->type == PMIX_STRING && value->data.string != nullptr) {
      (*answer)->text = value->data.string;
    } else if (value->type == PMIX_UINT32) {
      (*answer)->number = value->data.uint32;
    } else {
      status = PMIX_ERR_TYPE_MISMATCH;
    }
  }
  (*answer)->set(status);
}

void on_done(pmix_status_t status, void* data) {
  const std::unique_ptr<SharedAnswer> answer(static_cast<SharedAnswer*>(data));
  (*answer)->set(status);
}

class PmixKvs : public KeyValueStore {
 public:
  PmixKvs(const Library& pmix, const Env& env, std::chrono::milliseconds deadline)
      : pmix_(pmix), use_(env, deadline) {
    start(deadline);
    try {
      // Job-level keys belong to the whole namespace.
      const SharedAnswer size = request(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
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

  void commit(std::chrono::milliseconds) override { check("PMIx_Commit", pmix_.commit()); }

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
    const auto answer = std::make_shared<Answer>();
    auto data = std::make_unique<SharedAnswer>(answer);
    check("PMIx_Fence_nb", pmix_.fence_nb(nullptr, 0, nullptr, 0, on_done, data.get()));
    (void)data.release();  // owned by on_done from here on
    const auto status = answer->wait(end);
    if (!status) fail_late(missing_ranks(), deadline);
    check("PMIx_Fence_nb", *status);
  }

  std::vector<int> node_map(std::chrono::milliseconds deadline) override {
    // Not PMIX_NODEID, which OpenPMIx 4 provides only for ranks of this host.
    std::vector<SharedAnswer> answers;
    answers.reserve(static_cast<std::size_t>(world_size_));
    for (int rank = 0; rank < world_size_; ++rank) {
      answers.push_back(request(static_cast<pmix_rank_t>(rank), PMIX_HOSTNAME, only_here()));
    }
    const auto end = end_after(deadline);
    std::map<std::string, int> node_of_name;
    std::vector<int> nodes;
    for (const SharedAnswer& answer : answers) {
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
    check("PMIx_Init", begin->status);
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
      const SharedAnswer answer = request(static_cast<pmix_rank_t>(rank), name);
      const auto status = answer->wait(std::min(end, Clock::now() + kAskAgain));
      if (status == PMIX_SUCCESS) return answer->text;
      if (status && !is_unknown_yet(*status))
        fail(pmix_, ("asking PMIx for " + what).c_str(), *status);
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
    check("PMIx_Commit", pmix_.commit());
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
    check("PMIx_Commit", pmix_.commit());
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
    check("PMIx_Put", pmix_.put(PMIX_GLOBAL, name.c_str(), &value));
  }

  void check(const char* call, pmix_status_t status) const {
    if (status != PMIX_SUCCESS) fail(pmix_, call, status);
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

  SharedAnswer request(pmix_rank_t rank, std::string key, const pmix_info_t* how = nullptr) {
    auto answer = std::make_shared<Answer>();
    answer->key = std::move(key);
    auto data = std::make_unique<SharedAnswer>(answer);
    pmix_proc_t proc = self_;
    proc.rank = rank;
    const pmix_status_t status =
        pmix_.get_nb(&proc, answer->key.c_str(), how, how == nullptr ? 0 : 1, on_value, data.get());
    if (status == PMIX_ERR_NOT_FOUND) {  // known at once; on_value is not called
      answer->set(status);
      return answer;
    }
    check("PMIx_Get_nb", status);
    (void)data.release();  // owned by on_value from here on
    return answer;
  }

  // Which ranks have not called commit(): "ranks 2,3 did not arrive at a fence". Takes at most
  // kRollCall.
  std::string missing_ranks() {
    std::vector<SharedAnswer> answers;
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

  void await(const std::string& what, Answer& answer, std::chrono::milliseconds deadline) const {
    const auto status = answer.wait(end_after(deadline));
    if (!status) fail_late("PMIx did not provide " + what, deadline);
    if (*status != PMIX_SUCCESS) fail(pmix_, ("asking PMIx for " + what).c_str(), *status);
  }

  const Library& pmix_;
  const PmixUse use_;
  pmix_proc_t self_{};
  int world_size_ = 1;
  int fences_ = 0;  // by keys
};

}  // namespace

std::string load_pmix(const Env& env) {
  return Library::get(env).description();
}

std::unique_ptr<KeyValueStore> open_pmix_kvs(const Env& env, std::chrono::milliseconds deadline) {
  return std::make_unique<PmixKvs>(Library::get(env), env, deadline);
}

}  // namespace hpcboot
