#include "check/properties/size_sums.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace vernier {
namespace {

// None that a sweep tries by itself: what goes wrong there alone must not hide a sum.
constexpr int64_t kTermSizes[][2] = {{4, 6}, {6, 7}};

// More dimensions have more sums than are worth trying.
constexpr size_t kMostDimensions = 8;

bool Runs(Subject& subject, const FreeSizes& sizes) {
  const Result<TensorMap> feed = subject.bench.Draw(sizes);
  return feed.ok() && subject.probe->Infer(*feed).ok();
}

// Whether the sum runs, and not one less; and one more always, so that it is the least, or never.
bool IsNeeded(Subject& subject, SizeSum& sum, std::span<const SizeSum> known) {
  std::optional<bool> more;
  for (const auto& terms : kTermSizes) {
    FreeSizes sizes{.dimension = sum.dimension, .sums = {known.begin(), known.end()}};
    int64_t total = sum.added;
    for (size_t i = 0; i < sum.terms.size(); ++i) {
      sizes.also.push_back({sum.terms[i], terms[i]});
      total += terms[i];
    }
    for (const int64_t off : {0, -1, 1}) {
      sizes.size = total + off;
      if (subject.probe->runner().lost_worker()) return false;
      const bool runs = Runs(subject, sizes);
      if (off <= 0 && runs != (off == 0)) return false;
      if (off > 0 && more.value_or(runs) != runs) return false;
      if (off > 0) more = runs;
    }
  }
  sum.at_least = *more;
  return true;
}

// Sums of two come first: where one of the terms is 1, both kinds may run.
std::vector<SizeSum> Candidates(std::span<const std::string> names, bool equal) {
  std::vector<SizeSum> sums;
  for (const std::string& name : names) {
    for (size_t i = 0; i < names.size(); ++i) {
      for (size_t j = i + 1; j < names.size(); ++j) {
        if (names[i] != name && names[j] != name) sums.push_back({name, {names[i], names[j]}});
      }
    }
  }
  for (int64_t added = 1; added >= (equal ? 0 : 1); --added) {
    for (const std::string& name : names) {
      for (const std::string& term : names) {
        if (term != name) sums.push_back({name, {term}, added});
      }
    }
  }
  return sums;
}

}  // namespace

std::optional<SizeSum> FindSizeSum(Subject& subject, std::span<const std::string> dimensions,
                                   std::span<const SizeSum> known, bool equal) {
  std::vector<std::string> named;
  for (const std::string& name : dimensions) {
    if (!name.empty() && !IsSum(known, name)) named.push_back(name);
  }
  if (named.size() > kMostDimensions) return std::nullopt;
  for (SizeSum& sum : Candidates(named, equal)) {
    if (IsNeeded(subject, sum, known)) return std::move(sum);
  }
  return std::nullopt;
}

bool IsSum(std::span<const SizeSum> sums, std::string_view dimension) {
  return std::ranges::find(sums, dimension, &SizeSum::dimension) != sums.end();
}

std::string DescribeSums(std::span<const SizeSum> sums) {
  std::string text;
  for (const SizeSum& sum : sums) {
    text += (text.empty() ? "'" : ", '") + sum.dimension + "' " +
            (sum.at_least ? "at least " : "") + "as large as '" + sum.terms.front() + "'" +
            (sum.terms.size() > 1 ? " and '" + sum.terms.back() + "' together"
             : sum.added > 0      ? " and 1"
                                  : "");
  }
  return text.empty() ? text : text + ", which the model needs";
}

}  // namespace vernier
