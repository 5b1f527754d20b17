#include "io/archive/archive_names.h"

#include <algorithm>
#include <charconv>

#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr size_t kIterationDigits = 10;
constexpr std::string_view kReserved = "%/\\:*?\"<>|#";

void AppendEncoded(std::string& out, char c) {
  constexpr char kHex[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

std::optional<uint64_t> ParseIteration(std::string_view text) {
  uint64_t value = 0;
  if (text.size() != kIterationDigits || !std::all_of(text.begin(), text.end(), IsDigit)) {
    return std::nullopt;
  }
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string PercentEncode(std::string_view text) {
  // Empty names and names of dots would vanish in paths. A NUL stands for the empty name: no
  // tensor is called so.
  if (text.empty()) return "%00";
  const bool dots = text.find_first_not_of('.') == std::string_view::npos;
  std::string encoded;
  for (const char c : text) {
    const bool plain = c > ' ' && c < 0x7f && kReserved.find(c) == std::string_view::npos;
    if (plain && !dots) {
      encoded += c;
    } else {
      AppendEncoded(encoded, c);
    }
  }
  return encoded;
}

std::string PercentDecode(std::string_view text) {
  if (text == "%00") return "";
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto [end, error] = std::from_chars(&text[i + 1], &text[i] + 3, value, 16);
      if (error == std::errc() && end == &text[i] + 3) {
        decoded += static_cast<char>(value);
        i += 2;
        continue;
      }
    }
    decoded += text[i];
  }
  return decoded;
}

std::string IterationText(uint64_t iteration) {
  std::string digits = std::to_string(iteration);
  if (digits.size() < kIterationDigits) digits.insert(0, kIterationDigits - digits.size(), '0');
  return digits;
}

std::optional<ArchiveNameParts> SplitArchiveName(std::string_view name) {
  const size_t last = name.rfind('/');
  if (last == std::string_view::npos) return std::nullopt;
  ArchiveNameParts parts;
  parts.tensor = name.substr(last + 1);
  std::string_view front = name.substr(0, last);
  if (const size_t slash = front.rfind('/'); slash != std::string_view::npos) {
    parts.run = front.substr(0, slash);
    front = front.substr(slash + 1);
    if (parts.run.empty() || parts.run.find('/') != std::string_view::npos) return std::nullopt;
  }
  const std::optional<uint64_t> iteration = ParseIteration(front);
  if (!iteration) return std::nullopt;
  parts.iteration = *iteration;
  return parts;
}

std::optional<ArchiveName> ParseArchiveName(std::string_view name) {
  const std::optional<ArchiveNameParts> parts = SplitArchiveName(name);
  if (!parts) return std::nullopt;
  return ArchiveName{.run = std::string(parts->run),
                     .iteration = parts->iteration,
                     .tensor = PercentDecode(parts->tensor)};
}

std::string FormatArchiveName(const ArchiveName& name) {
  const std::string path = IterationText(name.iteration) + "/" + PercentEncode(name.tensor);
  return name.run.empty() ? path : name.run + "/" + path;
}

}  // namespace vernier
