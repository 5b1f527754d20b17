#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/bytes/base64_vector.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

#include "io/bytes/base64_vector.h"

#ifndef VERNIER_BASE64_TABLES_
#define VERNIER_BASE64_TABLES_

#include <array>
#include <cstdint>

namespace vernier {
namespace base64_tables {

inline constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

using Table = std::array<uint8_t, 16>;

constexpr bool InAlphabet(unsigned c) {
  return c < 0x80 && kAlphabet.find(static_cast<char>(c)) != std::string_view::npos;
}

// A character is wrong when the entries of its two halves have a bit in common: each high half has
// the bit of its class, and each low half the bits of the classes in which it is wrong.
constexpr unsigned ClassBit(unsigned high) {
  switch (high) {
    case 2:
      return 1;
    case 3:
      return 2;
    case 4:
    case 6:
      return 4;
    case 5:
    case 7:
      return 8;
    default:
      return 16;
  }
}

constexpr Table MakeHighTable() {
  Table table{};
  for (unsigned high = 0; high < 16; ++high) table[high] = static_cast<uint8_t>(ClassBit(high));
  return table;
}

constexpr Table MakeLowTable() {
  Table table{};
  for (unsigned c = 0; c < 256; ++c) {
    if (InAlphabet(c)) continue;
    table[c & 15] = static_cast<uint8_t>(table[c & 15] | ClassBit(c >> 4));
  }
  return table;
}

// What to add to a character of each high half to get its value. '/' shares its half with '+' and
// uses the entry before it.
constexpr Table MakeValueTable() {
  Table table{};
  for (unsigned value = 0; value < 64; ++value) {
    const auto c = static_cast<unsigned char>(kAlphabet[value]);
    table[c == '/' ? (c >> 4) - 1 : c >> 4] = static_cast<uint8_t>(value - c);
  }
  return table;
}

// What to add to a value to get its character, by the place that PlaceOf gives it: 0 for A to Z, 1
// for a to z, 2 to 11 for the digits, then '+' and '/'.
constexpr unsigned PlaceOf(unsigned value) {
  return (value > 51 ? value - 51 : 0) + (value > 25 ? 1 : 0);
}

constexpr Table MakeCharacterTable() {
  Table table{};
  for (unsigned value = 0; value < 64; ++value) {
    table[PlaceOf(value)] =
        static_cast<uint8_t>(static_cast<unsigned char>(kAlphabet[value]) - value);
  }
  return table;
}

inline constexpr Table kHigh = MakeHighTable();
inline constexpr Table kLow = MakeLowTable();
inline constexpr Table kValue = MakeValueTable();
inline constexpr Table kCharacter = MakeCharacterTable();

// The three bytes of each 32-bit lane, most significant first; and three bytes as two overlapping
// pairs, from which the four values are cut.
inline constexpr Table kPack = {2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 0x80, 0x80, 0x80, 0x80};
inline constexpr Table kSpread = {1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10};

// 32-bit lanes: a vector of four groups in each block of 16 bytes, to and from three lanes each.
inline constexpr size_t kMaxLanes = 16;

constexpr std::array<uint32_t, kMaxLanes> MakeJoin() {
  std::array<uint32_t, kMaxLanes> lanes{};
  for (uint32_t i = 0; i < kMaxLanes * 3 / 4; ++i) lanes[i] = i / 3 * 4 + i % 3;
  return lanes;
}

constexpr std::array<uint32_t, kMaxLanes> MakePart() {
  std::array<uint32_t, kMaxLanes> lanes{};
  for (uint32_t i = 0; i < kMaxLanes; ++i) lanes[i] = i / 4 * 3 + i % 4;
  return lanes;
}

inline constexpr auto kJoin = MakeJoin();
inline constexpr auto kPart = MakePart();

}  // namespace base64_tables
}  // namespace vernier

#endif  // VERNIER_BASE64_TABLES_

HWY_BEFORE_NAMESPACE();
namespace vernier {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace base64_tables;

#if HWY_TARGET == HWY_SCALAR  // no vectors: everything is left to the caller

size_t DecodeBlocks(std::string_view, std::span<std::byte>) { return 0; }
size_t EncodeBlocks(std::span<const std::byte>, std::span<char>) { return 0; }

#else

using VectorBytes = hn::CappedTag<uint8_t, 4 * kMaxLanes>;
using Words = hn::Repartition<uint32_t, VectorBytes>;

// Lanes past the vector's end are not used: their places may hold anything that exists.
template <typename D>
auto LaneIndices(D d, const std::array<uint32_t, kMaxLanes>& lanes) {
  HWY_ALIGN uint32_t indices[kMaxLanes] = {};
  const size_t count = hn::Lanes(d);
  for (size_t i = 0; i < count; ++i) indices[i] = lanes[i] < count ? lanes[i] : 0;
  return hn::SetTableIndices(d, indices);
}

size_t DecodeBlocks(std::string_view text, std::span<std::byte> out) {
  const VectorBytes bytes;
  const Words words;
  const hn::Repartition<uint16_t, VectorBytes> halves;
  const size_t width = hn::Lanes(bytes);
  const auto high_table = hn::LoadDup128(bytes, kHigh.data());
  const auto low_table = hn::LoadDup128(bytes, kLow.data());
  const auto value_table = hn::LoadDup128(bytes, kValue.data());
  const auto pack = hn::LoadDup128(bytes, kPack.data());
  const auto nibble = hn::Set(bytes, uint8_t{15});
  const auto slash = hn::Set(bytes, uint8_t{'/'});
  const auto join = LaneIndices(words, kJoin);
  size_t done = 0;
  // As many bytes are stored as characters were read.
  while (text.size() - 4 * done >= width && out.size() - 3 * done >= width) {
    const auto c = hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(text.data()) + 4 * done);
    const auto high =
        hn::And(hn::BitCast(bytes, hn::ShiftRight<4>(hn::BitCast(halves, c))), nibble);
    const auto wrong = hn::And(hn::TableLookupBytes(high_table, high),
                               hn::TableLookupBytes(low_table, hn::And(c, nibble)));
    if (!hn::AllTrue(bytes, hn::Eq(wrong, hn::Zero(bytes)))) break;
    const auto is_slash = hn::VecFromMask(bytes, hn::Eq(c, slash));  // all bits: minus one
    const auto value = hn::Add(c, hn::TableLookupBytes(value_table, hn::Add(high, is_slash)));
    // First value of a pair above the second, then pairs likewise: 24 bits in each word.
    const auto v = hn::BitCast(halves, value);
    const auto pairs =
        hn::Or(hn::ShiftLeft<6>(hn::And(v, hn::Set(halves, uint16_t{0xff}))), hn::ShiftRight<8>(v));
    const auto p = hn::BitCast(words, pairs);
    const auto groups =
        hn::Or(hn::ShiftLeft<12>(hn::And(p, hn::Set(words, 0xffffu))), hn::ShiftRight<16>(p));
    const auto packed = hn::TableLookupBytes(hn::BitCast(bytes, groups), pack);
    const auto joined = hn::TableLookupLanes(hn::BitCast(words, packed), join);
    hn::StoreU(hn::BitCast(bytes, joined), bytes,
               reinterpret_cast<uint8_t*>(out.data()) + 3 * done);
    done += width / 4;
  }
  return done;
}

size_t EncodeBlocks(std::span<const std::byte> in, std::span<char> text) {
  const VectorBytes bytes;
  const Words words;
  const hn::Repartition<uint16_t, VectorBytes> halves;
  const size_t width = hn::Lanes(bytes);
  const auto spread = hn::LoadDup128(bytes, kSpread.data());
  const auto character_table = hn::LoadDup128(bytes, kCharacter.data());
  const auto part = LaneIndices(words, kPart);
  const auto last_large = hn::Set(bytes, uint8_t{25});
  const auto last_letter = hn::Set(bytes, uint8_t{51});
  size_t done = 0;
  // As many bytes are read as characters are stored.
  while (in.size() - 3 * done >= width && text.size() - 4 * done >= width) {
    const auto raw = hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(in.data()) + 3 * done);
    const auto parted = hn::TableLookupLanes(hn::BitCast(words, raw), part);
    const auto pairs = hn::TableLookupBytes(hn::BitCast(bytes, parted), spread);
    // Multiplying moves each value to the low bits of its byte: those of the even bytes down, those
    // of the odd bytes up.
    const auto w = hn::BitCast(words, pairs);
    const auto even = hn::MulHigh(hn::BitCast(halves, hn::And(w, hn::Set(words, 0x0fc0fc00u))),
                                  hn::BitCast(halves, hn::Set(words, 0x04000040u)));
    const auto odd = hn::Mul(hn::BitCast(halves, hn::And(w, hn::Set(words, 0x003f03f0u))),
                             hn::BitCast(halves, hn::Set(words, 0x01000010u)));
    const auto value = hn::BitCast(bytes, hn::Or(even, odd));
    const auto beyond_large = hn::VecFromMask(bytes, hn::Gt(value, last_large));
    const auto place = hn::Sub(hn::SaturatedSub(value, last_letter), beyond_large);
    const auto c = hn::Add(value, hn::TableLookupBytes(character_table, place));
    hn::StoreU(c, bytes, reinterpret_cast<uint8_t*>(text.data()) + 4 * done);
    done += width / 4;
  }
  return done;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace vernier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace vernier {

HWY_EXPORT(DecodeBlocks);
HWY_EXPORT(EncodeBlocks);

size_t DecodeBase64Blocks(std::string_view text, std::span<std::byte> out) {
  return HWY_DYNAMIC_DISPATCH(DecodeBlocks)(text, out);
}

size_t EncodeBase64Blocks(std::span<const std::byte> bytes, std::span<char> text) {
  return HWY_DYNAMIC_DISPATCH(EncodeBlocks)(bytes, text);
}

}  // namespace vernier

#endif  // HWY_ONCE
