// Where --tokens takes token ids from: an input, a file, or a tokenizer script.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backend/worker/script_client.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// `SCRIPT.py` or `SCRIPT.py:FUNCTION`; nullopt where the word is no script.
std::optional<ScriptFunction> ScriptOfTokens(std::string_view tokens);

/// Does the word name a file or a script, rather than an input?
bool GivesTokens(std::string_view tokens);

/// What is in a .npy file, or what `script` returns, which is null for a file. kMalformed, naming
/// flag and source, for what is no such file and where the script returns nothing; and the errors
/// of the script.
Result<Tensor> TokensOf(const std::string& source, ScriptClient* script);

}  // namespace vernier
