#include "run/shards/received_tally.h"

#include <charconv>
#include <span>
#include <system_error>

#include "run/workers/runner_session.h"

namespace vernier {
namespace {

void TakeFirst(const std::vector<std::string>& hashes, ReceivedRecord& received) {
  if (hashes.size() != received.first.size()) return;
  for (size_t i = 0; i < hashes.size(); ++i) received.first[i].second = hashes[i];
}

}  // namespace

std::optional<uint64_t> HashFrom(const std::string& text) {
  constexpr int kHexadecimal = 16;
  uint64_t hash = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), hash, kHexadecimal);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(hash) : std::nullopt;
}

void ReceivedTally::Add(const ShardIteration& iteration) {
  if (iterations_ == 0) first_ = iteration.received;
  if (sums_.size() < iteration.received.size()) sums_.resize(iteration.received.size());
  for (size_t i = 0; i < iteration.received.size(); ++i) {
    for (const std::string& text : iteration.received[i].hashes) {
      const uint64_t hash = HashFrom(text).value_or(0);
      sums_[i].Add(std::as_bytes(std::span(&hash, 1)));
    }
  }
  ++iterations_;
}

std::vector<RunnerRecord> ReceivedTally::Complete(std::vector<RunnerRecord> runners) const {
  for (size_t i = 0; i < runners.size(); ++i) {
    runners[i].latency.reset();
    runners[i].load_seconds = 0;
    runners[i].iterations = iterations_;
    if (!runners[i].received || i >= sums_.size()) continue;
    runners[i].received->iterations = iterations_;
    runners[i].received->all = HexadecimalHash(sums_[i].value());
    if (i < first_.size()) TakeFirst(first_[i].hashes, *runners[i].received);
  }
  return runners;
}

}  // namespace vernier
