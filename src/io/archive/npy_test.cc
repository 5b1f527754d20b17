#include "io/archive/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "io/results/io_test_data.h"

namespace vernier {
namespace {

// An npy file with any header text.
std::string File(std::string header, std::string_view data, char version = 1) {
  header += '\n';
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  const auto size = static_cast<uint32_t>(header.size());
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) file += static_cast<char>(size >> (8 * i));
  return file + header + std::string(data);
}

std::string Header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': " + descr + ", 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

TEST(Npy, WritesNumpysBytes) {
  StringSink sink;
  const float values[] = {1, 2};
  const Tensor tensor = *Tensor::Copy(DType::kFloat32, {2}, std::as_bytes(std::span(values)));
  ASSERT_TRUE(WriteNpy(tensor, sink).ok());
  const std::string text = Header("'<f4'", "(2,)");
  const std::string expected = std::string("\x93NUMPY\x01\x00v\x00", 10) + text +
                               std::string(117 - text.size(), ' ') + "\n" +
                               std::string("\0\0\x80?\0\0\0@", 8);
  EXPECT_EQ(sink.text(), expected);
  EXPECT_EQ(NpySizeFromStart(BytesOf(expected)), expected.size());
}

// All types, and shapes with an odd number of elements, none, and no dimension.
TEST(Npy, EveryTypeRoundTrips) {
  for (int type = 1; type < kDTypeCount; ++type) {
    for (const Dims& dims : {Dims{}, Dims{5}, Dims{0, 3}, Dims{2, 1, 3}}) {
      const auto dtype = static_cast<DType>(type);
      const Tensor tensor = SampleTensor(dtype, dims);
      StringSink sink;
      ASSERT_TRUE(WriteNpy(tensor, sink).ok());
      EXPECT_EQ(NpySizeFromStart(BytesOf(sink.text())), sink.text().size());
      const auto again = ReadNpy(BytesOf(sink.text()), dtype);
      ASSERT_TRUE(again.ok()) << again.status().message();
      ExpectSameTensor(*again, tensor, std::string(DTypeName(dtype)) + FormatDims(dims));
    }
  }
}

TEST(Npy, ConvertsOrders) {
  const std::string data("\0\1\0\2\0\3\0\4\0\5\0\6", 12);
  const auto tensor = ReadNpy(BytesOf(File(Header("'>i2'", "(2, 3)", true), data)));
  ASSERT_TRUE(tensor.ok()) << tensor.status().message();
  const std::vector<int16_t> expected = {1, 3, 5, 2, 4, 6};
  EXPECT_EQ(std::vector<int16_t>(tensor->As<int16_t>().begin(), tensor->As<int16_t>().end()),
            expected);
}

TEST(Npy, AcceptsWhatNumpyAccepts) {
  for (const std::string& file :
       {File(Header("'<f4'", "(1,)"), "1234trailing"), File(Header("\"f4\"", "(1L,)"), "1234"),
        File(Header("'<f4'", "(1,)"), "1234", 2), File(Header("'<f4'", "(1,)"), "1234", 3),
        File("{'shape':(1,),'descr':'=f4','fortran_order':False}", "1234"),
        File("{'descr':'O','descr':'<f4','fortran_order':False,'shape':()}", "1234")}) {
    const auto tensor = ReadNpy(BytesOf(file));
    EXPECT_EQ(tensor.ok(), file.find("'O'") == std::string::npos) << tensor.status().message();
  }
}

struct Refused {
  std::string file;
  const char* message;
};

TEST(Npy, RefusesByName) {
  const Refused cases[] = {
      {"", "does not begin"},
      {"\x93NUMPX\x01", "does not begin"},
      {File(Header("'<f4'", "(1,)"), "1234", 4), "version 4.0"},
      {File(Header("'<f4'", "(1,)"), "").substr(0, 30), "ends in its header"},
      {File(Header("'<f4'", "(1,)"), "123"), "needs 4 bytes, but the npy file holds 3"},
      {File(Header("'<f4'", "(65536, 65536)"), ""), "needs 17179869184 bytes"},
      {File(Header("'<f4'", "(4611686018427387904, 4)"), ""), "too large"},
      {File(Header("'<f4'", "(99999999999999999999,)"), ""), "below 2^63"},
      {File(Header("'<f4'", "(-1,)"), ""), "not negative"},
      {File(Header("'<f4'", "(1)"), "1234"), "tuple"},
      {File(Header("'|O'", "(1,)"), "1234"), "Python objects"},
      {File(Header("[('a', '<f4')]", "(1,)"), "1234"), "structured"},
      {File(Header("'<M8[ns]'", "(1,)"), "12345678"), "'<M8[ns]'"},
      {File(Header("'<f16'", "(1,)"), std::string(16, 'x')), "'<f16'"},
      {File(Header("'<V8'", "(1,)"), "12345678"), "'|V8'"},
      {File(Header("'<U0'", "(1000000000000,)"), ""), "strings of width 0"},
      {File("{'descr': '<f4', 'shape': (1,), }", "1234"), "lacks"},
      {File("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", ""), "entry 'x'"},
      {File("__import__('os').system('true')", ""), "expected '{'"},
      {File(Header("'<f4'", "(1,)") + " + {}", "1234"), "expected the end"},
      {File(Header("'<f4'", "(" + std::string(130, '1') + ")"), ""), "below 2^63"},
      {File(std::string(70'000, ' '), "", 2), "claims 70001 bytes"},
  };
  for (const Refused& refused : cases) {
    const auto tensor = ReadNpy(BytesOf(refused.file));
    ASSERT_FALSE(tensor.ok()) << refused.message;
    EXPECT_EQ(tensor.status().code(), StatusCode::kMalformed);
    EXPECT_NE(tensor.status().message().find(refused.message), std::string::npos)
        << tensor.status().message() << " / " << refused.message;
  }
}

TEST(Npy, EveryTruncationIsRefused) {
  StringSink sink;
  ASSERT_TRUE(WriteNpy(SampleTensor(DType::kString, {3}), sink).ok());
  for (size_t size = 0; size < sink.text().size(); ++size) {
    EXPECT_FALSE(ReadNpy(BytesOf(sink.text()).first(size)).ok()) << size;
  }
}

TEST(Npy, RememberedTypeMustFit) {
  const std::string one = File(Header("'<V1'", "(2,)"), "\x21\x43");
  EXPECT_EQ(ReadNpy(BytesOf(one))->dtype(), DType::kUint8);
  EXPECT_EQ(ReadNpy(BytesOf(one), DType::kFloat8E5M2)->dtype(), DType::kFloat8E5M2);
  EXPECT_EQ(ReadNpy(BytesOf(one), DType::kInt4)->bytes()[0], std::byte{0x31});
  EXPECT_FALSE(ReadNpy(BytesOf(one), DType::kBFloat16).ok());
  EXPECT_FALSE(ReadNpy(BytesOf(one), DType::kString).ok());
  const std::string f1 = File(Header("'<f1'", "(1,)"), "x");
  EXPECT_EQ(ReadNpy(BytesOf(f1))->dtype(), DType::kFloat8E5M2);
}

}  // namespace
}  // namespace vernier
