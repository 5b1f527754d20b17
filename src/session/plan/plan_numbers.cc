#include "session/plan/plan_numbers.h"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compare/functions/metric_table.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"
#include "vernier/number_rule.h"

namespace vernier {
namespace {

Status CheckNumber(const std::string& setting, double value, const NumberRule& rule) {
  if (rule.Accepts(value)) return {};
  return InvalidArgument(setting + ": expected " + std::string(rule.expected) + ", got " +
                         FormatFloatRepr(value));
}

// A decision is reported and saved by its text, so that has to say what is done.
Status CheckDecision(const DecisionPlan& decision, const std::string& setting) {
  Result<DecisionPlan> parsed = ParseDecision(decision.text);
  if (!parsed.ok()) return InvalidArgument(setting + ": " + parsed.status().message());
  if (parsed->output.empty()) parsed->output = decision.output;
  if (*parsed == decision) return {};
  return InvalidArgument(setting + ": its members do not say what its text '" + decision.text +
                         "' says: make it with ParseDecision");
}

// Checks each field that has a rule. The first number that is wrong is the error of the whole.
class NumberChecks {
 public:
  NumberChecks(bool lenient, std::string path, Status& status)
      : lenient_(lenient), path_(std::move(path)), status_(status) {}

  template <typename T>
  void operator()(const char* key, const T& value, const FieldRule& rule = {}) {
    Check(path_ + key, value, rule);
  }

  void Thresholds(const PerMetric<PerOutput<double>>& thresholds) {
    for (const MetricRow& metric : MetricTable()) {
      if (metric.higher_is_better) continue;
      Check(path_ + std::string(metric.threshold), thresholds[metric.function], kAtLeast0);
    }
  }

 private:
  template <typename T>
  void Check(const std::string& setting, const T& value, const FieldRule& rule) {
    if constexpr (std::is_arithmetic_v<T>) {
      const bool checked = rule.number && !(rule.number->or_lenient && lenient_) && status_.ok();
      if (checked) status_ = CheckNumber(setting, static_cast<double>(value), *rule.number);
    } else if constexpr (requires { T::EachField(value, *this); }) {
      NumberChecks part(lenient_, setting + ".", status_);
      T::EachField(value, part);
    }
  }
  template <typename T>
  void Check(const std::string& setting, const std::optional<T>& value, const FieldRule& rule) {
    if (value) Check(setting, *value, rule);
  }
  template <typename T>
  void Check(const std::string& setting, const PerOutput<T>& values, const FieldRule& rule) {
    Check(setting, values.fallback, rule);
    for (const auto& [output, value] : values.entries) {
      Check(setting + " of '" + output + "'", value, rule);
    }
  }
  void Check(const std::string& setting, const std::vector<DecisionPlan>& decisions,
             const FieldRule& /*rule*/) {
    for (size_t i = 0; i < decisions.size() && status_.ok(); ++i) {
      status_ = CheckDecision(decisions[i], setting + "[" + std::to_string(i) + "]");
    }
  }

  bool lenient_;
  std::string path_;
  Status& status_;
};

}  // namespace

Status CheckPlanNumbers(const RunPlan& plan) {
  Status status;
  NumberChecks checks(plan.lenient, "", status);
  RunPlan::EachField(plan, checks);
  return status;
}

}  // namespace vernier
