// Tensors that a plug-in returned.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "vernier/backend_abi.h"

namespace vernier {

/// Outputs of one run; whatever happens, each is released once.
class OutputSet {
 public:
  /// `capacity` places for a plug-in to fill.
  explicit OutputSet(size_t capacity) : pointers_(capacity, nullptr) {}
  ~OutputSet() {
    for (vn_tensor* t : pointers_) {
      if (t != nullptr && t->release != nullptr) t->release(t);
    }
  }
  OutputSet(const OutputSet&) = delete;
  OutputSet& operator=(const OutputSet&) = delete;

  vn_tensor** data() { return pointers_.data(); }
  /// A tensor that is taken from here, by writing nullptr, is released by the taker.
  std::span<vn_tensor*> tensors() { return pointers_; }
  /// One more tensor. The place, for the same purpose, is valid until the next one is added.
  vn_tensor*& Add(vn_tensor* tensor) { return pointers_.emplace_back(tensor); }

 private:
  std::vector<vn_tensor*> pointers_;
};

}  // namespace vernier
