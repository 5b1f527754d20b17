// Transposes that a float16 model must not have. Internal to model.
#pragma once

#include "model/float16/float16_edit.h"
#include "model/onnx/onnx_model.h"

namespace vernier {

/// Adds to `kept` each Transpose that moves the first axis behind all others but one, or behind all
/// others, of the rest keeping the order (of three axes 1,0,2 and 1,2,0), and that a MatMul reads
/// as its first factor. ONNX Runtime fuses the two and, where they are float16 and the second
/// factor is constant, is killed by SIGSEGV while it opens the model (1.31.1, at its default level
/// of optimisation). A transposition between casts has the same values.
void KeepFusedTransposes(const OnnxModel& model, Float16Kept& kept);

}  // namespace vernier
