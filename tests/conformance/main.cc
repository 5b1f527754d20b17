// vernier_conformance --backend=PATH_OR_NAME [--expectations=FILE] [--check=NAME]
// [--model=graphdef] [--list]
//
// Loads a plug-in as vernier does, in a worker, and checks that it keeps the rules of
// include/vernier/backend_abi.h. Exit 0: every check went as the expectations say.
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "backend/known/backend_path.h"
#include "backend/worker/worker_server.h"
#include "checks.h"
#include "model_writer.h"

namespace vernier {
namespace {

struct Arguments {
  std::string backend;
  std::string expectations;
  std::string check;
  bool list = false;
  BackendUnderTest::ModelWriter writer = &WriteIdentityModel;
};

int Usage() {
  std::fputs(
      "usage: vernier_conformance --backend=PATH_OR_NAME [--expectations=FILE] "
      "[--check=NAME] [--model=graphdef|torchscript] [--list]\n",
      stderr);
  return 2;
}

bool Parse(int argc, char** argv, Arguments& out) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string value(word.substr(std::min(word.find('=') + 1, word.size())));
    if (word.starts_with("--backend=")) {
      out.backend = value;
    } else if (word.starts_with("--expectations=")) {
      out.expectations = value;
    } else if (word.starts_with("--check=")) {
      out.check = value;
    } else if (word == "--model=graphdef") {
      out.writer = &WriteIdentityGraphDef;
    } else if (word == "--model=torchscript") {
      out.writer = &WriteTorchScriptModel;
    } else if (word == "--list") {
      out.list = true;
    } else {
      return false;
    }
  }
  return !out.backend.empty() || out.list;
}

// What a check's end means, given what was expected of it. Returns whether that is fine.
bool Judge(const Check& check, const Status& status, const Expectation* expected) {
  const bool refused = status.code() == StatusCode::kUnimplemented;
  const char* verdict = status.ok() ? "pass" : "FAIL";
  std::string note = status.message();
  bool fine = status.ok();
  if (expected != nullptr && status.ok()) {
    fine = false;
    verdict = "FAIL";
    note = "passed, but is listed as: " + expected->reason;
  } else if (expected != nullptr) {
    fine = expected->refusal == refused;
    if (fine) {
      verdict = refused ? "unsupported" : "expected";
      note = expected->reason + " (" + note + ")";
    }
  }
  std::printf("%-12s %s%s%s\n", verdict, check.name.c_str(), note.empty() ? "" : ": ",
              note.c_str());
  std::fflush(stdout);
  return fine;
}

bool AllUsed(const Expectations& expectations, const std::vector<Check>& checks) {
  bool all = true;
  for (const Expectation& entry : expectations.entries) {
    const bool used = std::any_of(checks.begin(), checks.end(),
                                  [&](const Check& c) { return entry.Covers(c.name); });
    if (!used) std::printf("FAIL         there is no check '%s'\n", entry.check.c_str());
    all &= used;
  }
  return all;
}

Result<std::string> PluginPath(const std::string& backend) {
  if (backend.find('/') != backend.npos) return backend;
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> plugins,
                           FindBackend(backend, BackendSearchPath({})));
  return plugins.front();
}

int RunChecks(const Arguments& arguments, const Expectations& expectations,
              const std::vector<Check>& checks, const std::string& folder) {
  const Result<std::string> plugin = PluginPath(arguments.backend);
  if (!plugin.ok()) {
    std::fprintf(stderr, "%s\n", plugin.status().message().c_str());
    return 1;
  }
  BackendUnderTest backend(*plugin, folder, arguments.writer);
  if (const Status status = backend.Load().status(); !status.ok()) {
    std::fprintf(stderr, "'%s' cannot be used: %s\n", plugin->c_str(), status.message().c_str());
    return 1;
  }
  bool fine = AllUsed(expectations, checks);
  int count = 0;
  for (const Check& check : checks) {
    if (!arguments.check.empty() && check.name != arguments.check) continue;
    fine &= Judge(check, check.run(backend), expectations.Find(check.name));
    ++count;
  }
  std::printf("%d checks of %s: %s\n", count, arguments.backend.c_str(), fine ? "ok" : "FAILED");
  return fine && count > 0 ? 0 : 1;
}

int Main(const Arguments& arguments) {
  Result<Expectations> expectations = Expectations();
  if (!arguments.expectations.empty()) expectations = ReadExpectations(arguments.expectations);
  if (!expectations.ok()) {
    std::fprintf(stderr, "%s\n", expectations.status().message().c_str());
    return 1;
  }
  std::vector<Check> checks;
  AddSessionChecks(checks);
  AddDTypeChecks(checks);
  AddShapeChecks(checks);
  AddErrorChecks(*expectations, checks);
  if (arguments.list) {
    for (const Check& check : checks) std::puts(check.name.c_str());
    return 0;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "conformance-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 1;
  }
  const int code = RunChecks(arguments, *expectations, checks, folder);
  std::filesystem::remove_all(folder);
  return code;
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) {
  // A worker is this executable again, as it is with vernier.
  if (argc == 4 && std::string_view(argv[1]) == "worker") {
    return vernier::RunWorkerProcess(std::atoi(argv[2]), std::atoi(argv[3]));
  }
  vernier::Arguments arguments;
  return vernier::Parse(argc, argv, arguments) ? vernier::Main(arguments) : vernier::Usage();
}
