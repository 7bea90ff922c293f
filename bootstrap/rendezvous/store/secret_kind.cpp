#include "secret_kind.hpp"

namespace hpcboot::rendezvous {

std::string_view name_of(SecretKind kind) noexcept {
  switch (kind) {
    case SecretKind::kernel:
      return "the kernel";
    case SecretKind::told:
      return "a secret from the launcher's exchange";
    case SecretKind::file:
      return "HPCBOOT_RENDEZVOUS_SECRET_FILE";
    case SecretKind::launcher:
      return "a secret of the launcher";
    case SecretKind::munge:
      return "MUNGE";
    case SecretKind::key:
      return "the key file of this user";
    case SecretKind::none:
      return "no secret";
    case SecretKind::run:
      return "a secret that hpcboot run handed over";
  }
  return "an unknown kind of secret";
}

}  // namespace hpcboot::rendezvous
