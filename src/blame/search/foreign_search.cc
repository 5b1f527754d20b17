#include "blame/search/foreign_search.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/edit/onnx_outputs.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// "3 as outputs, 150 by name, 30 by value".
std::string CountMatches(const std::vector<ForeignPair>& pairs) {
  std::map<ForeignMatch, size_t> counts;
  for (const ForeignPair& pair : pairs) ++counts[pair.how];
  std::string text;
  for (const auto& [how, count] : counts) {
    const bool output = how == ForeignMatch::kOutput;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " +
            (output ? "as outputs" : "by " + std::string(ForeignMatchName(how)));
  }
  return text;
}

std::string DescribePairs(const ForeignPairs& found, size_t outputs, size_t reference_tensors) {
  const size_t paired = found.pairs.size();
  std::string text = CountedOf(paired, paired + found.candidate_alone.size(), "tensor") +
                     " of the candidate paired with the reference's";
  if (paired > 0) text += ": " + CountMatches(found.pairs);
  if (reference_tensors <= outputs) {
    text += "; the reference exposes no inner tensors, so layers are examined together";
  }
  return text;
}

Result<TensorMap> RunAllOfCandidate(const SearchSubject& subject, const TensorMap& feed) {
  std::vector<std::string> names;
  for (const std::string_view name : MarkableTensors(subject.graph().model())) {
    names.emplace_back(name);
  }
  std::vector<UnexposedTensor> unexposed;  // they are listed as without a partner
  ProbeSessions sessions(subject.sides.candidate, unexposed, AfterUse::kClose);
  sessions.Want(names);
  return sessions.Run(feed, names);
}

TensorPairs ToTensorPairs(ForeignPairs found) {
  TensorPairs pairs;
  for (ForeignPair& pair : found.pairs) {
    pairs.reference.emplace(pair.candidate, std::string(pair.candidate));
    const std::string_view name = pair.candidate;
    pairs.foreign.emplace(name, std::move(pair));
  }
  for (const std::string_view name : found.candidate_alone) {
    pairs.one_sided.push_back({std::string(name),
                               "no tensor of the reference is certainly the"
                               " same"});
  }
  for (std::string& name : found.reference_alone) {
    pairs.one_sided.push_back({std::move(name), "only the reference has it"});
  }
  return pairs;
}

}  // namespace

Result<TensorPairs> PairForeignSides(const SearchSubject& subject, BlameRecord& record) {
  ProbeSide& reference = *subject.sides.reference;
  const TensorMap& feed = subject.unprobed.feeds.front();
  subject.context.logger.Start("Pairing the tensors of two formats");
  VERNIER_ASSIGN_OR_RETURN(
      const TensorMap ours,
      reference.RunOnce({"*"}, feed).Annotate("'" + reference.plan().name + "'"));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap theirs, RunAllOfCandidate(subject, feed));
  const std::map<std::string, std::string>& outputs = subject.unprobed.outputs.partners();
  ForeignPairs found = PairForeignTensors({subject.graph(), theirs, ours, outputs});
  for (const ForeignPair& pair : found.pairs) {
    record.tensor_pairs.push_back({std::string(pair.candidate), pair.reference,
                                   std::string(ForeignMatchName(pair.how)), pair.error});
  }
  record.notes.push_back(DescribePairs(found, outputs.size(), ours.size()));
  return ToTensorPairs(std::move(found));
}

void NameForeignTensors(BlameRecord& record) {
  for (BlameCulprit& culprit : record.culprits) {
    for (const std::string& output : culprit.outputs) {
      const auto pair =
          std::find_if(record.tensor_pairs.begin(), record.tensor_pairs.end(),
                       [&](const BlamePairRecord& one) { return one.candidate == output; });
      if (pair == record.tensor_pairs.end()) continue;
      culprit.why +=
          "; the reference's tensor is '" + pair->reference + "' (paired by " + pair->how + ")";
    }
  }
}

}  // namespace vernier
