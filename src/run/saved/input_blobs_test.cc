#include "run/saved/input_blobs.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "io/bytes/checksum.h"
#include "run/saved/feed_hasher.h"
#include "util/files/scratch_folder.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

TensorMap FeedOf(const std::string& name, float value) {
  return {{name, *Tensor::Copy(DType::kFloat32, {1}, std::as_bytes(std::span(&value, 1)))}};
}

class InputBlobsTest : public testing::Test {
 protected:
  InputBlobs Open(bool resumes) {
    SavePlan plan;
    plan.input_blobs = folder_.path() + "/blobs";
    plan.resume = resumes;
    return *InputBlobs::Create(plan, log_);
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/blobs/" + name; }

  ScratchFolder folder_ = *ScratchFolder::Create();
  NoLog log_;
};

TEST_F(InputBlobsTest, EachFeedHasAFolder) {
  const InputBlobs blobs = Open(false);
  EXPECT_EQ(*blobs.Add(3, FeedOf("x", 1)), "");
  EXPECT_EQ(std::filesystem::file_size(Path("0000000003/x.bin")), sizeof(float));
}

TEST_F(InputBlobsTest, OtherBytesOfAnEarlierRunAreNamedAndStay) {
  EXPECT_EQ(*Open(false).Add(0, FeedOf("x", 1)), "");
  const InputBlobs again = Open(true);
  EXPECT_EQ(*again.Add(0, FeedOf("x", 1)), "");
  EXPECT_EQ(*again.Add(0, FeedOf("x", 2)), Path("0000000000/x.bin"));
  EXPECT_EQ(*again.Add(0, FeedOf("x", 1)), "");  // as it was
}

TEST_F(InputBlobsTest, NamesThatLeadOutsideOrToOneFileAreRefused) {
  const InputBlobs blobs = Open(false);
  EXPECT_EQ(blobs.Add(0, FeedOf("../../x", 1)).status().code(), StatusCode::kInvalidArgument);
  TensorMap two = FeedOf("x", 1);
  two.push_back(FeedOf("./x", 2).front());
  EXPECT_EQ(blobs.Add(0, two).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(Path("0000000000/x.bin")));
}

TEST(FeedHasher, MarksLargeFeedsAsSmallOnes) {
  FeedHasher hasher(5);
  EXPECT_EQ(hasher.FeedHash(), 0U);
  const TensorMap small = FeedOf("x", 1);
  hasher.Take(small);
  EXPECT_EQ(hasher.FeedHash(), MarkFeed(small));
  EXPECT_EQ(hasher.FeedMark(), MarkFeed(small) ^ 5);
  const std::vector<std::byte> bytes(2 * kWorthThread, std::byte{3});
  const auto size = static_cast<int64_t>(bytes.size());
  const TensorMap large = {{"x", *Tensor::Copy(DType::kUint8, {size}, bytes)}};
  hasher.Take(large);
  EXPECT_EQ(hasher.FeedHash(), MarkFeed(large));
  hasher.Take(large);
  hasher.Take(small);  // nobody asked for the one before
  EXPECT_EQ(hasher.FeedHash(), MarkFeed(small));
  hasher.MixIntoMark(5);
  EXPECT_FALSE(hasher.of_steps());
}

}  // namespace
}  // namespace vernier
