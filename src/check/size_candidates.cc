#include "check/size_candidates.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>

namespace vernier {
namespace {

// Small ones, powers of two, and what pictures and frames of sound often have.
constexpr int64_t kSizes[] = {2, 3, 4, 8, 16, 32, 48, 64, 128, 192, 224, 256, 320, 512, 576, 1024};

// What keeps a search short where every trial takes long.
constexpr size_t kMostSingles = 6;

// Dimensions of one name are one; those without a name are each their own.
std::string NameOfDim(size_t input, size_t axis, const Dim& dim) {
  return dim.symbol.empty() ? std::to_string(input) + "." + std::to_string(axis) : "=" + dim.symbol;
}

}  // namespace

SizeCandidates::SizeCandidates(std::span<const TensorInfo> inputs,
                               const std::function<bool(const TensorInfo&)>& free) {
  std::set<std::string> leading, others;
  const auto for_each = [&](std::vector<TensorInfo>& all, const auto& visit) {
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i].shape || !free(all[i])) continue;
      for (size_t axis = 0; axis < all[i].shape->size(); ++axis) {
        Dim& dim = (*all[i].shape)[axis];
        if (dim.dynamic()) visit(NameOfDim(i, axis, dim), axis, dim);
      }
    }
  };
  std::vector<TensorInfo> declared(inputs.begin(), inputs.end());
  for_each(declared, [&](const std::string& name, size_t axis, const Dim&) {
    (axis == 0 ? leading : others).insert(name);
  });
  std::set<std::string> inner;
  std::set_difference(others.begin(), others.end(), leading.begin(), leading.end(),
                      std::inserter(inner, inner.end()));
  std::vector<std::set<std::string>> choices;
  if (!inner.empty()) choices.push_back(inner);
  std::set<std::string> all = inner;
  all.insert(leading.begin(), leading.end());
  for (const std::string& name : all) {
    if (choices.size() > kMostSingles) break;
    if (std::set<std::string> single{name}; single != inner) choices.push_back(std::move(single));
  }
  for (const int64_t size : kSizes) {
    for (const std::set<std::string>& chosen : choices) {
      std::vector<TensorInfo> sized = declared;
      for_each(sized, [&](const std::string& name, size_t, Dim& dim) {
        dim = {chosen.contains(name) ? size : 1, {}};
      });
      list_.push_back(std::move(sized));
    }
  }
}

}  // namespace vernier
