// The same check again and again.
#include "cli/commands/commands.h"
#include "cli/commands/interruption.h"
#include "cli/commands/surgery.h"
#include "cli/debug/debug_session.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// When to stop: after so many iterations, or after the first good or bad one.
struct Until {
  std::optional<int64_t> count;
  bool good = false;

  bool Reached(int64_t iterations, bool passed) const {
    return count ? iterations >= *count : passed == good;
  }
};

Result<Until> BindUntil(const ParsedArgs& args) {
  const std::string word(args.Value("until").value_or(""));
  if (word == "good" || word == "bad") return Until{std::nullopt, word == "good"};
  const std::optional<int64_t> count = ParseInt(word);
  if (!count || *count < 1) {
    return InvalidArgument("--until value must be an integer, 'good', or 'bad', but was: " + word);
  }
  return Until{count, false};
}

}  // namespace

int DebugRepeatCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> own(words.begin(), words.end());
  std::vector<std::string> check = TakeCheckWords(own);
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) -> Status {
    WatchSignals();
    VERNIER_ASSIGN_OR_RETURN(const Until until, BindUntil(args));
    VERNIER_ASSIGN_OR_RETURN(DebugSession session,
                             DebugSession::Bind(args, std::move(check), "", log));
    if (!args.Has("artifacts")) {
      log.Warning(
          "`--artifacts` was not specified; No artifacts will be stored during this run! Is this "
          "what you intended?");
    }
    for (bool done = false; !done;) {
      VERNIER_ASSIGN_OR_RETURN(const bool passed, session.Iterate([] { return Status(); }));
      done = until.Reached(session.iterations(), passed);
    }
    session.Finish();
    return {};
  };
  return RunModelTool("debug repeat", work, true, own, invocation);
}

}  // namespace vernier
