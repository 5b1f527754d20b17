#include "check/properties/row_scout.h"

#include <algorithm>
#include <utility>

#include "vernier/part_names.h"

namespace vernier {
namespace {

Result<TensorMap> FirstRow(const TensorMap& feed, const BatchNames& batch) {
  return TakeRows(feed, batch.inputs, std::vector<int64_t>{0});
}

const std::string& NameOf(const std::string& name) { return name; }
const std::string& NameOf(const NotedOutput& output) { return output.name; }

class RowScout {
 public:
  explicit RowScout(const RowRequest& request) : request_(request) {}

  RowPlan Scout() && {
    const RunnerSession& runner = request_.probe.runner();
    const SessionDescription& session = runner.session();
    Result<BatchNames> batch = runner.inputs_unknown() ? GuessBatch(request_.feed)
                                                       : FindBatch(session.inputs, session.outputs);
    if (!batch.ok()) {
      plan_.no_batch = "no first dimension is shared by inputs and outputs and free to choose: " +
                       batch.status().message();
      return std::move(plan_);
    }
    plan_.batch = *std::move(batch);
    plan_.no_batch = DropMixedRows();
    if (!plan_.no_batch.empty()) return std::move(plan_);
    plan_.rows = ChooseRows();
    const int64_t rows = CountRows(*plan_.rows, plan_.batch);
    if (rows < 2) {
      plan_.no_batch = std::string("the inputs given have ") + (rows == 1 ? "one row" : "no rows");
    } else {
      plan_.no_batch = SettleOutputs(rows);
    }
    if (!plan_.no_batch.empty()) plan_.rows.reset();
    return std::move(plan_);
  }

 private:
  // Rows that are meant to see each other are left out; a reason where that leaves none.
  std::string DropMixedRows() {
    BatchNames& batch = plan_.batch;
    std::vector<std::string> names = batch.outputs;
    names.insert(names.end(), batch.possible.begin(), batch.possible.end());
    std::vector<BatchedInput> inputs;
    for (const std::string& name : batch.inputs) inputs.push_back({name, 0});
    const std::vector<MeetingRows> meeting = request_.meeting(inputs, names);
    for (const MeetingRows& each : meeting) {
      std::erase(batch.outputs, each.name);
      std::erase(batch.possible, each.name);
      batch.left_out.push_back({each.name, "its rows are made of several: " + each.why});
    }
    if (meeting.empty() || !batch.outputs.empty() || !batch.possible.empty()) return "";
    return "the first dimension of '" + batch.inputs.front() +
           "' is not a batch: " + meeting.front().why;
  }

  // The rows of the feed if it has several; otherwise rows are drawn, with the larger sizes if the
  // model runs with them.
  TensorMap ChooseRows() {
    if (CountRows(request_.feed, plan_.batch) >= 2) return request_.feed;
    FreeSizes sizes{.dimension = plan_.batch.dimension, .size = request_.rows};
    Result<TensorMap> small = request_.draw(sizes);
    if (!small.ok()) return request_.feed;
    sizes.others = kLargerSize;
    Result<TensorMap> large = request_.draw(sizes);
    if (!large.ok() || SameShapes(*small, *large)) return *std::move(small);
    const std::string others = "other free dimensions of size ";
    if (const Status runs = RunFirst(*large); !runs.ok()) {
      plan_.sizes = others + "1, as it does not run with " + std::to_string(kLargerSize);
      return *std::move(small);
    }
    plan_.sizes = others + std::to_string(kLargerSize);
    return *std::move(large);
  }

  // Infers the first row alone, in a new process, so that this does not count as one of the runs
  // that repeated-runs compares.
  Status RunFirst(const TensorMap& feed) {
    VERNIER_ASSIGN_OR_RETURN(const TensorMap one, FirstRow(feed, plan_.batch));
    VERNIER_ASSIGN_OR_RETURN(probe_, request_.open());
    VERNIER_ASSIGN_OR_RETURN(of_one_, probe_->Infer(one));
    return {};
  }

  // Outputs that do not declare their first dimension have the rows of the inputs when they follow
  // them twice; those that declare it must have one row for one. A reason where that leaves none.
  std::string SettleOutputs(int64_t rows) {
    BatchNames& batch = plan_.batch;
    const Result<TensorMap> row = FirstRow(*plan_.rows, batch);
    if (!row.ok()) return row.status().message();
    if (const Status first = of_one_ ? Status() : RunFirst(*plan_.rows); !first.ok()) {
      return KeepDeclared(1, first);
    }
    AddUndeclared(*of_one_);
    const OutputsOfRows one{*of_one_, 1};
    if (batch.possible.empty()) {
      batch = KeepRowOfOne(std::move(batch), *of_one_);
      return NoOutputs(rows);
    }
    const Result<TensorMap> of_all = probe_->Infer(*plan_.rows);
    if (!of_all.ok()) {
      // A process that dies of rows has broken what is tried with them.
      if (probe_->Infer(*row).ok()) {
        return KeepDeclared(rows, of_all.status());
      }
      batch = KeepRowOfOne(KeepFollowers(std::move(batch), one, one), *of_one_);
      return "";
    }
    batch = KeepRowOfOne(KeepFollowers(std::move(batch), one, {*of_all, rows}), *of_one_);
    return NoOutputs(rows);
  }

  // A model that does not run with its rows breaks what is tried with them, as long as one of its
  // outputs is known to have them. A reason where none is.
  std::string KeepDeclared(int64_t rows, const Status& why) {
    BatchNames& batch = plan_.batch;
    if (of_one_) batch = KeepRowOfOne(std::move(batch), *of_one_);
    if (batch.outputs.empty()) return DoesNotRun(rows, why);
    for (std::string& name : batch.possible) {
      std::string unsaid = "the model does not say whether it has the rows of the inputs";
      unsaid += ", and does not run with " + std::to_string(rows) + " of them";
      batch.left_out.push_back({std::move(name), std::move(unsaid)});
    }
    batch.possible.clear();
    return "";
  }

  // Outputs that only a run shows: a script may make more of them than the model names.
  void AddUndeclared(const TensorMap& outputs) {
    BatchNames& batch = plan_.batch;
    for (const NamedTensor& output : outputs) {
      if (LeaveOutPart(output.name)) continue;
      const auto is_it = [&](const auto& other) { return NameOf(other) == output.name; };
      const bool known = std::ranges::any_of(batch.outputs, is_it) ||
                         std::ranges::any_of(batch.possible, is_it) ||
                         std::ranges::any_of(batch.left_out, is_it);
      if (!known) batch.possible.push_back(output.name);
    }
  }

  // Parts of a sequence, say: how many there are, and not the shape of one, may follow the rows.
  bool LeaveOutPart(const std::string& output) {
    std::vector<NotedOutput>& left_out = plan_.batch.left_out;
    for (const std::string& whole : request_.probe.runner().session().nested_outputs) {
      if (!IsPartOf(output, whole)) continue;
      const bool known = std::ranges::find(left_out, whole, &NotedOutput::name) != left_out.end();
      if (!known) left_out.push_back({whole, "a sequence, a map or an optional, not a tensor"});
      return true;
    }
    return false;
  }

  static std::string DoesNotRun(int64_t rows, const Status& why) {
    return "the model does not say which outputs have the rows of its inputs, and it does not run "
           "with " +
           std::to_string(rows) + " of them: " + why.message();
  }

  std::string NoOutputs(int64_t rows) const {
    return plan_.batch.outputs.empty()
               ? "no output has 1 row where the inputs have 1, and " + std::to_string(rows) +
                     " where they have " + std::to_string(rows)
               : "";
  }

  const RowRequest& request_;
  std::unique_ptr<Probe> probe_;     // alive where there is `of_one_`
  std::optional<TensorMap> of_one_;  // what it made of the first row
  RowPlan plan_;
};

}  // namespace

RowPlan ScoutRows(const RowRequest& request) { return RowScout(request).Scout(); }

}  // namespace vernier
