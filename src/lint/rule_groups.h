// The checks of the linter, by topic. Each adds what it finds.
#pragma once

#include "lint/findings.h"
#include "lint/operator_table.h"
#include "lint/rules.h"
#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_shapes.h"

namespace vernier {

/// What every check looks at.
struct LintSubject {
  const OnnxModel& model;
  const OperatorTable& table;
  Findings& findings;
  /// Sizes of inputs that the user gave.
  std::span<const InputDims> inputs;
  /// Where external data lies instead of the model's folder; empty: there.
  std::string external_data_dir;

  /// The version in which the model imports a domain; 0 where it does not.
  int64_t Opset(std::string_view domain) const {
    for (const OnnxOpset& opset : model.contents().opsets) {
      if (OperatorTable::Domain(opset.domain) == OperatorTable::Domain(domain)) {
        return opset.version;
      }
    }
    return 0;
  }

  /// The definition of a node's operator in the model's opset; nullptr where it is not known.
  const OperatorVersion* Operator(const OnnxNode& node) const {
    const OperatorVersion* found = table.Find(node.domain, node.op_type, Opset(node.domain));
    return found == nullptr || found->deprecated ? nullptr : found;
  }
};

void CheckModel(const LintSubject& subject);      ///< versions, imports, metadata, inputs, outputs
void CheckNames(const LintSubject& subject);      ///< duplicate, dangling, unsorted, cycles
void CheckUsage(const LintSubject& subject);      ///< what no output depends on
void CheckOperators(const LintSubject& subject);  ///< existence, version, arity, attributes
void CheckTypes(const LintSubject& subject);
void CheckShapes(const LintSubject& subject);
void CheckWeights(const LintSubject& subject);

}  // namespace vernier
