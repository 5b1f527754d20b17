// Lists of operators as the tables of this folder have them: names separated by single blanks.
#pragma once

#include <algorithm>
#include <string_view>

namespace vernier {

/// Calls `visit` with each name.
template <typename Visit>
void ForEachOperator(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    visit(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

inline bool IsInOperators(std::string_view list, std::string_view name) {
  bool found = false;
  ForEachOperator(list, [&](std::string_view one) { found |= one == name; });
  return found;
}

}  // namespace vernier
