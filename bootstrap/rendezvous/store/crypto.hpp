#pragma once

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace hpcboot::rendezvous {

// OpenSSL's libcrypto, 1.1 or newer. Loaded when the first digest is needed: most commands need
// none, and loading it takes as long as everything else that `exec` does on its own.
struct Crypto {
  decltype(&EVP_sha256) sha256 = nullptr;
  decltype(&EVP_Digest) digest = nullptr;
  decltype(&EVP_MD_CTX_new) new_context = nullptr;
  decltype(&EVP_MD_CTX_free) free_context = nullptr;
  decltype(&EVP_MD_CTX_copy_ex) copy = nullptr;
  decltype(&EVP_DigestInit_ex) init = nullptr;
  decltype(&EVP_DigestUpdate) update = nullptr;
  decltype(&EVP_DigestFinal_ex) final = nullptr;
  decltype(&HMAC) hmac = nullptr;
  decltype(&CRYPTO_memcmp) differ = nullptr;  // in constant time
};

// @throws Error{exchange_failed} if this host does not have it
const Crypto& crypto();

// @throws Error{exchange_failed}, for a libcrypto built without SHA-256
[[noreturn]] void fail_without_sha();

}  // namespace hpcboot::rendezvous
