#include "launch_secret.hpp"

#include "munge.hpp"
#include "secret_file.hpp"

namespace hpcboot::rendezvous {

LaunchSecret choose_secret(const Env& env, const std::string& identity, bool may_make_key) {
  if (auto named = named_secret(env)) return {SecretKind::file, std::move(*named), {}};
  std::string reason;
  Secret random = Secret::random();
  if (auto sealed = seal_by_munge(random, identity, reason))
    return {SecretKind::munge, std::move(random), std::move(*sealed)};
  const std::string path = key_path(env);
  auto key = read_key(path, reason);
  if (!key && may_make_key && make_key(path, reason)) key = read_key(path, reason);
  if (key) return {SecretKind::key, std::move(*key), {}};
  return {};
}

FindSecret secret_finder(const Env& env, const std::string& identity) {
  const auto named = named_secret(env);
  return [env, identity, named](SecretKind kind, const std::string& sealed,
                                std::string& reason) -> std::optional<Secret> {
    const std::string path = key_path(env);
    switch (kind) {
      case SecretKind::file:
        reason = "rank 0 has HPCBOOT_RENDEZVOUS_SECRET_FILE, this rank has not";
        return named;
      case SecretKind::munge:
        if (!named) return open_by_munge(sealed, identity, reason);
        reason = "this rank has HPCBOOT_RENDEZVOUS_SECRET_FILE, rank 0 has not";
        return std::nullopt;
      case SecretKind::key:
        if (auto key = read_key(path, reason)) return key;
        reason = "rank 0 proves itself by the key file of this user, which this host has not (" +
                 reason + "); setup/ssh-setup copies it";
        return std::nullopt;
      case SecretKind::none: {
        std::string unused;
        reason =
            "whoever serves there has no secret to prove that it is rank 0, but this host has ";
        if (named) {
          reason += "HPCBOOT_RENDEZVOUS_SECRET_FILE";
        } else if (munge_answers()) {
          reason += "MUNGE";
        } else if (read_key(path, unused)) {
          reason += path;
        } else {
          return Secret();
        }
        return std::nullopt;
      }
      case SecretKind::kernel:
      case SecretKind::told:
      case SecretKind::launcher:
        break;
    }
    reason = "whoever serves there proves itself by " + std::string(name_of(kind));
    return std::nullopt;
  };
}

}  // namespace hpcboot::rendezvous
