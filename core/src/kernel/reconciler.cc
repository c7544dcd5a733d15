#include "kernel/reconciler.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "harmonica/limits.h"

namespace harmonica::kernel {
namespace {

Status wrong_answer(const std::string& what) {
  return {StatusCode::kInvalidArgument, "comparison of ranges: the peer's answer " + what + "; end the session"};
}

Status endless() {
  return {StatusCode::kLimitExceeded,
          "comparison of ranges: the peer's answers come to no end; end the session, and update the older side"};
}

// The ranges that begin at `range.first` and at each of `firsts`.
std::vector<ItemIdRange> parts_of(const ItemIdRange& range, std::span<const ItemId> firsts) {
  std::vector<ItemIdRange> parts;
  ItemId first = range.first;
  for (const ItemId& following : firsts) {
    parts.push_back({first, previous(following)});
    first = following;
  }
  parts.push_back({first, range.last});
  return parts;
}

bool rises_within(const std::vector<ItemId>& ids, const ItemIdRange& range) {
  for (std::size_t index = 0; index < ids.size(); ++index) {
    if (!range.contains(ids[index]) || (index > 0 && !(ids[index - 1] < ids[index]))) return false;
  }
  return true;
}

Fingerprint sum_of(std::span<const RangeSums::HeldItem> items) {
  FingerprintSum sum;
  for (const RangeSums::HeldItem& item : items) sum.add(item.digest);
  return sum.value();
}

Result<RangeAnswer> answer_question(RangeSums& sums, const RangeQuestion& question) {
  RangeAnswer answer;
  HARMONICA_ASSIGN_OR_RETURN(const auto few, sums.items(question.range, limits::kRangeItemsMax + 1));
  if (few.size() <= limits::kRangeItemsMax) {
    if (sum_of(few) == question.fingerprint) return answer;
    answer.kind = RangeAnswerKind::kItems;
    for (const RangeSums::HeldItem& item : few) {
      answer.ids.push_back(item.item);
      answer.fingerprints.push_back(item.digest);
    }
    return answer;
  }
  HARMONICA_ASSIGN_OR_RETURN(const Fingerprint whole, sums.fingerprint(question.range));
  if (whole == question.fingerprint) return answer;
  answer.kind = RangeAnswerKind::kParts;
  HARMONICA_ASSIGN_OR_RETURN(answer.ids, sums.cuts(question.range, limits::kRangePartsMax));
  for (const ItemIdRange& part : parts_of(question.range, answer.ids)) {
    HARMONICA_ASSIGN_OR_RETURN(const Fingerprint fingerprint, sums.fingerprint(part));
    answer.fingerprints.push_back(fingerprint);
  }
  return answer;
}

}  // namespace

Result<std::vector<RangeAnswer>> answer_questions(RangeSums& sums, std::span<const RangeQuestion> questions) {
  if (questions.size() > limits::kRangeQuestionsMax) {
    return Status(StatusCode::kLimitExceeded, "comparison of ranges: " + std::to_string(questions.size()) +
                                                  " questions at once, and " + std::to_string(limits::kRangeQuestionsMax) +
                                                  " are allowed");
  }
  const ItemId* behind = nullptr;
  for (const RangeQuestion& question : questions) {
    if (question.range.last < question.range.first || (behind != nullptr && !(*behind < question.range.first))) {
      return Status(StatusCode::kInvalidArgument, "comparison of ranges: the peer asks about ranges that do not rise");
    }
    behind = &question.range.last;
  }
  std::vector<RangeAnswer> answers;
  answers.reserve(questions.size());
  for (const RangeQuestion& question : questions) {
    HARMONICA_ASSIGN_OR_RETURN(RangeAnswer answer, answer_question(sums, question));
    answers.push_back(std::move(answer));
  }
  return answers;
}

Reconciler::Reconciler(RangeSums& sums, Interest interest, std::span<const ItemIdRange> ranges)
    : sums_(sums), interest_(interest) {
  for (const ItemIdRange& range : ranges) open_.push_back({range, 0});
}

Result<std::vector<RangeQuestion>> Reconciler::questions() {
  // One range in many parts must find room as well.
  while (asked_.size() + limits::kRangePartsMax <= limits::kRangeQuestionsMax && !open_.empty()) {
    const Open open = open_.front();
    open_.pop_front();
    HARMONICA_RETURN_IF_ERROR(ask(open));
  }
  std::vector<RangeQuestion> questions;
  questions.reserve(asked_.size());
  for (const Asked& asked : asked_) questions.push_back(asked.question);
  return questions;
}

Status Reconciler::ask(const Open& open) {
  HARMONICA_ASSIGN_OR_RETURN(const auto few, sums_.items(open.range, limits::kRangeItemsMax + 1));
  if (few.empty() && interest_ == Interest::kOnlyHere) return {};
  if (few.size() > limits::kRangeItemsMax) return ask_in_parts(open);
  asked_.push_back({{open.range, sum_of(few)}, open.depth});
  return {};
}

Status Reconciler::ask_in_parts(const Open& open) {
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> cuts, sums_.cuts(open.range, limits::kRangePartsMax));
  for (const ItemIdRange& part : parts_of(open.range, cuts)) {
    HARMONICA_ASSIGN_OR_RETURN(const Fingerprint fingerprint, sums_.fingerprint(part));
    asked_.push_back({{part, fingerprint}, open.depth});
  }
  return {};
}

Status Reconciler::take(std::span<const RangeAnswer> answers) {
  if (answers.size() != asked_.size()) {
    return wrong_answer("has " + std::to_string(answers.size()) + " parts for " + std::to_string(asked_.size()) +
                        " questions");
  }
  asked_in_all_ += asked_.size();
  if (asked_in_all_ > limits::kRangeQuestionsInAllMax) return endless();
  const std::vector<Asked> asked = std::exchange(asked_, {});
  // What follows from these comes before what waits already, so that ranges go on rising.
  std::deque<Open> waiting = std::exchange(open_, {});
  for (std::size_t index = 0; index < asked.size(); ++index) {
    const RangeAnswer& answer = answers[index];
    if (!rises_within(answer.ids, asked[index].question.range)) {
      return wrong_answer("names ids outside the range that was asked about, or out of order");
    }
    switch (answer.kind) {
      case RangeAnswerKind::kEqual:
        break;
      case RangeAnswerKind::kParts:
        HARMONICA_RETURN_IF_ERROR(take_parts(asked[index], answer));
        break;
      case RangeAnswerKind::kItems:
        HARMONICA_RETURN_IF_ERROR(take_items(asked[index], answer));
        break;
    }
  }
  open_.insert(open_.end(), waiting.begin(), waiting.end());
  return {};
}

Status Reconciler::take_parts(const Asked& asked, const RangeAnswer& answer) {
  const ItemIdRange& range = asked.question.range;
  const bool cuts = !answer.ids.empty() && range.first < answer.ids.front() && answer.ids.size() < limits::kRangePartsMax &&
                    answer.fingerprints.size() == answer.ids.size() + 1;
  if (!cuts) return wrong_answer("does not cut a range into parts");
  if (asked.depth >= limits::kRangeDepthMax) return endless();
  const std::vector<ItemIdRange> parts = parts_of(range, answer.ids);
  for (std::size_t index = 0; index < parts.size(); ++index) {
    HARMONICA_ASSIGN_OR_RETURN(const Fingerprint ours, sums_.fingerprint(parts[index]));
    if (ours != answer.fingerprints[index]) open_.push_back({parts[index], asked.depth + 1});
  }
  return {};
}

Status Reconciler::take_items(const Asked& asked, const RangeAnswer& answer) {
  if (answer.fingerprints.size() != answer.ids.size() || answer.ids.size() > limits::kRangeItemsMax) {
    return wrong_answer("lists items without their fingerprints, or too many");
  }
  HARMONICA_ASSIGN_OR_RETURN(const auto held, sums_.items(asked.question.range, std::numeric_limits<std::size_t>::max()));
  std::size_t theirs = 0;
  const auto pass_theirs = [&] {
    if (interest_ == Interest::kEverything) differences_.only_there.push_back(answer.ids[theirs]);
    ++theirs;
  };
  for (const RangeSums::HeldItem& ours : held) {
    while (theirs < answer.ids.size() && answer.ids[theirs] < ours.item) pass_theirs();
    if (theirs == answer.ids.size() || ours.item < answer.ids[theirs]) {
      differences_.only_here.push_back(ours.item);
      continue;
    }
    if (interest_ == Interest::kEverything && ours.digest != answer.fingerprints[theirs]) {
      differences_.differing.push_back(ours.item);
    }
    ++theirs;
  }
  while (theirs < answer.ids.size()) pass_theirs();
  told_in_all_ += answer.ids.size();
  return told_in_all_ > limits::kRangeItemsInAllMax ? endless() : Status();
}

RangeDifferences Reconciler::take_differences() {
  for (std::vector<ItemId>* list : {&differences_.only_here, &differences_.only_there, &differences_.differing}) {
    std::sort(list->begin(), list->end());
  }
  return std::move(differences_);
}

}  // namespace harmonica::kernel
