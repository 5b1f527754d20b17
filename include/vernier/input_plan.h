// The part of a run's plan that describes what runners are fed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/dim_size.h"
#include "vernier/number_rule.h"

namespace vernier {

/// A function in a Python script; an empty path: none.
struct ScriptFunction {
  std::string path;
  std::string function;

  bool given() const { return !path.empty(); }

  template <typename Plan, typename Fields>
  static void EachField(Plan& script, Fields& field) {
    field("path", script.path);
    field("function", script.function);
  }
};

/// Where feeds come from.
struct InputPlan {
  std::vector<std::string> load_paths;  ///< empty: seeded random inputs
  /// --preprocess: what becomes of images that load_paths name; empty: what the input needs.
  std::string preprocess;
  int64_t max_image_pixels = 100'000'000;  ///< larger images are not decoded
  ScriptFunction script;                   ///< --data-loader-script
  std::vector<std::string> shape_words;    ///< `NAME:SHAPE` as for --input-shapes
  std::vector<DimSize> dims;               ///< --dim
  std::vector<DimSize> found_dims;         ///< that vernier chose: with 1 the model does not run
  std::vector<std::string> range_words;    ///< `[NAME:][LOW,HIGH]` as for --val-range
  std::vector<std::string> map_words;      ///< --map-inputs: `[RUNNER:]NAME=[SOURCE]`
  std::vector<std::string> map_files;  ///< words of either map came from these; nothing reads them
  bool from_graph = false;     ///< --inputs-from-graph: ranges that the model's graph demands
  std::string like;            ///< --like: a sample whose values are imitated; empty: none
  int64_t seed = 1;            ///< of random inputs; iteration i uses seed + i
  bool torch_numbers = false;  ///< random inputs are drawn by the user's torch
  std::optional<int64_t> iterations;  ///< not given: 1, or as many as the files hold

  template <typename Plan, typename Fields>
  static constexpr void EachField(Plan& inputs, Fields& field) {
    field("load", inputs.load_paths);
    field("preprocess", inputs.preprocess);
    field("max_image_pixels", inputs.max_image_pixels, kAtLeast1);
    field("script", inputs.script);
    field("shapes", inputs.shape_words);
    field("dims", inputs.dims);
    field("found_dims", inputs.found_dims);
    field("ranges", inputs.range_words);
    field("maps", inputs.map_words);
    field("from_graph", inputs.from_graph);
    field("like", inputs.like);
    field("seed", inputs.seed);
    field("torch_numbers", inputs.torch_numbers);
    field("iterations", inputs.iterations, kCount);
  }
};

/// Whose outputs are fed to the next step of a runner.
enum class StateSource : uint8_t {
  kOwn,        ///< its own: errors add up, as they do in use
  kReference,  ///< those of the first runner: errors are each step's own
  kCross       ///< its own, and the first of a pair once more with those of the second
};

/// What options and records call them.
inline constexpr std::array<std::string_view, 3> kStateSourceNames = {"own", "reference", "cross"};

/// What makes a feed a sequence of steps, in which outputs of a step are inputs of the next.
struct StepPlan {
  std::optional<int64_t> steps;        ///< not given: as many as the sequence inputs hold
  std::vector<std::string> feed_back;  ///< --feed-back: `[RUNNER:]OUTPUT:INPUT` or `[RUNNER:]auto`
  std::string initial_state;           ///< a file of inputs; empty: what feeds hold, or zeros
  std::vector<std::string> slices;     ///< --step-slice
  std::vector<std::string> advances;   ///< --advance
  std::vector<std::string> axes;       ///< --steps-axis: `RUNNER:AXIS`
  std::vector<std::string> resets;     ///< --reset: `[RUNNER:]METHOD`; with or without steps
  StateSource state = StateSource::kOwn;
  bool compare_state = false;  ///< what is fed back is compared at every step
  /// --decode: `greedy` or `greedy:[RUNNER:]LOGITS=TOKENS`; empty: nothing is decoded.
  std::vector<std::string> decode;
  std::optional<int64_t> decode_stop;  ///< the token that ends a sequence
  /// --min-token-agreement: gate, the least share of tokens that are equal, within [0, 1].
  std::optional<double> min_token_agreement;
  /// Of `vernier blame`, which looks for the error of one step: no option. A runner that keeps its
  /// state inside is refused then.
  bool finds_own_errors = false;

  /// Without any of these each feed is one inference.
  bool wanted() const {
    return steps || !feed_back.empty() || !slices.empty() || !advances.empty() || decodes();
  }

  /// Does each step choose the token that is fed to the next one?
  bool decodes() const { return !decode.empty(); }

  template <typename Plan, typename Fields>
  static constexpr void EachField(Plan& steps, Fields& field) {
    field("steps", steps.steps);
    field("feed_back", steps.feed_back);
    field("initial_state", steps.initial_state);
    field("slices", steps.slices);
    field("advances", steps.advances);
    field("axes", steps.axes);
    field("resets", steps.resets);
    field("state", steps.state);
    field("compare_state", steps.compare_state);
    field("decode", steps.decode);
    field("decode_stop", steps.decode_stop);
    field("min_token_agreement", steps.min_token_agreement, kShare);
  }
};

}  // namespace vernier
