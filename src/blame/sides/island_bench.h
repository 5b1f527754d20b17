// Nodes run alone by the candidate: many islands in one session, fed with tensors that are given.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/sides/probe_side.h"
#include "compare/functions/error_bound.h"
#include "model/rounding/error_model.h"

namespace vernier {

/// The two sides' arithmetic, for graphs of the candidate's types.
struct BenchArithmetic {
  RunnerArithmetic reference;
  RunnerArithmetic candidate;
};

/// A tensor of the candidate's graph, or nullptr.
using TensorSource = std::function<const Tensor*(std::string_view name)>;

/// What islands are fed with, and how their models declare it: dtype and shape.
struct IslandFeed {
  const TensorSource& values;
  const TensorLookup& declared;
};

struct IslandResult {
  std::vector<const Tensor*> outputs;  ///< in the island's order; null: not handed out
  std::string missing;                 ///< why there are none; empty: there are
};

class IslandBench {
 public:
  /// Of these islands. `graph` and `side` must outlive it.
  IslandBench(const BlameGraph& graph, ProbeSide& side, BenchArithmetic arithmetic,
              std::vector<Island> islands);
  ~IslandBench() { CloseSessions(); }
  IslandBench(const IslandBench&) = delete;
  IslandBench& operator=(const IslandBench&) = delete;

  /// Runs all islands on `feed`, cast to the types that it is declared with.
  /// An island that lacks an input, whose input does not fit its type, or with which no session can
  /// be opened or run, says so. kCancelled.
  Result<std::vector<IslandResult>> Run(const IslandFeed& feed);

  /// Gives the results' memory back.
  void DropResults() { kept_.clear(); }

  /// The next Run opens them again.
  void CloseSessions();

  const std::vector<Island>& islands() const { return islands_; }
  std::vector<std::string_view> InputsOf(size_t island) const {
    return graph_.InputsOf(islands_[island]);
  }

  /// The difference that correct runtimes may have on an output of an island, rounding of its
  /// inputs included. Valid after Run.
  ErrorBound BoundOf(size_t island, size_t output, const Tensor& tensor) const;

 private:
  struct Group {
    std::vector<size_t> islands;
    std::unique_ptr<RunnerSession> session;
    std::vector<std::string> inputs;
    std::vector<std::vector<std::string>> outputs;
    std::unordered_map<std::string, std::string> made;  // IslandsModel::made
    ErrorPredictions predictions;
    std::optional<OnnxModel> steps;  // its model, if that has quantisers: values decide flips
    std::vector<InputDims> dims;
    bool free_sizes = false;  // of what is fed
  };
  Status Open(Group& group, const IslandFeed& feed);
  void Predict(const OnnxModel& model, const IslandFeed& feed, Group& group) const;
  Status RunGroup(Group& group, const IslandFeed& feed, std::vector<IslandResult>& results);
  void NoteNearTies(Group& group, size_t index, const IslandFeed& feed,
                    const IslandResult& result) const;
  void Regroup(const std::vector<IslandResult>& results);
  void Split(size_t index, const Status& why);
  bool MayTryFreeSizes(const Group& group) const;
  std::string WhyNot(size_t island, const IslandFeed& feed) const;

  const BlameGraph& graph_;
  ProbeSide& side_;
  const BenchArithmetic arithmetic_;
  const std::vector<Island> islands_;
  std::vector<std::string> hopeless_;  // why an island is never run; empty: it is
  std::vector<Group> groups_;
  std::vector<TensorMap> kept_;  // what the results point into
  int64_t failures_ = 0;
};

}  // namespace vernier
