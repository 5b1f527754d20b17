#include "util/files/mapped_file.h"
#include "util/files/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace vernier {
namespace {

class MappedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "vernier-map-XXXXXX";
    fd_ = UniqueFd(::mkstemp(path_.data()));
    const std::string content(size_t{3} * page_, 'x');
    ASSERT_EQ(::write(fd_.get(), content.data(), content.size()),
              static_cast<ssize_t>(content.size()));
  }
  void TearDown() override { ::unlink(path_.c_str()); }
  void Cut(size_t size) { ASSERT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(size)), 0); }

  size_t page_ = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::string path_;
  UniqueFd fd_;
};

char At(const MappedFile& file, size_t index) {
  return static_cast<char>(const_cast<const volatile std::byte&>(file.bytes()[index]));
}

TEST_F(MappedFileTest, AFileThatShrinksIsAStatusAndNoSignal) {
  const auto file = *MappedFile::Open(path_);
  EXPECT_EQ(At(*file, 2 * page_), 'x');
  EXPECT_TRUE(file->CheckIntact().ok());
  Cut(page_);
  EXPECT_EQ(At(*file, 2 * page_), '\0');
  EXPECT_EQ(At(*file, 10), 'x');
  const Status status = file->CheckIntact();
  EXPECT_EQ(status.code(), StatusCode::kMalformed);
  EXPECT_NE(status.message().find(path_ + "' became shorter"), std::string::npos);
}

TEST_F(MappedFileTest, OneThatGrewBackIsNotBelievedEither) {
  const auto file = *MappedFile::Open(path_);
  Cut(page_);
  EXPECT_EQ(At(*file, page_), '\0');
  Cut(3 * page_);
  EXPECT_EQ(At(*file, 2 * page_), '\0');
  EXPECT_EQ(file->CheckIntact().code(), StatusCode::kMalformed);
  EXPECT_TRUE((*MappedFile::Open(path_))->CheckIntact().ok());
}

TEST_F(MappedFileTest, OthersBusErrorsStayTheirs) {
  const auto file = *MappedFile::Open(path_);
  const auto die = [&] {
    void* map = ::mmap(nullptr, 2 * page_, PROT_READ, MAP_SHARED, fd_.get(), 0);
    Cut(0);
    const char value = static_cast<volatile char*>(map)[page_];
    std::exit(value);
  };
  EXPECT_EXIT(die(), testing::KilledBySignal(SIGBUS), "");
}

// As many parts of shards are read at once.
TEST_F(MappedFileTest, HundredsAreMappedAtOnce) {
  std::vector<std::shared_ptr<const MappedFile>> files;
  for (int i = 0; i < 300; ++i) {
    auto file = MappedFile::Open(path_);
    ASSERT_TRUE(file.ok()) << file.status().message();
    files.push_back(*std::move(file));
  }
  Cut(page_);
  EXPECT_EQ(At(*files.back(), 2 * page_), '\0');
  EXPECT_FALSE(files.back()->CheckIntact().ok());
}

TEST_F(MappedFileTest, GuardsAreGivenBack) {
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(MappedFile::Open(path_).ok());
}

}  // namespace
}  // namespace vernier
