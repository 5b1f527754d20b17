// A TensorProto with its values, wherever they lie.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "array.h"
#include "message_reader.h"
#include "vernier/status.h"

namespace vernier::pluginref {

// What a TensorProto says, in whichever of its members.
struct TensorParts {
  std::string name;
  Dims dims;
  int64_t type = 0;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> integers;  // of int32_data, int64_data or uint64_data
  std::vector<std::string> strings;
  std::optional<std::string> raw;
  std::map<std::string, std::string> external;
  bool is_external = false;
};

/// What a message says; throws protozero::exception for one that is damaged.
TensorParts ReadParts(MessageReader in);

/// The array. Weights in files are looked for below `folder`. kMalformed for values that do not fit
/// the shape, and for paths that lead out of the folder.
Result<Array> ReadTensor(const TensorParts& parts, const std::string& folder);

}  // namespace vernier::pluginref
