#include "run/live/runner_reports.h"

#include <algorithm>
#include <span>
#include <utility>

#include "inputs/polygraphy_text.h"

namespace vernier {
namespace {

constexpr size_t kNameColumn = 35;

std::string FormatSignature(std::span<const TensorInfo> inputs) {
  std::string text = "{";
  for (const TensorInfo& input : inputs) {
    if (text.size() > 1) text += ",\n ";
    text += input.name + " [dtype=" + PolygraphyDTypeName(input.dtype);
    if (input.shape) text += ", shape=" + FormatUserShape(*input.shape);
    text += "]";
  }
  return text + "}";
}

}  // namespace

std::string FormatTensorTable(const TensorMap& tensors) {
  std::string text = "{";
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (i > 0) text += ",\n ";
    text += name + " [dtype=" + std::string(DTypeName(tensor.dtype())) +
            ", shape=" + FormatDims(tensor.dims()) + "]";
  }
  return text + "}";
}

std::string PadName(const std::string& name) {
  return name + std::string(name.size() < kNameColumn ? kNameColumn - name.size() : 0, ' ');
}

void RunnerReports::NoteOnce(const std::string& text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
}

void RunnerReports::LogInputs(const RunnerSession& runner) {
  if (!logger_.Enabled(Severity::kVerbose)) return;
  const LogArea area(logger_, log_area::kRunner);
  logger_.Once(Severity::kVerbose, PadName(runner.name()) + " | Input metadata is: " +
                                       FormatSignature(runner.session().inputs));
}

void RunnerReports::LogReceived(const RunnerSession& runner) {
  const InputHashes& received = runner.received().last();
  if (received.empty() || !logger_.Enabled(Severity::kExtraVerbose)) return;
  std::string text;
  for (const auto& [name, hash] : received) {
    text += (text.empty() ? "" : ", ") + name + " " + HexadecimalHash(hash);
  }
  logger_.Log(Severity::kExtraVerbose,
              PadName(runner.name()) + " | Received bytes with XXH3: " + text);
}

void RunnerReports::CheckReceived(const RunnerSession& runner, int64_t iteration) {
  for (std::string& note : received_.Compare(runner.name(), iteration, runner.received().last())) {
    logger_.Error(note);
    notes_.push_back(std::move(note));
  }
}

void RunnerReports::Fail(RunnerSession& runner, const Status& why,
                         const std::string& unseen_words) {
  logger_.Critical(PadName(runner.name()) + " | FAILED: " + why.message() + unseen_words);
  runner.Fail(why);
}

}  // namespace vernier
