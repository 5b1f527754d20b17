// Results of checks on parts of a model, so that none is checked twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "vernier/status.h"

namespace vernier {

/// Nodes by number; the caller defines the numbers.
using NodeSet = std::vector<uint32_t>;

/// Of these sets, the first that passes a check.
using FirstOfSets = std::function<Result<std::optional<size_t>>(std::span<const NodeSet>)>;

class AskedSets {
 public:
  /// `first` must outlive this.
  explicit AskedSets(const FirstOfSets& first) : first_(first) {}

  /// As the check itself, which runs only for sets that are new. The nodes of equal sets have to
  /// come in equal order. Errors of the check.
  Result<std::optional<size_t>> First(std::span<const NodeSet> sets);

  /// Every set that was checked, and whether it passed.
  const std::map<NodeSet, bool>& answers() const { return answers_; }

 private:
  const FirstOfSets& first_;
  std::map<NodeSet, bool> answers_;
};

}  // namespace vernier
