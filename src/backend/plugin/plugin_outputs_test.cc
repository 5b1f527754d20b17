#include "backend/plugin/plugin_outputs.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "backend/plugin/abi_tensors.h"

namespace vernier {
namespace {

constexpr uint64_t kSession = 7;

void CountStateRelease(vn_tensor* tensor) noexcept { ++*static_cast<int*>(tensor->owner); }

// Three floats that a plug-in hands out as "hn", and "h" that it was fed with.
class KeptState : public testing::Test {
 protected:
  KeptState() {
    output_ = Of("hn", values_);
    output_.release = &CountStateRelease;
    output_.owner = &releases_;
    input_ = Of("h", fed_);
  }

  vn_tensor Of(std::string_view name, std::array<float, 3>& values) {
    vn_tensor t{};
    t.struct_size = sizeof(t);
    t.name = Str(name);
    t.rank = 1;
    t.shape = shape_.data();
    t.data = values.data();
    t.byte_size = sizeof(values);
    t.dtype_code = VN_DTYPE_FLOAT;
    t.dtype_bits = 32;
    t.dtype_lanes = 1;
    t.device_type = VN_DEVICE_CPU;
    return t;
  }

  // Where the state lies that stays, and what the parent receives.
  const void* Keep(uint32_t feeds_back) {
    const vn_tensor* const inputs[] = {&input_};
    const RunPlaces places{
        .tensors = tensors_, .session = kSession, .fed_back = {}, .kept = {"hn"}};
    TensorBlockBuilder builder;
    vn_tensor* output = &output_;
    const Status added =
        AddOutput(output, DType::kFloat32, {places, builder, nullptr, inputs, feeds_back, nullptr});
    EXPECT_TRUE(added.ok()) << added.message();
    taken_ = output == nullptr;
    block_ = *DecodeTensors(builder.Finish()->description, UniqueFd());
    EXPECT_TRUE(block_.tensors.empty());
    return tensors_.Find(block_.kept.at(0).handle)->abi().data;
  }

  std::array<float, 3> values_ = {1, 2, 3}, fed_ = {4, 5, 6};
  std::vector<int64_t> shape_ = {3};
  vn_tensor output_{}, input_{};
  int releases_ = 0;
  bool taken_ = false;
  DecodedBlock block_;
  DeviceTensors tensors_;
};

TEST_F(KeptState, LiesWhereThePluginMadeIt) {
  EXPECT_EQ(Keep(VN_FEEDS_BACK_CPU), values_.data());
  EXPECT_TRUE(taken_);
  EXPECT_EQ(releases_, 0);
  tensors_.Release(block_.kept[0].handle);
  EXPECT_EQ(releases_, 1);
}

TEST_F(KeptState, IsACopyWhereThePluginDoesNotTakeIt) {
  for (const uint32_t feeds_back : {0, VN_FEEDS_BACK_CUDA + 0}) {
    const auto* const copy = static_cast<const float*>(Keep(feeds_back));
    EXPECT_NE(copy, values_.data());
    EXPECT_FALSE(taken_);
    values_[2] = -1;
    EXPECT_EQ(copy[2], 3);
    values_[2] = 3;
  }
}

TEST_F(KeptState, IsACopyWhereItLiesInAnInput) {
  output_.data = fed_.data();
  const auto* const copy = static_cast<const float*>(Keep(VN_FEEDS_BACK_CPU));
  EXPECT_NE(copy, fed_.data());
  fed_[0] = -1;
  EXPECT_EQ(copy[0], 4);
}

TEST_F(KeptState, IsFoundByItsHandleOrAsThatOfTheLastStep) {
  Keep(VN_FEEDS_BACK_CPU);
  const std::string kept[] = {"y", "hn"};
  DecodedBlock feed;
  feed.kept.push_back({"h", DType::kFloat32, {9}, kOfLastStep + 1, 0});
  ASSERT_TRUE(ResolveLastStep(kept, kSession, tensors_, feed).ok());
  EXPECT_EQ(feed.kept[0].handle, block_.kept[0].handle);
  EXPECT_EQ(feed.kept[0].dims, Dims{3});
  const auto found = FindFedBack(feed, tensors_);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)[0].name, "h");
  EXPECT_EQ((*found)[0].tensor->abi().data, values_.data());
  const auto hashes = HashesOf(feed, tensors_);
  ASSERT_TRUE(hashes.ok());
  EXPECT_EQ((*hashes)[0].first, "h");
}

TEST_F(KeptState, IsRefusedWhereItIsNot) {
  Keep(VN_FEEDS_BACK_CPU);
  const std::string kept[] = {"hn"};
  const auto resolved = [&](uint64_t handle, uint64_t session) {
    DecodedBlock feed;
    feed.kept.push_back({"h", DType::kFloat32, {3}, handle, 0});
    return ResolveLastStep(kept, session, tensors_, feed).ok() && FindFedBack(feed, tensors_).ok();
  };
  EXPECT_TRUE(resolved(kOfLastStep, kSession));
  EXPECT_FALSE(resolved(kOfLastStep, kSession + 1));
  EXPECT_FALSE(resolved(kOfLastStep + 1, kSession));
  EXPECT_FALSE(resolved(block_.kept[0].handle + 1, kSession));
  DecodedBlock other;
  other.kept.push_back({"h", DType::kInt32, {3}, block_.kept[0].handle, 0});
  EXPECT_FALSE(FindFedBack(other, tensors_).ok());
}

}  // namespace
}  // namespace vernier
