#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "hpcboot/error.hpp"
#include "hpcboot/hpcboot.h"
#include "hpcboot/resolve.hpp"
#include "hpcboot/version.hpp"

namespace {

// Exit codes of the programs for failures that are not an hpcboot::Error.
constexpr int kFailed = 1;
constexpr int kUsage = 2;

// The size of the struct in its first version: no caller can have a smaller one.
constexpr std::size_t kFirstSize =
    offsetof(hpcboot_resolution, interface_address) + sizeof(hpcboot_resolution::interface_address);

hpcboot_resolution nothing_known() {
  hpcboot_resolution none{};
  none.struct_size = sizeof none;
  for (int* field : {&none.rank, &none.world_size, &none.local_rank, &none.local_size,
                     &none.node_rank, &none.num_nodes, &none.master_port, &none.device}) {
    *field = HPCBOOT_UNKNOWN;
  }
  return none;
}

// Copies only what fits the caller's version of the struct; its struct_size is kept.
void hand_over(const hpcboot_resolution& from, hpcboot_resolution* out) {
  const std::size_t size = std::min(out->struct_size, sizeof from);
  constexpr std::size_t kSkip = sizeof from.struct_size;
  std::memcpy(reinterpret_cast<char*>(out) + kSkip, reinterpret_cast<const char*>(&from) + kSkip,
              size - kSkip);
}

void set_error(const char* text, char* error, std::size_t error_size) noexcept {
  if (error == nullptr || error_size == 0) return;
  std::size_t size = std::min(std::strlen(text), error_size - 1);
  // Do not cut within a multibyte character.
  if (text[size] != '\0') {
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  }
  std::memcpy(error, text, size);
  error[size] = '\0';
}

template <std::size_t N>
void copy_text(const char* field, const std::string& text, char (&to)[N]) {
  if (text.size() >= N) {
    throw hpcboot::Error(
        hpcboot::ErrorCode::malformed_value,
        std::string(field) + " of " + std::to_string(text.size()) + " characters",
        "at most " + std::to_string(N - 1) + ", the capacity of hpcboot_resolution",
        "use the C++ interface, which has no such limit");
  }
  std::memcpy(to, text.c_str(), text.size() + 1);
}

hpcboot_resolution to_c(const hpcboot::Resolution& r) {
  hpcboot_resolution c = nothing_known();
  const auto known = [](const std::optional<int>& value) {
    return value.value_or(static_cast<int>(HPCBOOT_UNKNOWN));
  };
  c.rank = r.placement.rank;
  c.world_size = r.placement.world_size;
  c.local_rank = r.placement.local_rank;
  c.local_size = known(r.placement.local_size);
  c.node_rank = known(r.placement.node_rank);
  c.num_nodes = known(r.placement.num_nodes);
  c.master_port = known(r.master_port);
  c.device = known(r.device);
  c.agent_store = r.agent_store ? 1 : 0;
  copy_text("launcher", r.launcher, c.launcher);
  copy_text("scheduler", r.scheduler.value_or(""), c.scheduler);
  copy_text("job_id", r.job_id.value_or(""), c.job_id);
  copy_text("master_addr", r.master_addr.value_or(""), c.master_addr);
  copy_text("interface", r.interface.value_or(""), c.interface_name);
  copy_text("the address of the interface", r.interface_address.value_or(""), c.interface_address);
  return c;
}

bool is_usable(const hpcboot_resolution* out) {
  return out != nullptr && out->struct_size >= kFirstSize;
}

template <typename Resolve>
int guarded(hpcboot_resolution* out, char* error, std::size_t error_size,
            const Resolve& resolve) noexcept {
  set_error("", error, error_size);
  if (!is_usable(out)) {
    set_error("hpcboot: set struct_size to sizeof(hpcboot_resolution) before the call\n", error,
              error_size);
    return kUsage;
  }
  hand_over(nothing_known(), out);
  try {
    hand_over(to_c(resolve()), out);
    return 0;
  } catch (const hpcboot::Error& failure) {
    try {
      set_error(hpcboot::format_error("hpcboot", failure).c_str(), error, error_size);
    } catch (const std::exception&) {
      set_error(failure.what(), error, error_size);
    }
    return failure.exit_code();
  } catch (const std::exception& failure) {
    set_error(failure.what(), error, error_size);
    return kFailed;
  } catch (...) {
    set_error("hpcboot: unknown failure\n", error, error_size);
    return kFailed;
  }
}

}  // namespace

int hpcboot_resolve(hpcboot_resolution* out, char* error, size_t error_size) {
  return guarded(out, error, error_size, [] {
    const hpcboot::Env env = hpcboot::Env::from_process();
    return hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
  });
}

int hpcboot_resolve_dump(const char* dump, size_t dump_size, hpcboot_resolution* out, char* error,
                         size_t error_size) {
  // Not an empty environment: that would be rank 0 of 1.
  if (dump == nullptr && dump_size > 0) {
    if (is_usable(out)) hand_over(nothing_known(), out);
    set_error("hpcboot: dump is NULL, but dump_size is not 0\n", error, error_size);
    return kUsage;
  }
  return guarded(out, error, error_size, [=] {
    hpcboot::ResolveOptions options;
    options.allocation.read_files = false;
    const std::string_view text(dump == nullptr ? "" : dump, dump_size);
    return hpcboot::resolve(hpcboot::Env::parse(text), hpcboot::Facts{}, options);
  });
}

// Every name is a literal, so it is NUL-terminated.
const char* hpcboot_error_name(int code) {
  return hpcboot::name_of(static_cast<hpcboot::ErrorCode>(code)).data();
}

const char* hpcboot_version() {
  return hpcboot::version().data();
}
