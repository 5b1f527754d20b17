// Every rule of the linter. scripts/update-docs.sh makes the table of docs/lint.md from these.
#pragma once

#include <span>

#include "lint/finding.h"

namespace vernier::lint_rule {

using enum LintLevel;
using namespace lint_source;

// clang-format off
inline constexpr LintRule kUnreadable{"unreadable", kException, kLoader, "the file is not an ONNX model, or is damaged"};
inline constexpr LintRule kNoNodes{"no-nodes", kWarning, kLoader, "the graph has no nodes"};
inline constexpr LintRule kIrVersion{"ir-version", kException, kChecker, "the version of the format is missing or unknown"};
inline constexpr LintRule kOpsetImport{"opset-import", kException, kChecker, "no opset is imported, or one below 1"};
inline constexpr LintRule kImportTwice{"import-twice", kWarning, kVernier, "a domain is imported twice: runtimes differ in which version they use"};
inline constexpr LintRule kNewerOpset{"newer-opset", kWarning, kVernier, "an opset is newer than this version of vernier"};
inline constexpr LintRule kDuplicateMetadata{"duplicate-metadata", kWarning, kVernier, "a key of the metadata occurs twice"};
inline constexpr LintRule kGraphName{"graph-name", kException, kChecker, "the graph has no name"};
inline constexpr LintRule kNoOutputs{"no-outputs", kWarning, kVernier, "the graph has no outputs"};
inline constexpr LintRule kEmptyName{"empty-name", kException, kChecker, "an input or output has no name"};
inline constexpr LintRule kUnnamedWeight{"unnamed-weight", kWarning, kVernier, "an initializer has no name"};
inline constexpr LintRule kUnnamedNode{"unnamed-node", kInfo, kVernier, "nodes have no names"};
inline constexpr LintRule kDuplicateNodeName{"duplicate-node-name", kException, kGraph, "nodes share a name; a warning if all of them are constants, which runtimes accept"};
inline constexpr LintRule kDuplicateValue{"duplicate-value", kException, kChecker, "several inputs or nodes define one tensor"};
inline constexpr LintRule kDuplicateWeight{"duplicate-weight", kWarning, kVernier, "initializers share a name: runtimes differ in which one they use"};
inline constexpr LintRule kDuplicateOutput{"duplicate-output", kWarning, kVernier, "an output is listed twice"};
inline constexpr LintRule kShadowedName{"shadowed-name", kException, kRuntime, "a body redefines a name of the enclosing graph"};
inline constexpr LintRule kDanglingInput{"dangling-input", kException, kChecker, "a node reads a tensor that nothing produces"};
inline constexpr LintRule kDanglingOutput{"dangling-output", kException, kChecker, "nothing produces an output of the graph"};
inline constexpr LintRule kNotSorted{"not-sorted", kException, kChecker, "a node precedes one that it reads from"};
inline constexpr LintRule kCycle{"cycle", kException, kChecker, "nodes wait for each other's outputs"};
inline constexpr LintRule kMissingImport{"missing-import", kWarning, kRuntime, "a node uses a domain that is not imported"};
inline constexpr LintRule kUnknownOperator{"unknown-operator", kException, kRuntime, "a domain of ONNX has no operator of that name"};
inline constexpr LintRule kCustomOperator{"custom-operator", kWarning, kRuntime, "only the model defines this operator: runners need a library that implements it"};
inline constexpr LintRule kRuntimeOperator{"runtime-operator", kWarning, kVernier, "ONNX does not have the operator in that opset, but ONNX Runtime does (LayerNormalization before 17)"};
inline constexpr LintRule kOperatorVersion{"operator-version", kException, kRuntime, "the imported opset does not contain the operator"};
inline constexpr LintRule kOperatorInputs{"operator-inputs", kException, kRuntime, "too few or too many inputs, or a required one is missing"};
inline constexpr LintRule kOperatorOutputs{"operator-outputs", kException, kRuntime, "too few or too many outputs"};
inline constexpr LintRule kAttribute{"attribute", kException, kRuntime, "an attribute is missing, unknown, given twice or of another type"};
inline constexpr LintRule kUnknownType{"unknown-type", kException, kChecker, "a type is missing or is not one of ONNX's"};
inline constexpr LintRule kInputShape{"input-shape", kException, kChecker, "an input declares no shape, so it is unknown what fits it (--input-shapes sets one)"};
inline constexpr LintRule kNonTensorInput{"non-tensor-input", kWarning, kVernier, "an input is a sequence, a map or optional: vernier cannot draw values for it"};
inline constexpr LintRule kTypeMismatch{"type-mismatch", kException, kRuntime, "an operator does not accept such a type, or not this combination"};
inline constexpr LintRule kDeclaredType{"declared-type", kException, kRuntime, "the declared type differs from the one that the node produces"};
inline constexpr LintRule kShapeMismatch{"shape-mismatch", kException, kRuntime, "an operator does not accept these shapes together"};
inline constexpr LintRule kDeclaredShape{"declared-shape", kWarning, kVernier, "the declared shape differs from the one that the node produces"};
inline constexpr LintRule kBadDimension{"bad-dimension", kException, kChecker, "a dimension is negative, or there are more elements than fit any memory; a warning where runtimes treat the size as free"};
inline constexpr LintRule kWeightSize{"weight-size", kException, kChecker, "an initializer holds fewer or more bytes than its shape and type need"};
inline constexpr LintRule kWeightFields{"weight-fields", kException, kChecker, "an initializer has its values in more than one place (two fields, or a field and a file): runtimes differ in which they use"};
inline constexpr LintRule kWeightNotInput{"weight-not-input", kException, kChecker, "before version 4 of the format, initializers must be inputs too"};
inline constexpr LintRule kExternalData{"external-data", kException, kLoader, "a file of weights is missing, too short or outside the model's folder"};
inline constexpr LintRule kUnusedNode{"unused-node", kWarning, kGraph, "no output (of a node in a body: none of the body) depends on the node"};
inline constexpr LintRule kUnusedInput{"unused-input", kWarning, kGraph, "no output depends on the input"};
inline constexpr LintRule kUnusedWeight{"unused-weight", kWarning, kVernier, "nothing reads the initializer"};
inline constexpr LintRule kUnusedImport{"unused-import", kInfo, kVernier, "no node uses the imported domain"};
inline constexpr LintRule kFloat16Overflow{"float16-overflow", kWarning, kVernier, "weights, constants or factors that are infinite in float16"};
inline constexpr LintRule kFloat16Underflow{"float16-underflow", kInfo, kVernier, "weights, constants or factors that are zero in float16"};
inline constexpr LintRule kNonFiniteWeight{"non-finite-weight", kWarning, kVernier, "weights, constants or factors are NaN or infinite"};
inline constexpr LintRule kUnsupportedOpset{"unsupported-opset", kException, {}, "a runner supports no model of these opsets and this version of the format"};
inline constexpr LintRule kRunnerFailed{"runner-failed", kException, {}, "a runner cannot load or run the node"};
inline constexpr LintRule kSizesNeeded{
    "sizes-needed", kWarning, {},
    "no sizes were found for free dimensions with which a runner works: --input-shapes is needed"};
inline constexpr LintRule kRunnerWarning{"runner-warning", kWarning, {}, "a runner warns about the model"};
// clang-format on

/// In the order of docs/lint.md.
std::span<const LintRule* const> All();

}  // namespace vernier::lint_rule
