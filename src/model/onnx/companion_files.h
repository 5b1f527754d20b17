// The files that a model's file names and that are read with it.
#pragma once

#include <string>
#include <vector>

namespace vernier {

/// Paths of the external weights of an ONNX model, each once, in `external_dir` or, where that is
/// empty, the model's own folder; of OpenVINO's IR (.xml) the .bin beside it. Nothing says that
/// they are there. Empty for what cannot be read as a model.
std::vector<std::string> CompanionFiles(const std::string& model_path,
                                        const std::string& external_dir = {});

}  // namespace vernier
