#include "run/phases/feed_queue.h"

#include <utility>

#include "run/live/output_room.h"

namespace vernier {

Result<std::optional<TensorMap>> FeedQueue::Next() {
  if (ahead_ == 0) return feeds_.Next();
  for (bool any = false; !ended_ && waiting_.size() <= ahead_; any = true) {
    // One for each that goes keeps lanes busy. Of slow feeds no more: what there is to compare may
    // end the run.
    if (any && waiting_.size() > 1 && inference_.IsInferred(given_)) break;
    Result<std::optional<TensorMap>> feed = feeds_.Next();
    // Of earlier feeds a part of the memory is taken already.
    if (feed.ok() && *feed) {
      const Status room = CheckOutputRoom(inference_.runs(), **feed, counted_);
      if (!room.ok()) feed = room;
    }
    ended_ = !feed.ok() || !feed->has_value();
    if (!ended_) inference_.SendAhead(**feed, read_++);
    if (ended_) inference_.SendRest();
    waiting_.push_back(std::move(feed));
  }
  if (waiting_.empty()) return std::optional<TensorMap>();
  Result<std::optional<TensorMap>> next = std::move(waiting_.front());
  waiting_.pop_front();
  ++given_;
  return next;
}

bool FeedQueue::Finishes() {
  ended_ = true;
  if (waiting_.empty()) return false;
  const Result<std::optional<TensorMap>>& next = waiting_.front();
  return !next.ok() || (next->has_value() && inference_.IsInferred(given_));
}

}  // namespace vernier
