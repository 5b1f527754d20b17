// The program: finds the command and runs it. Everything meets here and nowhere else.
#include <fcntl.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arg_parser.h"
#include "cli/commands/commands.h"
#include "cli/version.h"

namespace vernier {
namespace {

constexpr const char* kUsage =
    "usage: vernier COMMAND ...\n"
    "\n"
    "Does a neural network compute the same thing under two frameworks, precisions, devices or\n"
    "releases?\n"
    "\n"
    "commands:\n"
    "  run         run a model under several runners and compare their outputs\n"
    "  backends    list the frameworks that were found, or why they cannot be used\n"
    "  completion  print a completion script for bash, zsh or fish\n"
    "\n"
    "vernier COMMAND --help explains a command. Every Polygraphy `run` command line works here; a\n"
    "link named `polygraphy` to this program also answers as leniently as it does.\n";

std::string Join(std::span<char* const> words) {
  std::string text;
  for (const char* word : words) text += (text.empty() ? "" : " ") + std::string(word);
  return text;
}

bool CalledAsPeer(std::string_view program) {
  return program.substr(program.rfind('/') + 1) == "polygraphy";
}

int Main(std::span<char* const> words) {
  const std::vector<std::string> rest(words.size() > 2 ? words.begin() + 2 : words.end(),
                                      words.end());
  const std::string_view command = words.size() > 1 ? words[1] : "";
  const Invocation invocation{Join(words), CalledAsPeer(words[0]), std::time(nullptr)};
  if (command == "run") return RunCommand(rest, invocation);
  if (command == "worker") return WorkerCommand(rest);
  if (command == "backends") return BackendsCommand(rest);
  if (command == "completion") return CompletionCommand(rest);
  if (command == "option-docs") return OptionDocsCommand(rest);
  if (command == "--version" || command == "-v") {
    std::printf("vernier %s\n", kVersion);
    return 0;
  }
  const bool help = command == "--help" || command == "-h" || command == "help";
  if (!help && !command.empty()) {
    std::fprintf(stderr, "vernier: there is no command '%s'\n\n", words[1]);
  }
  std::fputs(kUsage, help ? stdout : stderr);
  return help ? 0 : 2;
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) {
  // A stream that was closed on purpose must not become the first file that is opened.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);
  }
  // Names of runners carry the date in the locale's short form, as the peer's do.
  std::setlocale(LC_TIME, "");
  return vernier::Main(std::span(argv, static_cast<size_t>(argc)));
}
