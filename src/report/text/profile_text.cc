#include "report/text/profile_text.h"

#include <algorithm>
#include <cmath>

#include "record/schema/side_names.h"
#include "report/text/text_table.h"
#include "report/text/verdict_text.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// Two columns of words, then numbers, and the last is words again.
std::string FormatNumbers(const std::vector<TextRow>& rows) {
  return FormatTable(rows, {.first_number = 2, .end_number = rows.front().size() - 1});
}

std::string Time(double seconds) {
  if (seconds < 1e-3) return FormatG(seconds * 1e6, 3) + " us";
  if (seconds < 1) return FormatG(seconds * 1e3, 4) + " ms";
  return FormatG(seconds, 4) + " s";
}

std::string Accuracy(const ProfileAccuracy& accuracy) {
  if (!accuracy.compared) return accuracy.why;
  std::string covers =
      Counted(accuracy.outputs, "output") + ", " + Counted(accuracy.elements, "element");
  if (accuracy.vacuous > 0) {
    covers += "; " + Counted(accuracy.vacuous, "shows nothing", "show nothing");
  }
  // A failure for types names one.
  if (!accuracy.retyped.empty() && (accuracy.passed || accuracy.failed > 0)) {
    covers += "; types differ: " + JoinWords(accuracy.retyped, " and ");
  }
  // What agrees can fail by --strict and --same-type.
  const std::string failed = accuracy.failed > 0 ? "DIFFERS, " : "FAILED, ";
  return (accuracy.passed ? "matches" : failed + accuracy.why) + " (" + covers + ")";
}

TextRow PointRow(const ProfilePoint& point) {
  if (!point.failure.empty()) return {point.shapes, point.runner, "FAILED"};
  const LatencyStatistics& l = point.latency;
  return {point.shapes,
          point.runner,
          Time(l.median),
          "+-" + FormatPercent(l.median_noise),
          Time(l.mean),
          Time(l.std_dev),
          Time(l.min),
          Time(l.p90),
          Time(l.p95),
          Time(l.p99),
          Time(l.max),
          FormatG(point.per_second, 4),
          Time(point.first_seconds),
          point.peak_memory ? FormatBytes(*point.peak_memory) : "-",
          Accuracy(point.accuracy)};
}

std::string LayerLines(const ProfilePoint& point, size_t most) {
  if (most == 0 || point.layers.empty()) return "";
  double sum = 0;
  for (const LayerTime& layer : point.layers) sum += layer.seconds;
  std::vector<TextRow> rows = {{"layer", "type", "time", "share", ""}};
  for (size_t i = 0; i < std::min(most, point.layers.size()); ++i) {
    const LayerTime& layer = point.layers[i];
    rows.push_back({layer.name, layer.kind, Time(layer.seconds),
                    FormatG(sum > 0 ? layer.seconds / sum * 100 : 0, 3) + " %", ""});
  }
  return "longest layers of " + point.runner + " with " + point.shapes + ":\n" +
         FormatNumbers(rows);
}

}  // namespace

std::string FormatProfile(const RunRecord& given, size_t layers) {
  if (!given.profile || given.profile->points.empty()) return "";
  const RunRecord record = WithSideNames(given, NameStyle::kShort);
  const ProfileRecord& profile = *record.profile;
  std::vector<TextRow> rows = {{"shapes", "runner", "median", "noise", "mean", "std dev", "min",
                                "p90", "p95", "p99", "max", "per second", "first", "memory",
                                "accuracy"}};
  for (const ProfilePoint& point : profile.points) rows.push_back(PointRow(point));
  std::string text = FormatNumbers(rows);
  for (const ProfilePoint& point : profile.points) {
    if (!point.failure.empty()) {
      // One that was not opened has no shapes but those that were given.
      const std::string with = point.shapes.empty() ? "" : " with " + point.shapes;
      text += "  " + point.runner + with + ": FAILED, " + point.failure + "\n";
    }
    text += LayerLines(point, layers);
  }
  for (const std::string& note : record.notes) text += "note: " + note + "\n";
  return text + DecideVerdict(record).sentence + "\n";
}

}  // namespace vernier
