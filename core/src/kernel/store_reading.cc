#include "kernel/store_reading.h"

#include "harmonica/utf8.h"

namespace harmonica::kernel {

std::string printable(const StoreKey& key) { return "'" + (is_valid_utf8(key) ? key : to_hex(as_bytes(key))) + "'"; }

}  // namespace harmonica::kernel
