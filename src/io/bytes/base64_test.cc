#include "io/bytes/base64.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <string>
#include <vector>

#include "io/polygraphy/base64_source.h"
#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

std::vector<std::byte> Sample(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 151 + i / 7);
  return bytes;
}

std::string Encode(std::span<const std::byte> bytes, size_t step) {
  StringSink text;
  Base64Sink sink(text);
  for (size_t i = 0; i < bytes.size(); i += step) {
    EXPECT_TRUE(sink.Write(bytes.subspan(i, std::min(step, bytes.size() - i))).ok());
  }
  EXPECT_TRUE(sink.Finish().ok());
  return text.text();
}

// The definition, one bit group at a time.
std::string EncodeSlowly(std::span<const std::byte> bytes) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const std::byte byte : bytes) {
    bits = (bits << 8) | std::to_integer<uint32_t>(byte);
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += kAlphabet[(bits << (6 - count)) & 63];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

TEST(Base64, EveryLengthRoundTrips) {
  for (size_t size = 0; size <= 300; ++size) {
    const auto bytes = Sample(size);
    const std::string text = EncodeSlowly(bytes);
    for (const size_t step : {size_t{1}, size_t{2}, size_t{5}, size_t{1000}}) {
      ASSERT_EQ(Encode(bytes, step), text) << size;
    }
    ASSERT_EQ(*Base64DecodedSize(text), size);
    std::vector<std::byte> decoded(size);
    ASSERT_TRUE(DecodeBase64Range(text, 0, decoded).ok()) << size;
    ASSERT_EQ(decoded, bytes) << size;
  }
}

// What the machine's own choice of instructions would hide.
TEST(Base64, EverySimdTargetGivesTheSame) {
  const auto bytes = Sample(5000);
  const std::string text = EncodeSlowly(bytes);
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_EQ(Encode(bytes, bytes.size()), text) << hwy::TargetName(target);
    std::vector<std::byte> decoded(bytes.size());
    EXPECT_TRUE(DecodeBase64Range(text, 0, decoded).ok());
    EXPECT_EQ(decoded, bytes) << hwy::TargetName(target);
    for (size_t position = 0; position < 300; ++position) {
      std::string damaged = text;
      damaged[position] = static_cast<char>(position * 7 | 0x80);
      EXPECT_NE(DecodeBase64Range(damaged, 0, decoded)
                    .message()
                    .find("character " + std::to_string(position) + " "),
                std::string::npos)
          << hwy::TargetName(target);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

void ExpectEveryRange(size_t length) {
  const auto bytes = Sample(length);
  const std::string text = EncodeSlowly(bytes);
  for (size_t first = 0; first <= std::min<size_t>(length, 12); ++first) {
    for (size_t size = 0; size <= length - first; ++size) {
      std::vector<std::byte> part(size);
      ASSERT_TRUE(DecodeBase64Range(text, first, part).ok());
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(first);
      ASSERT_TRUE(std::equal(part.begin(), part.end(), begin)) << first << " " << size;
    }
  }
  std::vector<std::byte> beyond(length + 1);
  EXPECT_FALSE(DecodeBase64Range(text, 0, beyond).ok());
}

TEST(Base64, RangesDecodeAlone) {
  ExpectEveryRange(200);
  // The last group is whole or cut short, and the range ends in it.
  for (size_t length = 0; length <= 12; ++length) ExpectEveryRange(length);
}

TEST(Base64, NamesTheFirstBadCharacter) {
  const std::string good = EncodeSlowly(Sample(150));
  std::vector<std::byte> out(150);
  for (size_t position = 0; position < good.size(); ++position) {
    for (const char bad : {'-', '_', ' ', '\n', '=', '\0', '\x80', '\xff'}) {
      std::string text = good;
      text[position] = bad;
      if (bad == '=' && position + 2 >= text.size()) continue;  // padding
      const Status status = DecodeBase64Range(text, 0, out);
      ASSERT_NE(status.message().find("character " + std::to_string(position) + " "),
                std::string::npos)
          << position << ": " << status.message();
    }
  }
}

// Pieces on several threads, read from any place on.
TEST(Base64Source, ThreadsGiveTheSameBytesAndTheFirstError) {
  const auto bytes = Sample(5'000'001);
  std::string characters = EncodeSlowly(bytes);
  ThreadPool threads(4);
  const JsonText text{std::string_view(characters)};
  for (const size_t start : {size_t{0}, size_t{1}, size_t{128}}) {
    auto source = Base64Source::Open({&text, 0, text.size()}, &threads);
    ASSERT_TRUE(source.ok());
    EXPECT_EQ(source->remaining(), bytes.size());
    std::vector<std::byte> head(start);
    std::vector<std::byte> rest(bytes.size() - start);
    ASSERT_TRUE(source->Read(head).ok());
    ASSERT_TRUE(source->Read(rest).ok());
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), bytes.begin() + static_cast<long>(start)));
    EXPECT_FALSE(source->Read(std::span(rest).first(1)).ok());
  }
  characters[6'000'000] = characters[1'500'000] = '"';
  auto source = Base64Source::Open({&text, 0, text.size()}, &threads);
  std::vector<std::byte> all(bytes.size());
  EXPECT_NE(source->Read(all).message().find("character 1500000 of"), std::string::npos);
}

struct PaddingCase {
  const char* name;
  const char* text;
  int size;  // -1: refused
};

class Base64Padding : public testing::TestWithParam<PaddingCase> {};

// What Python's b64decode(validate=True) does.
TEST_P(Base64Padding, IsPythons) {
  const Result<uint64_t> size = Base64DecodedSize(GetParam().text);
  std::vector<std::byte> out(size.ok() ? *size : 0);
  const bool decodes = size.ok() && DecodeBase64Range(GetParam().text, 0, out).ok();
  EXPECT_EQ(decodes ? static_cast<int>(*size) : -1, GetParam().size) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Base64Padding,
    testing::Values(PaddingCase{"Empty", "", 0}, PaddingCase{"OneByte", "QQ==", 1},
                    PaddingCase{"OnePadMissing", "QQ=", -1}, PaddingCase{"NoPad", "QQ", -1},
                    PaddingCase{"TwoBytes", "QUI=", 2}, PaddingCase{"OnePadTooMany", "QUI==", -1},
                    PaddingCase{"PadMissing", "QUI", -1}, PaddingCase{"Whole", "QUJD", 3},
                    PaddingCase{"PadAfterWhole", "QUJD=", 3},
                    PaddingCase{"TwoPadsAfterWhole", "QUJD==", 3},
                    PaddingCase{"OneCharacter", "Q", -1},
                    PaddingCase{"OneCharacterAndPads", "QUJDQ===", -1}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace vernier
