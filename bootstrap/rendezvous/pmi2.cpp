#include "pmi2.hpp"

#include <slurm/pmi2.h>

#include <array>
#include <functional>

#include "core/bounded_call.hpp"
#include "dynamic_library.hpp"
#include "hpcboot/error.hpp"
#include "pmi_kvs.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPutDeadline = std::chrono::seconds(30);  // answered by this host's daemon
constexpr milliseconds kFinalizeDeadline = std::chrono::seconds(5);

// The functions in use, from this machine's libpmi2.
class Library {
 public:
  static const Library& get() {
    static const Library library;
    return library;
  }

  decltype(&::PMI2_Init) init = nullptr;
  decltype(&::PMI2_Finalize) finalize = nullptr;
  decltype(&::PMI2_KVS_Put) put = nullptr;
  decltype(&::PMI2_KVS_Get) get_value = nullptr;
  decltype(&::PMI2_KVS_Fence) fence = nullptr;
  decltype(&::PMI2_Info_GetJobAttr) job_attribute = nullptr;
  std::string path;

 private:
  Library() {
    DynamicLibrary file({"libpmi2.so.0"}, refuse);
    file.load(init, "PMI2_Init");
    file.load(finalize, "PMI2_Finalize");
    file.load(put, "PMI2_KVS_Put");
    file.load(get_value, "PMI2_KVS_Get");
    file.load(fence, "PMI2_KVS_Fence");
    file.load(job_attribute, "PMI2_Info_GetJobAttr");
    path = file.path();
  }

  [[noreturn]] static void refuse(const std::string& reason) {
    throw Error(ErrorCode::backend_unavailable,
                "srun --mpi=pmi2 offers PMI2, but its library cannot be used: " + reason,
                "Slurm's libpmi2.so.0 on the library path",
                "install libpmi2-0 or add Slurm's library folder to LD_LIBRARY_PATH; or set "
                "HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT");
  }
};

// The data of a call. Shared with the call, which may outlive the exchange.
struct State {
  const Library& library = Library::get();
  int status = PMI2_SUCCESS;
  int rank = 0;
  int world_size = 0;
  std::string name;
  std::string text;
  std::array<char, PMI2_MAX_VALLEN + 1> value{};
};

// libpmi2 has no timeouts, so each call runs in a thread. A late call keeps the library's lock, so
// from then on this exchange is broken and does not call the library again.
class Pmi2Kvs : public PmiKvs {
 public:
  explicit Pmi2Kvs(milliseconds deadline) {
    const auto state = call("PMI2_Init", deadline, [](State& s) {
      int spawned = 0;
      int application = 0;
      s.status = s.library.init(&spawned, &s.world_size, &s.rank, &application);
    });
    check("PMI2_Init", *state);
    rank_ = state->rank;
    world_size_ = state->world_size;
  }

  ~Pmi2Kvs() override {
    if (broken_) return;
    try {
      call("PMI2_Finalize", kFinalizeDeadline, [](State& s) { s.status = s.library.finalize(); });
    } catch (const Error&) {
      // slurmstepd is gone, and so is the step.
    }
  }

  Pmi2Kvs(const Pmi2Kvs&) = delete;
  Pmi2Kvs& operator=(const Pmi2Kvs&) = delete;

  int rank() const override { return rank_; }
  int world_size() const override { return world_size_; }
  std::string description() const override { return load_pmi2(); }

 protected:
  void store(const std::string& name, const std::string& text) override {
    const auto state = call(
        "PMI2_KVS_Put", kPutDeadline,
        [](State& s) { s.status = s.library.put(s.name.c_str(), s.text.c_str()); }, name, text);
    check("PMI2_KVS_Put", *state);
  }

  std::optional<std::string> look_up(int rank, const std::string& name,
                                     milliseconds deadline) override {
    const auto state = call(
        "PMI2_KVS_Get", deadline,
        [rank](State& s) {
          int length = 0;
          s.status = s.library.get_value(nullptr, rank, s.name.c_str(), s.value.data(),
                                         static_cast<int>(s.value.size()), &length);
        },
        name);
    if (state->status != PMI2_SUCCESS) return std::nullopt;
    return std::string(state->value.data());
  }

  std::optional<std::string> process_mapping(milliseconds deadline) override {
    const auto state = call(
        "PMI2_Info_GetJobAttr", deadline,
        [](State& s) {
          int is_found = 0;
          s.status = s.library.job_attribute(s.name.c_str(), s.value.data(),
                                             static_cast<int>(s.value.size()), &is_found);
          if (is_found == 0) s.value.front() = '\0';
        },
        kProcessMapping);
    if (state->status != PMI2_SUCCESS) return std::nullopt;
    return std::string(state->value.data());
  }

  void barrier(milliseconds deadline) override {
    check("PMI2_KVS_Fence",
          *call("PMI2_KVS_Fence", deadline, [](State& s) { s.status = s.library.fence(); }));
  }

  std::size_t longest_text() const override { return PMI2_MAX_VALLEN - 64; }

 private:
  std::shared_ptr<State> call(const char* what, milliseconds deadline,
                              const std::function<void(State&)>& function,
                              const std::string& name = "", const std::string& text = "") {
    if (broken_) fail(what, "the library did not return from an earlier call");
    auto state = std::make_shared<State>();
    state->name = name;
    state->text = text;
    if (!bounded_call([state, function] { function(*state); }, deadline)) {
      broken_ = true;
      fail_late(what, deadline);
    }
    return state;
  }

  static void check(const char* what, const State& state) {
    if (state.status != PMI2_SUCCESS) fail(what, "error " + std::to_string(state.status));
  }

  [[noreturn]] static void fail(const char* what, const std::string& answer) {
    throw Error(ErrorCode::exchange_failed,
                std::string(what) + ": " + answer + " (" + Library::get().path + ")",
                "a job step started by srun --mpi=pmi2, and PMI2 not used by this process before",
                "restart the program with srun --mpi=pmi2; or set HPCBOOT_MASTER_ADDR and "
                "HPCBOOT_MASTER_PORT");
  }

  int rank_ = 0;
  int world_size_ = 1;
  bool broken_ = false;
};

}  // namespace

std::string load_pmi2() {
  return "pmi2: " + Library::get().path;
}

std::unique_ptr<KeyValueStore> open_pmi2_kvs(milliseconds deadline) {
  return std::make_unique<Pmi2Kvs>(deadline);
}

}  // namespace hpcboot
