#include <mbedtls/md5.h>
#include <mbedtls/sha256.h>
#include <mbedtls/version.h>

#include "harmonica/assert.h"
#include "harmonica/platform/crypto.h"

// Release 3 gave the names without a suffix the meaning that `_ret` had in release 2.
#if MBEDTLS_VERSION_MAJOR >= 3
#define HARMONICA_MBEDTLS(name) name
#else
#define HARMONICA_MBEDTLS(name) name##_ret
#endif

namespace harmonica::platform {
namespace {

mbedtls_md5_context* md5_of(void* state) { return static_cast<mbedtls_md5_context*>(state); }
mbedtls_sha256_context* sha256_of(void* state) { return static_cast<mbedtls_sha256_context*>(state); }

}  // namespace

Md5::Md5() : state_(new mbedtls_md5_context) {
  mbedtls_md5_init(md5_of(state_));
  HARMONICA_ASSERT(HARMONICA_MBEDTLS(mbedtls_md5_starts)(md5_of(state_)) == 0);
}
Md5::~Md5() {
  mbedtls_md5_free(md5_of(state_));
  delete md5_of(state_);
}
void Md5::update(ByteView bytes) {
  HARMONICA_ASSERT(HARMONICA_MBEDTLS(mbedtls_md5_update)(md5_of(state_), bytes.data(), bytes.size()) == 0);
}
std::array<std::uint8_t, 16> Md5::finish() {
  std::array<std::uint8_t, 16> digest;
  HARMONICA_ASSERT(HARMONICA_MBEDTLS(mbedtls_md5_finish)(md5_of(state_), digest.data()) == 0);
  return digest;
}

Sha256Hasher::Sha256Hasher() : state_(new mbedtls_sha256_context) {
  mbedtls_sha256_init(sha256_of(state_));
  HARMONICA_ASSERT(HARMONICA_MBEDTLS(mbedtls_sha256_starts)(sha256_of(state_), 0) == 0);
}
Sha256Hasher::~Sha256Hasher() {
  mbedtls_sha256_free(sha256_of(state_));
  delete sha256_of(state_);
}
void Sha256Hasher::update(ByteView bytes) {
  HARMONICA_ASSERT(HARMONICA_MBEDTLS(mbedtls_sha256_update)(sha256_of(state_), bytes.data(), bytes.size()) == 0);
}
std::array<std::uint8_t, 32> Sha256Hasher::finish() {
  std::array<std::uint8_t, 32> digest;
  HARMONICA_ASSERT(HARMONICA_MBEDTLS(mbedtls_sha256_finish)(sha256_of(state_), digest.data()) == 0);
  return digest;
}

std::array<std::uint8_t, 32> sha256(ByteView bytes) {
  Sha256Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

}  // namespace harmonica::platform
