#include "run/profile/profile_notes.h"

#include <algorithm>
#include <cmath>

#include "run/profile/latency_statistics.h"
#include "util/text/number_text.h"
#include "util/values/joined.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// Beyond these the machine was not quiet.
constexpr double kMuchNoise = 0.05;
constexpr double kMuchDrift = 0.05;
constexpr size_t kNamedPoints = 3;

using Points = std::vector<const ProfilePoint*>;

std::string NameOf(const ProfilePoint& point) { return point.runner + " with " + point.shapes; }

std::string NamesOf(const Points& points) {
  return JoinedUpTo(points, kNamedPoints, [](const ProfilePoint* point) { return NameOf(*point); });
}

std::string NoteOnFew(const Points& points) {
  const auto fewest = *std::ranges::min_element(
      points, {}, [](const ProfilePoint* point) { return point->latency.count; });
  return NamesOf(points) + ": of only " + Counted(fewest->latency.count, "inference") +
         (points.size() > 1 ? " (the fewest of them)" : "") + " the noise is half their range" +
         (fewest->latency.count == 1 ? ", which says nothing" : "") +
         "; measure longer (--duration, --runs)";
}

std::string NoteOnNoise(const Points& points) {
  const auto worst = *std::ranges::max_element(
      points, {}, [](const ProfilePoint* point) { return point->latency.median_noise; });
  const bool one = points.size() == 1;
  return NamesOf(points) +
         (one ? ": the median is uncertain by " : ": medians are uncertain by up to ") +
         FormatPercent(worst->latency.median_noise) +
         ": the machine was not quiet, or too little was measured (--duration, --runs)";
}

std::string NoteOnDrift(const Points& points) {
  const auto worst = *std::ranges::max_element(
      points, {}, [](const ProfilePoint* point) { return std::fabs(point->latency.drift); });
  const char* way = worst->latency.drift > 0 ? " slower" : " faster";
  return NamesOf(points) + ": the second half was " + (points.size() > 1 ? "up to " : "") +
         FormatPercent(std::fabs(worst->latency.drift)) + way + " than the first";
}

}  // namespace

std::vector<std::string> NotesOnTimes(const ProfileRecord& profile) {
  Points few, noisy, drifting;
  for (const ProfilePoint& point : profile.points) {
    const LatencyStatistics& latency = point.latency;
    if (latency.count == 0) continue;
    if (static_cast<size_t>(latency.count) < kFewTimes) {
      few.push_back(&point);
      continue;
    }
    if (latency.median_noise > kMuchNoise) noisy.push_back(&point);
    if (std::fabs(latency.drift) > kMuchDrift) drifting.push_back(&point);
  }
  std::vector<std::string> notes;
  if (!few.empty()) notes.push_back(NoteOnFew(few));
  if (!noisy.empty()) notes.push_back(NoteOnNoise(noisy));
  if (!drifting.empty()) notes.push_back(NoteOnDrift(drifting));
  return notes;
}

}  // namespace vernier
