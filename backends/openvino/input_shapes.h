// The shapes of an ONNX model's inputs, written into its bytes: OpenVINO then knows them while it
// converts the model, which for some operators is the only time that counts.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/backend_abi.h"
#include "vernier/status.h"

namespace vernier::ov {

/// Sizes of inputs by name; -1 leaves a dimension free.
using InputShapes = std::map<std::string, std::vector<int64_t>, std::less<>>;

/// The shapes of the tensors of a feed.
InputShapes ShapesOf(std::span<const vn_tensor* const> feed);

/// Every dimension in which the two differ is free; an input whose ranks differ is left out.
InputShapes FreeWhereTheyDiffer(const InputShapes& a, const InputShapes& b);

/// Do the shapes admit the feed? An input without a shape admits all.
bool Admit(const InputShapes& shapes, const InputShapes& feed);

/// "x:[1,576], state:[2,?,128]".
std::string Describe(const InputShapes& shapes);

/// Reads `Describe`'s grammar with `;` between inputs, as the option `feed_shapes` has it:
/// "x:[1,576];state:[2,-1,128]". What cannot be read is left out.
InputShapes ParseInputShapes(std::string_view text);

/// The model with these shapes for its inputs; everything else stays as it is. kMalformed where the
/// bytes are no ONNX model.
Result<std::string> WriteInputShapes(std::string_view model, const InputShapes& shapes);

}  // namespace vernier::ov
