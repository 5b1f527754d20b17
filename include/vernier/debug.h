// The investigations of `vernier debug`, for your own programs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vernier/input_plan.h"
#include "vernier/session.h"
#include "vernier/status.h"

namespace vernier {

/// Whether the model at this path is good; an error ends the search with it. The file is an ONNX
/// model that is gone after the call. Called from the thread of the search; may call Run().
using ModelCheck = std::function<Result<bool>(const std::string& path)>;

struct ReduceOptions {
  bool inputs = true;   ///< the first nodes may be removed; false: a node keeps what it depends on
  bool outputs = true;  ///< the last nodes may be removed; false: a node keeps what depends on it
  bool bisect = true;   ///< first look for the part of the graph that is needed: fewer checks
  std::string external_data_dir;  ///< where the model's weights are; empty: in its own folder
  std::string output;    ///< path of the smallest model that fails; empty: it is not written
  std::string min_good;  ///< path of a model of similar size that passes; empty: not written
};

struct ReducedNode {
  std::string op;
  std::string name;  ///< may be empty
};

struct ReduceRecord {
  /// Of the smallest model that still fails, in the file's order: without any one of them it
  /// passes, as far as the options allow. Constants count as weights, not as nodes.
  std::vector<ReducedNode> failing;
  int64_t nodes = 0;   ///< of the whole model's main graph
  int64_t checks = 0;  ///< how often the check was called
};

/// Searches the fewest nodes of the ONNX model at `path` that still fail the check. Shapes are
/// inferred by rules; the program `vernier` is needed only if these do not determine all of them.
/// Errors: kNotFound where the check passes for the whole model; kInvalidArgument without a check,
/// and for a file that would be written over another or over the model; kMalformed for a model that
/// cannot be read; kIo where the models cannot be written; kUnavailable where `vernier` is needed
/// and not found; kCancelled; and those of the check.
Result<ReduceRecord> ReduceModel(const std::string& path, const ModelCheck& check,
                                 const ReduceOptions& reduce = {},
                                 const SessionOptions& options = {});

struct PrecisionOptions {
  /// What the model is fed, once in either precision, to measure the error of each node in float16
  /// and so decide where to begin. Random inputs by default.
  InputPlan inputs;
  bool groups = true;         ///< first try all nodes of an operator at once; false: node by node
  bool reverse = false;       ///< try later nodes first among equals
  int64_t most_checks = 100;  ///< from 1 on; the search ends with the best of what it has found
  std::string external_data_dir;  ///< where the model's weights are; empty: in its own folder
  std::string output;  ///< path of the float16 model that passes; empty: it is not written
};

struct Float32Node {
  std::string op;
  std::string name;  ///< may be empty
  /// The relative error that the node adds in float16; infinite if it turns finite values into
  /// infinities or NaN, 0 if it was not measured.
  double error = 0;
  bool out_of_range = false;  ///< it reads or produces values that float16 does not have
};

struct Float32Record {
  std::vector<Float32Node> kept;  ///< in the order of the search; empty: all can be float16
  int64_t nodes = 0;              ///< that compute in float32 and could in float16
  bool minimal = false;  ///< without any one of them the check fails; false after most_checks
  int64_t checks = 0;    ///< how often the check was called
};

/// Searches the fewest nodes of the float32 ONNX model at `path` that must stay float32 for the
/// check to pass, with all others in float16 and casts between them. Errors of nodes are measured
/// with ONNX Runtime, in processes of the program `vernier`; if either is missing, only operators
/// decide where to begin, and the logger gets a warning. Errors: kNotFound if no node could be
/// float16, or the check fails whatever stays float32; kInvalidArgument without a check, for
/// most_checks below 1, for inputs that the model does not have, and for a file that would be
/// written over the model; kMalformed for a model that cannot be read; kIo where the models cannot
/// be written; kCancelled; and those of the check.
Result<Float32Record> FindFloat32Nodes(const std::string& path, const ModelCheck& check,
                                       const PrecisionOptions& precision = {},
                                       const SessionOptions& options = {});

}  // namespace vernier
