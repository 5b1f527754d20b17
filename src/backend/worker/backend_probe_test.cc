#include "backend/worker/backend_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Of each plug-in, what every attempt at it comes to: it loads, fails, or runs out of time.
enum class Attempt { kLoads, kFails, kRunsOutOfTime };

class Attempts {
 public:
  explicit Attempts(std::map<std::string, std::vector<Attempt>> script)
      : script_(std::move(script)) {}

  ProbedBackend operator()(const BackendFile& file) {
    const std::lock_guard lock(mutex_);
    const Attempt attempt = script_.at(file.name).at(made_[file.name]++);
    if (attempt == Attempt::kLoads) return {BackendInfo{}};
    return {BackendError("unusable"), attempt == Attempt::kRunsOutOfTime};
  }

  std::vector<BackendFile> Files() const {
    std::vector<BackendFile> files;
    for (const auto& [name, attempts] : script_) files.push_back({name, name + ".so"});
    return files;
  }

  /// How often each was tried, once all of them are known.
  std::map<std::string, size_t> Made() {
    PluginProbes probes(Files(), std::ref(*this));
    for (size_t i = 0; i < probes.files().size(); ++i) {
      usable_[probes.files()[i].name] = probes.Await(i).ok();
    }
    return made_;
  }

  const std::map<std::string, bool>& usable() const { return usable_; }

 private:
  const std::map<std::string, std::vector<Attempt>> script_;
  std::mutex mutex_;
  std::map<std::string, size_t> made_;
  std::map<std::string, bool> usable_;
};

TEST(PluginProbes, ALoneOneIsNotTriedAgain) {
  Attempts attempts({{"slow", {Attempt::kRunsOutOfTime}}});
  EXPECT_THAT(attempts.Made(), ElementsAre(Pair("slow", 1)));
  EXPECT_THAT(attempts.usable(), ElementsAre(Pair("slow", false)));
}

TEST(PluginProbes, OneThatRanOutOfTimeBesideOthersIsTriedAgain) {
  Attempts attempts({{"broken", {Attempt::kFails}},
                     {"quick", {Attempt::kLoads}},
                     {"slow", {Attempt::kRunsOutOfTime, Attempt::kLoads}},
                     {"stuck", {Attempt::kRunsOutOfTime, Attempt::kRunsOutOfTime}}});
  EXPECT_THAT(attempts.Made(),
              ElementsAre(Pair("broken", 1), Pair("quick", 1), Pair("slow", 2), Pair("stuck", 2)));
  EXPECT_THAT(attempts.usable(), ElementsAre(Pair("broken", false), Pair("quick", true),
                                             Pair("slow", true), Pair("stuck", false)));
}

}  // namespace
}  // namespace vernier
