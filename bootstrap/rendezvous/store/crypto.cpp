#include "crypto.hpp"

#include <string>

#include "hpcboot/error.hpp"
#include "rendezvous/dynamic_library.hpp"

namespace hpcboot::rendezvous {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorCode::exchange_failed,
              "libcrypto, which authenticates the ranks, cannot be used: " + reason,
              "OpenSSL 1.1 or newer on every host of the launch",
              "install OpenSSL, or load its module in the job script");
}

}  // namespace

const Crypto& crypto() {
  static const Crypto loaded = [] {
    // The functions in use have not changed since 1.1. The version of the headers is tried first.
    constexpr bool kIsNewer = OPENSSL_VERSION_NUMBER >= 0x30000000L;
    DynamicLibrary library({kIsNewer ? "libcrypto.so.3" : "libcrypto.so.1.1", "libcrypto.so.3",
                            "libcrypto.so.1.1", "libcrypto.so"},
                           refuse);
    Crypto crypto;
    library.load(crypto.sha256, "EVP_sha256");
    library.load(crypto.digest, "EVP_Digest");
    library.load(crypto.new_context, "EVP_MD_CTX_new");
    library.load(crypto.free_context, "EVP_MD_CTX_free");
    library.load(crypto.copy, "EVP_MD_CTX_copy_ex");
    library.load(crypto.init, "EVP_DigestInit_ex");
    library.load(crypto.update, "EVP_DigestUpdate");
    library.load(crypto.final, "EVP_DigestFinal_ex");
    library.load(crypto.hmac, "HMAC");
    library.load(crypto.differ, "CRYPTO_memcmp");
    return crypto;
  }();
  return loaded;
}

void fail_without_sha() {
  refuse("it does not support SHA-256");
}

}  // namespace hpcboot::rendezvous
