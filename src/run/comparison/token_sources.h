// Where --tokens takes token ids from: an input, a file, or a tokenizer script.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// `SCRIPT.py` or `SCRIPT.py:FUNCTION`; nullopt where the word is no script.
std::optional<ScriptFunction> ScriptOfTokens(std::string_view tokens);

/// Does the word name a file or a script, rather than an input?
bool GivesTokens(std::string_view tokens);

/// The tensor in a .npy file. kMalformed, naming flag and path.
Result<Tensor> ReadTokensFile(const std::string& path);

}  // namespace vernier
