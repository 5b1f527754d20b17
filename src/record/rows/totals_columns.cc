#include "record/rows/totals_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace vernier {
namespace {

// "3:40:42:40", up to a blank or the end, from which `at` goes on.
std::optional<ClassOverlap> OverlapFrom(const char*& at, const char* end) {
  std::array<int64_t, 4> numbers = {};
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (at == end || *at++ != ':')) return std::nullopt;
    const auto [stop, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || numbers[i] < 0) return std::nullopt;
    at = stop;
  }
  const auto [category, first, second, both] = numbers;
  if (both > std::min(first, second) || std::max(first, second) == 0) return std::nullopt;
  return ClassOverlap{category, first, second, both};
}

bool IsShare(double similarity, double part, double whole) {
  constexpr double kRounding = 1e-9;
  return std::abs(similarity - (whole > 0 ? part / whole : 1)) <= kRounding;
}

bool BoxesFit(const BoxCounts& boxes, const DecisionSample& sample) {
  const int64_t others = boxes.lost + boxes.invented + boxes.class_changed;
  const auto all = static_cast<double>(boxes.matched + others);
  if ((others == 0) != (sample.flip == Flip::kNone)) return false;
  return IsShare(sample.similarity, boxes.overlap, all);
}

bool ClassesFit(const std::vector<ClassOverlap>& classes, const DecisionSample& sample) {
  int64_t first = 0, second = 0, both = 0;
  for (const ClassOverlap& of : classes) {
    first += of.first;
    second += of.second;
    both += of.both;
  }
  if (first != second || (both == first) != (sample.flip == Flip::kNone)) return false;
  return IsShare(sample.similarity, static_cast<double>(both), static_cast<double>(first));
}

}  // namespace

std::string OverlapsText(const std::vector<ClassOverlap>& classes) {
  std::string text;
  for (const ClassOverlap& of : classes) {
    if (!text.empty()) text += ' ';
    text += std::to_string(of.category) + ":" + std::to_string(of.first) + ":" +
            std::to_string(of.second) + ":" + std::to_string(of.both);
  }
  return text;
}

std::optional<std::vector<ClassOverlap>> OverlapsFrom(std::string_view text) {
  std::vector<ClassOverlap> classes;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (!classes.empty() && *at++ != ' ') return std::nullopt;
    const std::optional<ClassOverlap> of = OverlapFrom(at, end);
    if (!of || (!classes.empty() && of->category <= classes.back().category)) return std::nullopt;
    classes.push_back(*of);
  }
  return classes;
}

bool TotalsFit(const DecisionSample& sample) {
  if (!sample.boxes && sample.classes.empty()) return true;
  if (sample.flip == Flip::kInvalid || (sample.boxes && !sample.classes.empty())) return false;
  return sample.boxes ? BoxesFit(*sample.boxes, sample) : ClassesFit(sample.classes, sample);
}

}  // namespace vernier
