#include "tf_api.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "vernier/framework_library.hpp"

namespace vernier::tf {
namespace {

// tensorflow/c/tf_datatype.h
constexpr std::pair<TF_DataType, DType> kTypes[] = {
    {1, DType::kFloat32},         {2, DType::kFloat64},         {3, DType::kInt32},
    {4, DType::kUint8},           {5, DType::kInt16},           {6, DType::kInt8},
    {7, DType::kString},          {8, DType::kComplex64},       {9, DType::kInt64},
    {10, DType::kBool},           {14, DType::kBFloat16},       {17, DType::kUint16},
    {18, DType::kComplex128},     {19, DType::kFloat16},        {22, DType::kUint32},
    {23, DType::kUint64},         {24, DType::kFloat8E5M2},     {25, DType::kFloat8E4M3FN},
    {26, DType::kFloat8E4M3FNUZ}, {28, DType::kFloat8E5M2FNUZ},
};

constexpr std::pair<TF_DataType, std::string_view> kOtherTypes[] = {
    {11, "qint8"},         {12, "quint8"},   {13, "qint32"},  {15, "qint16"},
    {16, "quint16"},       {20, "resource"}, {21, "variant"}, {27, "float8_e4m3b11fnuz"},
    {29, "int4"},          {30, "uint4"},    {31, "int2"},    {32, "uint2"},
    {33, "float4_e2m1fn"},
};

Status LoadFunctions(void* library, Api& api) {
  const char* missing = nullptr;
#define VERNIER_TF_LOAD(name)                                               \
  api.name = reinterpret_cast<decltype(api.name)>(::dlsym(library, #name)); \
  if (api.name == nullptr) missing = #name;
  VERNIER_TF_FUNCTIONS(VERNIER_TF_LOAD)
#undef VERNIER_TF_LOAD
  if (missing == nullptr) return {};
  return Unavailable("'" + api.path + "' has no function " + missing +
                     ": this TensorFlow is too old; update it with `pip install -U tensorflow`");
}

// What TensorFlow writes to standard error while it loads, whatever the log level: its lines of the
// severity I are kept back, all others are passed on.
class WithoutNotes {
 public:
  WithoutNotes() : memory_(::memfd_create("stderr", MFD_CLOEXEC)), before_(::dup(STDERR_FILENO)) {
    if (memory_ >= 0 && before_ >= 0) ::dup2(memory_, STDERR_FILENO);
  }
  ~WithoutNotes() {
    if (memory_ >= 0 && before_ >= 0) {
      ::dup2(before_, STDERR_FILENO);
      PassOn();
    }
    if (memory_ >= 0) ::close(memory_);
    if (before_ >= 0) ::close(before_);
  }
  WithoutNotes(const WithoutNotes&) = delete;
  WithoutNotes& operator=(const WithoutNotes&) = delete;

 private:
  void PassOn() const {
    std::string text(static_cast<size_t>(std::max<off_t>(::lseek(memory_, 0, SEEK_END), 0)), '\0');
    if (::pread(memory_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) return;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const bool note = line.starts_with("I0000 ") || line.starts_with("WARNING: All log messages");
      if (!note) std::fprintf(stderr, "%s\n", line.c_str());
    }
  }

  int memory_, before_;
};

sdk::LibrarySearch Search() {
  return {
      .framework = "TensorFlow",
      .install_hint = "pip install tensorflow-cpu",
      .option = "--tf-lib",
      .root_variable = "TENSORFLOW_ROOT",
      .root_dirs = {},
      .python_dirs = {"tensorflow"},
      .stem = "libtensorflow_cc",
      .system_names = {"libtensorflow_cc.so.2", "libtensorflow.so.2"},
  };
}

// A wheel has libtensorflow_cc.so.2, the archive of the C library libtensorflow.so.2.
Result<sdk::LoadedLibrary> LoadLibraryFile(std::string_view library) {
  const sdk::LibrarySearch wheel = Search();
  Result<sdk::LoadedLibrary> loaded = sdk::LoadFrameworkLibrary(wheel, library);
  if (loaded.ok()) return loaded;
  sdk::LibrarySearch archive = wheel;
  archive.stem = "libtensorflow";
  archive.system_names.clear();
  Result<sdk::LoadedLibrary> second = sdk::LoadFrameworkLibrary(archive, library);
  return second.ok() ? second : loaded;
}

}  // namespace

Result<Api> LoadApi(std::string_view library) {
  // Notes on processor features at every start; warnings stay.
  ::setenv("TF_CPP_MIN_LOG_LEVEL", "1", 0);
  Result<sdk::LoadedLibrary> found = Unavailable("");
  {
    const WithoutNotes quiet;
    found = LoadLibraryFile(library);
  }
  VERNIER_ASSIGN_OR_RETURN(const sdk::LoadedLibrary loaded, std::move(found));
  Api api;
  api.path = loaded.path;
  VERNIER_TRY(LoadFunctions(loaded.handle, api));
  return api;
}

std::string Outcome::message() const {
  std::string text = api_.TF_Message(status_.get());
  // A graph's own stack and node lists follow the first line.
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

Status Outcome::Check(StatusCode code, std::string_view doing) const {
  if (ok()) return {};
  return Status(code, std::string(doing) + ": " + message());
}

DType FromTf(TF_DataType type) {
  for (const auto& [number, dtype] : kTypes) {
    if (number == type) return dtype;
  }
  return DType::kUndefined;
}

TF_DataType ToTf(DType dtype) {
  for (const auto& [number, candidate] : kTypes) {
    if (candidate == dtype) return number;
  }
  return 0;
}

std::string TfTypeName(TF_DataType type) {
  if (const DType dtype = FromTf(type); dtype != DType::kUndefined) {
    return std::string(DTypeName(dtype));
  }
  for (const auto& [number, name] : kOtherTypes) {
    if (number == type) return std::string(name);
  }
  return "type " + std::to_string(type);
}

}  // namespace vernier::tf
