#include "report/files/markdown.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "report/text/decision_text.h"
#include "report/text/decode_text.h"
#include "report/text/next_step.h"
#include "report/text/run_summary.h"
#include "report/text/step_text.h"
#include "report/text/text_escape.h"
#include "report/text/tokens_text.h"
#include "report/text/verdict_text.h"
#include "util/text/number_text.h"
#include "util/text/shell_words.h"
#include "vernier/blame_record.h"

namespace vernier {
namespace {

constexpr size_t kShownRows = 20;
constexpr size_t kShownPoints = 60;
constexpr size_t kShownFlips = 3;
constexpr size_t kAnnotatedOutputs = 9;
// A comment has room for 65,536 characters, and escaping makes text up to five times as long.
constexpr size_t kLongestText = 160;
constexpr size_t kLongestLine = 640;  // of a pair's verdict, or its steps
constexpr size_t kLongestCommand = 2000;

struct Ranked {
  const PairRecord* pair;
  const OutputRecord* output;
};

// Failed ones first, the worst of them first.
std::vector<Ranked> RankOutputs(const RunRecord& record) {
  std::vector<Ranked> ranked;
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) ranked.push_back({&pair, &output});
  }
  const auto rank = [](const Ranked& r) {
    const std::string_view verdict = OutputVerdict(*r.pair, *r.output);
    return verdict == "failed" ? 0 : verdict == "passed" ? 2 : 1;
  };
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Ranked& a, const Ranked& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a.output->worst_times_tolerance > b.output->worst_times_tolerance;
  });
  return ranked;
}

std::string Short(const std::string& text, size_t most = kLongestText) {
  if (text.size() <= most) return text;
  const size_t space = text.rfind(' ', most);
  const bool in_reach = space != std::string::npos && space + kLongestText / 4 > most;
  return text.substr(0, in_reach ? space : most) + " ...";
}

std::string Cell(const std::string& text) { return " " + EscapeMarkdown(Short(text)) + " |"; }

std::string TimesOverCell(const OutputRecord& output) {
  if (!output.tolerances_checked) return "";
  return std::isinf(output.worst_times_tolerance) ? "inf"
                                                  : FormatG(output.worst_times_tolerance, 3);
}

// "l2 0.25 (threshold 0.1), psnr 31": of the functions that make one number.
std::string MetricsCell(const OutputRecord& output) {
  std::string text;
  for (const GateRecord& gate : output.figures.gates) {
    if (!gate.value) continue;
    text += (text.empty() ? "" : ", ") + gate.function + " " + FormatG(*gate.value, 4);
    if (gate.threshold) text += " (threshold " + FormatG(*gate.threshold, 4) + ")";
  }
  return text;
}

std::string ErrorOf(const OutputRecord& output) {
  return output.max_absolute_error ? FormatError(*output.max_absolute_error, output, 4) : "";
}

std::string RelativeOf(const OutputRecord& output) {
  return output.max_relative_error ? FormatRelativeError(output, 4) : "";
}

struct OutputColumn {
  const char* title;
  const char* rule;
  std::string (*cell)(const Ranked& ranked);
};

// Those that hold something in one row at least are shown.
constexpr OutputColumn kOutputColumns[] = {
    {"times over tolerance", "---:", [](const Ranked& r) { return TimesOverCell(*r.output); }},
    {"max abs", "---:", [](const Ranked& r) { return ErrorOf(*r.output); }},
    {"max rel", "---:", [](const Ranked& r) { return RelativeOf(*r.output); }},
    {"metrics", "---", [](const Ranked& r) { return MetricsCell(*r.output); }},
};

std::string OutputTable(const RunRecord& record) {
  const std::vector<Ranked> ranked = RankOutputs(record);
  if (ranked.empty()) return "";
  const std::span<const Ranked> shown =
      std::span(ranked).first(std::min(kShownRows, ranked.size()));
  const bool several = record.pairs.size() > 1;
  std::string titles = "| output | verdict |";
  std::string rules = "\n|---|---|";
  std::vector<std::string> rows;
  for (const Ranked& row : shown) {
    const std::string verdict(OutputVerdict(*row.pair, *row.output));
    rows.push_back("|" + Cell(row.output->name) +
                   (verdict == "failed" ? " **failed** |" : Cell(verdict)));
  }
  for (const OutputColumn& column : kOutputColumns) {
    const auto filled = [&](const Ranked& row) { return !column.cell(row).empty(); };
    if (std::ranges::none_of(shown, filled)) continue;
    titles += std::string(" ") + column.title + " |";
    rules += std::string(column.rule) + "|";
    for (size_t i = 0; i < rows.size(); ++i) rows[i] += Cell(column.cell(shown[i]));
  }
  std::string text =
      titles + (several ? " runners |" : "") + rules + (several ? "---|" : "") + "\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    if (several) rows[i] += Cell(shown[i].pair->first + " vs. " + shown[i].pair->second);
    text += rows[i] + "\n";
  }
  if (ranked.size() > kShownRows) {
    text += "\nand " + std::to_string(ranked.size() - kShownRows) + " more outputs.\n";
  }
  return text + "\n";
}

std::string CulpritList(const RunRecord& record) {
  if (!record.blame) return "";
  std::string text;
  for (const BlameCulprit& culprit : record.blame->culprits) {
    text += "1. **" + EscapeMarkdown(Short(culprit.node)) + "** (" +
            EscapeMarkdown(culprit.op_type) + "), own error " +
            (culprit.own_error ? FormatG(*culprit.own_error, 3) : std::string("not measured")) +
            ", total error " + FormatG(culprit.total_error, 3) +
            " times its error bound: " + EscapeMarkdown(Short(culprit.why)) + "\n";
  }
  if (!record.blame->within_bounds.empty()) {
    text += EscapeMarkdown(record.blame->within_bounds) + "\n";
  }
  return text + (text.empty() ? "" : "\n");
}

std::string DecisionList(const PairRecord& pair) {
  std::string text;
  for (const DecisionRecord& decision : pair.decisions) {
    text +=
        "- decision " + EscapeMarkdown(Short(FormatDecision(decision), 2 * kLongestText)) + "\n";
    if (const std::string labels = FormatLabels(decision); !labels.empty()) {
      text += "  - labels: " + EscapeMarkdown(labels) + "\n";
    }
    if (const std::string totals = FormatTotals(decision); !totals.empty()) {
      text += "  - " + EscapeMarkdown(totals) + "\n";
    }
    for (size_t i = 0; i < std::min(kShownFlips, decision.worst.size()); ++i) {
      text += "  - " + EscapeMarkdown(Short(FormatFlip(decision.worst[i]))) + "\n";
    }
  }
  return text + (text.empty() ? "" : "\n");
}

std::string Milliseconds(double seconds) { return FormatG(seconds * 1e3, 4) + " ms"; }

std::string RunnerTable(const RunRecord& record) {
  if (record.runners.empty()) return "";
  std::string text =
      "| runner | framework | device | precision | median |\n|---|---|---|---|---:|\n";
  for (const RunnerRecord& runner : record.runners) {
    text += "|" + Cell(runner.name) + Cell(runner.backend + " " + runner.framework_version) +
            Cell(runner.device) + Cell(runner.precision) +
            Cell(!runner.failure.empty() ? "failed"
                 : runner.latency        ? Milliseconds(runner.latency->median)
                                         : "") +
            "\n";
  }
  return text + "\n";
}

std::string AccuracyWord(const ProfilePoint& point) {
  if (!point.accuracy.compared) return point.accuracy.why;
  if (point.accuracy.passed) return "matches";
  return (point.accuracy.failed > 0 ? "differs: " : "failed: ") + point.accuracy.why;
}

std::string ProfileTable(const RunRecord& record) {
  if (!record.profile) return "";
  std::string text =
      "| shapes | runner | median | p95 | per second | noise | accuracy |\n"
      "|---|---|---:|---:|---:|---:|---|\n";
  const std::vector<ProfilePoint>& points = record.profile->points;
  for (size_t i = 0; i < std::min(kShownPoints, points.size()); ++i) {
    const ProfilePoint& point = points[i];
    const bool failed = !point.failure.empty();
    text += "|" + Cell(point.shapes) + Cell(point.runner) +
            Cell(failed ? "failed" : Milliseconds(point.latency.median)) +
            Cell(failed ? "" : Milliseconds(point.latency.p95)) +
            Cell(failed ? "" : FormatG(point.per_second, 4)) +
            Cell(failed ? "" : FormatG(point.latency.median_noise * 100, 2) + " %") +
            Cell(failed ? point.failure : AccuracyWord(point)) + "\n";
  }
  return text + "\n";
}

std::string Configuration(const RunRecord& record) {
  std::string text = "<details><summary>Configuration</summary>\n\n";
  const std::string command =
      record.origin.words.empty() ? record.command : JoinForShell(record.origin.words);
  text += FenceMarkdown(command.substr(0, kLongestCommand), "sh") + "\nvernier " +
          EscapeMarkdown(record.version);
  if (!record.origin.processor.empty()) text += ", " + EscapeMarkdown(record.origin.processor);
  if (!record.origin.system.empty()) text += ", " + EscapeMarkdown(record.origin.system);
  return text + "\n\n</details>\n";
}

const char* Mark(const VerdictText& verdict) {
  switch (verdict.outcome) {
    case Outcome::kMatched:
      return verdict.shows_nothing ? "\u26a0\ufe0f " : "\u2705 ";
    case Outcome::kMismatched:
      return "\u274c ";
    case Outcome::kIncomplete:
      return "\u26a0\ufe0f ";
    case Outcome::kNoVerdict:
      return "";
  }
  return "";
}

std::string Annotation(const char* kind, const std::string& title, const std::string& message) {
  return std::string("::") + kind + " title=" + EscapeWorkflowCommand(title, true) +
         "::" + EscapeWorkflowCommand(message, false) + "\n";
}

}  // namespace

std::string FormatMarkdown(const RunRecord& record) {
  const VerdictText verdict = DecideVerdict(record);
  std::string text = "### " + std::string(Mark(verdict)) +
                     "vernier: " + EscapeMarkdown(Short(verdict.sentence)) + "\n\n";
  for (const PairRecord& pair : record.pairs) {
    const std::string sides = pair.first + " vs. " + pair.second;
    text += EscapeMarkdown(Short(sides + ": " + FormatPair(pair, record.averaged), kLongestLine)) +
            "\n\n";
    const std::string steps = FormatSteps(pair);
    if (!steps.empty()) text += EscapeMarkdown(Short(steps, kLongestLine)) + "\n\n";
    const std::string tokens = FormatDecode(pair);
    if (!tokens.empty()) text += EscapeMarkdown(Short(tokens, kLongestLine)) + "\n\n";
    for (const std::string& masked : FormatTokens(pair)) {
      text += EscapeMarkdown(Short(masked, kLongestLine)) + "\n\n";
    }
    text += DecisionList(pair);
  }
  constexpr size_t kShownSentences = 10;
  for (const auto& [title, sentences] :
       {std::pair("**Failed:** ", &record.rejections), std::pair("**Not done:** ", &record.faults),
        std::pair("Note: ", &record.notes)}) {
    for (size_t i = 0; i < std::min(kShownSentences, sentences->size()); ++i) {
      text += title + EscapeMarkdown(Short((*sentences)[i])) + "\n\n";
    }
  }
  if (!record.error.empty()) text += FenceMarkdown(Short(record.error), "") + "\n";
  text += CulpritList(record) + OutputTable(record) + ProfileTable(record) + RunnerTable(record);
  if (verdict.outcome == Outcome::kMismatched && !JudgedByDecisions(record)) {
    if (const std::string advice = FormatAdvice(record); !advice.empty()) {
      text += FenceMarkdown(Trim(advice), "") + "\n";
    }
  }
  if (const std::string judge = FormatJudge(record); !judge.empty()) {
    text += EscapeMarkdown(Trim(judge)) + "\n\n";
  }
  return text + Configuration(record);
}

std::string FormatAnnotations(const RunRecord& record) {
  const VerdictText verdict = DecideVerdict(record);
  if (verdict.outcome == Outcome::kMatched || verdict.outcome == Outcome::kNoVerdict) return "";
  const char* kind = verdict.outcome == Outcome::kMismatched ? "error" : "warning";
  std::string text = Annotation(kind, "vernier", verdict.sentence);
  size_t listed = 0;
  if (record.blame) {
    for (const BlameCulprit& culprit : record.blame->culprits) {
      if (listed++ == kAnnotatedOutputs) return text;
      text += Annotation("error", culprit.node + " (" + culprit.op_type + ")", culprit.why);
    }
  }
  if (JudgedByDecisions(record)) return text;
  for (const Ranked& ranked : RankOutputs(record)) {
    const std::string why = DescribeFailure(*ranked.pair, *ranked.output);
    if (why.empty() || listed++ == kAnnotatedOutputs) break;
    text += Annotation(
        OutputVerdict(*ranked.pair, *ranked.output) == "failed" ? "error" : "warning",
        ranked.output->name, ranked.pair->first + " vs. " + ranked.pair->second + ": " + why);
  }
  return text;
}

}  // namespace vernier
