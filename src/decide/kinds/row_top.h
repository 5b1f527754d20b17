// The largest values of a row, and their places. Internal to decide.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "decide/kinds/near_tie.h"
#include "kernels/classes/class_blocks.h"

namespace vernier {

template <typename T>
constexpr T LeastValue() {
  if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

template <typename T>
struct TopTwo {
  T best = LeastValue<T>();
  T second = LeastValue<T>();  ///< equal to `best` where that is there twice
  size_t place = 0;            ///< of the first `best`
  bool has_nan = false;        ///< the other members then mean nothing
};

// Lanes that do not depend on each other: compilers make vectors of the loops over them.
template <size_t kLanes, typename T>
TopTwo<T> ScanTopTwo(std::span<const T> row) {
  T best[kLanes];
  T second[kLanes];
  int has_nan[kLanes] = {};
  std::fill_n(best, kLanes, LeastValue<T>());
  std::fill_n(second, kLanes, LeastValue<T>());
  const T* at = row.data();
  const T* const end = at + row.size() / kLanes * kLanes;
  for (; at != end; at += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const T value = at[lane];
      const T lower = value > best[lane] ? best[lane] : value;
      best[lane] = value > best[lane] ? value : best[lane];
      second[lane] = lower > second[lane] ? lower : second[lane];
      has_nan[lane] |= IsNan(value) ? 1 : 0;
    }
  }
  TopTwo<T> top;
  const auto offer = [&top](T value) {
    top.second = std::max(top.second, std::min(top.best, value));
    top.best = std::max(top.best, value);
  };
  for (size_t lane = 0; lane < kLanes; ++lane) {
    offer(best[lane]);
    top.second = std::max(top.second, second[lane]);
    top.has_nan |= has_nan[lane] != 0;
  }
  for (; at != row.data() + row.size(); ++at) {
    top.has_nan |= IsNan(*at);
    offer(*at);
  }
  return top;
}

template <typename T>
size_t PlaceOf(std::span<const T> row, T value) {
  constexpr size_t kGroup = 32;
  size_t first = 0;
  for (; first + kGroup <= row.size(); first += kGroup) {
    int any = 0;
    for (size_t i = 0; i < kGroup; ++i) any |= row[first + i] == value ? 1 : 0;
    if (any != 0) break;
  }
  while (first < row.size() && row[first] != value) ++first;
  return first;
}

/// Of a row with one value or more.
template <typename T>
TopTwo<T> FindTopTwo(std::span<const T> row) {
  if constexpr (std::is_same_v<T, float>) {
    const LargestTwo found = FindLargestTwo(row.data(), row.size());
    return {found.best, found.second, found.place, found.has_nan};
  }
  constexpr size_t kLongRow = 64;
  TopTwo<T> top = row.size() < kLongRow ? ScanTopTwo<4>(row) : ScanTopTwo<16>(row);
  if (!top.has_nan) top.place = PlaceOf(row, top.best);
  return top;
}

template <typename T>
bool HasNan(std::span<const T> row) {
  int any = 0;
  for (const T value : row) any |= IsNan(value) ? 1 : 0;
  return any != 0;
}

/// The places of the `count` largest values in falling order, of equal ones the first: NumPy's
/// stable argsort of the negated row. Without NaN; count <= row.size().
template <typename T>
void FindLargest(std::span<const T> row, size_t count, std::vector<size_t>& places) {
  constexpr size_t kFew = 64;
  constexpr size_t kGroup = 32;
  const auto before = [row](size_t x, size_t y) {
    return row[x] > row[y] || (row[x] == row[y] && x < y);
  };
  if (count > kFew) {
    places.resize(row.size());
    std::iota(places.begin(), places.end(), size_t{0});
    std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count),
                      places.end(), before);
    places.resize(count);
    return;
  }
  places.resize(count);
  std::iota(places.begin(), places.end(), size_t{0});
  std::sort(places.begin(), places.end(), before);
  for (size_t first = count; first < row.size(); first += kGroup) {
    const size_t end = std::min(first + kGroup, row.size());
    const T least = row[places.back()];
    int any = 0;
    for (size_t i = first; i < end; ++i) any |= row[i] > least ? 1 : 0;
    if (any == 0) continue;
    for (size_t i = first; i < end; ++i) {
      if (!(row[i] > row[places.back()])) continue;
      places.pop_back();
      places.insert(std::upper_bound(places.begin(), places.end(), i, before), i);
    }
  }
}

}  // namespace vernier
