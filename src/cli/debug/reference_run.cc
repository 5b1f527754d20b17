#include "cli/debug/reference_run.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "cli/debug/check_command.h"

namespace vernier {
namespace {

bool HasAny(const std::vector<std::string>& words, std::initializer_list<std::string_view> flags) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::any_of(flags.begin(), flags.end(), [&](std::string_view flag) {
      return word == flag || word.starts_with(std::string(flag) + "=");
    });
  });
}

}  // namespace

Result<ReferenceRun> ReferenceRun::Make(const std::string& model,
                                        std::vector<std::string>& options) {
  VERNIER_ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::Create());
  if (HasAny(options, {"--load-outputs", "--load-results"})) {
    return ReferenceRun(std::move(folder));
  }
  const std::string inputs = folder.path() + "/inputs.json";
  const std::string outputs = folder.path() + "/outputs.json";
  std::vector<std::string> words = {"run", model};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--save-outputs", outputs});
  const bool fed = HasAny(options, {"--load-inputs", "--load-input-data"});
  if (!fed) words.insert(words.end(), {"--save-inputs", inputs});
  VERNIER_TRY(RunToTheEnd(std::move(words)).Annotate("the unchanged model"));
  if (!fed) options.insert(options.end(), {"--load-inputs", inputs});
  options.insert(options.end(), {"--load-outputs", outputs});
  return ReferenceRun(std::move(folder));
}

}  // namespace vernier
