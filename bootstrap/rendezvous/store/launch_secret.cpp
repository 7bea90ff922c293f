#include "launch_secret.hpp"

#include <memory>
#include <mutex>

#include "hpcboot/error.hpp"
#include "munge.hpp"
#include "secret_file.hpp"
#include "wire.hpp"

namespace hpcboot::rendezvous {
namespace {

std::string path_for(const Env& env, KeyUse use) {
  const std::string path = key_path(env);
  return use == KeyUse::of_this_host && !may_have_key(path) ? host_key_path(env) : path;
}

std::optional<LaunchSecret> by_munge(const std::string& identity) {
  Secret secret = Secret::random();
  std::string reason;
  auto sealed = seal_by_munge(secret, identity, reason);
  // In a user namespace, munged sees this process under another user id than the process itself.
  if (!sealed || sealed->size() > kLongestSeal || !open_by_munge(*sealed, identity, reason))
    return std::nullopt;
  return LaunchSecret{SecretKind::munge, std::move(secret), std::move(*sealed)};
}

std::optional<LaunchSecret> by_key(const Env& env, KeyUse use) {
  const std::string path = path_for(env, use);
  std::string reason;
  auto key = read_key(path, reason);
  const bool may_make =
      use == KeyUse::of_this_host || (use == KeyUse::of_a_job && is_on_network_file_system(path));
  if (!key && may_make && make_key(path, reason)) key = read_key(path, reason);
  if (!key) return std::nullopt;
  return LaunchSecret{SecretKind::key, std::move(*key), {}};
}

// What a rank has found on its host; cached, since it is needed for every attempt.
class Finder {
 public:
  Finder(const Env& env, std::string identity, KeyUse use)
      : identity_(std::move(identity)),
        named_(named_secret(env)),
        use_(use),
        key_path_(path_for(env, use)) {}

  std::optional<Secret> find(SecretKind kind, const std::string& sealed, std::string& reason) {
    const std::lock_guard<std::mutex> lock(mutex_);
    switch (kind) {
      case SecretKind::file:
        reason = "HPCBOOT_RENDEZVOUS_SECRET_FILE is set on rank 0, but not on this rank";
        return named_;
      case SecretKind::munge:
        return by_munge(sealed, reason);
      case SecretKind::key:
        return by_key(reason);
      case SecretKind::none:
        return without(reason);
      case SecretKind::kernel:
      case SecretKind::told:
      case SecretKind::launcher:
      case SecretKind::run:
        break;
    }
    reason = "the server there authenticates with " + std::string(name_of(kind));
    return std::nullopt;
  }

 private:
  std::optional<Secret> by_munge(const std::string& sealed, std::string& reason) {
    if (named_) {
      reason = "HPCBOOT_RENDEZVOUS_SECRET_FILE is set on this rank, but not on rank 0";
      return std::nullopt;
    }
    // If munged was too slow for the server's timeout, the next attempt uses the cached answer.
    if (opened_ && opened_from_ == sealed) return opened_;
    auto opened = open_by_munge(sealed, identity_, reason);
    if (opened) {
      opened_ = opened;
      opened_from_ = sealed;
    } else {
      reason +=
          " (do the hosts share one MUNGE key? If not, setup/ssh-setup secret installs a key of "
          "your own)";
    }
    return opened;
  }

  std::optional<Secret> by_key(std::string& reason) const {
    try {
      if (auto key = read_key(key_path_, reason)) return key;
    } catch (const Error& error) {
      reason = error.found();
    }
    reason = "rank 0 authenticates with the key file of this user, which cannot be used here (" +
             reason + "); " +
             (use_ == KeyUse::of_this_host
                  ? "set HPCBOOT_RENDEZVOUS_SECRET_FILE to the same file on all ranks"
                  : "setup/ssh-setup secret installs it");
    return std::nullopt;
  }

  std::optional<Secret> without(std::string& reason) {
    reason = "the server there has no secret to prove that it is rank 0, but this host has ";
    std::string unused;
    if (named_) {
      reason += "HPCBOOT_RENDEZVOUS_SECRET_FILE";
    } else if (use_ == KeyUse::of_this_host && make_key(key_path_, unused)) {
      reason += key_path_;  // just created: rank 0, which may start later, finds it
    } else if (may_have_key(key_path_)) {
      reason += key_path_;
    } else if (has_munge()) {
      reason += "MUNGE";
    } else {
      return Secret();
    }
    return std::nullopt;
  }

  bool has_munge() {
    if (!has_munge_) has_munge_ = munge_is_there();
    return *has_munge_;
  }

  std::mutex mutex_;  // threads may search concurrently
  std::string identity_;
  std::optional<Secret> named_;
  KeyUse use_;
  std::string key_path_;
  std::optional<Secret> opened_;
  std::string opened_from_;
  std::optional<bool> has_munge_;
};

}  // namespace

LaunchSecret choose_secret(const Env& env, const std::string& identity, KeyUse use) {
  if (auto named = named_secret(env)) return {SecretKind::file, std::move(*named), {}};
  if (use == KeyUse::of_many_hosts) {
    if (auto key = by_key(env, use)) return std::move(*key);
  }
  if (auto munge = by_munge(identity)) return std::move(*munge);
  if (auto key = by_key(env, use)) return std::move(*key);
  return {};
}

FindSecret secret_finder(const Env& env, const std::string& identity, KeyUse use) {
  const auto finder = std::make_shared<Finder>(env, identity, use);
  return [finder](SecretKind kind, const std::string& sealed, std::string& reason) {
    return finder->find(kind, sealed, reason);
  };
}

}  // namespace hpcboot::rendezvous
