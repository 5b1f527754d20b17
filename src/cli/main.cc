// The program: finds the command and runs it. Everything meets here and nowhere else.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/table/command_first.h"
#include "cli/table/command_table.h"
#include "core/version.h"
#include "options/bind/bind_run.h"
#include "run/outcome/exit_code.h"
#include "util/process/child_run.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

bool CalledAsPolygraphy(std::string_view program) {
  return program.substr(program.rfind('/') + 1) == "polygraphy";
}

bool AsksForHelp(std::string_view word) {
  return word == "--help" || word == "-h" || word == "help";
}

int Start(const CommandSpec& command, std::span<const std::string> rest,
          const Invocation& invocation) {
  // Commands with options explain themselves.
  const bool plain = command.options == nullptr && command.section != CommandSection::kInternal;
  if (plain && !rest.empty() && AsksForHelp(rest[0])) {
    std::printf("usage: %s %s\n\n%s\n", command.FullName().c_str(),
                std::string(command.operands).c_str(), std::string(command.about).c_str());
    return 0;
  }
  return command.run(rest, invocation);
}

// No such command: no word at all, a group without its second word, or a mistake.
int RefuseUnknown(std::span<const std::string> words) {
  const bool in_group = !words.empty() && IsCommandGroup(words[0]);
  const size_t known = in_group ? 1 : 0;
  const std::string help = in_group ? FormatGroupHelp(words[0]) : FormatProgramHelp();
  if (words.size() == known) {
    std::fputs(help.c_str(), stderr);
    return 2;
  }
  if (AsksForHelp(words[known])) {
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  std::fputs(DescribeUnknownCommand(words).c_str(), stderr);
  return 2;
}

// Set where memory ran out: an exception on its way cannot be asked for in a terminate handler.
std::atomic<bool>& MemoryRanOut() {
  static std::atomic<bool> ran_out = false;
  return ran_out;
}

[[noreturn]] void NoteNoMemory() {
  MemoryRanOut() = true;
  throw std::bad_alloc();
}

void WriteToStderr(std::string_view text) {
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

// Nothing ends without a sentence. Lack of memory is not a defect; anything else is. What was saved
// before is on the disk, as if the program had been killed.
[[noreturn]] void EndUnexpectedly() noexcept {
  constexpr int kDefectOrNoMemory = 70;
  constexpr std::string_view kSaved =
      "; `vernier data recover` recovers what was saved before, and --resume continues from it\n";
  // Only while that exception is on its way: memory that ran out once may have been made do
  // without.
  bool no_memory = MemoryRanOut() && std::uncaught_exceptions() > 0;
  char why[300] = "an exception";
  try {
    if (std::current_exception() != nullptr) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    no_memory = true;
  } catch (const std::system_error& error) {  // a thread that has no place for its stack
    no_memory |= error.code() == std::errc::resource_unavailable_try_again;
    std::snprintf(why, sizeof(why), "%s", error.what());
  } catch (const std::exception& error) {
    std::snprintf(why, sizeof(why), "%s", error.what());
  } catch (...) {
  }
  WriteToStderr(no_memory ? "[!] out of memory" : "[!] a defect of vernier, please report it: ");
  if (!no_memory) WriteToStderr(why);
  WriteToStderr(kSaved);
  ::_exit(kDefectOrNoMemory);
}

// Under Polygraphy's name in the form that scripts of it read.
void PrintVersion(const Invocation& invocation) {
  if (invocation.as_polygraphy) {
    std::printf("Polygraphy | Version: %s | Path: ['%s'] | answered by ", kPolygraphyVersion,
                invocation.words[0].c_str());
  }
  std::printf("vernier %s\n", kVersion);
}

int RunWords(std::vector<std::string> words, const Invocation& invocation) {
  if (!words.empty() && (words[0] == "--version" || words[0] == "-v")) {
    PrintVersion(invocation);
    return 0;
  }
  // In a worker it may be a framework's own business: there the signal reports it.
  if (words.empty() || words[0] != "worker") {
    std::set_new_handler(NoteNoMemory);
    std::set_terminate(EndUnexpectedly);
  }
  // `vernier help run` is `vernier run --help`.
  if (words.size() > 1 && words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  words = CommandFirst(std::move(words),
                       [](std::string_view name) { return FindCommand(name) != nullptr; });
  for (size_t length : {size_t{2}, size_t{1}}) {
    if (words.size() < length) continue;
    const std::string name = length == 2 ? words[0] + " " + words[1] : words[0];
    if (const CommandSpec* command = FindCommand(name)) {
      return Start(*command, std::span(words).subspan(length), invocation);
    }
  }
  return RefuseUnknown(words);
}

// A reader that had enough, as in `| head`.
bool HasNoReader(int fd) {
  pollfd asked{.fd = fd, .events = POLLOUT, .revents = 0};
  return ::poll(&asked, 1, 0) == 1 && (asked.revents & (POLLERR | POLLHUP)) != 0;
}

// A log or a listing that a full disk did not take is not a success.
int EndOutput(int code, const Invocation& invocation) {
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  const std::string why = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
  const bool reported =
      !invocation.as_polygraphy && code == WithUnsaved(0, invocation.as_polygraphy);
  if (written || reported || HasNoReader(STDOUT_FILENO)) return code;
  std::fprintf(stderr, "[!] not everything could be written to stdout%s\n", why.c_str());
  return WithUnsaved(code, invocation.as_polygraphy);
}

// The last `own_words` are a batch's: they are obeyed and not shown.
int Main(std::span<char* const> argv, size_t own_words) {
  const std::span<char* const> shown =
      argv.first(argv.size() - std::min(own_words, argv.size() - 1));
  const Invocation invocation{.command = Joined(shown, " "),
                              .as_polygraphy = CalledAsPolygraphy(argv[0]),
                              .now = std::time(nullptr),
                              .words = std::vector<std::string>(shown.begin(), shown.end()),
                              .record_is_batchs = own_words > 0};
  return EndOutput(RunWords({argv.begin() + 1, argv.end()}, invocation), invocation);
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) {
  // A stream that was closed on purpose must not become the first file that is opened.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);
  }
  // A file that reaches a limit is an error of that write, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  const size_t own_words = vernier::EndWithBatch();
  return vernier::Main(std::span(argv, static_cast<size_t>(argc)), own_words);
}
