#include "run/feeds/calibration_feeds.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "inputs/coerce_feed.h"
#include "run/feeds/feed_stream.h"
#include "run/runner/engine_use.h"
#include "run/workers/profile_sizes.h"
#include "vernier/backend_dtype.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

const std::string* FindOption(const RunnerPlan& runner, std::string_view key) {
  const auto found = std::find_if(runner.session_options.rbegin(), runner.session_options.rend(),
                                  [&](const auto& option) { return option.first == key; });
  return found == runner.session_options.rend() ? nullptr : &found->second;
}

bool HasCache(const RunnerPlan& runner) {
  const std::string* const path = FindOption(runner, "calibration_cache");
  std::error_code error;
  return path != nullptr && fs::exists(*path, error) && fs::file_size(*path, error) > 0;
}

// "0<TAB>opt<TAB>x<TAB>1,3": see bind_tensorrt.h. Later ones replace earlier ones.
void ApplyProfile(const std::string& entry, std::vector<TensorInfo>& inputs) {
  const size_t which = entry.find('\t');
  const size_t name = which == std::string::npos ? which : entry.find('\t', which + 1);
  const size_t dims = name == std::string::npos ? name : entry.find('\t', name + 1);
  if (dims == std::string::npos || entry.substr(which + 1, name - which - 1) != "opt") return;
  for (TensorInfo& input : inputs) {
    if (input.name != entry.substr(name + 1, dims - name - 1)) continue;
    std::vector<Dim> shape;
    for (size_t start = dims + 1; start < entry.size();) {
      const size_t end = std::min(entry.find(',', start), entry.size());
      int64_t extent = 0;
      std::from_chars(entry.data() + start, entry.data() + end, extent);
      shape.push_back(Dim{extent, {}});
      start = end + 1;
    }
    // The numbers of a shape tensor are its values, not its shape.
    if (input.shape && input.shape->size() == shape.size()) input.shape = std::move(shape);
  }
}

class CalibrationFeedWriter {
 public:
  explicit CalibrationFeedWriter(int file) : file_(::fdopen(file, "wb")) { Bytes("VNFEEDS1", 8); }

  void Add(const TensorMap& feed) {
    Number(feed.size());
    for (const NamedTensor& entry : feed) {
      const Tensor& tensor = entry.tensor;
      const AbiDType dtype = ToAbi(tensor.dtype());
      Number(entry.name.size());
      Bytes(entry.name.data(), entry.name.size());
      Number(dtype.code);
      Number(dtype.bits);
      Number(tensor.dims().size());
      for (const int64_t extent : tensor.dims()) Number(static_cast<uint64_t>(extent));
      Number(tensor.bytes().size());
      Bytes(tensor.bytes().data(), tensor.bytes().size());
    }
  }
  bool Close() {
    ok_ = ok_ && std::fflush(file_.get()) == 0;
    file_.reset();
    return ok_;
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void Number(uint64_t value) { Bytes(&value, sizeof(value)); }
  void Bytes(const void* data, size_t size) {
    static constexpr char kZeros[8] = {};
    const size_t rest = (8 - size % 8) % 8;
    ok_ = ok_ && file_ != nullptr && std::fwrite(data, 1, size, file_.get()) == size &&
          std::fwrite(kZeros, 1, rest, file_.get()) == rest;
  }

  std::unique_ptr<std::FILE, Closer> file_;
  bool ok_ = true;
};

}  // namespace

bool AsksForCalibration(const RunnerPlan& runner) {
  return BuildsEngines(runner.backend) && FindOption(runner, "int8") != nullptr &&
         !HasCache(runner);
}

CalibrationFeeds::CalibrationFeeds(CalibrationFeeds&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

CalibrationFeeds::~CalibrationFeeds() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Result<CalibrationFeeds> CalibrationFeeds::Make(const RunPlan& plan, const RunnerPlan& runner,
                                                const ModelSource& model, const PythonFeeds& python,
                                                Logger& logger) {
  CalibrationFeeds made;
  const bool quantised = model.precision().starts_with("int8");
  if (!AsksForCalibration(runner) || quantised || model.request().inputs.empty()) return made;
  std::vector<TensorInfo> inputs = model.request().inputs;
  OptionList options_of_runner = runner.session_options;
  CompleteProfiles(runner, inputs, plan.inputs.found_dims, options_of_runner);
  for (const auto& [key, value] : options_of_runner) {
    if (key == "profile") ApplyProfile(value, inputs);
  }
  RunPlan of_profile = plan;
  of_profile.inputs.dims.clear();  // they stand in the profile
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<FeedStream> feeds,
                           FeedStream::Open(of_profile, inputs, python, logger));
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "vernier-feeds-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  if (file < 0) {
    return IoError("a temporary file for calibration cannot be made: " +
                   std::string(std::strerror(errno)) + " (set TMPDIR)");
  }
  made.path_ = path;
  CalibrationFeedWriter writer(file);
  const CoerceOptions options{plan.lenient ? Strictness::kPolygraphy : Strictness::kStrict, {}};
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const std::optional<TensorMap> feed, feeds->Next());
    if (!feed) break;
    VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, CoerceFeed(*feed, inputs, options, logger));
    writer.Add(coerced.tensors);
  }
  if (!writer.Close()) return IoError("calibration feeds cannot be written to '" + path + "'");
  return made;
}

OptionList CalibrationFeeds::options() const {
  return path_.empty() ? OptionList{} : OptionList{{"calibration_feeds", path_}};
}

}  // namespace vernier
