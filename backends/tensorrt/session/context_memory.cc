#include "tensorrt/session/context_memory.h"

#include <cstdlib>

#include "tensorrt/library/option_list.h"
#include "tensorrt/library/option_words.h"

namespace vernier::trt {
namespace {

// Releases differ in what a share means: before the second form of the interface it was the part
// that is streamed, since then it is the part that stays on the GPU.
template <typename Engine>
Result<int64_t> BudgetOf(Engine& engine, const std::string& text, Logger& logger) {
  constexpr bool kSecondForm = requires { engine.setWeightStreamingBudgetV2(int64_t{}); };
  const double number = std::strtod(text.c_str(), nullptr);
  const bool is_share = !text.empty() && text.back() == '%';
  if (is_share && !(number >= 0 && number <= 100)) {
    return InvalidArgument("--weight-streaming-budget: expected 0% to 100%, got '" + text + "'");
  }
  const auto share = number / 100;
  if constexpr (kSecondForm) {
    const int64_t whole = engine.getStreamableWeightsSize();
    if (text == "-2" || (is_share && share >= 1)) {
      logger.host().Info("Weight streaming is disabled.");
      return whole;
    }
    if (text == "-1") return engine.getWeightStreamingAutomaticBudget();
    if (is_share) return static_cast<int64_t>(share * static_cast<double>(whole));
  } else {
    if (text == "-2" || (is_share && share <= 0)) return int64_t{0};
    if (text == "-1") return int64_t{-1};
    if (is_share) {
      const auto least = static_cast<double>(engine.getMinimumWeightStreamingBudget());
      const auto most = static_cast<double>(engine.getStreamableWeightsSize());
      return static_cast<int64_t>((1 - share) * (most - least) + least);
    }
  }
  return static_cast<int64_t>(number);
}

template <typename Engine>
Status SetBudget(Engine& engine, const std::string& text, Logger& logger) {
  if constexpr (requires { engine.getStreamableWeightsSize(); }) {
    VERNIER_ASSIGN_OR_RETURN(const int64_t budget, BudgetOf(engine, text, logger));
    bool taken = false;
    if constexpr (requires { engine.setWeightStreamingBudgetV2(budget); }) {
      taken = engine.setWeightStreamingBudgetV2(budget) &&
              engine.getWeightStreamingBudgetV2() == budget;
    } else {
      taken =
          engine.setWeightStreamingBudget(budget) && engine.getWeightStreamingBudget() == budget;
    }
    if (taken) return {};
    return BackendError("Failed to set weight streaming budget to " + std::to_string(budget) +
                        "!: " + logger.TakeError());
  } else {
    return NotInThisRelease("--weight-streaming-budget");
  }
}

nvinfer1::IExecutionContext* ContextWithoutMemory(nvinfer1::ICudaEngine& engine) {
#if VERNIER_TRT_AT_LEAST(10, 0)
  return engine.createExecutionContext(nvinfer1::ExecutionContextAllocationStrategy::kUSER_MANAGED);
#else
  return engine.createExecutionContextWithoutDeviceMemory();
#endif
}

template <typename Engine>
size_t BytesForProfile(const Engine& engine, int32_t profile) {
  if constexpr (requires { engine.getDeviceMemorySizeForProfileV2(profile); }) {
    return static_cast<size_t>(engine.getDeviceMemorySizeForProfileV2(profile));
  } else {
    return engine.getDeviceMemorySize();
  }
}

template <typename Context>
constexpr bool kKnowsShapes = requires(Context& context) {
  context.updateDeviceMemorySizeForShapes();
};

template <typename Context>
size_t BytesForShapes(Context& context) {
  if constexpr (kKnowsShapes<Context>) return context.updateDeviceMemorySizeForShapes();
  return 0;
}

template <typename Context>
void SetMemory(Context& context, void* memory, size_t bytes) {
  if constexpr (requires { context.setDeviceMemoryV2(memory, int64_t{}); }) {
    context.setDeviceMemoryV2(memory, static_cast<int64_t>(bytes));
  } else {
    context.setDeviceMemory(memory);
  }
}

}  // namespace

Status SetWeightBudget(nvinfer1::ICudaEngine& engine, const sdk::Options& options, Logger& logger) {
  const auto text = ValueOf(options, "weight_streaming_budget");
  return text ? SetBudget(engine, *text, logger) : Status();
}

Result<Owned<nvinfer1::IExecutionContext>> ContextMemory::MakeContext(nvinfer1::ICudaEngine& engine,
                                                                      const sdk::Options& options,
                                                                      Logger& logger) {
  const std::string word = ValueOf(options, "allocation_strategy").value_or("static");
  strategy_ = word == "profile"   ? Strategy::kProfile
              : word == "runtime" ? Strategy::kRuntime
                                  : Strategy::kStatic;
  if (strategy_ == Strategy::kRuntime && !kKnowsShapes<nvinfer1::IExecutionContext>) {
    return NotInThisRelease("--allocation-strategy runtime");
  }
  Owned<nvinfer1::IExecutionContext> context(strategy_ == Strategy::kStatic
                                                 ? engine.createExecutionContext()
                                                 : ContextWithoutMemory(engine));
  if (context == nullptr) {
    return BackendError("TensorRT made no execution context: " + logger.TakeError());
  }
  return context;
}

Status ContextMemory::Prepare(nvinfer1::ICudaEngine& engine, nvinfer1::IExecutionContext& context) {
  if (strategy_ == Strategy::kStatic) return {};
  const size_t bytes = strategy_ == Strategy::kProfile
                           ? BytesForProfile(engine, context.getOptimizationProfile())
                           : BytesForShapes(context);
  if (memory_ == nullptr || memory_->size() < bytes) {
    VERNIER_ASSIGN_OR_RETURN(memory_, device_.Allocate(bytes));
  }
  SetMemory(context, memory_->data(), memory_->size());
  return {};
}

}  // namespace vernier::trt
