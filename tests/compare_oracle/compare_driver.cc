// Prints the log of comparisons that are described on standard input, for comparison with the
// oracle's. One case per line, tab-separated words:
//
//   severity N | lenient | functions simple,l2 | rtol [name:]X | atol [name:]X | stat [name:]a+b |
//   quantile [name:]X | index_tolerance [name:]N | l2 [name:]X | cosine X | psnr X | snr X |
//   infinities_equal | no_shape_check | fail_fast | check_average | validate | topk [name:]text |
//   runner NAME (opens a side) | output NAME DTYPE DIMS FILE (raw elements) | iteration (next)
//
// Other uses: "print DTYPE DIMS FILE" prints the array as NumPy would, "convert DTYPE FILE" writes
// the elements as float64 text. After each case a line with four percent signs.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <unordered_set>

#include "compare/functions/comparator.h"
#include "compare/functions/tally.h"
#include "compare/outputs/postprocess.h"
#include "compare/outputs/validate.h"
#include "report/run/comparison_text.h"
#include "report/text/numpy_text.h"
#include "report/text/validation_text.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

/// Lays lines out as Polygraphy does.
class DriverLogger final : public Logger {
 public:
  explicit DriverLogger(int severity) : severity_(severity) {}

  bool Enabled(Severity severity) const override { return static_cast<int>(severity) >= severity_; }
  void Indent(int levels) override { indent_ += levels; }

  void Write(Severity severity, std::string_view text, LogColor, bool once) override {
    if (once && !seen_.insert(std::string(text)).second) return;
    const std::string tab(static_cast<size_t>(indent_) * 4, ' ');
    std::string line = Letter(severity) + tab;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\n') {
        line += text[i];
      } else if (i + 1 < text.size()) {
        line += "\n" + tab + "    ";
      }
    }
    std::cout << line << "\n";
  }

 private:
  static std::string Letter(Severity severity) {
    switch (severity) {
      case Severity::kUltraVerbose:
        return "[U] ";
      case Severity::kSuperVerbose:
        return "[S] ";
      case Severity::kExtraVerbose:
        return "[X] ";
      case Severity::kVerbose:
        return "[V] ";
      case Severity::kWarning:
        return "[W] ";
      case Severity::kError:
        return "[E] ";
      case Severity::kCritical:
        return "[!] ";
      default:
        return "[I] ";
    }
  }

  int severity_;
  int indent_ = 0;
  std::unordered_set<std::string> seen_;
};

[[noreturn]] void Die(const std::string& message) {
  std::cerr << message << "\n";
  std::exit(2);
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  std::string part;
  while (std::getline(stream, part, separator)) parts.push_back(part);
  return parts;
}

Tensor ReadTensor(const std::string& dtype, const std::string& dims_text, const std::string& path) {
  Dims dims;
  for (const std::string& dim : Split(dims_text, ',')) {
    if (!dim.empty()) dims.push_back(std::atoll(dim.c_str()));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Result<Tensor> tensor =
      Tensor::Copy(DTypeFromName(dtype).value_or(DType::kUndefined), dims,
                   {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  if (!tensor.ok()) Die(tensor.status().message());
  return *std::move(tensor);
}

template <typename T, typename Parse>
void SetPerOutput(PerOutput<T>& table, const std::string& word, Parse parse) {
  const size_t colon = word.rfind(':');
  const std::string text = colon == std::string::npos ? word : word.substr(colon + 1);
  if (colon == std::string::npos) {
    table.fallback = parse(text);
  } else {
    table.entries.emplace_back(word.substr(0, colon), parse(text));
  }
}

double ToDouble(const std::string& text) { return ParseDouble(text).value_or(0); }

std::vector<ErrorStat> ToStats(const std::string& text) {
  std::vector<ErrorStat> stats;
  for (const std::string& name : Split(text, '+')) stats.push_back(*ErrorStatFromName(name));
  return stats;
}

struct Side {
  std::string runner;
  std::vector<IterationResult> iterations;
};

struct Case {
  int severity = 20;
  bool validate = false;
  CompareOptions options;
  PerOutput<TopK> topk;
  std::vector<Side> sides;

  void SetOption(const std::string& key, const std::string& value) {
    if (key == "severity") severity = std::atoi(value.c_str());
    if (key == "rtol") SetPerOutput(options.rtol, value, ToDouble);
    if (key == "atol") SetPerOutput(options.atol, value, ToDouble);
    if (key == "quantile") SetPerOutput(options.error_quantile, value, ToDouble);
    if (key == "stat") SetPerOutput(options.check_error_stat, value, ToStats);
    const std::string metric = key == "cosine" ? "cosine_similarity" : key;
    if (metric == "l2" || metric == "cosine_similarity" || metric == "psnr" || metric == "snr") {
      SetPerOutput(options.thresholds[*CompareFunctionFromName(metric)], value, ToDouble);
    }
    if (key == "topk") {
      SetPerOutput(topk, value, [](const std::string& text) { return *ParseTopK(text); });
    }
    if (key == "index_tolerance") {
      SetPerOutput(options.index_tolerance, value,
                   [](const std::string& text) { return static_cast<int64_t>(ToDouble(text)); });
    }
    if (key == "functions") {
      options.functions.clear();
      for (const std::string& name : Split(value, ',')) {
        options.functions.push_back(*CompareFunctionFromName(name));
      }
    }
  }

  bool SetSwitch(const std::string& key) {
    if (key == "lenient") return options.lenient = true;
    if (key == "infinities_equal") return options.infinities_compare_equal = true;
    if (key == "no_shape_check") return options.no_shape_check = true;
    if (key == "fail_fast") return options.fail_fast = true;
    if (key == "check_average") return options.check_average = true;
    if (key == "validate") return validate = true;
    return false;
  }
};

Case Parse(const std::vector<std::string>& words) {
  Case parsed;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (parsed.SetSwitch(word)) continue;
    if (word == "runner") {
      parsed.sides.push_back({words[++i], {}});
      parsed.sides.back().iterations.push_back({parsed.sides.back().runner, {}, {}});
    } else if (word == "iteration") {
      parsed.sides.back().iterations.push_back({parsed.sides.back().runner, {}, {}});
    } else if (word == "output") {
      parsed.sides.back().iterations.back().outputs.push_back(
          {words[i + 1], ReadTensor(words[i + 2], words[i + 3], words[i + 4])});
      i += 4;
    } else {
      parsed.SetOption(word, words[i + 1]);
      ++i;
    }
  }
  return parsed;
}

void Validate(Logger& logger, const Case& c) {
  bool valid = true;
  std::vector<std::string> names;
  for (const Side& side : c.sides) names.push_back(side.runner);
  ReportValidationStart(logger, names);
  {
    LogIndent indent(logger);
    for (const Side& side : c.sides) {
      for (const IterationResult& iteration : side.iterations) {
        for (const NamedTensor& output : iteration.outputs) {
          ValidatedOutput validated;
          validated.runner = side.runner;
          validated.output = DescribeOutput(output.name, output.tensor, true);
          validated.validation = ValidateTensor(output.tensor);
          valid &= validated.validation.valid(true, true);
          ReportValidation(logger, validated);
        }
      }
    }
  }
  ReportValidationEnd(logger, valid);
}

void Run(Case& c) {
  DriverLogger logger(c.severity);
  for (Side& side : c.sides) {
    for (IterationResult& iteration : side.iterations) {
      if (Status status = PostprocessTopK(iteration.outputs, c.topk); !status.ok()) {
        Die(status.message());
      }
    }
  }
  if (c.validate) return Validate(logger, c);
  ComparisonReporter reporter(logger, c.options);
  ComparisonTally tally;
  const std::string& a = c.sides[0].runner;
  const std::string& b = c.sides[1].runner;
  reporter.Pair(a, b);
  for (size_t i = 0; i < c.sides[0].iterations.size(); ++i) {
    reporter.IterationStart(static_cast<int64_t>(i));
    const IterationComparison comparison = CompareIteration(
        c.sides[0].iterations[i], c.sides[1].iterations[i], c.options, reporter.Detail(),
        c.options.lenient ? PairingRule::kLenient : PairingRule::kOneToOne);
    reporter.Iteration(comparison);
    tally.Add(comparison);
    if (!comparison.compared_something()) return;
    if (c.options.fail_fast && !comparison.passed()) return;
  }
  reporter.Summary(a, b, tally);
}

void Convert(const Tensor& tensor) {
  std::vector<double> scratch(1);
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    std::printf("%.17g\n", *LoadBlock(Elements(tensor), i, 1, scratch.data()));
  }
  std::fflush(stdout);
}

int Main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::vector<std::string> words = Split(line, '\t');
    if (words[0] == "print") {
      std::cout << FormatNumpyArray(ReadTensor(words[1], words[2], words[3])) << "\n";
    } else if (words[0] == "convert") {
      Convert(ReadTensor(words[1], words[2], words[3]));
    } else {
      Case parsed = Parse(words);
      Run(parsed);
    }
    std::cout << "%%%%" << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace vernier

int main() { return vernier::Main(); }
