// Reads a saved record back. A record may come from anyone: types and ranges are checked, unknown
// fields are ignored, absent ones keep their defaults.
#include <limits>

#include "record/record_json.h"

namespace vernier {
namespace {

using Json = RecordJson;

// Fields of one object. The first field that has the wrong type is kept as the error of the whole
// reading, so that callers need not look after each.
class Fields {
 public:
  Fields(const Json& json, std::string path, std::string* error)
      : json_(json), path_(std::move(path)), error_(error) {
    if (!json_.is_object()) Complain("", "an object");
  }

  std::string Text(const char* key) const {
    const Json* value = Find(key);
    if (value == nullptr) return "";
    if (value->is_string()) return value->get<std::string>();
    Complain(key, "text");
    return "";
  }

  double Number(const char* key) const { return MaybeNumber(key).value_or(0); }

  std::optional<double> MaybeNumber(const char* key) const {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_number()) return value->get<double>();
    if (*value == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (*value == "inf") return std::numeric_limits<double>::infinity();
    if (*value == "-inf") return -std::numeric_limits<double>::infinity();
    Complain(key, "a number");
    return std::nullopt;
  }

  int64_t Integer(const char* key) const {
    const Json* value = Find(key);
    if (value == nullptr) return 0;
    if (value->is_number_integer()) return value->get<int64_t>();
    Complain(key, "a whole number");
    return 0;
  }

  /// Kept within the range of int.
  int Small(const char* key) const {
    const int64_t value = Integer(key);
    if (value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max()) {
      return static_cast<int>(value);
    }
    Complain(key, "a smaller number");
    return 0;
  }

  bool Flag(const char* key) const {
    const Json* value = Find(key);
    if (value == nullptr) return false;
    if (value->is_boolean()) return value->get<bool>();
    Complain(key, "true or false");
    return false;
  }

  std::vector<std::string> Texts(const char* key) const {
    std::vector<std::string> texts;
    for (const Json& item : List(key)) {
      if (!item.is_string()) Complain(key, "a list of texts");
      texts.push_back(item.is_string() ? item.get<std::string>() : "");
    }
    return texts;
  }

  std::vector<int64_t> Integers(const char* key) const {
    std::vector<int64_t> numbers;
    for (const Json& item : List(key)) {
      if (!item.is_number_integer()) Complain(key, "a list of whole numbers");
      numbers.push_back(item.is_number_integer() ? item.get<int64_t>() : 0);
    }
    return numbers;
  }

  bool Has(const char* key) const { return Find(key) != nullptr; }

  /// Text that does not stand for a number.
  bool HoldsWords(const char* key) const {
    const Json* value = Find(key);
    return value != nullptr && value->is_string() && *value != "nan" && *value != "inf" &&
           *value != "-inf";
  }

  Fields Object(const char* key) const {
    static const Json kNothing = Json::object();
    const Json* value = Find(key);
    return Fields(value == nullptr ? kNothing : *value, path_ + key + ".", error_);
  }

  /// Calls `read` with the fields of each object of a list.
  template <typename Read>
  void Each(const char* key, Read read) const {
    size_t index = 0;
    for (const Json& item : List(key)) {
      read(Fields(item, path_ + key + "[" + std::to_string(index++) + "].", error_));
    }
  }

 private:
  const Json* Find(const char* key) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  const Json& List(const char* key) const {
    static const Json kNothing = Json::array();
    const Json* value = Find(key);
    if (value == nullptr) return kNothing;
    if (value->is_array()) return *value;
    Complain(key, "a list");
    return kNothing;
  }

  void Complain(const char* key, const char* expected) const {
    if (error_->empty()) *error_ = "field '" + path_ + key + "': expected " + expected;
  }

  const Json& json_;
  std::string path_;
  std::string* error_;
};

std::optional<std::vector<int64_t>> ReadPlace(const Fields& fields, const char* key) {
  if (!fields.Has(key)) return std::nullopt;
  return fields.Integers(key);
}

RunnerRecord ReadRunner(const Fields& fields) {
  RunnerRecord runner;
  runner.name = fields.Text("name");
  runner.backend = fields.Text("backend");
  runner.framework_version = fields.Text("framework_version");
  runner.framework_path = fields.Text("framework_path");
  runner.model = fields.Text("model");
  runner.device = fields.Text("device");
  runner.precision = fields.Text("precision");
  runner.load_seconds = fields.Number("load_seconds");
  runner.iterations = fields.Integer("iterations");
  runner.failure = fields.Text("failure");
  if (fields.Has("latency_seconds")) {
    const Fields latency = fields.Object("latency_seconds");
    runner.latency = {latency.Number("first"), latency.Number("median"), latency.Number("p95")};
  }
  fields.Each("skipped_outputs", [&](const Fields& skipped) {
    runner.skipped_outputs.emplace_back(skipped.Text("name"), skipped.Text("why"));
  });
  return runner;
}

ElementRecord ReadElement(const Fields& fields) {
  ElementRecord element;
  element.index = fields.Integers("index");
  // Of string tensors the texts are in the place of the numbers.
  if (fields.HoldsWords("first") || fields.HoldsWords("second")) {
    element.first_text = fields.Text("first");
    element.second_text = fields.Text("second");
  } else {
    element.first = fields.Number("first");
    element.second = fields.Number("second");
  }
  element.absolute_error = fields.Number("absolute_error");
  element.relative_error = fields.Number("relative_error");
  element.times_tolerance = fields.Number("times_over_tolerance");
  return element;
}

std::optional<SideRecord> ReadSide(const Fields& parent, const char* key) {
  if (!parent.Has(key)) return std::nullopt;
  const Fields fields = parent.Object(key);
  SideRecord side;
  side.dtype = fields.Text("dtype");
  side.min = fields.Number("min");
  side.max = fields.Number("max");
  side.mean = fields.Number("mean");
  side.std_dev = fields.Number("std_dev");
  side.nan_count = fields.Integer("nan");
  side.infinite_count = fields.Integer("infinite");
  side.first_nan = ReadPlace(fields, "first_nan");
  side.first_infinite = ReadPlace(fields, "first_infinite");
  return side;
}

DistanceRecord ReadDistances(const Fields& fields) {
  DistanceRecord distances;
  distances.l2 = fields.Number("l2");
  distances.rmse = fields.Number("rmse");
  distances.cosine_similarity = fields.Number("cosine_similarity");
  distances.psnr = fields.Number("psnr");
  distances.snr = fields.Number("snr");
  distances.kl_divergence = fields.MaybeNumber("kl_divergence");
  if (fields.Has("max_ulp")) {
    distances.max_ulp = static_cast<uint64_t>(fields.Integer("max_ulp"));
    distances.max_ulp_index = fields.Integers("max_ulp_index");
    distances.ulp_different = fields.Integer("ulp_different");
  }
  return distances;
}

ChartRecord ReadCharts(const Fields& fields) {
  ChartRecord charts;
  charts.missing = fields.Text("missing");
  if (!charts.missing.empty()) return charts;
  charts.low = fields.Number("low");
  charts.high = fields.Number("high");
  charts.first = fields.Integers("first");
  charts.second = fields.Integers("second");
  charts.points = fields.Text("points");
  const Fields differences = fields.Object("differences");
  charts.differences = {differences.Small("first_decade"), differences.Integers("counts"),
                        differences.Integer("equal"), differences.Integer("not_finite")};
  const Fields heat = fields.Object("heat");
  charts.heat = {heat.Small("rows"),          heat.Small("columns"),
                 heat.Integer("matrix_rows"), heat.Integer("matrix_columns"),
                 heat.Small("row_axes"),      heat.Number("least"),
                 heat.Number("most"),         heat.Text("cells")};
  return charts;
}

OutputFigures ReadFigures(const Fields& fields) {
  OutputFigures figures;
  figures.iteration = fields.Integer("iteration");
  figures.shape = fields.Integers("shape");
  fields.Each("gates", [&](const Fields& gate) {
    figures.gates.push_back({gate.Text("function"), gate.Text("verdict"), gate.Text("why"),
                             gate.MaybeNumber("value"), gate.MaybeNumber("threshold")});
  });
  figures.first = ReadSide(fields, "first");
  figures.second = ReadSide(fields, "second");
  if (fields.Has("distances")) figures.distances = ReadDistances(fields.Object("distances"));
  fields.Each("worst_elements",
              [&](const Fields& element) { figures.worst.push_back(ReadElement(element)); });
  figures.suggestion = fields.Text("suggestion");
  if (fields.Has("charts")) figures.charts = ReadCharts(fields.Object("charts"));
  return figures;
}

BarRecord ReadBar(const Fields& fields) {
  return {.bar = fields.Number("bar"),
          .scale = fields.Number("scale"),
          .rms = fields.Number("rms_error"),
          .gain = fields.Number("gain"),
          .gain_bar = fields.Number("gain_bar"),
          .clean_bar = fields.Number("clean_bar"),
          .share_beyond = fields.Number("share_beyond"),
          .share_allowed = fields.Number("share_allowed"),
          .element_bar = fields.Number("element_bar"),
          .times_over = fields.Number("times_over"),
          .why = fields.Text("why")};
}

OutputRecord ReadOutput(const Fields& fields) {
  OutputRecord output;
  output.name = fields.Text("name");
  output.other_name = fields.Text("other_name");
  output.paired_by = fields.Text("paired_by");
  output.compared = fields.Integer("compared_iterations");
  output.passed = fields.Integer("passed_iterations");
  output.not_verified = fields.Integer("not_verified_iterations");
  output.elements = fields.Integer("elements");
  output.mismatches = fields.Integer("mismatches");
  output.tolerances_checked = fields.Flag("tolerances_checked");
  output.allowed_share = fields.Number("allowed_mismatch_share");
  output.allowed_excess = fields.Number("allowed_mismatch_excess");
  output.not_finite = fields.Integer("not_finite");
  output.worst_times_tolerance = fields.Number("times_over_tolerance");
  output.max_absolute_error = fields.MaybeNumber("max_absolute_error");
  output.max_relative_error = fields.MaybeNumber("max_relative_error");
  output.mean_absolute_error = fields.MaybeNumber("mean_absolute_error");
  output.required_absolute = fields.MaybeNumber("required_absolute_tolerance");
  output.required_relative = fields.MaybeNumber("required_relative_tolerance");
  output.vacuous = fields.Text("vacuous");
  output.figures = ReadFigures(fields.Object("worst_iteration"));
  if (fields.Has("auto_tolerance")) output.bar = ReadBar(fields.Object("auto_tolerance"));
  return output;
}

PairRecord ReadPair(const Fields& fields) {
  PairRecord pair;
  pair.first = fields.Text("first");
  pair.second = fields.Text("second");
  pair.compared_iterations = fields.Integer("compared_iterations");
  pair.passed_iterations = fields.Integer("passed_iterations");
  pair.expected_iterations = fields.Integer("expected_iterations");
  fields.Each("outputs", [&](const Fields& output) { pair.outputs.push_back(ReadOutput(output)); });
  pair.rejected = fields.Flag("rejected_by_strict");
  pair.only_in_first = fields.Texts("only_in_first");
  pair.only_in_second = fields.Texts("only_in_second");
  return pair;
}

OriginRecord ReadOrigin(const Fields& fields) {
  OriginRecord origin;
  origin.words = fields.Texts("words");
  origin.directory = fields.Text("directory");
  origin.started = fields.Text("started");
  origin.system = fields.Text("system");
  origin.processor = fields.Text("processor");
  origin.processors = fields.Integer("processors");
  fields.Each("settings", [&](const Fields& setting) {
    origin.settings.push_back(
        {setting.Text("option"), setting.Text("value"), setting.Flag("given")});
  });
  return origin;
}

GraphRecord ReadGraph(const Fields& fields) {
  GraphRecord graph;
  graph.model = fields.Text("model");
  graph.inputs = fields.Texts("inputs");
  graph.outputs = fields.Texts("outputs");
  fields.Each("nodes", [&](const Fields& node) {
    graph.nodes.push_back(
        {node.Text("name"), node.Text("op_type"), node.Texts("inputs"), node.Texts("outputs")});
  });
  return graph;
}

LatencyStatistics ReadLatency(const Fields& fields) {
  LatencyStatistics latency;
  latency.count = fields.Integer("count");
  latency.mean = fields.Number("mean");
  latency.std_dev = fields.Number("std_dev");
  latency.min = fields.Number("min");
  latency.max = fields.Number("max");
  latency.median = fields.Number("median");
  latency.p90 = fields.Number("p90");
  latency.p95 = fields.Number("p95");
  latency.p99 = fields.Number("p99");
  latency.median_noise = fields.Number("median_noise");
  latency.drift = fields.Number("drift");
  return latency;
}

ProfilePoint ReadPoint(const Fields& fields) {
  ProfilePoint point;
  point.runner = fields.Text("runner");
  point.shapes = fields.Text("shapes");
  if (fields.Has("batch")) point.batch = fields.Integer("batch");
  point.failure = fields.Text("failure");
  point.warm_ups = fields.Integer("warm_ups");
  point.first_seconds = fields.Number("first_seconds");
  point.warm_up_seconds = fields.Number("warm_up_seconds");
  point.latency = ReadLatency(fields.Object("latency_seconds"));
  point.per_second = fields.Number("per_second");
  if (fields.Has("peak_memory_bytes")) {
    point.peak_memory = static_cast<uint64_t>(fields.Integer("peak_memory_bytes"));
  }
  fields.Each("layers", [&](const Fields& layer) {
    point.layers.push_back({layer.Text("name"), layer.Text("type"), layer.Number("seconds")});
  });
  point.layers_missing = fields.Text("layers_missing");
  const Fields accuracy = fields.Object("accuracy");
  point.accuracy = {accuracy.Flag("compared"),     accuracy.Flag("passed"),
                    accuracy.Text("why"),          accuracy.Integer("outputs"),
                    accuracy.Integer("failed"),    accuracy.Number("times_over_tolerance"),
                    accuracy.Text("worst_output"), accuracy.Number("max_absolute_error")};
  return point;
}

ProfileRecord ReadProfile(const Fields& fields) {
  ProfileRecord profile;
  fields.Each("runners", [&](const Fields& runner) {
    profile.runners.push_back({runner.Text("name"), runner.Text("backend"),
                               runner.Text("framework_version"), runner.Text("device"),
                               runner.Text("precision"), runner.Number("load_seconds")});
  });
  fields.Each("points", [&](const Fields& point) { profile.points.push_back(ReadPoint(point)); });
  return profile;
}

RunRecord ReadWhole(const Fields& fields) {
  RunRecord record;
  record.command = fields.Text("command");
  record.version = fields.Text("vernier_version");
  record.origin = ReadOrigin(fields.Object("origin"));
  fields.Each("runners",
              [&](const Fields& runner) { record.runners.push_back(ReadRunner(runner)); });
  fields.Each("pairs", [&](const Fields& pair) { record.pairs.push_back(ReadPair(pair)); });
  record.averaged = fields.Text("aggregation") == "average";
  record.error = fields.Text("error");
  record.faults = fields.Texts("faults");
  record.notes = fields.Texts("notes");
  fields.Each("saved", [&](const Fields& saved) {
    record.saved.emplace_back(saved.Text("what"), saved.Text("where"));
  });
  record.exit_code = fields.Small("exit_code");
  record.seconds = fields.Number("seconds");
  if (fields.Has("graph")) record.graph = ReadGraph(fields.Object("graph"));
  if (fields.Has("profile")) record.profile = ReadProfile(fields.Object("profile"));
  return record;
}

}  // namespace

Result<RunRecord> ReadRecord(const std::string& text, const std::string& what) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("schema_version")) {
    return Malformed("'" + what + "' is not a record: it is what --save-record writes");
  }
  std::string error;
  const Fields fields(json, "", &error);
  const int64_t version = fields.Integer("schema_version");
  if (error.empty() && version > kRecordSchemaVersion) {
    return Malformed("'" + what + "' has schema version " + std::to_string(version) +
                     "; this vernier reads up to " + std::to_string(kRecordSchemaVersion));
  }
  RunRecord record = ReadWhole(fields);
  if (!error.empty()) return Malformed("'" + what + "': " + error);
  return record;
}

}  // namespace vernier
