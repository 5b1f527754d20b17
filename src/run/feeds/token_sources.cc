#include "run/feeds/token_sources.h"

#include "io/archive/npy.h"
#include "util/files/input_file.h"

namespace vernier {
namespace {

constexpr std::string_view kScriptSuffix = ".py";
constexpr std::string_view kTokensFunction = "tokens";

Result<Tensor> ReadTokensFile(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const auto file, InputFile::Open(path));
  FileSource source(file, 0, file->size());
  Result<Tensor> tokens = ReadNpy(source, nullptr);
  if (!tokens.ok()) return std::move(tokens).Annotate("--tokens '" + path + "'");
  return tokens;
}

}  // namespace

std::optional<ScriptFunction> ScriptOfTokens(std::string_view tokens) {
  if (tokens.ends_with(kScriptSuffix)) {
    return ScriptFunction{std::string(tokens), std::string(kTokensFunction)};
  }
  const size_t colon = tokens.rfind(':');
  const bool named = colon != std::string_view::npos && colon + 1 < tokens.size() &&
                     tokens.substr(0, colon).ends_with(kScriptSuffix);
  if (!named) return std::nullopt;
  return ScriptFunction{std::string(tokens.substr(0, colon)),
                        std::string(tokens.substr(colon + 1))};
}

bool GivesTokens(std::string_view tokens) {
  return tokens.ends_with(".npy") || ScriptOfTokens(tokens).has_value();
}

Result<Tensor> TokensOf(const std::string& source, ScriptClient* script) {
  if (script == nullptr) return ReadTokensFile(source);
  VERNIER_ASSIGN_OR_RETURN(const std::optional<TensorMap> made, script->NextFeed({}));
  if (made && !made->empty()) return made->front().tensor;
  return Malformed("--tokens '" + source + "': the script returned no tokens");
}

}  // namespace vernier
