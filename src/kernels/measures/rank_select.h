// Exact order statistics of a stream that can be read several times, without storing it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace vernier {

/// Order-preserving unsigned keys: a < b as values means Encode(a) < Encode(b). -0.0 sorts below
/// 0.0; NaNs sort to the ends, whichever their sign.
template <typename T>
struct OrderedKey {
  using Key = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr Key kSignBit = Key{1} << (sizeof(Key) * 8 - 1);

  static Key Encode(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      const Key bits = std::bit_cast<Key>(value);
      return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<Key>(value) ^ kSignBit;
    } else {
      return value;
    }
  }
  static T Decode(Key key) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::bit_cast<T>((key & kSignBit) != 0 ? key & ~kSignBit : ~key);
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(key ^ kSignBit);
    } else {
      return key;
    }
  }
};

/// Finds the elements of given ranks (0 = smallest). Up to kStoredCount values are kept and sorted;
/// more are read once per 16 bits of T, each time counted by their next 16 bits in the buckets that
/// still hold a wanted rank. Memory: 512 KiB per such bucket.
///
/// Add() sees all values in any order, then NextPass() says whether they must be added once more.
template <typename T>
class RankSelector {
 public:
  using Ordered = OrderedKey<T>;
  using Key = typename Ordered::Key;

  /// `ranks`: each within [0, count). Duplicates are fine.
  RankSelector(int64_t count, std::vector<int64_t> ranks) : ranks_(std::move(ranks)) {
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
    store_ = count <= kStoredCount;
    if (store_) {
      keys_.reserve(ranks_.empty() ? 0 : static_cast<size_t>(count));
    } else {
      for (const int64_t rank : ranks_) wanted_.push_back({0, rank});
      buckets_.push_back({0, std::vector<uint64_t>(kRadix)});
      group_.assign(kRadix, 1);
    }
  }

  void Add(const T* values, size_t n) {
    if (ranks_.empty()) return;
    if (store_) {
      for (size_t i = 0; i < n; ++i) keys_.push_back(Ordered::Encode(values[i]));
    } else if (level_ == 0) {
      uint64_t* counts = buckets_[0].counts.data();
      for (size_t i = 0; i < n; ++i) ++counts[Ordered::Encode(values[i]) >> kTopShift];
    } else {
      AddDeeper(values, n);
    }
  }

  bool NextPass() {
    if (ranks_.empty()) return false;
    if (store_) {
      SelectStored();
      return false;
    }
    for (Wanted& wanted : wanted_) Descend(wanted);
    if (++level_ == kLevels) return false;
    OpenBuckets();
    return true;
  }

  /// The value of that rank; the rank must have been requested and all passes made.
  T Value(int64_t rank) const {
    const auto it = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    if (store_) return Ordered::Decode(found_[static_cast<size_t>(it - ranks_.begin())]);
    return Ordered::Decode(wanted_[static_cast<size_t>(it - ranks_.begin())].prefix);
  }

 private:
  static constexpr int64_t kStoredCount = 65536;
  static constexpr size_t kRadix = 65536;
  static constexpr int kKeyBits = static_cast<int>(sizeof(Key)) * 8;
  static constexpr int kTopShift = kKeyBits - 16;
  static constexpr int kLevels = kKeyBits / 16;

  struct Wanted {
    Key prefix;     ///< the bits found so far, as the low bits
    int64_t below;  ///< the rank within the prefix's bucket
  };
  struct Bucket {
    Key prefix;
    std::vector<uint64_t> counts;
  };

  // Sorts the keys whose top bits a wanted rank falls on, and no others: a few hundredths of them.
  void SelectStored() {
    constexpr int kBits = 12;
    constexpr int kShift = kKeyBits - kBits;
    constexpr size_t kFewKeys = 512;
    found_.resize(ranks_.size());
    if (keys_.size() <= kFewKeys) {
      std::sort(keys_.begin(), keys_.end());
      for (size_t i = 0; i < ranks_.size(); ++i) found_[i] = keys_[static_cast<size_t>(ranks_[i])];
      return;
    }
    std::vector<uint32_t> counts(size_t{1} << kBits);
    for (const Key key : keys_) ++counts[key >> kShift];
    std::vector<size_t> places;  // of the wanted ranks among the kept keys
    size_t before = 0;
    size_t kept = 0;
    for (uint32_t& count : counts) {
      const size_t size = count;
      count = 0;
      while (places.size() < ranks_.size() &&
             static_cast<size_t>(ranks_[places.size()]) < before + size) {
        places.push_back(kept + static_cast<size_t>(ranks_[places.size()]) - before);
        count = 1;
      }
      kept += count != 0 ? size : 0;
      before += size;
    }
    size_t end = 0;
    for (const Key key : keys_) {
      keys_[end] = key;
      end += counts[key >> kShift];
    }
    keys_.resize(end);
    std::sort(keys_.begin(), keys_.end());
    for (size_t i = 0; i < ranks_.size(); ++i) found_[i] = keys_[places[i]];
  }

  void AddDeeper(const T* values, size_t n) {
    const int shift = kKeyBits - 16 * (level_ + 1);
    for (size_t i = 0; i < n; ++i) {
      const Key key = Ordered::Encode(values[i]);
      if (group_[key >> kTopShift] == 0) continue;
      const Key prefix = key >> shift >> 16;
      for (Bucket& bucket : buckets_) {
        if (bucket.prefix != prefix) continue;
        ++bucket.counts[(key >> shift) & (kRadix - 1)];
        break;
      }
    }
  }

  void Descend(Wanted& wanted) {
    const auto bucket = std::find_if(buckets_.begin(), buckets_.end(),
                                     [&](const Bucket& b) { return b.prefix == wanted.prefix; });
    size_t digit = 0;
    while (digit + 1 < kRadix && static_cast<uint64_t>(wanted.below) >= bucket->counts[digit]) {
      wanted.below -= static_cast<int64_t>(bucket->counts[digit]);
      ++digit;
    }
    // The shift is split because a shift by the key's whole width is undefined.
    wanted.prefix = static_cast<Key>(wanted.prefix << 8 << 8 | digit);
  }

  void OpenBuckets() {
    buckets_.clear();
    group_.assign(kRadix, 0);
    for (const Wanted& wanted : wanted_) {
      const bool known = std::any_of(buckets_.begin(), buckets_.end(),
                                     [&](const Bucket& b) { return b.prefix == wanted.prefix; });
      if (known) continue;
      group_[wanted.prefix >> (16 * (level_ - 1))] = 1;
      buckets_.push_back({wanted.prefix, std::vector<uint64_t>(kRadix)});
    }
  }

  std::vector<int64_t> ranks_;
  bool store_ = true;
  int level_ = 0;
  std::vector<Key> keys_;
  std::vector<Key> found_;  ///< of the stored keys, in the order of ranks_
  std::vector<Wanted> wanted_;
  std::vector<Bucket> buckets_;
  std::vector<uint8_t> group_;  ///< by the top 16 bits: could such a key be in a bucket?
};

}  // namespace vernier
