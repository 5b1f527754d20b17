#include "compare/outputs/device_measure.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <memory>

#include "compare/functions/comparator.h"
#include "compare/outputs/tensor_for_test.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// A device whose tensors lie in pages that cannot be read until they are fetched: reading one too
// early ends the test.
class FakeDevice final : public DeviceMeasure {
 public:
  Tensor Put(const Tensor& tensor) {
    const size_t size = tensor.bytes().size();
    void* const pages = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const auto* const first = static_cast<const std::byte*>(pages);
    held_.emplace(first, tensor);
    return *Tensor::Wrap(tensor.dtype(), tensor.dims(), {first, size}, nullptr);
  }

  bool Holds(const Tensor& tensor) const override { return held_.count(tensor.bytes().data()) > 0; }

  Result<PairMeasures> Measure(const Tensor& a, const Tensor& b,
                               const MeasureRequest& request) override {
    ++measured;
    if (!refusal.ok()) return refusal;
    return MeasurePair(Elements(held_.at(a.bytes().data())), Elements(held_.at(b.bytes().data())),
                       request);
  }

  Status Fetch(const Tensor& tensor) override {
    const auto found = held_.find(tensor.bytes().data());
    if (found == held_.end()) return {};
    ++fetched;
    auto* const pages = const_cast<std::byte*>(found->first);
    ::mprotect(pages, found->second.bytes().size(), PROT_READ | PROT_WRITE);
    if (lost.ok()) std::memcpy(pages, found->second.bytes().data(), tensor.bytes().size());
    held_.erase(found);
    return lost;
  }

  int measured = 0;
  int fetched = 0;
  Status refusal;  ///< of Measure
  Status lost;     ///< of Fetch

 private:
  std::map<const std::byte*, Tensor> held_;
};

class ComparisonOnDevice : public testing::Test {
 protected:
  IterationComparison Compare(const Tensor& a, const Tensor& b) {
    detail.output_statistics = true;
    detail.differences = StatisticsLevel::kRanks;
    detail.device = &device;
    return CompareIteration({"a", {}, {{"y", a}}}, {"b", {}, {{"y", b}}}, options, detail);
  }

  FakeDevice device;
  CompareOptions options;
  ComparisonDetail detail;
};

TEST_F(ComparisonOnDevice, OutputsThatMatchAreNeverFetched) {
  const Tensor there = device.Put(Floats({1, 2, 3}));
  const IterationComparison c = Compare(there, device.Put(Floats({1, 2, 3.00001f})));
  EXPECT_TRUE(c.passed());
  EXPECT_EQ(device.measured, 1);
  EXPECT_EQ(device.fetched, 0);
  ASSERT_EQ(c.statistics.size(), 1u);
  EXPECT_EQ(c.statistics[0].a.statistics.max, 3);
  EXPECT_EQ(c.statistics[0].b.statistics.median, 2);
}

TEST_F(ComparisonOnDevice, OutputsThatDifferAreFetchedForTheirDetails) {
  detail.values = DetailLevel::kOnMismatch;
  const IterationComparison c =
      Compare(device.Put(Floats({1, 2, 3})), device.Put(Floats({1, 9, 3})));
  EXPECT_FALSE(c.passed());
  EXPECT_EQ(device.fetched, 2);
  ASSERT_EQ(c.outputs.size(), 1u);
  ASSERT_TRUE(c.outputs[0].measures);
  EXPECT_EQ(c.outputs[0].measures->worst.at(0).place, 1);
  EXPECT_TRUE(std::get<SimpleResult>(c.outputs[0].functions[0].data).detail.has_value());
}

TEST_F(ComparisonOnDevice, WhatTheDeviceDoesNotMeasureTheCpuDoes) {
  device.refusal = Unavailable("no kernels here");
  const IterationComparison c = Compare(device.Put(Floats({1, 2})), device.Put(Floats({1, 2})));
  EXPECT_TRUE(c.passed());
  EXPECT_EQ(device.fetched, 2);
  EXPECT_EQ(c.outputs[0].measures->difference.count, 2);
}

TEST_F(ComparisonOnDevice, ADeviceThatFailsIsNoMatch) {
  device.refusal = BackendError("CUDA: an illegal memory access");
  const IterationComparison c = Compare(device.Put(Floats({1, 2})), device.Put(Floats({1, 2})));
  EXPECT_FALSE(c.passed());
  EXPECT_EQ(c.outputs[0].functions[0].verdict, Verdict::kFailed);
  EXPECT_EQ(c.outputs[0].functions[0].why, "CUDA: an illegal memory access");
}

TEST_F(ComparisonOnDevice, BytesThatNeverArriveAreNoMatch) {
  device.lost = BackendError("the worker is gone");
  const IterationComparison c = Compare(device.Put(Floats({1, 2})), Floats({0, 0}));
  EXPECT_FALSE(c.passed());
  EXPECT_EQ(c.outputs[0].functions[0].why, "the worker is gone");
}

TEST_F(ComparisonOnDevice, OneSideOnTheDeviceIsFetched) {
  EXPECT_TRUE(Compare(device.Put(Floats({1, 2})), Floats({1, 2})).passed());
  EXPECT_TRUE(Compare(Floats({1, 2}), device.Put(Floats({1, 2}))).passed());
  EXPECT_EQ(device.measured, 0);
  EXPECT_EQ(device.fetched, 2);
}

TEST_F(ComparisonOnDevice, VacuousAgreementIsNamedWithoutTheBytes) {
  const Tensor zeros = device.Put(Floats({0, 0}));
  const IterationComparison c = Compare(zeros, device.Put(Floats({0, 0})));
  EXPECT_EQ(c.outputs[0].functions[0].verdict, Verdict::kVacuous);
  EXPECT_EQ(c.outputs[0].functions[0].why, "all elements are zero");
  EXPECT_EQ(device.fetched, 0);
}

TEST_F(ComparisonOnDevice, FunctionsThatNeedTheBytesGetThem) {
  for (const CompareFunction function :
       {CompareFunction::kUlp, CompareFunction::kKlDivergence, CompareFunction::kIndices}) {
    FakeDevice own;
    options.functions = {function};
    detail.device = &own;
    (void)CompareOutputs({"y", own.Put(Floats({1, 2}))}, {"y", own.Put(Floats({1, 2}))}, options,
                         detail);
    EXPECT_EQ(own.fetched, 2) << static_cast<int>(function);
  }
}

TEST_F(ComparisonOnDevice, OtherShapesAreRefusedAsEver) {
  const IterationComparison c =
      Compare(device.Put(Floats({1, 2})), device.Put(Floats({1, 2}, {1, 2})));
  EXPECT_TRUE(c.outputs[0].functions[0].shapes_differ);
}

}  // namespace
}  // namespace vernier
