#include "io/base64_vector.h"

#include <array>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vernier {

#if defined(__x86_64__)

namespace {

constexpr std::string_view kAlphabet =
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
constexpr Table MakeOffsetTable() {
  Table table{};
  for (unsigned value = 0; value < 64; ++value) {
    const auto c = static_cast<unsigned char>(kAlphabet[value]);
    table[c == '/' ? (c >> 4) - 1 : c >> 4] = static_cast<uint8_t>(value - c);
  }
  return table;
}

constexpr Table kHigh = MakeHighTable();
constexpr Table kLow = MakeLowTable();
constexpr Table kOffset = MakeOffsetTable();

// The three bytes of each 32-bit lane, most significant first.
constexpr Table kPack = {2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 0x80, 0x80, 0x80, 0x80};

#define VERNIER_AVX2 __attribute__((target("avx2")))

VERNIER_AVX2 __m256i Twice(const Table& table) {
  return _mm256_broadcastsi128_si256(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(table.data())));
}

VERNIER_AVX2 size_t DecodeAvx2(std::string_view text, std::span<std::byte> out) {
  const __m256i high_table = Twice(kHigh);
  const __m256i low_table = Twice(kLow);
  const __m256i offset_table = Twice(kOffset);
  const __m256i pack = Twice(kPack);
  const __m256i nibble = _mm256_set1_epi8(15);
  const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
  size_t done = 0;
  // 32 bytes are stored for the 24 of a block.
  while (text.size() - 4 * done >= 32 && out.size() - 3 * done >= 32) {
    const __m256i c = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + 4 * done));
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(c, 4), nibble);
    const __m256i low = _mm256_and_si256(c, nibble);
    const __m256i wrong = _mm256_and_si256(_mm256_shuffle_epi8(high_table, high),
                                           _mm256_shuffle_epi8(low_table, low));
    if (_mm256_testz_si256(wrong, wrong) == 0) break;
    const __m256i is_slash = _mm256_cmpeq_epi8(c, _mm256_set1_epi8('/'));
    const __m256i offset = _mm256_shuffle_epi8(offset_table, _mm256_add_epi8(high, is_slash));
    const __m256i sextets = _mm256_add_epi8(c, offset);
    const __m256i pairs = _mm256_maddubs_epi16(sextets, _mm256_set1_epi32(0x01400140));
    const __m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
    const __m256i packed = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(groups, pack), join);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out.data() + 3 * done), packed);
    done += 8;
  }
  return done;
}

#undef VERNIER_AVX2

}  // namespace

size_t DecodeBase64Blocks(std::string_view text, std::span<std::byte> out) {
  return __builtin_cpu_supports("avx2") ? DecodeAvx2(text, out) : 0;
}

#else

size_t DecodeBase64Blocks(std::string_view, std::span<std::byte>) { return 0; }

#endif

}  // namespace vernier
