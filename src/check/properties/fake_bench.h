// A bench for tests of properties: it gives what it was given.
#pragma once

#include <string>
#include <vector>

#include "check/properties/properties.h"

namespace vernier {

class FakeBench final : public Bench {
 public:
  Result<TensorMap> Draw(const FreeSizes&) override { return NotFound("feeds are not drawn"); }
  Result<TensorMap> Another(const TensorMap&) override { return NotFound("there is no other"); }
  Result<std::vector<TensorMap>> DrawGiven() override { return std::vector<TensorMap>(); }
  const RowPlan& Rows() override { return rows; }
  std::vector<MeetingRows> Meeting(std::span<const BatchedInput>,
                                   std::span<const std::string>) override {
    return {};
  }
  std::string RefusedByAll(const TensorMap&) override { return ""; }
  const ErrorBounds& BoundsOf(const TensorMap&, const TensorMap&) override { return bounds; }
  const WidenedBounds* Widen(const TensorMap& feed) override {
    widened_for = &feed;
    return wide;
  }

  RowPlan rows;
  ErrorBounds bounds;
  const WidenedBounds* wide = nullptr;
  const TensorMap* widened_for = nullptr;  ///< the last feed that Widen() was called with
};

}  // namespace vernier
