#include "io/bytes/base64.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "io/bytes/base64_vector.h"

namespace vernier {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr size_t kBlockBytes = size_t{192} << 10;

// Any bit at or above this one marks a character outside the alphabet; the three decoded bytes lie
// below it, first byte lowest.
constexpr uint32_t kBad = uint32_t{1} << 24;

using DecodeTable = std::array<uint32_t, 256>;

constexpr uint32_t PlaceSextet(uint32_t value, int position) {
  switch (position) {
    case 0:
      return value << 2;
    case 1:
      return (value >> 4) | ((value & 0xf) << 12);
    case 2:
      return ((value >> 2) << 8) | ((value & 0x3) << 22);
    default:
      return value << 16;
  }
}

constexpr std::array<DecodeTable, 4> MakeDecodeTables() {
  std::array<DecodeTable, 4> tables{};
  for (int position = 0; position < 4; ++position) {
    DecodeTable& table = tables[static_cast<size_t>(position)];
    for (uint32_t& entry : table) entry = kBad;
    for (uint32_t value = 0; value < 64; ++value) {
      table[static_cast<unsigned char>(kAlphabet[value])] = PlaceSextet(value, position);
    }
  }
  return tables;
}

// Two characters for every twelve bits.
constexpr std::array<std::array<char, 2>, 4096> MakeEncodeTable() {
  std::array<std::array<char, 2>, 4096> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = {kAlphabet[i >> 6], kAlphabet[i & 63]};
  return table;
}

constexpr std::array<DecodeTable, 4> kDecode = MakeDecodeTables();
constexpr std::array<std::array<char, 2>, 4096> kEncode = MakeEncodeTable();

uint32_t DecodeGroup(const char* text) {
  const auto* c = reinterpret_cast<const unsigned char*>(text);
  return kDecode[0][c[0]] | kDecode[1][c[1]] | kDecode[2][c[2]] | kDecode[3][c[3]];
}

Status BadCharacter(std::string_view text, size_t from, uint64_t text_begin) {
  for (size_t i = from; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (kDecode[0][c] < kBad) continue;
    constexpr char kHex[] = "0123456789abcdef";
    return Malformed("character " + std::to_string(text_begin + i) + " of the base64 text (0x" +
                     kHex[c >> 4] + kHex[c & 15] + ") is not in the alphabet");
  }
  return Malformed("the base64 text is damaged");
}

// Whole groups only: `groups` times four characters become three bytes each.
Status DecodeGroups(std::string_view text, uint64_t text_begin, size_t position, size_t groups,
                    std::byte* out) {
  size_t done = DecodeBase64Blocks(text.substr(position, groups * 4), {out, groups * 3});
  const char* in = text.data() + position + 4 * done;
  out += 3 * done;
  // Four bytes are stored for three, so the last group is left to the loop below.
  for (; done + 8 < groups; done += 8) {
    uint32_t bad = 0;
    for (size_t i = 0; i < 8; ++i) {
      const uint32_t group = DecodeGroup(in + 4 * i);
      bad |= group;
      std::memcpy(out + 3 * i, &group, sizeof(group));
    }
    if (bad >= kBad) return BadCharacter(text, position + 4 * done, text_begin);
    in += 32;
    out += 24;
  }
  for (; done < groups; ++done) {
    const uint32_t group = DecodeGroup(in);
    if (group >= kBad) return BadCharacter(text, position + 4 * done, text_begin);
    std::memcpy(out, &group, 3);
    in += 4;
    out += 3;
  }
  return {};
}

std::string_view WithoutPadding(std::string_view text) {
  for (int i = 0; i < 2 && !text.empty() && text.back() == '='; ++i) text.remove_suffix(1);
  return text;
}

// One group, of which the last one may be cut short; missing characters count as zero bits.
Status DecodeOneGroup(std::string_view text, uint64_t text_begin, uint64_t group,
                      std::array<std::byte, 3>& out) {
  const size_t position = static_cast<size_t>(group) * 4;
  char characters[4] = {'A', 'A', 'A', 'A'};
  std::memcpy(characters, text.data() + position, std::min<size_t>(4, text.size() - position));
  const uint32_t value = DecodeGroup(characters);
  if (value >= kBad) return BadCharacter(text, position, text_begin);
  std::memcpy(out.data(), &value, out.size());
  return {};
}

void EncodeGroups(const std::byte* in, size_t groups, char* out) {
  const size_t done = EncodeBase64Blocks({in, groups * 3}, {out, groups * 4});
  in += 3 * done;
  out += 4 * done;
  for (size_t i = done; i < groups; ++i) {
    const uint32_t bits = (std::to_integer<uint32_t>(in[0]) << 16) |
                          (std::to_integer<uint32_t>(in[1]) << 8) |
                          std::to_integer<uint32_t>(in[2]);
    std::memcpy(out, kEncode[bits >> 12].data(), 2);
    std::memcpy(out + 2, kEncode[bits & 0xfff].data(), 2);
    in += 3;
    out += 4;
  }
}

}  // namespace

Result<uint64_t> Base64DecodedSize(std::string_view text) {
  const std::string_view digits = WithoutPadding(text);
  const size_t padding = text.size() - digits.size();
  const size_t rest = digits.size() % 4;
  const bool complete = rest == 0 || (rest == 2 && padding == 2) || (rest == 3 && padding == 1);
  if (!complete) {
    return Malformed("the base64 text has " + std::to_string(text.size()) +
                     " characters, which end in an incomplete group of four");
  }
  return uint64_t{digits.size() / 4} * 3 + (rest > 0 ? rest - 1 : 0);
}

Status DecodeBase64Range(std::string_view text, uint64_t first, std::span<std::byte> out,
                         uint64_t text_begin) {
  VERNIER_ASSIGN_OR_RETURN(const uint64_t size, Base64DecodedSize(text));
  if (first > size || out.size() > size - first) {
    return Malformed("the base64 text holds " + std::to_string(size) + " bytes, fewer than the " +
                     std::to_string(first + out.size()) + " that are needed");
  }
  const std::string_view digits = WithoutPadding(text);
  std::array<std::byte, 3> group{};
  uint64_t index = first / 3;
  if (const auto skip = static_cast<size_t>(first % 3); skip > 0 && !out.empty()) {
    VERNIER_TRY(DecodeOneGroup(digits, text_begin, index++, group));
    const size_t count = std::min(out.size(), 3 - skip);
    std::memcpy(out.data(), group.data() + skip, count);
    out = out.subspan(count);
  }
  const size_t whole = out.size() / 3;
  // Behind the last group, which may be cut short, there is no text left.
  if (out.empty()) return {};
  VERNIER_TRY(DecodeGroups(digits, text_begin, static_cast<size_t>(index) * 4, whole, out.data()));
  out = out.subspan(whole * 3);
  if (out.empty()) return {};
  VERNIER_TRY(DecodeOneGroup(digits, text_begin, index + whole, group));
  std::memcpy(out.data(), group.data(), out.size());
  return {};
}

Status Base64Sink::Write(std::span<const std::byte> bytes) {
  while (pending_count_ > 0 && pending_count_ < 3 && !bytes.empty()) {
    pending_[pending_count_++] = bytes.front();
    bytes = bytes.subspan(1);
  }
  if (pending_count_ == 3) {
    char text[4];
    EncodeGroups(pending_.data(), 1, text);
    pending_count_ = 0;
    VERNIER_TRY(target_.WriteText({text, sizeof(text)}));
  }
  std::vector<char> block;
  while (bytes.size() >= 3) {
    const size_t groups = std::min(bytes.size(), kBlockBytes) / 3;
    block.resize(groups * 4);
    EncodeGroups(bytes.data(), groups, block.data());
    VERNIER_TRY(target_.WriteText({block.data(), block.size()}));
    bytes = bytes.subspan(groups * 3);
  }
  for (const std::byte byte : bytes) pending_[pending_count_++] = byte;
  return {};
}

Status Base64Sink::Finish() {
  if (pending_count_ == 0) return {};
  char text[4];
  std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(pending_count_), pending_.end(),
            std::byte{0});
  EncodeGroups(pending_.data(), 1, text);
  std::fill(text + pending_count_ + 1, text + 4, '=');
  pending_count_ = 0;
  return target_.WriteText({text, sizeof(text)});
}

}  // namespace vernier
