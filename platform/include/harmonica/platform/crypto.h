// Hashes from the cryptographic library of the build: libcrypto where there is one, mbedTLS elsewhere. Thread-safe.
#pragma once

#include <array>
#include <cstdint>

#include "harmonica/bytes.h"

namespace harmonica::platform {

// A running hash. Used for formats that ask for it; MD5 protects nothing.
class Md5 {
 public:
  Md5();
  ~Md5();
  Md5(const Md5&) = delete;
  Md5& operator=(const Md5&) = delete;
  void update(ByteView bytes);
  // Once, at the end.
  std::array<std::uint8_t, 16> finish();

 private:
  void* state_;
};

class Sha256Hasher {
 public:
  Sha256Hasher();
  ~Sha256Hasher();
  Sha256Hasher(const Sha256Hasher&) = delete;
  Sha256Hasher& operator=(const Sha256Hasher&) = delete;
  void update(ByteView bytes);
  // Once, at the end.
  std::array<std::uint8_t, 32> finish();

 private:
  void* state_;
};

std::array<std::uint8_t, 32> sha256(ByteView bytes);

// Fills from the system's generator for secrets.
void random_bytes(std::span<std::uint8_t> bytes);

}  // namespace harmonica::platform
