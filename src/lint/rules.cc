#include "lint/rules.h"

namespace vernier {

std::string_view LintLevelName(LintLevel level) {
  switch (level) {
    case LintLevel::kException:
      return "exception";
    case LintLevel::kWarning:
      return "warning";
    case LintLevel::kInfo:
      return "info";
  }
  return "";
}

namespace lint_rule {
namespace {

constexpr const LintRule* kAll[] = {
    // The file and the model
    &kUnreadable, &kIrVersion, &kOpsetImport, &kImportTwice, &kNewerOpset, &kUnusedImport,
    &kDuplicateMetadata, &kGraphName, &kNoNodes, &kNoOutputs,
    // Names
    &kEmptyName, &kUnnamedWeight, &kUnnamedNode, &kDuplicateNodeName, &kDuplicateValue,
    &kDuplicateWeight, &kDuplicateOutput, &kShadowedName, &kDanglingInput, &kDanglingOutput,
    &kNotSorted, &kCycle,
    // What nothing needs
    &kUnusedNode, &kUnusedInput, &kUnusedWeight,
    // Operators
    &kMissingImport, &kUnknownOperator, &kCustomOperator, &kRuntimeOperator, &kOperatorVersion,
    &kOperatorInputs, &kOperatorOutputs, &kAttribute,
    // Types and shapes
    &kUnknownType, &kInputShape, &kNonTensorInput, &kTypeMismatch, &kDeclaredType, &kShapeMismatch,
    &kDeclaredShape,
    // Weights
    &kBadDimension, &kWeightSize, &kWeightFields, &kWeightNotInput, &kExternalData,
    &kNonFiniteWeight, &kFloat16Overflow, &kFloat16Underflow,
    // Runners
    &kUnsupportedOpset, &kRunnerFailed, &kSizesNeeded, &kRunnerWarning};

}  // namespace

std::span<const LintRule* const> All() { return kAll; }

}  // namespace lint_rule
}  // namespace vernier
