// Which of many outputs is said to grow: by chance, and in truth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "report/text/step_text.h"
#include "run/steps/step_growth.h"

namespace vernier {
namespace {

using testing::HasSubstr;

// How ln(RMS error) varies from step to step, about 0.5 in all.
struct Noise {
  double correlation = 0;
  bool heavy_tailed = false;  // Student's t with 3 degrees of freedom
};

class Errors {
 public:
  explicit Errors(unsigned seed) : random_(seed) {}

  // The errors of an output's steps, with this slope of their logarithm.
  ErrorGrowth Draw(int64_t steps, const Noise& noise, double slope = 0) {
    ErrorGrowth growth;
    double log = Next(noise.heavy_tailed);
    for (int64_t step = 0; step < steps; ++step) {
      const double fresh = Next(noise.heavy_tailed);
      log = noise.correlation * log + fresh * std::sqrt(1 - noise.correlation * noise.correlation);
      const double rms = 1e-4 * std::exp(0.5 * log + slope * static_cast<double>(step));
      growth.Add(0, step, rms, 1e-4, 0x1p-24);
    }
    return growth;
  }

 private:
  double Next(bool heavy_tailed) {
    return heavy_tailed ? student_(random_) / std::sqrt(3) : normal_(random_);
  }
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> student_{3};
};

// What is said of outputs y0, y1, ...
std::string Said(const std::vector<ErrorGrowth>& outputs) {
  PairRecord pair;
  std::vector<ErrorGrowth::Fit> fits;
  for (const ErrorGrowth& growth : outputs) fits.push_back(*growth.Get());
  const ErrorGrowth::Family family = ErrorGrowth::FamilyOf(fits);
  for (const ErrorGrowth& growth : outputs) {
    const auto fit = growth.Get(), late = growth.GetLate();
    OutputRecord& output = pair.outputs.emplace_back();
    output.name = "y" + std::to_string(pair.outputs.size() - 1);
    TimeRecord& time = output.time.emplace();
    if (fit) {
      time.growth_per_step = fit->slope;
      time.growth_error = fit->error;
      time.growth_limit = fit->Limit(family);
      time.fitted_steps = fit->steps;
    }
    if (late) {
      time.late_growth_per_step = late->slope;
      time.late_growth_error = late->error;
      time.late_growth_limit = late->Limit(family);
      time.late_first_step = late->first_step;
    }
  }
  return FormatSteps(pair);
}

bool Grows(const std::string& said) {
  return said.find(" grows 1") != std::string::npos ||
         said.find("but grows") != std::string::npos || said.find(" grew ") != std::string::npos;
}

// Of so many runs with outputs that stay, the share in which one is said to grow.
double FalseAlarms(int64_t runs, int64_t outputs, int64_t steps, const Noise& noise) {
  Errors errors(5);
  int64_t alarms = 0;
  for (int64_t run = 0; run < runs; ++run) {
    std::vector<ErrorGrowth> all;
    for (int64_t i = 0; i < outputs; ++i) all.push_back(errors.Draw(steps, noise));
    alarms += Grows(Said(all)) ? 1 : 0;
  }
  return static_cast<double>(alarms) / static_cast<double>(runs);
}

// Of so many runs in which output y7 grows and the others stay, the share that says so.
double Seen(int64_t runs, int64_t outputs, int64_t steps, const Noise& noise, double factor) {
  Errors errors(5);
  int64_t seen = 0;
  for (int64_t run = 0; run < runs; ++run) {
    std::vector<ErrorGrowth> all;
    for (int64_t i = 0; i < outputs; ++i) {
      all.push_back(errors.Draw(steps, noise, i == 7 ? std::log(factor) : 0));
    }
    const std::string said = Said(all);
    seen += Grows(said) && said.find("output 'y7'") != std::string::npos ? 1 : 0;
  }
  return static_cast<double>(seen) / static_cast<double>(runs);
}

constexpr Noise kNoises[] = {{0, false}, {0, true}, {0.8, false}, {0.8, true}};

TEST(StepTrends, OfManyOutputsThatStayNoneIsSaidToGrow) {
  for (const Noise& noise : kNoises) {
    for (const int64_t steps : {12, 30, 60, 200}) {
      EXPECT_LE(FalseAlarms(20, 200, steps, noise), 0.05)
          << steps << " steps, correlation " << noise.correlation << ", " << noise.heavy_tailed;
      EXPECT_LE(FalseAlarms(400, 5, steps, noise), 0.05)
          << steps << " steps, correlation " << noise.correlation << ", " << noise.heavy_tailed;
    }
  }
}

TEST(StepTrends, OneOutputThatStaysIsNotSaidToGrow) {
  for (const Noise& noise : kNoises) {
    for (const int64_t steps : {12, 30, 60, 200}) {
      EXPECT_LE(FalseAlarms(1000, 1, steps, noise), 0.05)
          << steps << " steps, correlation " << noise.correlation << ", " << noise.heavy_tailed;
    }
  }
}

TEST(StepTrends, TheOneOf200ThatGrowsIsNamed) {
  for (const bool heavy_tailed : {false, true}) {
    EXPECT_GE(Seen(20, 200, 60, {0, heavy_tailed}, 1.05), 0.9);
    EXPECT_GE(Seen(20, 200, 200, {0, heavy_tailed}, 1.05), 0.95);
    EXPECT_GE(Seen(20, 200, 200, {0.8, heavy_tailed}, 1.05), 0.7);
    EXPECT_GE(Seen(20, 200, 400, {0.8, heavy_tailed}, 1.05), 0.95);
  }
}

}  // namespace
}  // namespace vernier
