// The ids and guids of a Chromium tree, each there once.
#pragma once

#include "chromium_checksum.h"
#include "chromium_document.h"

namespace harmonica::providers {

// Gives keys to entries of the document that have no good one of their own, and marks ids that have to be given anew; tells
// of both in `mended`. Finds the folder that stands for the root `menu`. Titles take the form in which they are shown.
// Answers with the checksums of the tree as it was in the file.
ChromiumChecksum::Digests settle_identities(ChromiumDocument& document, ChromiumChecksums present);

}  // namespace harmonica::providers
