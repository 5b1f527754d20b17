// Whether the steps of two sides were fed alike.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/saved/fed_states.h"
#include "run/saved/saved_streams.h"

namespace vernier {
namespace {

// Of another tool or an earlier version, or of a format that has no place for it.
std::string HowToSayIt(const SavedRuns::Run& run) {
  const std::string& path = run.path;
  if (IsMixedFeeding(run.steps)) {
    return "it joins steps that were fed in several ways (data concat); compare the files that it "
           "was joined from";
  }
  const bool has_place = path.ends_with(".npz") || path.ends_with(".safetensors");
  return has_place ? "save it again with this version of vernier, which writes it into such files"
                   : "save it again as .npz or .safetensors, which say it";
}

}  // namespace

SavedStreams::FedSide SavedStreams::SideOf(size_t side, const std::vector<std::string>& live,
                                           const std::string& shown) const {
  FedSide fed{.feeding = {}, .mark = std::nullopt, .run = nullptr, .shown = shown};
  if (side < live_.size()) {
    if (side < live.size()) fed.feeding = live[side];
    if (!live_feeds_.empty()) fed.mark = live_feeds_.front();
  } else {
    const size_t run = side - live_.size();
    fed.run = &runs()[run];
    if (!IsMixedFeeding(fed.run->steps)) fed.feeding = fed.run->steps;
    fed.mark = runs_.FeedOf(run, 0);
  }
  if (fed.mark) fed.mark = *fed.mark ^ StepsHashIn(fed.feeding);
  return fed;
}

// Without steps a mark is like that of the other side. A file of an earlier version has marks of
// steps, and does not say how these were fed.
std::string SavedStreams::WhyOneHasSteps(const FedSide& with, const FedSide& without) {
  const bool known =
      without.run == nullptr || LikenessOf(with.mark, without.mark) != FeedLikeness::kUnknown;
  if (known) {
    return "'" + with.shown + "' has steps (" + FeedingInWords(with.feeding) + "), and '" +
           without.shown + "' has none: give the options that make steps to both";
  }
  logger_->Once(Severity::kWarning,
                "--load-outputs: '" + without.run->path +
                    "' does not say how its steps were fed, so they are taken to be fed like those "
                    "of '" +
                    with.shown + "': " + HowToSayIt(*without.run));
  return "";
}

// Of sides without an account of their steps: two that were joined from the same parts were fed
// alike.
void SavedStreams::WarnOfMixed(const FedSide& a, const FedSide& b) {
  const auto mixed = [](const FedSide& side) {
    const bool is = side.run != nullptr && IsMixedFeeding(side.run->steps);
    return is ? side.run->steps : std::string();
  };
  if (mixed(a) == mixed(b)) return;
  const FedSide &joined = mixed(b).empty() ? a : b, &other = mixed(b).empty() ? b : a;
  logger_->Once(Severity::kWarning, "--load-outputs: whether the steps of '" + joined.run->path +
                                        "' were fed like those of '" + other.shown +
                                        "' is not known: " + HowToSayIt(*joined.run));
}

namespace {

// Where both decode: the tokens after which they feed others.
std::string OtherStops(const std::string& first, const std::string& second) {
  const StepPlan a = ReadFeeding(first).plan, b = ReadFeeding(second).plan;
  if (!a.decodes() || !b.decodes() || a.decode_stop == b.decode_stop) return "";
  const auto in_words = [](const StepPlan& plan) {
    return plan.decode_stop ? "with --decode-stop " + std::to_string(*plan.decode_stop)
                            : std::string("without --decode-stop");
  };
  return in_words(b) + " and " + in_words(a) +
         ": after the token that ends a sequence other tokens are fed; give both the same "
         "--decode-stop, or save the outputs again";
}

// Of CutIterations(): which steps a side has.
std::string CutInWords(const std::string& side, const std::string& cut) {
  if (cut.empty()) return "'" + side + "' begins with the first step of a sequence";
  return "'" + side + "' has iterations " + cut +
         " of a run alone (data select), which are not all steps of their sequences";
}

}  // namespace

SavedStreams::OtherSteps SavedStreams::WhyOtherSteps(
    size_t first, size_t second, const std::vector<std::string>& live,
    const std::pair<std::string, std::string>& shown) {
  const FedSide a = SideOf(first, live, shown.first), b = SideOf(second, live, shown.second);
  const bool together =
      a.run == nullptr ? b.run == nullptr : b.run != nullptr && a.run->path == b.run->path;
  // `data concat` may put runs of several files into one.
  const bool of_one_run = together && AreOfOneRun(a.feeding, b.feeding);
  if (a.feeding.empty() && b.feeding.empty()) {
    WarnOfMixed(a, b);
    return {};
  }
  if (of_one_run && a.feeding.empty() == b.feeding.empty()) return {};
  if (a.feeding.empty()) return {WhyOneHasSteps(b, a)};
  if (b.feeding.empty()) return {WhyOneHasSteps(a, b)};
  const std::string cut = CutIterations(b.feeding), other_cut = CutIterations(a.feeding);
  if (cut != other_cut) {
    return {CutInWords(b.shown, cut) + ", and " + CutInWords(a.shown, other_cut) +
            ": compare the same iterations of both, or whole sequences"};
  }
  // A run with runners tells the stop by the marks, and what was saved before this text has it.
  if (a.run != nullptr && b.run != nullptr) {
    const std::string stops = OtherStops(a.feeding, b.feeding);
    if (!stops.empty()) return {"'" + b.shown + "' and '" + a.shown + "' were decoded " + stops};
  }
  const auto other = FindOtherFeeding(a.feeding, b.feeding, LikenessOf(a.mark, b.mark));
  if (!other || (other->by_reference && HaveSameStates(first, second))) return {};
  const std::string what = "the steps of '" + b.shown + "' were fed " + other->second +
                           ", and those of '" + a.shown + "' " + other->first;
  if (other->certain) {
    const std::string same = other->how.empty() ? " of another content" : other->how;
    return {what + (other->first == other->second ? same : "") + ": give both the same " +
                other->flag + ", or save the outputs again",
            other->by_reference && std::min(first, second) < live_.size()};
  }
  logger_->Once(Severity::kWarning,
                "--load-outputs: " + what + ": whether that means the same is not known");
  return {};
}

std::optional<uint32_t> SavedStreams::FedStateOf(size_t side, int64_t iteration) const {
  const auto place = static_cast<size_t>(iteration);
  if (side < live_.size()) {
    return place < live_states_.size() ? live_states_[place] : std::nullopt;
  }
  const std::vector<uint32_t>& states = saved_states_[side - live_.size()];
  return place < states.size() ? std::optional(states[place]) : std::nullopt;
}

// Of saved sides alone that is known before they are compared.
bool SavedStreams::HaveSameStates(size_t first, size_t second) const {
  if (std::min(first, second) < live_.size()) return false;
  const SavedRuns::Run &a = runs()[first - live_.size()], &b = runs()[second - live_.size()];
  bool same = true;
  for (int64_t i = 0; same && i < std::min(a.iterations, b.iterations); ++i) {
    same = !HaveOtherStates(first, second, i);
  }
  return same;
}

bool SavedStreams::HaveOtherStates(size_t first, size_t second, int64_t iteration) const {
  const auto a = FedStateOf(first, iteration), b = FedStateOf(second, iteration);
  return !a || a != b;
}

bool SavedStreams::AreOwnErrors(size_t first, size_t second,
                                const std::vector<std::string>& live) const {
  return vernier::AreOwnErrors(SideOf(first, live, "").feeding, SideOf(second, live, "").feeding,
                               plan_->steps.state == StateSource::kReference);
}

bool SavedStreams::HaveGivenTokens(size_t first, size_t second) const {
  return std::min(first, second) >= live_.size() &&
         ReadFeeding(runs()[first - live_.size()].steps).given_tokens &&
         ReadFeeding(runs()[second - live_.size()].steps).given_tokens;
}

bool SavedStreams::IsOfAllSteps(size_t side) const {
  return side >= live_.size() && ReadFeeding(runs()[side - live_.size()].steps).all_at_once;
}

}  // namespace vernier
