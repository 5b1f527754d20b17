#include "util/text/fnmatch.h"

#include <cstdint>
#include <vector>

namespace vernier {
namespace {

// Invalid bytes map beyond Unicode, so that they equal only themselves.
constexpr uint32_t kStrayByte = 0x110000;

size_t SequenceLength(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

std::vector<uint32_t> CodePoints(std::string_view text) {
  std::vector<uint32_t> points;
  points.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = SequenceLength(lead);
    bool whole = length > 0 && i + length <= text.size();
    uint32_t point = length > 1 ? lead & (0xffu >> (length + 1)) : lead;
    for (size_t k = 1; whole && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      whole = (next & 0xc0) == 0x80;
      point = point << 6 | (next & 0x3fu);
    }
    points.push_back(whole ? point : kStrayByte + lead);
    i += whole ? length : 1;
  }
  return points;
}

// The bracket that closes the set opened at `open`, or the size. One right after the opening
// bracket, or after the '!', belongs to the set.
size_t FindClose(const std::vector<uint32_t>& points, size_t open) {
  size_t close = open + 1;
  if (close < points.size() && points[close] == '!') ++close;
  if (close < points.size() && points[close] == ']') ++close;
  while (close < points.size() && points[close] != ']') ++close;
  return close;
}

}  // namespace

bool FnPattern::Item::Matches(uint32_t c) const {
  if (kind == Kind::kOne) return c == point;
  if (kind == Kind::kAnyOne) return true;
  bool inside = false;
  for (const auto& [low, high] : ranges) inside = inside || (low <= c && c <= high);
  return inside != negated;
}

// The set between begin and end. A hyphen makes a range unless it is the first or last character;
// a range that runs backwards matches nothing.
FnPattern::Item FnPattern::MakeSet(const std::vector<uint32_t>& points, size_t begin, size_t end) {
  Item item;
  item.kind = Item::Kind::kSet;
  if (points[begin] == '!') {
    item.negated = true;
    ++begin;
  }
  while (begin < end) {
    const bool range = begin + 2 < end && points[begin + 1] == '-';
    const uint32_t high = points[range ? begin + 2 : begin];
    if (points[begin] <= high) item.ranges.emplace_back(points[begin], high);
    begin += range ? 3 : 1;
  }
  return item;
}

FnPattern::FnPattern(std::string_view pattern) {
  const std::vector<uint32_t> points = CodePoints(pattern);
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i] == '*') {
      if (items_.empty() || items_.back().kind != Item::Kind::kAnyText) {
        items_.push_back({.kind = Item::Kind::kAnyText, .ranges = {}});
      }
      continue;
    }
    if (points[i] == '?') {
      items_.push_back({.kind = Item::Kind::kAnyOne, .ranges = {}});
      continue;
    }
    const size_t close = points[i] == '[' ? FindClose(points, i) : points.size();
    if (close < points.size()) {
      items_.push_back(MakeSet(points, i + 1, close));
      i = close;
      continue;
    }
    items_.push_back({.kind = Item::Kind::kOne, .point = points[i], .ranges = {}});
  }
}

bool IsPattern(std::string_view text) {
  return text.find_first_of("*?[]") != std::string_view::npos;
}

bool FnPattern::Matches(std::string_view name) const {
  const std::vector<uint32_t> text = CodePoints(name);
  // Going back to the last '*' only is enough, and keeps the time quadratic at worst.
  size_t item = 0, at = 0;
  size_t star = SIZE_MAX, star_at = 0;
  while (at < text.size()) {
    if (item < items_.size() && items_[item].kind == Item::Kind::kAnyText) {
      star = item++;
      star_at = at;
    } else if (item < items_.size() && items_[item].Matches(text[at])) {
      ++item;
      ++at;
    } else if (star != SIZE_MAX) {
      item = star + 1;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (item < items_.size() && items_[item].kind == Item::Kind::kAnyText) ++item;
  return item == items_.size();
}

}  // namespace vernier
