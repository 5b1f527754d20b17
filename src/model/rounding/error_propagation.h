// Rounding errors followed from node to node: what error_model.h's PredictErrors does. Internal to
// model.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/rounding/error_growth.h"
#include "model/rounding/error_lengths.h"
#include "model/rounding/error_model.h"
#include "model/rounding/error_rules.h"
#include "model/rounding/passed_on.h"
#include "model/rounding/value_growth.h"

namespace vernier {

/// Rounds of a loop, or steps of a sequence.
inline constexpr double kUnknownTrips = 100;
/// Of a bound in float32, what is typical.
inline constexpr double kTypicalShare = 0.05;

class ErrorPropagation {
 public:
  /// All must outlive it.
  ErrorPropagation(const OnnxModel& model, std::span<const InputDims> inputs,
                   RunnerArithmetic first, RunnerArithmetic second, const SeenOutputs& seen);

  /// Outputs of the run besides the graph's own. Before Run.
  void KeepOutputs(std::span<const std::string> outputs);

  /// `order` is topological.
  void Run(const std::vector<uint32_t>& order, FedInputs fed);

  /// Of every tensor.
  ErrorPredictions Take();

 private:
  struct Step {
    const OnnxGraph& graph;
    const OnnxNode& node;
    const ErrorRule* rule;
    ErrorPrediction error;  // of the inputs, joined; the outputs' when done
    SideRoundoff sides[2];
    DType type = DType::kUndefined;             // of the first output
    double growth = 1;                          // that the values show, and `error` has
    std::optional<ErrorPrediction> scale = {};  // of a dynamic quantiser's second output
  };
  // What holds of all inputs.
  struct Joined {
    bool constant, positive;
  };

  // What is known before the first node: error_propagation.cc.
  void FindTypes();
  void FindQuantisers();
  void Start(std::string_view name, DType dtype);
  void RoundInput(const OnnxValue& input);

  // From node to node: error_propagation.cc.
  void Visit(const OnnxGraph& graph, const OnnxNode& node, int depth);
  void PassOn(Step& step, Joined joined, int depth);
  void Store(const Step& step, Joined joined, size_t output, int depth);
  Joined JoinInputs(Step& step);
  double GrowthOfPairs(Step& step, double clean);
  void AssumeSeenSizes(std::span<const std::string_view> outputs);
  void Rectify(Step& step);
  bool IsExactArithmetic(const Step& step) const;
  void MakeRelative(std::string_view name, ErrorPrediction& error);
  void VisitBodies(Step& step, int depth);
  void StartAgain(std::string_view name);
  ErrorPrediction AsOutput(std::string_view name, ErrorPrediction error) const;
  DType TypeOf(std::string_view name) const;
  const ErrorPrediction* Find(std::string_view name) const;
  int64_t Elements(std::string_view name) const;

  // Near ties and parts: error_choices.cc.
  /// Shares of an output's elements and rows that may be anything.
  struct OpenShare {
    double elements = 0, rows = 0;
  };
  OpenShare OpenBehind(const Step& step, std::string_view output) const;
  double OpenRowsFrom(const Step& step, size_t input, std::string_view output) const;
  /// So many rows may have one of the open elements.
  double MostRows(std::string_view name, double elements) const;
  double ChosenFrom(const Step& step, size_t input, std::string_view output) const;
  /// How many times as many elements the first one has; nullopt where a number is not known.
  std::optional<double> TimesOf(std::string_view input, std::string_view output) const;
  double ChosenHere(const Step& step, size_t output) const;
  void TakePart(const Step& step, std::string_view name, ErrorPrediction& error);
  void TakeExtreme(const Step& step, std::string_view name, ErrorPrediction& error);

  // Steps and whole numbers, as values and operators show them: error_steps.cc.
  void NoteWhole(const Step& step);
  void Mirror(Step& step) const;
  void RoundCodes(Step& step);
  double ErrorOfRange(const Step& step);
  bool IsExactInFloats(const Step& step);
  bool HasPassed(std::string_view name);
  bool LeavesNothing(const Step& step) const;
  void TakePassedOn(const Step& step, size_t output, ErrorPrediction& error);
  bool TakeStepsWithin(const Step& step, const PassedOn& passed, ErrorPrediction& error) const;

  // Errors that do not average out: error_correlations.cc.
  void AddPlainSum(Step& step, int64_t length) const;
  bool CrossesErrors(const Step& step) const;

  // What operators do to errors: error_operators.cc.
  void Apply(Step& step);
  void ApplyRule(Step& step);
  void ApplyPointwise(Step& step);
  void ApplyProduct(Step& step);
  void ApplyMatrix(Step& step);
  void ApplyReduction(Step& step);
  void ApplyFourier(Step& step);
  void ApplyNorm(Step& step);
  void ApplyCast(Step& step);
  void ApplySteps(Step& step, double relative_step, Steps kind);
  void ApplyQuantiser(Step& step, double relative_step);
  void ApplyQuantise(Step& step);
  void ApplyOneSided(Step& step, double relative_step) const;
  void RoundWeights(Step& step) const;
  bool HasStepsWithin(const Step& step) const;
  void RoundWithin(Step& step) const;
  static double RecurrentRoundoffs(const Step& step) { return step.rule->roundoffs * 10; }
  void ApplyRecurrent(Step& step);
  void AddShortRoundings(Step& step, int roundings);
  void RoundShort(Step& step, bool computes);
  void RoundKept(Step& step);
  void SpreadFlips(Step& step) const;
  void Add(Step& step, double growth, int64_t length, double roundoffs) const;
  bool IsQuantisedWithBias(const Step& step) const;
  void RoundBias(Step& step, int64_t length) const;
  void RoundBiasOfSum(Step& step) const;
  static bool IsSquare(const Step& step);
  void AddAbsolute(Step& step);
  // Where a whole model is widened, its casts to the short type go with it; a runtime that widens
  // because it lacks kernels casts nevertheless.
  bool OneSkipsCasts() const {
    const auto widens = [](const RunnerArithmetic& side) {
      return side.computes_in == DType::kFloat32 && !side.copies_in_own_type;
    };
    return (first_.copies_in_own_type && widens(second_)) ||
           (second_.copies_in_own_type && widens(first_));
  }
  bool OneQuantises() const { return first_.unquantised != second_.unquantised; }

  const OnnxModel& model_;
  ShapeTracker shapes_;
  SumLengths lengths_{model_, shapes_};
  RunnerArithmetic first_, second_;
  std::unordered_map<std::string_view, const ErrorRule*> rules_;
  std::unordered_map<std::string_view, DType> types_;
  std::unordered_map<std::string_view, ErrorPrediction> errors_;
  ErrorPredictions measured_;  // of outputs that are read further on, as predicted
  const SeenOutputs& seen_;
  ValueGrowth growth_{model_, seen_.values, seen_.others};
  PassedDifferences passed_on_{model_, seen_, {first_.floats_within, second_.floats_within}};
  std::unordered_map<std::string_view, bool> has_passed_;
  std::unordered_set<std::string_view> constants_;   // initializers and what is made of them
  std::unordered_set<std::string_view> to_steps_;    // read by a QuantizeLinear
  std::unordered_set<std::string_view> from_steps_;  // written by a DequantizeLinear
  std::unordered_set<std::string_view> quantised_;   // written by a QuantizeLinear, or fed
  std::unordered_map<std::string_view, int64_t> step_products_;  // sums of products of steps
  std::unordered_set<std::string_view> kept_;                    // outputs that are read further on
  std::unordered_set<std::string_view> whole_;   // values that are whole numbers, of any type
  bool alike_ = false;                           // ErrorPrediction::alike
  std::unordered_set<std::string_view> narrow_;  // values rounded to a short type of their own
};

}  // namespace vernier
