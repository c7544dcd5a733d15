#include <openssl/evp.h>

#include "harmonica/assert.h"
#include "harmonica/platform/crypto.h"

namespace harmonica::platform {
namespace {

EVP_MD_CTX* context_of(void* state) { return static_cast<EVP_MD_CTX*>(state); }

// The only failure is that of allocation, or of a machine that forbids the algorithm.
void* start(const EVP_MD* algorithm) {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  HARMONICA_ASSERT(context != nullptr);
  HARMONICA_ASSERT(EVP_DigestInit_ex(context, algorithm, nullptr) == 1);
  return context;
}

template <std::size_t kSize>
std::array<std::uint8_t, kSize> finish_context(void* state) {
  std::array<std::uint8_t, kSize> digest;
  HARMONICA_ASSERT(EVP_DigestFinal_ex(context_of(state), digest.data(), nullptr) == 1);
  return digest;
}

}  // namespace

Md5::Md5() : state_(start(EVP_md5())) {}
Md5::~Md5() { EVP_MD_CTX_free(context_of(state_)); }
void Md5::update(ByteView bytes) {
  HARMONICA_ASSERT(EVP_DigestUpdate(context_of(state_), bytes.data(), bytes.size()) == 1);
}
std::array<std::uint8_t, 16> Md5::finish() { return finish_context<16>(state_); }

Sha256Hasher::Sha256Hasher() : state_(start(EVP_sha256())) {}
Sha256Hasher::~Sha256Hasher() { EVP_MD_CTX_free(context_of(state_)); }
void Sha256Hasher::update(ByteView bytes) {
  HARMONICA_ASSERT(EVP_DigestUpdate(context_of(state_), bytes.data(), bytes.size()) == 1);
}
std::array<std::uint8_t, 32> Sha256Hasher::finish() { return finish_context<32>(state_); }

std::array<std::uint8_t, 32> sha256(ByteView bytes) {
  Sha256Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

}  // namespace harmonica::platform
