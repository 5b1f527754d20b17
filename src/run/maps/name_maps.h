// Which tensor stands for which, in words: --map-inputs and --map-outputs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor_slice.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// One word: `[LABEL:[LABEL:]]NAME=[SOURCE]`, where SOURCE is `NAME`, `NAME[SLICE]`, `NAME@AXES` or
/// `NAME[SLICE]@AXES`. A word with one `*` in NAME, and in SOURCE, is about all tensors that it
/// fits; it stands for the same text in both.
struct NameMap {
  std::string word;    ///< as it was given
  std::string label;   ///< of the runner that has `name`; empty: whichever
  std::string other;   ///< of the runner that has the source, with --map-outputs alone
  std::string name;    ///< what is mapped, or left out
  std::string source;  ///< all that stands behind "="; empty: `name` is left out
  std::string base;    ///< of the source, the name alone
  TensorForm form;     ///< of the source

  bool leaves_out() const { return source.empty(); }
  /// The map of one tensor, with `text` in the place of `*`.
  NameMap Filled(std::string_view text) const;
};

/// kInvalidArgument: "FLAG WORD: why".
Status BadMap(std::string_view flag, std::string_view word, const std::string& why);

/// `labels` are the names of runners; what stands before a colon and is called like none of them
/// (IsCalled) is part of a name. `most_labels` is how many a word may have. kInvalidArgument, as
/// one sentence that begins with `flag` and the word.
Result<std::vector<NameMap>> ParseNameMaps(std::string_view flag,
                                           std::span<const std::string> words,
                                           std::span<const std::string> labels, int most_labels);

/// Takes "LABEL:" from the front of `text`, where it is one of `labels` (IsCalled) and something
/// stands behind it; empty: there is none, and `text` is as it was.
std::string TakeLabel(std::span<const std::string> labels, std::string& text);

/// The source of a map among `tensors`: the tensor called like all of it, else that called `base`
/// in the map's form. kInvalidArgument where there is none, with the names that there are, or
/// where the form does not fit. `flag` begins the sentence, and `owner` says whose they are.
Result<Tensor> TakeSource(std::string_view flag, const NameMap& map, const TensorMap& tensors,
                          std::string_view owner);

/// What of `tensors` a source is made of: the name of that tensor, empty where there is none.
std::string SourceName(const NameMap& map, const TensorMap& tensors);

/// A feed for one runner.
struct MappedFeed {
  TensorMap tensors;
  std::vector<std::pair<std::string, std::string>> mapped;  ///< input of the runner, its source
  std::vector<std::string> left_out;                        ///< tensors that it is not given
};

/// --map-inputs.
class InputMaps {
 public:
  InputMaps() = default;
  static Result<InputMaps> Create(std::span<const std::string> words,
                                  std::span<const std::string> runners);

  bool empty() const { return maps_.empty(); }

  /// The feed with the names of `runner`, whose inputs these are (none: it does not say). Tensors
  /// that are sources of maps keep their own name only where the runner has an input of it.
  /// kInvalidArgument for a map that names this runner and does not fit it or the feed.
  Result<MappedFeed> Apply(const std::string& runner, std::span<const TensorInfo> inputs,
                           const TensorMap& feed) const;

  /// kInvalidArgument, as Apply(), for a map that names this runner and does not fit its inputs.
  Status CheckRunner(const std::string& runner, std::span<const TensorInfo> inputs) const;

  /// `runners`: the inputs of each runner of the run. kInvalidArgument for a map without a label
  /// that fits none of them: it names inputs that none has, or leaves some out that all have.
  Status CheckNames(std::span<const std::vector<TensorInfo>> runners) const;

 private:
  std::vector<NameMap> maps_;
};

/// --map-outputs, for one pair of runners.
class OutputMaps {
 public:
  OutputMaps() = default;
  /// The maps that may be about these two; `labels` are the names of all streams.
  static Result<OutputMaps> Create(std::span<const std::string> words,
                                   std::span<const std::string> labels, const std::string& first,
                                   const std::string& second);

  bool empty() const { return maps_.empty(); }

  struct Applied {
    TensorMap a, b;  ///< without what is left out; sources in their form, called like all of it
    std::vector<std::pair<std::string, std::string>> pairs;  ///< names in `a`, in `b`
    std::vector<std::string> left_out;
    std::vector<bool> used;  ///< map by map: it names outputs of these
  };
  /// kInvalidArgument for a map that names both runners and does not fit, and for one that gives an
  /// output of these another counterpart than a map before it.
  Result<Applied> Apply(const TensorMap& a, const TensorMap& b) const;

  /// Applied::used for outputs of which names alone are known, and errors of Apply() but for forms.
  Result<std::vector<bool>> Check(std::span<const std::string> a,
                                  std::span<const std::string> b) const;

  const std::vector<NameMap>& maps() const { return maps_; }

 private:
  enum class Side : uint8_t { kNone, kFirst, kSecond };
  // Has the first of them the name, as the map's labels say?
  static bool IsBetween(const NameMap& map, const std::string& a, const std::string& b);
  bool IsAbout(const NameMap& map) const;
  Side SideOf(const NameMap& map, const TensorMap& a, const TensorMap& b) const;
  // Of each map, the maps of single tensors that it stands for; itself where it fits none.
  Result<std::vector<std::vector<NameMap>>> Expand(const TensorMap& a, const TensorMap& b) const;
  Result<std::vector<NameMap>> ExpandOne(const NameMap& map, const TensorMap& a,
                                         const TensorMap& b) const;
  static Status CheckPair(const NameMap& map, const TensorMap& named, const TensorMap& sources);
  bool LeavesOut(const NameMap& map, const TensorMap& a, const TensorMap& b) const;
  struct Replaced {
    std::vector<std::string> a, b;  // sources that are replaced by their forms
  };
  Result<bool> ApplyOne(const NameMap& map, const TensorMap& a, const TensorMap& b,
                        Replaced& replaced, Applied& result) const;
  Status ApplyPair(const NameMap& map, const TensorMap& named, const TensorMap& sources,
                   TensorMap& changed) const;

  std::string first_, second_;
  std::vector<NameMap> maps_;
};

}  // namespace vernier
