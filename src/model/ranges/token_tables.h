// Inputs whose integers look up rows of a weight, as token ids do in an embedding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/onnx/onnx_model.h"

namespace vernier {

struct TokenTable {
  std::string input;
  std::string table;
  int64_t rows = 0;
  std::string node;  ///< "Gather 'emb'"
};

/// Of a model's integer inputs that go, as they are, into a Gather of rows of a weight of two or
/// more axes, or are token ids of an EmbedLayerNormalization; without what no output depends on. An
/// input may be there several times.
std::vector<TokenTable> FindTokenTables(const OnnxModel& model);

}  // namespace vernier
