// Settings that may differ for each output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vernier/part_names.h"

namespace vernier {

/// A value that may differ for each output: entries by name, a fallback for all other names.
/// Empty entries and no fallback mean that nothing was given.
template <typename T>
struct PerOutput {
  std::optional<T> fallback;
  std::vector<std::pair<std::string, T>> entries;

  /// The entry of that name (the last one wins), else that of a sequence, map or optional which it
  /// is a part of, else the fallback, else `builtin`.
  T Lookup(std::string_view name, T builtin) const {
    for (auto it = entries.rbegin(); it != entries.rend(); ++it) {
      if (it->first == name) return it->second;
    }
    for (auto it = entries.rbegin(); it != entries.rend(); ++it) {
      if (!it->first.empty() && IsPartOf(name, it->first)) return it->second;
    }
    return fallback ? *fallback : std::move(builtin);
  }
};

/// One `--postprocess` entry: an output is replaced by the indices of its largest values.
struct TopK {
  int64_t k = 0;      ///< 0 leaves the output as it is; negative gives no indices
  int64_t axis = -1;  ///< negative counts from the last axis

  template <typename Plan, typename Fields>
  static void EachField(Plan& top, Fields& field) {
    field("k", top.k);
    field("axis", top.axis);
  }
};

}  // namespace vernier
