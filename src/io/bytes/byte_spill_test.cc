#include "io/bytes/byte_spill.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <vector>

#include "io/results/io_test_data.h"
#include "util/process/process_memory.h"

namespace vernier {
namespace {

std::string BytesNumber(size_t i) { return std::to_string(i) + std::string(i * 37 % 5000, 'b'); }

std::vector<ByteSpill::Piece> Fill(ByteSpill& spill, size_t count) {
  std::vector<ByteSpill::Piece> pieces;
  for (size_t i = 0; i < count; ++i) pieces.push_back(spill.Append(BytesNumber(i)));
  return pieces;
}

void ExpectPiece(const ByteSpill& spill, const ByteSpill::Piece& piece, const std::string& bytes) {
  EXPECT_EQ(piece.size(), bytes.size());
  const Result<std::string> read = spill.Read(piece);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, bytes);
}

class ByteSpillTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  ByteSpill spill_ = ByteSpill(folder_ / "");
};

TEST_F(ByteSpillTest, PiecesAreReadInAnyOrderAndAgain) {
  const std::vector<ByteSpill::Piece> pieces = Fill(spill_, 100);
  for (size_t i = 100; i-- > 0;) ExpectPiece(spill_, pieces[i], BytesNumber(i));
  const ByteSpill::Piece last = spill_.Append("behind them");
  ExpectPiece(spill_, pieces[7], BytesNumber(7));
  ExpectPiece(spill_, last, "behind them");
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "")) << "the file has no name";
}

TEST_F(ByteSpillTest, APieceMayBeEmpty) {
  const ByteSpill::Piece first = spill_.Append(""), second = spill_.Append("two");
  ExpectPiece(spill_, first, "");
  ExpectPiece(spill_, second, "two");
}

TEST_F(ByteSpillTest, AFolderThatCannotBeWrittenLosesNothing) {
  ByteSpill spill(folder_ / "missing");
  const std::vector<ByteSpill::Piece> pieces = Fill(spill, 20);
  for (size_t i = 0; i < pieces.size(); ++i) ExpectPiece(spill, pieces[i], BytesNumber(i));
}

TEST_F(ByteSpillTest, AFullDiskLosesNothing) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit small{.rlim_cur = 20'000, .rlim_max = old_limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::vector<ByteSpill::Piece> pieces = Fill(spill_, 40);
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  for (size_t i = 0; i < pieces.size(); ++i) ExpectPiece(spill_, pieces[i], BytesNumber(i));
}

TEST_F(ByteSpillTest, MemoryDoesNotGrowWithThePieces) {
  std::vector<ByteSpill::Piece> pieces = {spill_.Append(std::string(1 << 20, 'b'))};
  const uint64_t most = *ResidentMemoryOf("self") + (uint64_t{16} << 20);
  for (size_t i = 0; i < 60; ++i) pieces.push_back(spill_.Append(std::string(1 << 20, 'b')));
  EXPECT_LT(*ResidentMemoryOf("self"), most);
  ExpectPiece(spill_, pieces.back(), std::string(1 << 20, 'b'));
}

}  // namespace
}  // namespace vernier
