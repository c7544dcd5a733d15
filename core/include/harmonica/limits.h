// Every ceiling on data from outside, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace harmonica::limits {

// A scope lives on the devices of a person or a team; ten thousand replicas over its life is far beyond that, and a clock
// vector of that many is 240 KB.
inline constexpr std::size_t kReplicasMax = 10'000;

// Steps in one knowledge. Scattered failures add two each; beyond this a full comparison is cheaper than the exceptions.
inline constexpr std::size_t kKnowledgeStepsMax = 1'000'000;

// Entries of all distinct vectors of one knowledge together: 24 bytes each.
inline constexpr std::size_t kKnowledgeEntriesMax = 10'000'000;

// Steps that a replica's knowledge may come to have because items could not be applied, two for each that fails among
// others that do not: five thousand such items, 180 KB in every session. Beyond it batches with such items have to wait.
inline constexpr std::size_t kLearnedStepsMax = 10'000;

// Entries of one knowledge in a message that stand for those of retired replicas: bytes that nobody paid for, 24 MB of
// them.
inline constexpr std::size_t kLeftOutEntriesMax = 1'000'000;

// Units of one item. Tables have at most 2,000 columns (SQLite's default).
inline constexpr std::size_t kUnitsMax = 4'000;

// Types and roots of a schema that a peer sends, and bytes of each name in it: schemas are written by hand.
inline constexpr std::size_t kSchemaTypesMax = 1'000;
inline constexpr std::size_t kSchemaRootsMax = 1'000;
inline constexpr std::size_t kSchemaNameBytesMax = 1'024;

// Fingerprints of other schemas that a replica remembers to be compatible with its own: an app has fewer versions in use.
// The oldest is forgotten first, and costs two round trips when it is met again.
inline constexpr std::size_t kSchemasMetMax = 64;

// Changes in one batch, and its bytes on the wire; a batch is held in memory on both sides.
inline constexpr std::size_t kBatchChangesMax = 100'000;
inline constexpr std::size_t kMessageBytesMax = 64 * 1024 * 1024;

// Submessages of one message at every level. Each takes up to some 100 bytes in memory and as little as 2 on the wire, so
// the bytes of a message alone would not bound what reading it takes.
inline constexpr std::size_t kMessagePartsMax = 2'000'000;

// What a destination asks for if nothing else is said: small enough for a phone, large enough that round trips vanish.
inline constexpr std::uint64_t kBatchBytesDefault = 1024 * 1024;

// What a remote destination gets at most, whatever it asks for: a quarter of a message, as a change may be far heavier than
// the batch had room for.
inline constexpr std::uint64_t kBatchBytesMax = 16 * 1024 * 1024;

// Bytes of one value. Larger contents travel apart, by hash.
inline constexpr std::size_t kValueBytesMax = 8 * 1024 * 1024;

// Ancestors in a list. Chromium shows 200 levels; ours is a margin beyond that.
inline constexpr std::size_t kAncestorsMax = 256;

// Items whose base a destination lacks, asked for again in each request.
inline constexpr std::size_t kWantedWholeMax = 10'000;

// How far a peer's tick may be ahead of the local clock: one hour covers a wrong daylight-saving setting.
inline constexpr std::int64_t kClockDriftMsMax = 60 * 60 * 1000;

// Marks of its own that a replica remembers (4 KB). A peer that was last met before the oldest of them takes the replica
// for a copy of itself: that costs a new id, and new versions of what the replica has written.
inline constexpr std::size_t kLineageMarksMax = 256;

// Of these, those that are shown and remembered by peers (64 bytes). Where two copies have none of them in common, all that
// one of them has ever written gets new versions.
inline constexpr std::size_t kMarksShownMax = 8;

// Bytes of a device's name.
inline constexpr std::size_t kDeviceNameBytesMax = 256;

// How many ids one replica may have had: a peer that lies can make it take another, and no more of them than this.
inline constexpr std::size_t kFormerReplicasMax = 1'000;

// When a peer was met is written down only if it is that much later than what was written last.
inline constexpr std::int64_t kPeerTimeMs = 60 * 60 * 1000;

// How long tombstones are kept: a device that is away for a holiday, or lies in a drawer for a month, comes back to an
// ordinary session.
inline constexpr std::int64_t kTombstoneRetentionMs = std::int64_t{60} * 24 * 60 * 60 * 1000;

// Tombstones that one session cleans: the rest waits for the next one, so that the first one after a great deletion has
// grown old is not slow.
inline constexpr std::size_t kTombstonesCleanedMax = 1'000;

// Steps of forgotten knowledge, which travels in every session: 18 KB. Beyond this it becomes one vector for all items.
inline constexpr std::size_t kForgottenStepsMax = 1'000;

// Comparing what two replicas hold. A range with more items than kRangeItemsMax is cut into kRangePartsMax parts: with
// these two, one difference among a million items is found in three exchanges and some 6 KB.
inline constexpr std::size_t kRangePartsMax = 32;
inline constexpr std::size_t kRangeItemsMax = 64;

// Questions in one message, and so answers: at most 2 MB.
inline constexpr std::size_t kRangeQuestionsMax = 1'024;

// How often a range may be narrowed: each time by kRangePartsMax at least, where nobody lies.
inline constexpr int kRangeDepthMax = 32;

// Questions and listed items of one comparison, and turns of one session: ten million items that all differ stay below
// them; a peer that goes on for ever does not.
inline constexpr std::size_t kRangeQuestionsInAllMax = 4'000'000;
inline constexpr std::size_t kRangeItemsInAllMax = 20'000'000;
inline constexpr std::uint64_t kRangeTurnsMax = 20'000;

// Ranges with which a recovery begins; more are joined.
inline constexpr std::size_t kRecoveryRangesMax = 64;

// How often a store that changes while it is written is detected again before the session gives up.
inline constexpr int kStoreChangedRetriesMax = 8;

// A detection that finds more than this many deletions, and more than half of all items, stops the guard.
inline constexpr std::size_t kGuardDeletionsMin = 20;

// Texts are merged up to this size, and up to so many words that one side has changed; beyond it `latest` decides. The
// search takes the square of the latter in memory: 2 MB.
inline constexpr std::size_t kTextMergeBytesMax = 64 * 1024;
inline constexpr std::size_t kTextMergeStepsMax = 500;

// Former texts that are kept of one unit so that it can be merged: as many as edits that a peer has likely not seen.
inline constexpr std::size_t kMergeBasesMax = 8;

// A filter: its text and its parameters, its comparisons, and how deep they nest. Every item is asked by it, and a peer may
// have sent it.
inline constexpr std::size_t kFilterBytesMax = 64 * 1024;
inline constexpr std::size_t kFilterTermsMax = 1'000;
inline constexpr std::size_t kFilterDepthMax = 64;

// What `like` looks at: the pattern, and the text that it is to match. The search takes the product of both in time.
inline constexpr std::size_t kFilterPatternBytesMax = 1'024;
inline constexpr std::size_t kFilterLikeBytesMax = 64 * 1024;

// Records of decided conflicts that a replica keeps unless its app says otherwise, and for how long: nobody looks for a
// value that lost a year ago, and ten thousand records are a few megabytes.
inline constexpr std::size_t kConflictRecordsMax = 10'000;
inline constexpr std::int64_t kConflictRecordAgeMsMax = std::int64_t{365} * 24 * 60 * 60 * 1000;

// Key bytes of a fractional position; reached only by thousands of insertions at one spot, and then spread anew.
inline constexpr std::size_t kPositionBytesMax = 512;

}  // namespace harmonica::limits
