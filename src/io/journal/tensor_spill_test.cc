#include "io/journal/tensor_spill.h"

#include <gtest/gtest.h>

#include "io/results/io_test_data.h"

namespace vernier {
namespace {

TensorMap Sample(int index) {
  TensorMap tensors;
  for (int type = 1; type < kDTypeCount && index % 4 != 3; ++type) {
    const auto dtype = static_cast<DType>(type);
    tensors.push_back({std::string(DTypeName(dtype)), SampleTensor(dtype, {index / 2}, index)});
  }
  return tensors;
}

TEST(TensorSpill, EveryTypeComesBackInAnyOrder) {
  TemporaryFolder folder;
  auto spill = TensorSpill::Create(folder / "");
  ASSERT_TRUE(spill.ok()) << spill.status().message();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(spill->Append(Sample(i)).ok());
  // Nothing to clean up, whatever happens now.
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
  for (int i = 9; i >= 0; --i) {
    const auto tensors = spill->Read(static_cast<size_t>(i));
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    const TensorMap expected = Sample(i);
    ASSERT_EQ((*tensors).size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ((*tensors)[k].name, expected[k].name);
      ExpectSameTensor((*tensors)[k].tensor, expected[k].tensor, expected[k].name);
    }
  }
}

TEST(TensorSpill, NamesTheFolderThatCannotBeWritten) {
  const auto spill = TensorSpill::Create("/nonexistent/folder");
  EXPECT_EQ(spill.status().code(), StatusCode::kIo);
  EXPECT_NE(spill.status().message().find("/nonexistent/folder"), std::string::npos);
}

}  // namespace
}  // namespace vernier
