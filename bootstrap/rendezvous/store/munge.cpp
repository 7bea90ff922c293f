#include "munge.hpp"

#include <munge.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "core/bounded_call.hpp"
#include "rendezvous/dynamic_library.hpp"

namespace hpcboot::rendezvous {
namespace {

// munged runs on this host and answers in milliseconds; one that hangs must not delay a start.
constexpr auto kTimeForDaemon = std::chrono::seconds(5);

struct Munge {
  decltype(&munge_encode) encode = nullptr;
  decltype(&munge_decode) decode = nullptr;
  decltype(&munge_ctx_create) create = nullptr;
  decltype(&munge_ctx_destroy) destroy = nullptr;
  decltype(&munge_ctx_set) set = nullptr;
  decltype(&munge_ctx_strerror) explain = nullptr;
  decltype(&munge_strerror) name = nullptr;
};

[[noreturn]] void refuse(const std::string& reason) {
  throw std::runtime_error(reason);
}

// nullptr if this machine has no libmunge.
const Munge* library() {
  static const std::unique_ptr<Munge> loaded = []() -> std::unique_ptr<Munge> {
    try {
      DynamicLibrary library({"libmunge.so.2"}, refuse);
      auto munge = std::make_unique<Munge>();
      library.load(munge->encode, "munge_encode");
      library.load(munge->decode, "munge_decode");
      library.load(munge->create, "munge_ctx_create");
      library.load(munge->destroy, "munge_ctx_destroy");
      library.load(munge->set, "munge_ctx_set");
      library.load(munge->explain, "munge_ctx_strerror");
      library.load(munge->name, "munge_strerror");
      return munge;
    } catch (const std::exception&) {
      return nullptr;
    }
  }();
  return loaded.get();
}

std::string text_of(const Munge& munge, munge_ctx_t context, munge_err_t error) {
  const char* text = munge.explain(context);
  if (text == nullptr) text = munge.name(error);
  return std::string("MUNGE: ") + (text == nullptr ? "unknown error" : text);
}

// The daemon's default may be no cipher at all.
bool restrict_to_own_user(const Munge& munge, munge_ctx_t context) {
  return munge.set(context, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES128) == EMUNGE_SUCCESS &&
         munge.set(context, MUNGE_OPT_MAC_TYPE, MUNGE_MAC_SHA256) == EMUNGE_SUCCESS &&
         munge.set(context, MUNGE_OPT_UID_RESTRICTION, geteuid()) == EMUNGE_SUCCESS;
}

struct MungeAnswer {
  std::optional<std::string> text;
  bool is_there = true;  // munged is present, even if it is late
  std::string reason = "MUNGE: munged does not answer";
};

MungeAnswer encode(const Munge& munge, std::string payload) {
  MungeAnswer answer;
  munge_ctx_t context = munge.create();
  if (context == nullptr || !restrict_to_own_user(munge, context)) {
    answer.reason = "MUNGE: the library cannot restrict a credential to this user";
  } else {
    char* credential = nullptr;
    const munge_err_t error =
        munge.encode(&credential, context, payload.data(), static_cast<int>(payload.size()));
    if (error == EMUNGE_SUCCESS) {
      answer.text = credential;
    } else {
      answer.reason = text_of(munge, context, error);
      answer.is_there = error != EMUNGE_SOCKET;
    }
    std::free(credential);  // NOLINT(cppcoreguidelines-no-malloc): allocated by libmunge
  }
  if (context != nullptr) munge.destroy(context);
  explicit_bzero(payload.data(), payload.size());
  return answer;
}

// For these errors the library still returns the payload (munge_decode(3)). Several ranks of a host
// may open the same credential, also late; and others who have recorded it cannot open it.
bool is_opened(munge_err_t error) {
  return error == EMUNGE_SUCCESS || error == EMUNGE_CRED_REPLAYED || error == EMUNGE_CRED_EXPIRED ||
         error == EMUNGE_CRED_REWOUND;
}

MungeAnswer decode(const Munge& munge, const std::string& credential) {
  MungeAnswer answer;
  munge_ctx_t context = munge.create();
  void* payload = nullptr;
  int size = 0;
  uid_t user = 0;
  const munge_err_t error =
      munge.decode(credential.c_str(), context, &payload, &size, &user, nullptr);
  if (!is_opened(error)) {
    answer.reason = text_of(munge, context, error);
  } else if (user != geteuid()) {
    answer.reason = "MUNGE: the server there belongs to the user " + std::to_string(user);
  } else if (payload != nullptr && size > 0) {
    answer.text = std::string(static_cast<const char*>(payload), static_cast<std::size_t>(size));
  }
  if (payload != nullptr) explicit_bzero(payload, static_cast<std::size_t>(size));
  std::free(payload);  // NOLINT(cppcoreguidelines-no-malloc): allocated by libmunge
  if (context != nullptr) munge.destroy(context);
  return answer;
}

template <typename Call>
MungeAnswer in_time(Call call) {
  const auto answer = std::make_shared<MungeAnswer>();
  const bool is_in_time = bounded_call([answer, call] { *answer = call(); }, kTimeForDaemon);
  return is_in_time ? std::move(*answer) : MungeAnswer();
}

// Ensures that a credential of this user for another purpose is not accepted.
std::string heading_of(const std::string& purpose) {
  return "hpcboot store 1\n" + digest_of(purpose) + "\n";
}

}  // namespace

std::optional<std::string> seal_by_munge(const Secret& secret, const std::string& purpose,
                                         std::string& reason) {
  const Munge* munge = library();
  reason = "MUNGE: no libmunge.so.2 on this host";
  if (munge == nullptr) return std::nullopt;
  const std::string payload = heading_of(purpose) + std::string(secret.bytes());
  MungeAnswer answer = in_time([munge, payload] { return encode(*munge, payload); });
  reason = answer.reason;
  return answer.text;
}

std::optional<Secret> open_by_munge(const std::string& credential, const std::string& purpose,
                                    std::string& reason) {
  const Munge* munge = library();
  reason = "MUNGE: no libmunge.so.2 on this host";
  if (munge == nullptr) return std::nullopt;
  MungeAnswer answer = in_time([munge, credential] { return decode(*munge, credential); });
  reason = answer.reason;
  if (!answer.text) return std::nullopt;
  const std::string heading = heading_of(purpose);
  std::string payload = std::move(*answer.text);
  std::optional<Secret> secret;
  if (payload.size() > heading.size() && payload.compare(0, heading.size(), heading) == 0) {
    secret = Secret(payload.substr(heading.size()));
  } else {
    reason = "MUNGE: the credential belongs to another launch of this user";
  }
  explicit_bzero(payload.data(), payload.size());
  return secret;
}

bool munge_is_there() {
  const Munge* munge = library();
  return munge != nullptr && in_time([munge] { return encode(*munge, "?"); }).is_there;
}

}  // namespace hpcboot::rendezvous
