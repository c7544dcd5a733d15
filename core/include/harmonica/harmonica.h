// Everything an app needs.
#pragma once

#include "harmonica/bytes.h"         // IWYU pragma: export
#include "harmonica/change.h"        // IWYU pragma: export
#include "harmonica/clock_vector.h"  // IWYU pragma: export
#include "harmonica/conflict.h"      // IWYU pragma: export
#include "harmonica/filter.h"        // IWYU pragma: export
#include "harmonica/ids.h"           // IWYU pragma: export
#include "harmonica/item.h"          // IWYU pragma: export
#include "harmonica/knowledge.h"     // IWYU pragma: export
#include "harmonica/limits.h"        // IWYU pragma: export
#include "harmonica/range_comparison.h"
#include "harmonica/replica.h"        // IWYU pragma: export
#include "harmonica/replica_table.h"  // IWYU pragma: export
#include "harmonica/schema.h"         // IWYU pragma: export
#include "harmonica/session.h"        // IWYU pragma: export
#include "harmonica/status.h"         // IWYU pragma: export
#include "harmonica/utf8.h"           // IWYU pragma: export
#include "harmonica/value.h"          // IWYU pragma: export
#include "harmonica/version.h"        // IWYU pragma: export
