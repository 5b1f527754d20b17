#include "ov_api.h"

#include <dlfcn.h>

#include "vernier/framework_library.hpp"

namespace vernier::ov {
namespace {

struct TypeRow {
  DType dtype;
  ov_element_type_e type;
};

constexpr TypeRow kTypes[] = {
    {DType::kBool, BOOLEAN},      {DType::kBFloat16, BF16},
    {DType::kFloat16, F16},       {DType::kFloat32, F32},
    {DType::kFloat64, F64},       {DType::kInt4, I4},
    {DType::kInt8, I8},           {DType::kInt16, I16},
    {DType::kInt32, I32},         {DType::kInt64, I64},
    {DType::kUint4, U4},          {DType::kUint8, U8},
    {DType::kUint16, U16},        {DType::kUint32, U32},
    {DType::kUint64, U64},        {DType::kFloat8E4M3FN, F8E4M3},
    {DType::kFloat8E5M2, F8E5M3}, {DType::kString, STRING},
    {DType::kFloat4E2M1, F4E2M1},
};

Status LoadFunctions(void* library, Api& api) {
  const char* missing = nullptr;
#define VERNIER_OV_LOAD(name)                                               \
  api.name = reinterpret_cast<decltype(api.name)>(::dlsym(library, #name)); \
  if (api.name == nullptr) missing = #name;
  VERNIER_OV_FUNCTIONS(VERNIER_OV_LOAD)
#undef VERNIER_OV_LOAD
  if (missing == nullptr) return {};
  return Unavailable("'" + api.path + "' has no function " + missing +
                     ": this OpenVINO is too old; update it with `pip install -U openvino`");
}

// Types whose numbers do not mean the same to the library have another size there.
Status CheckElementTypes(const Api& api) {
  const int64_t dims[] = {2};
  ov_shape_t shape{};
  VERNIER_TRY(Check(api, api.ov_shape_create(1, dims, &shape), "making a shape"));
  Status status;
  for (const TypeRow& row : kTypes) {
    if (row.dtype == DType::kString || !status.ok()) continue;
    ov_tensor_t* tensor = nullptr;
    size_t size = 0;
    const bool made = api.ov_tensor_create(row.type, shape, &tensor) == OK &&
                      api.ov_tensor_get_byte_size(tensor, &size) == OK;
    if (tensor != nullptr) api.ov_tensor_free(tensor);
    if (!made || size != *ByteSize(row.dtype, 2)) {
      status = Unavailable("OpenVINO " + api.version + " at '" + api.path +
                           "' numbers element types differently from the headers of this build:"
                           " rebuild vernier against it");
    }
  }
  api.ov_shape_free(&shape);
  return status;
}

}  // namespace

Result<Api> LoadApi(std::string_view library) {
  const sdk::LibrarySearch search = {
      .framework = "OpenVINO",
      .install_hint = "pip install openvino",
      .option = "--openvino-lib",
      .root_variable = "OPENVINO_ROOT",
      .root_dirs = {"runtime/lib/intel64", "runtime/lib/aarch64"},
      .python_dirs = {"openvino/libs"},
      .stem = "libopenvino_c",
      .system_names = {"libopenvino_c.so"},
  };
  VERNIER_ASSIGN_OR_RETURN(const sdk::LoadedLibrary loaded,
                           sdk::LoadFrameworkLibrary(search, library));
  Api api;
  api.path = loaded.path;
  api.library = loaded.handle;
  VERNIER_TRY(LoadFunctions(loaded.handle, api));
  ov_version_t version{};
  VERNIER_TRY(Check(api, api.ov_get_openvino_version(&version), "asking for the version"));
  api.version = version.buildNumber;
  api.version = api.version.substr(0, api.version.find('-'));
  api.ov_version_free(&version);
  VERNIER_TRY(CheckElementTypes(api));
  return api;
}

Status Check(const Api& api, ov_status_e status, std::string_view doing) {
  if (status == OK) return {};
  // The words are those of the last exception; a wrong parameter is none and leaves old ones.
  const char* words = status == INVALID_C_PARAM ? nullptr : api.ov_get_last_err_msg();
  std::string message = words != nullptr && *words != '\0'
                            ? words
                            : "OpenVINO status " + std::to_string(static_cast<int>(status));
  if (words != nullptr) api.ov_free(words);
  return BackendError(std::string(doing) + ": " + message);
}

ov_element_type_e ToOv(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row.type;
  }
  return DYNAMIC;
}

DType FromOv(ov_element_type_e type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.dtype;
  }
  return DType::kUndefined;
}

}  // namespace vernier::ov
