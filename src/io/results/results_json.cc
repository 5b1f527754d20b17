#include "io/results/results_json.h"

#include <optional>
#include <utility>

#include "io/polygraphy/polygraphy_type.h"

namespace vernier {
namespace {

using JsonKind = JsonValue::Kind;
using Run = SavedRun;

constexpr std::string_view kDefaultRunner = "custom_runner";

Status ExpectedAt(JsonValue value, std::string_view what) {
  return Malformed("byte " + std::to_string(value.offset()) + ": expected " + std::string(what) +
                   ", found " + std::string(value.KindName()));
}

// A member that may be absent or null; otherwise it must be of `kind`.
Result<std::optional<JsonValue>> Optional(JsonValue object, std::string_view key, JsonKind kind) {
  const auto value = object.Find(key);
  if (!value || value->is(JsonKind::kNull)) return std::optional<JsonValue>();
  if (value->is(kind)) return value;
  return ExpectedAt(*value, "\"" + std::string(key) + "\" of another type");
}

class JsonResults final : public ResultsReader::Source {
 public:
  explicit JsonResults(std::unique_ptr<PolygraphyDocument> document)
      : document_(std::move(document)) {}

  Status Index();
  const std::vector<Run>& runs() const override { return runs_; }
  Result<IterationResult> Read(size_t run, size_t iteration) override;
  Status CheckIntact() const override { return document_->file()->CheckIntact(); }

 private:
  Status IndexRun(JsonValue pair);

  std::unique_ptr<PolygraphyDocument> document_;
  std::vector<Run> runs_;
  std::vector<std::vector<JsonValue>> iterations_;
};

Status JsonResults::Index() {
  const JsonValue root = document_->root();
  const Result<std::string> type = PolygraphyTypeOf(root);
  if (!type.ok()) return document_->Annotate(type.status());
  if (*type != "RunResults") {
    return document_->Annotate(
        Malformed("Provided JSON cannot be decoded into a RunResults.\nNote: JSON was decoded into "
                  "a " +
                  DescribeDecoded(root)));
  }
  const auto list = root.Find("lst");
  if (!list || !list->is(JsonKind::kArray)) {
    return document_->Annotate(ExpectedAt(list.value_or(root), "the list \"lst\" of runners"));
  }
  for (const JsonValue pair : list->Elements()) {
    if (Status status = IndexRun(pair); !status.ok()) return document_->Annotate(std::move(status));
  }
  return {};
}

Status JsonResults::IndexRun(JsonValue pair) {
  const std::vector<JsonValue> parts = pair.Elements();
  if (parts.size() != 2 || !parts[0].is(JsonKind::kString) || !parts[1].is(JsonKind::kArray)) {
    return ExpectedAt(pair, "a runner's name and the list of its iterations");
  }
  std::vector<JsonValue> iterations = parts[1].Elements();
  for (const JsonValue iteration : iterations) {
    if (iteration.is(JsonKind::kCut)) continue;
    VERNIER_ASSIGN_OR_RETURN(const std::string type, PolygraphyTypeOf(iteration));
    if (type != "IterationResult") return ExpectedAt(iteration, "an IterationResult");
  }
  runs_.push_back({parts[0].Text(), iterations.size()});
  iterations_.push_back(std::move(iterations));
  return {};
}

Result<IterationResult> JsonResults::Read(size_t run, size_t iteration) {
  const JsonValue value = iterations_[run][iteration];
  if (!value.is(JsonKind::kCut)) return DecodeJsonIteration(*document_, value);
  VERNIER_ASSIGN_OR_RETURN(const auto document, document_->OpenCut(value));
  return DecodeJsonIteration(*document, document->root());
}

// There may be very many iterations: only where each one lies is kept, and it is parsed again when
// it is read. What is none there stays, for the message about it.
bool IsIteration(JsonValue object, size_t depth) {
  constexpr size_t kDepth = 4;  // the results, their list, a runner's pair, its list
  if (depth != kDepth) return false;
  const Result<std::string> type = PolygraphyTypeOf(object);
  return type.ok() && *type == "IterationResult";
}

Result<std::unique_ptr<JsonResults>> OpenFile(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(auto document, PolygraphyDocument::Open(path, IsIteration));
  auto results = std::make_unique<JsonResults>(std::move(document));
  VERNIER_TRY(results->Index());
  return results;
}

}  // namespace

Result<IterationResult> DecodeJsonIteration(const PolygraphyDocument& document, JsonValue value) {
  IterationResult result;
  result.runner_name = kDefaultRunner;
  VERNIER_ASSIGN_OR_RETURN(const auto name, Optional(value, "runner_name", JsonKind::kString));
  if (name) result.runner_name = name->Text();
  VERNIER_ASSIGN_OR_RETURN(const auto runtime, Optional(value, "runtime", JsonKind::kNumber));
  if (runtime) result.runtime_s = JsonNumberValue(runtime->raw());
  VERNIER_ASSIGN_OR_RETURN(const auto outputs, Optional(value, "outputs", JsonKind::kObject));
  if (!outputs) return result;
  VERNIER_ASSIGN_OR_RETURN(result.outputs, document.DecodeTensors(*outputs));
  return result;
}

Result<std::unique_ptr<ResultsReader::Source>> OpenJsonResults(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(auto results, OpenFile(path));
  return std::unique_ptr<ResultsReader::Source>(std::move(results));
}

}  // namespace vernier
