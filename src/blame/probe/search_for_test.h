// The first steps of a search, with workers that do as each test says. The model on both sides is a
// graph of one Relu from "x" to "y"; what is computed is what the fake models do.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blame/probe/unprobed_run.h"
#include "model/onnx/model_type.h"
#include "model/onnx/onnx_test_model.h"
#include "run/workers/fake_workers.h"
#include "util/log/no_log.h"

namespace vernier {

class SearchForTest : public testing::Test {
 protected:
  explicit SearchForTest(SearchModels models = OneRelu()) : models_(std::move(models)) {}

  /// The reference runs a model named "a", the candidate one named "b"; each feed is four times one
  /// of these values.
  Result<UnprobedRun> Run(const testing_workers::FakeModel& reference,
                          const testing_workers::FakeModel& candidate,
                          const std::vector<float>& feeds = {1}) {
    const std::map<std::string, testing_workers::FakeModel> models = {{"a", reference},
                                                                      {"b", candidate}};
    plan_.run.runners = testing_workers::RunnersOf(models);
    for (const float value : feeds) {
      plan_.feeds.push_back({{"x", testing_workers::Floats({4}, {value, value, value, value})}});
    }
    plan_.run.execution.use_subprocess = true;
    workers_ = std::make_unique<testing_workers::FakeWorkers>(models, interrupted_, log_);
    caller_.workers = workers_.get();
    pool_ = std::make_unique<WorkerPool>(plan_.run.execution, interrupted_, log_, &caller_);
    context_.emplace(SearchContext{log_, log_, interrupted_, *pool_, clock_});
    VERNIER_ASSIGN_OR_RETURN(SearchSides sides, OpenSides(plan_, *context_));
    sides_.emplace(std::move(sides));
    return RunUnprobed(plan_, models_, *sides_, *context_);
  }

  static SearchModels OneRelu() {
    return ModelsOf(testing_model::Field(1, testing_model::Node("Relu", {"x"}, {"y"})));
  }

  /// From "x" to its codes and back to "y".
  static SearchModels OneQuantiser() {
    using testing_model::Field;
    using testing_model::Node;
    return ModelsOf(Field(1, Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"})) +
                    Field(1, Node("DequantizeLinear", {"q", "s", "z"}, {"y"})));
  }

  static SearchModels ModelsOf(const std::string& nodes) {
    using testing_model::Field;
    using testing_model::Value;
    const auto model = testing_model::Shared(nodes + Field(11, Value("x")) + Field(12, Value("y")));
    return SearchModels{*BlameGraph::Make(model), model};
  }

  BlamePlan plan_;
  const SearchModels models_;
  std::atomic<int> interrupted_{0};
  NoLog log_;
  RuntimeClock clock_;
  std::unique_ptr<testing_workers::FakeWorkers> workers_;
  Embedder caller_;
  std::unique_ptr<WorkerPool> pool_;
  std::optional<SearchContext> context_;
  std::optional<SearchSides> sides_;
};

}  // namespace vernier
