#include "kernel/storeless.h"

#include <utility>

namespace harmonica::kernel {

Result<Enumeration> Storeless::enumerate(const Bytes& anchor, const ShownItems& /*shown*/, EnumerationSink& /*sink*/) {
  return Enumeration{EnumerationKind::kUnchanged, anchor};
}

StoreKey Storeless::key_for(const ItemId& item) const { return item.to_text(); }

Result<Written> Storeless::apply(std::span<const StoreWrite> /*writes*/, const Bytes& /*anchor*/) {
  return Status(StatusCode::kInternal, "a replica without a store was asked to write into it");
}

}  // namespace harmonica::kernel
