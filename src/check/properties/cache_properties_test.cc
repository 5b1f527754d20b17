// Properties of models with caches, tried on runners that keep or break them.
#include "check/properties/cache_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "check/properties/consistency.h"
#include "check/runners/fake_runners.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::Floats;

// What the fake makes of a token: the cache so far, the token with its mask, and its place.
using NextSum = std::function<float(const std::vector<float>& cache, float token, size_t place)>;

TensorInfo CacheInfo(std::string name, std::string length) {
  return {std::move(name), DType::kFloat32, std::vector<Dim>{{1, ""}, {-1, std::move(length)}}};
}

float SumOf(const std::vector<float>& values) {
  float sum = 0;
  for (const float value : values) sum += value;
  return sum;
}

std::vector<float> ValuesOf(const TensorMap& feed, const std::string& name) {
  const auto values = Find(feed, name)->As<float>();
  return {values.begin(), values.end()};
}

// The cache holds every token; y is what `next` makes of it, for each token.
FakeModel Remembers(const NextSum& next) {
  FakeModel model;
  model.inputs = {CacheInfo("tokens", "n"), CacheInfo("past_cache", "past")};
  model.outputs = {CacheInfo("y", "n"), CacheInfo("present_cache", "total")};
  model.infer = [next](const TensorMap& feed, int64_t) {
    std::vector<float> cache = ValuesOf(feed, "past_cache"), rows;
    for (const float token : ValuesOf(feed, "tokens")) {
      rows.push_back(next(cache, token, rows.size()));
      cache.push_back(token);
    }
    const auto count = static_cast<int64_t>(rows.size());
    const auto total = static_cast<int64_t>(cache.size());
    return FakeAnswer{
        FakeAnswer::Kind::kOutputs,
        TensorMap{{"y", Floats({1, count}, rows)}, {"present_cache", Floats({1, total}, cache)}}};
  };
  return model;
}

float SumSoFar(const std::vector<float>& cache, float token, size_t) {
  return SumOf(cache) + token;
}

class CachePropertiesTest : public testing_workers::FakeRunners {
 protected:
  PropertyRecord Try(const FakeModel& model, const std::string& property) {
    Make({{"a", model}});
    ConsistencyOptions options;
    options.only = {property};
    const Result<ConsistencyRecord> record = CheckConsistency(
        plan_, options, shared_, [](const ConsistencyRunner&, const PropertyRecord&) {});
    EXPECT_TRUE(record.ok()) << record.status().message();
    if (!record.ok() || record->runners.at(0).properties.empty()) return {};
    return record->runners[0].properties[0];
  }
};

TEST_F(CachePropertiesTest, PrefillIsDecodeWhereTheCacheHoldsWhatWasSeen) {
  const PropertyRecord record = Try(Remembers(SumSoFar), "prefill-decode");
  EXPECT_EQ(record.verdict, PropertyVerdict::kHolds) << record.detail;
  EXPECT_THAT(record.detail, HasSubstr("11 inferences, "));
  EXPECT_THAT(record.detail, HasSubstr("8 tokens at once against one by one and 3 at a time"));
}

TEST_F(CachePropertiesTest, TheFirstTokenWhoseOutputsDependOnTheStepIsNamed) {
  const auto by_place = [](const std::vector<float>& cache, float token, size_t place) {
    return SumOf(cache) + token + static_cast<float>(place);
  };
  const PropertyRecord record = Try(Remembers(by_place), "prefill-decode");
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken);
  EXPECT_EQ(record.smallest_case, "token 2 of 8, fed one by one");
  EXPECT_THAT(record.detail, HasSubstr("output 'y'"));
}

TEST_F(CachePropertiesTest, ASequenceIsTheSameWhateverCameBefore) {
  EXPECT_EQ(Try(Remembers(SumSoFar), "fresh-sequence").verdict, PropertyVerdict::kHolds);
}

TEST_F(CachePropertiesTest, WhatOnlyTokensBehindAPrefillReadIsFound) {
  const auto kept = std::make_shared<float>(0.0f);
  const auto leaks = [kept](const std::vector<float>& cache, float token, size_t) {
    return SumOf(cache) + token + (cache.size() > 8 ? *kept += 1.0f : 0.0f);
  };
  const PropertyRecord record = Try(Remembers(leaks), "fresh-sequence");
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken);
  EXPECT_EQ(record.smallest_case, "the sequence once more, with empty caches, 2 tokens behind it");
}

TEST_F(CachePropertiesTest, WhatARunnerKeepsOfASequenceIsFound) {
  const auto kept = std::make_shared<float>(0.0f);
  const auto leaks = [kept](const std::vector<float>& cache, float token, size_t) {
    return SumOf(cache) + token + (*kept += 1.0f);
  };
  EXPECT_EQ(Try(Remembers(leaks), "fresh-sequence").verdict, PropertyVerdict::kBroken);
}

TEST_F(CachePropertiesTest, WithoutAMaskNothingExcludesPadding) {
  const PropertyRecord record = Try(Remembers(SumSoFar), "padded-sequence");
  EXPECT_EQ(record.verdict, PropertyVerdict::kNotApplicable);
  EXPECT_EQ(record.detail, "no input is a mask that could exclude padding");
}

// It grows as a cache does.
TEST_F(CachePropertiesTest, AMaskThatIsHandedOnIsAMask) {
  FakeModel model = Remembers(SumSoFar);
  model.inputs.push_back(CacheInfo("attention_mask", "total"));
  model.outputs.push_back(CacheInfo("attention_mask_out", "longer"));
  const auto remembers = model.infer;
  model.infer = [remembers](const TensorMap& feed, int64_t run) {
    const std::vector<float> mask = ValuesOf(feed, "attention_mask");
    const size_t count = ValuesOf(feed, "tokens").size() + ValuesOf(feed, "past_cache").size();
    const bool broadcast = mask.size() == 1;
    if (mask.size() != count && !broadcast) return testing_workers::Refuses("no such mask");
    FakeAnswer answer = remembers(feed, run);
    std::vector<float> longer = mask;
    longer.push_back(1);
    answer.outputs->push_back(
        {"attention_mask_out", Floats({1, static_cast<int64_t>(longer.size())}, longer)});
    return answer;
  };
  const PropertyRecord record = Try(model, "prefill-decode");
  EXPECT_EQ(record.verdict, PropertyVerdict::kHolds) << record.detail;
}

TEST_F(CachePropertiesTest, WithoutCachesThereIsNothingToTry) {
  const PropertyRecord record = Try(testing_workers::Adds(1), "prefill-decode");
  EXPECT_EQ(record.verdict, PropertyVerdict::kNotApplicable);
  EXPECT_THAT(record.detail, HasSubstr("takes no caches"));
}

TEST_F(CachePropertiesTest, AStateThatKeepsItsShapeIsNoCache) {
  FakeModel model;
  model.inputs = {CacheInfo("x", "n"), CacheInfo("h", "w")};
  model.outputs = {CacheInfo("y", "n"), CacheInfo("hn", "w")};
  model.infer = [](const TensorMap& feed, int64_t) {
    return FakeAnswer{FakeAnswer::Kind::kOutputs,
                      TensorMap{{"y", *Find(feed, "x")}, {"hn", *Find(feed, "h")}}};
  };
  const PropertyRecord record = Try(model, "prefill-decode");
  EXPECT_EQ(record.verdict, PropertyVerdict::kNotApplicable);
  EXPECT_THAT(record.detail, HasSubstr("no state grows with the sequence"));
}

TEST_F(CachePropertiesTest, AnInputThatIsNotKnownIsNamed) {
  FakeModel model = Remembers(SumSoFar);
  model.inputs.push_back(testing_workers::FloatInfo("length", {1}));
  const PropertyRecord record = Try(model, "prefill-decode");
  EXPECT_EQ(record.verdict, PropertyVerdict::kNotApplicable);
  EXPECT_THAT(record.detail, HasSubstr("'length'"));
}

}  // namespace
}  // namespace vernier
