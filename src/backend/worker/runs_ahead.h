// Runs that a worker was sent before they were requested. Answers come in the order of requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "backend/wire/channel.h"

namespace vernier {

class RunsAhead {
 public:
  size_t size() const { return runs_.size(); }

  /// One more was sent.
  void Add(uint64_t session) { runs_.push_back({session, std::nullopt}); }

  /// Is there one, and is the first a run of this session?
  bool IsNextOf(uint64_t session) const {
    return !runs_.empty() && runs_.front().session == session;
  }

  /// Requests the first one. Its answer, if that was received already.
  std::optional<Frame> TakeNext() {
    std::optional<Frame> answer = std::move(runs_.front().answer);
    answered_ -= answer ? 1 : 0;
    runs_.pop_front();
    return answer;
  }

  /// How many have no answer yet: the last ones.
  size_t unanswered() const { return runs_.size() - answered_; }

  /// The answer of the first one that has none.
  void Keep(Frame answer) { runs_[answered_++].answer = std::move(answer); }

 private:
  struct Run {
    uint64_t session;
    std::optional<Frame> answer;
  };
  std::deque<Run> runs_;
  size_t answered_ = 0;  // the first ones
};

}  // namespace vernier
