#include "io/archive/tensor_archive.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "io/archive/archive_names.h"
#include "io/archive/safetensors.h"
#include "io/archive/zip_reader.h"
#include "io/archive/zip_writer.h"
#include "io/results/io_test_data.h"
#include "util/process/process_memory.h"

namespace vernier {
namespace {

std::string Safetensors(const std::string& header, const std::string& data = "") {
  std::string file(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(file.data(), &length, sizeof(length));
  return file + header + data;
}

TEST(Safetensors, RefusesHostileHeaders) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "too short"},
      {Safetensors("{}").substr(0, 9), "claims 2 bytes"},
      {std::string(8, '\xff'), "claims 18446744073709551615 bytes"},
      {Safetensors("[]"), "not a JSON object"},
      {Safetensors("{"), "safetensors header: byte 1"},
      {Safetensors(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "1234x"), "hold"},
      {Safetensors(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "123"), "need 4"},
      {Safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234"), "size"},
      {Safetensors(R"({"a":{"dtype":"Q7","shape":[1],"data_offsets":[0,4]}})", "1234"), "'Q7'"},
      {Safetensors(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,4]}})", "1234"), "count"},
      {Safetensors(R"({"a":{"dtype":"U8","shape":[1e0],"data_offsets":[0,1]}})", "1"), "count"},
      {Safetensors(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", "1234"),
       "not a range"},
      {Safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "12"), "hole"},
      {Safetensors(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                   R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                   "123"),
       "overlaps"},
      {Safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                   R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                   "1"),
       "twice"},
      {Safetensors(R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})"),
       "size"},
  };
  for (const auto& [file, message] : cases) {
    const auto header = ReadSafetensorsHeader(JsonText(file));
    ASSERT_FALSE(header.ok()) << message;
    EXPECT_NE(header.status().message().find(message), std::string::npos)
        << header.status().message() << " / " << message;
  }
}

TEST(ArchiveNames, RoundTrip) {
  for (const std::string& name :
       {std::string("a/b"), std::string(".."), std::string(""), std::string("%41"),
        std::string("\xff\n"), std::string("x.npy")}) {
    EXPECT_EQ(PercentDecode(PercentEncode(name)), name);
    const ArchiveName parts{.run = PercentEncode(name), .iteration = 12, .tensor = name};
    const auto again = ParseArchiveName(FormatArchiveName(parts));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->run, parts.run);
    EXPECT_EQ(again->iteration, 12u);
    EXPECT_EQ(again->tensor, name);
  }
  for (const char* other : {"x", "a/x", "12/x", "a/b/0000000000/x", "/0000000000/x"}) {
    EXPECT_FALSE(ParseArchiveName(other)) << other;
  }
}

class Npz : public testing::Test {
 protected:
  std::string Write() {
    PartFile spool = *PartFile::Create(folder_ / "spool");
    const auto writer = *TensorArchiveWriter::Create(spool, ArchiveFormat::kNpz);
    EXPECT_TRUE(writer->Add("a", SampleTensor(DType::kFloat32, {3})).ok());
    EXPECT_TRUE(writer->Add("b", SampleTensor(DType::kInt4, {3})).ok());
    EXPECT_TRUE(writer->Publish(folder_ / "x.npz", nullptr, {}).ok());
    return ReadText(folder_ / "x.npz");
  }

  // Reads everything; "" or the error.
  std::string Refusal(const std::string& bytes) {
    WriteText(folder_ / "y.npz", bytes);
    const auto archive = TensorArchive::Open(folder_ / "y.npz", ArchiveFormat::kNpz);
    if (!archive.ok()) return archive.status().message();
    for (size_t i = 0; i < (*archive)->names().size(); ++i) {
      const auto tensor = (*archive)->Read(i);
      if (!tensor.ok()) return tensor.status().message();
    }
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(Npz, DataIsAligned) {
  const std::string bytes = Write();
  EXPECT_EQ(Refusal(bytes), "");
  const auto reader = ZipReader::Open(BytesOf(bytes));
  ASSERT_EQ(reader->size(), 3u);  // with our metadata
  for (size_t i = 0; i < reader->size(); ++i) EXPECT_EQ(reader->Member(i).data_offset % 64, 0u);
  const auto archive = TensorArchive::Open(folder_ / "x.npz", ArchiveFormat::kNpz);
  EXPECT_EQ((*archive)->Read(1)->dtype(), DType::kInt4);
}

TEST_F(Npz, EveryTruncationIsRefused) {
  const std::string bytes = Write();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(Refusal(bytes.substr(0, size)), "") << size;
  }
}

// Only the date and the version of the program that wrote it carry no meaning.
TEST_F(Npz, DamageNeverCrashes) {
  const std::string bytes = Write();
  for (size_t position = 0; position < bytes.size(); ++position) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[position] = static_cast<char>(damaged[position] ^ flip);
      Refusal(damaged);
    }
  }
}

TEST_F(Npz, NamesWhatIsWrong) {
  const std::string bytes = Write();
  const size_t entry = bytes.find("PK\x01\x02");
  const size_t second = bytes.find("PK\x01\x02", entry + 1);
  const auto patched = [&](size_t position, std::string_view text) {
    std::string copy = bytes;
    return Refusal(copy.replace(position, text.size(), text));
  };
  EXPECT_NE(patched(entry + 8, "\x01").find("is encrypted"), std::string::npos);
  EXPECT_NE(patched(entry + 10, "\x0c").find("method 12"), std::string::npos);
  EXPECT_NE(patched(entry + 24, "\x05").find("two different sizes"), std::string::npos);
  EXPECT_NE(patched(bytes.find("NUMPY") + 125, "?").find("checksum"), std::string::npos);
  std::string twice = bytes;
  twice.replace(second, 50, bytes.substr(entry, 50));
  EXPECT_NE(Refusal(twice).find("twice"), std::string::npos);
  // A deflated member that claims 4 GB for its few bytes.
  std::string bomb = bytes;
  bomb.replace(entry + 10, 1, "\x08");
  bomb.replace(entry + 24, 4, "\xf0\xff\xff\xff");
  EXPECT_NE(Refusal(bomb).find("more than a thousandfold"), std::string::npos);
}

// Stored as they are, in a file that is a hole for the most part.
TEST_F(Npz, MetadataOfMoreThanAGibibyteAreRefused) {
  const std::string bytes = Write();
  const size_t directory = bytes.find("PK\x01\x02");
  const size_t entry = bytes.rfind("PK\x01\x02");  // the last one is that of our metadata
  const size_t end = bytes.find("PK\x05\x06");
  constexpr uint32_t kSize = (uint32_t{1} << 30) + 1;
  std::string tail = bytes.substr(directory);
  const auto put = [&tail](size_t position, uint32_t value) {
    std::memcpy(tail.data() + position, &value, sizeof(value));
  };
  put(entry - directory + 20, kSize);
  put(entry - directory + 24, kSize);
  put(end - directory + 16, static_cast<uint32_t>(directory) + kSize);
  const std::string path = folder_ / "hole.npz";
  WriteText(path, bytes.substr(0, directory));
  std::filesystem::resize_file(path, directory + kSize);
  std::ofstream(path, std::ios::binary | std::ios::app) << tail;
  const auto archive = TensorArchive::Open(path, ArchiveFormat::kNpz);
  ASSERT_FALSE(archive.ok());
  EXPECT_NE(archive.status().message().find(
                "member '__vernier__.json' of the archive has more than 1 GiB"),
            std::string::npos)
      << archive.status().message();
}

// Takes everything and keeps nothing.
class NoFile final : public OutputFile {
 public:
  Status Write(std::span<const std::byte> bytes) override {
    size_ += bytes.size();
    return {};
  }
  Status WriteAt(uint64_t, std::span<const std::byte>) override { return {}; }
  Status CopyFrom(int, uint64_t, uint64_t size) override {
    size_ += size;
    return {};
  }
  uint64_t size() const override { return size_; }

 private:
  uint64_t size_ = 0;
};

// A file that could not be read back is no result.
TEST(NpzWriter, NothingIsWrittenThatIsTooMuchToRead) {
  const std::string block(size_t{1} << 24, ' ');
  const auto append = [&](int blocks, std::string_view rest) {
    NoFile file;
    return AppendZipMember(file, "m.json", [&](ByteSink& sink) {
      for (int i = 0; i < blocks; ++i) VERNIER_TRY(sink.WriteText(block));
      return sink.WriteText(rest);
    });
  };
  EXPECT_TRUE(append(64, "").ok());
  const auto refused = append(64, "x");
  EXPECT_EQ(refused.status().code(), StatusCode::kIo);
  EXPECT_NE(refused.status().message().find("would have more than 1 GiB"), std::string::npos);

  NoFile file;
  ZipDirectoryWriter directory(file);
  const ZipEntry entry{.name = std::string(65'000, 'n')};
  for (int i = 0; i < 16'600; ++i) ASSERT_TRUE(directory.Add(entry).ok());
  EXPECT_EQ(directory.Finish().code(), StatusCode::kIo);
}

// One tensor `a` of 1 MiB, in either format.
class MappedArchive : public testing::TestWithParam<ArchiveFormat> {
 protected:
  MappedArchive() {
    PartFile spool = *PartFile::Create(folder_ / "spool");
    const auto writer = *TensorArchiveWriter::Create(spool, GetParam());
    EXPECT_TRUE(writer->Add("a", tensor_).ok());
    EXPECT_TRUE(writer->Add("small", SampleTensor(DType::kFloat32, {3})).ok());
    EXPECT_TRUE(writer->Publish(path_, nullptr, {}).ok());
    archive_ = *TensorArchive::Open(path_, GetParam());
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "x";
  Tensor tensor_ = SampleTensor(DType::kFloat32, {512, 512});
  std::unique_ptr<TensorArchive> archive_;
};

TEST_P(MappedArchive, LargeTensorsAreMapsAndComeBackWhenTheyAreReadAgain) {
  for (int round = 0; round < 2; ++round) {
    const Tensor a = *archive_->Read(0, ArchiveAccess::kMapWhereFaster);
    const Tensor again = *archive_->Read(0, ArchiveAccess::kMapWhereFaster);
    EXPECT_EQ(a.bytes().data(), again.bytes().data()) << "a copy";
    ExpectSameTensor(a, tensor_, "mapped");
    const Tensor small = *archive_->Read(1, ArchiveAccess::kMapWhereFaster);
    ExpectSameTensor(small, SampleTensor(DType::kFloat32, {3}), "read");
    EXPECT_NE(small.bytes().data(), archive_->Read(1)->bytes().data());
  }
  EXPECT_TRUE(archive_->CheckIntact().ok());
}

TEST_P(MappedArchive, AFileThatIsWrittenToIsNotBelieved) {
  const Tensor a = *archive_->Read(0, ArchiveAccess::kMapWhereFaster);
  std::string bytes = ReadText(path_);
  WriteText(path_, bytes);
  const Status status = archive_->CheckIntact();
  EXPECT_EQ(status.code(), StatusCode::kMalformed);
  EXPECT_NE(status.message().find("was written to while it was read"), std::string::npos)
      << status.message();
}

TEST_P(MappedArchive, NorIsOneOfWhichNothingIsMapped) {
  EXPECT_TRUE(archive_->Read(1).ok());
  WriteText(path_, ReadText(path_));
  EXPECT_EQ(archive_->CheckIntact().code(), StatusCode::kMalformed);
}

TEST_P(MappedArchive, WhatTakesItsPlaceIsNotLookedAt) {
  WriteText(path_ + ".new", "another file");
  ASSERT_EQ(std::rename((path_ + ".new").c_str(), path_.c_str()), 0);
  const Tensor a = *archive_->Read(0, ArchiveAccess::kMapWhereFaster);
  ExpectSameTensor(a, tensor_, "mapped");
  EXPECT_TRUE(archive_->CheckIntact().ok());
}

// Its pages, not its map: that is there for the next iteration.
TEST_P(MappedArchive, TensorsThatAreDroppedTakeNoMemory) {
  const std::string path = folder_ / "large";
  PartFile spool = *PartFile::Create(path + ".spool");
  const auto writer = *TensorArchiveWriter::Create(spool, GetParam());
  ASSERT_TRUE(writer->Add("a", SampleTensor(DType::kFloat32, {4096, 4096})).ok());
  ASSERT_TRUE(writer->Publish(path, nullptr, {}).ok());
  const auto archive = *TensorArchive::Open(path, GetParam());
  constexpr uint64_t kMost = uint64_t{32} << 20;
  const uint64_t before = *ResidentMemoryOf("self");
  {
    const Tensor a = *archive->Read(0, ArchiveAccess::kMapWhereFaster);
    EXPECT_GT(*ResidentMemoryOf("self"), before + kMost);
  }
  EXPECT_LT(*ResidentMemoryOf("self"), before + kMost);
}

// Only npz has them.
TEST_P(MappedArchive, ChecksumsAreCompared) {
  std::string bytes = ReadText(path_);
  bytes[600'000] = static_cast<char>(bytes[600'000] ^ 1);
  WriteText(path_, bytes);
  const auto damaged = *TensorArchive::Open(path_, GetParam());
  const auto a = damaged->Read(0, ArchiveAccess::kMapWhereFaster);
  ASSERT_EQ(a.ok(), GetParam() == ArchiveFormat::kSafetensors);
  if (a.ok()) return;
  EXPECT_NE(a.status().message().find("its checksum differs"), std::string::npos)
      << a.status().message();
}

INSTANTIATE_TEST_SUITE_P(MappedFormats, MappedArchive,
                         testing::Values(ArchiveFormat::kNpz, ArchiveFormat::kSafetensors));

// Two small tensors, in either format.
class PublishedArchive : public testing::TestWithParam<ArchiveFormat> {
 protected:
  PublishedArchive() {
    for (const char* name : {"a", "b"}) Add(name);
  }

  void Add(const std::string& name) {
    ASSERT_TRUE(writer_->Add(name, SampleTensor(DType::kFloat32, {3})).ok());
  }

  std::string NamesIn(const std::string& path) const {
    const auto archive = TensorArchive::Open(path, GetParam());
    if (!archive.ok()) return archive.status().message();
    std::string names;
    for (size_t i = 0; i < (*archive)->names().size(); ++i) names += (*archive)->names().Text(i);
    return names;
  }

  TemporaryFolder folder_;
  PartFile spool_ = *PartFile::Create(folder_ / "spool");
  std::unique_ptr<TensorArchiveWriter> writer_ = *TensorArchiveWriter::Create(spool_, GetParam());
};

TEST_P(PublishedArchive, TheSpoolCanBeGoneOnWithWhereThatFailed) {
  ASSERT_TRUE(std::filesystem::create_directory(folder_ / "folder"));
  WriteText(folder_ / "file", "old");
  for (const char* place : {"folder", "file/x"}) {
    EXPECT_EQ(writer_->Publish(folder_ / place, nullptr, {}).code(), StatusCode::kIo) << place;
  }
  Add("c");
  ASSERT_TRUE(writer_->Publish(folder_ / "x", nullptr, {}).ok());
  EXPECT_EQ(NamesIn(folder_ / "x"), "abc");
}

TEST_P(PublishedArchive, HoldsWhatIsSelected) {
  const auto selected = [](std::string_view name) { return name != "a"; };
  ASSERT_TRUE(writer_->Publish(folder_ / "x", selected, {}).ok());
  EXPECT_EQ(NamesIn(folder_ / "x"), "b");
}

TEST_P(PublishedArchive, ALinkStaysOne) {
  WriteText(folder_ / "x", "old");
  std::filesystem::create_symlink("x", folder_ / "link");
  ASSERT_TRUE(writer_->Publish(folder_ / "link", nullptr, {}).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(NamesIn(folder_ / "x"), "ab");
}

INSTANTIATE_TEST_SUITE_P(MappedFormats, PublishedArchive,
                         testing::Values(ArchiveFormat::kNpz, ArchiveFormat::kSafetensors));

}  // namespace
}  // namespace vernier
