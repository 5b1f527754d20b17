#include "run/workers/received_inputs.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace vernier {

std::string HexadecimalHash(uint64_t hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (size_t i = 0; i < text.size(); ++i) text[text.size() - 1 - i] = kDigits[hash >> 4 * i & 15];
  return text;
}

void ReceivedInputs::Add(InputHashes hashes, int64_t iteration) {
  last_ = std::move(hashes);
  if (!counts_ || iteration < 0) return;
  for (const auto& [name, hash] : last_) {
    all_.Add(std::as_bytes(std::span(&hash, 1)));
    if (iterations_ == 0) first_.emplace_back(name, HexadecimalHash(hash));
  }
  ++iterations_;
}

void ReceivedInputs::TakeOver(InputHashes hashes) {
  last_.clear();
  if (counts_) last_ = std::move(hashes);
}

void ReceivedInputs::Forget() {
  all_ = Checksum();
  iterations_ = 0;
  first_.clear();
}

std::optional<ReceivedRecord> ReceivedInputs::All() const {
  if (iterations_ == 0) return std::nullopt;
  return ReceivedRecord{iterations_, HexadecimalHash(all_.value()), first_};
}

}  // namespace vernier
