// The largest elements of a row, and where they are. Internal to kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vernier {

/// Of equal elements the first are taken. Without NaN.
class Largest {
 public:
  /// At least 1, and no more than a row has.
  explicit Largest(size_t count) : count_(count) {}

  void Clear() { taken_.clear(); }

  /// The next `n` elements of the row, from place `start` on, of which none exceeds `most`.
  template <typename T>
  void Offer(const T* values, size_t n, int64_t start, double most) {
    if (IsFull() && !(most > taken_.back().value)) return;
    for (size_t first = 0; first < n; first += kGroup) {
      const size_t end = std::min(first + kGroup, n);
      if (end == first + kGroup && IsFull() && !AnyExceeds(values + first)) continue;
      for (size_t i = first; i < end; ++i) {
        const auto value = static_cast<double>(values[i]);
        if (!IsFull() || value > taken_.back().value)
          Insert(value, start + static_cast<int64_t>(i));
      }
    }
  }

  /// Of the largest. Something must have been offered.
  int64_t place() const { return taken_.front().place; }

  /// Are they in the same places, in whatever order? Sorts both by place.
  bool HasPlacesOf(Largest& other) {
    const auto by_place = [](const Entry& x, const Entry& y) { return x.place < y.place; };
    std::sort(taken_.begin(), taken_.end(), by_place);
    std::sort(other.taken_.begin(), other.taken_.end(), by_place);
    return std::equal(taken_.begin(), taken_.end(), other.taken_.begin(), other.taken_.end(),
                      [](const Entry& x, const Entry& y) { return x.place == y.place; });
  }

 private:
  static constexpr size_t kGroup = 32;

  // Of a group that few have one in: a loop that compilers make vectors of.
  template <typename T>
  bool AnyExceeds(const T* group) const {
    const auto least = static_cast<T>(taken_.back().value);
    int any = 0;
    for (size_t i = 0; i < kGroup; ++i) any |= group[i] > least ? 1 : 0;
    return any != 0;
  }

  struct Entry {
    double value;
    int64_t place;
  };

  bool IsFull() const { return taken_.size() == count_; }

  void Insert(double value, int64_t place) {
    const auto smaller = std::find_if(taken_.begin(), taken_.end(),
                                      [&](const Entry& entry) { return entry.value < value; });
    const auto at = smaller - taken_.begin();
    if (IsFull()) taken_.pop_back();
    taken_.insert(taken_.begin() + at, {value, place});
  }

  size_t count_;
  std::vector<Entry> taken_;  // in falling order
};

}  // namespace vernier
