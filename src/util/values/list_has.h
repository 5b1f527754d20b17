// Membership in a list.
#pragma once

#include <algorithm>
#include <iterator>

namespace vernier {

/// Whether one of the list's elements equals the value.
constexpr bool ListHas(const auto& list, const auto& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

}  // namespace vernier
