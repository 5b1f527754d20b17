// OpenVINO's C interface, found at run time: no library is linked. The headers come from the wheel
// or an installation; element types are checked against the library, whose numbering of them has
// changed between releases.
#pragma once

#include <openvino/c/openvino.h>

#include <memory>
#include <string>
#include <string_view>

#include "vernier/dtype.h"
#include "vernier/status.h"

namespace vernier::ov {

#define VERNIER_OV_FUNCTIONS(X)                  \
  X(ov_get_openvino_version)                     \
  X(ov_version_free)                             \
  X(ov_get_last_err_msg)                         \
  X(ov_free)                                     \
  X(ov_core_create)                              \
  X(ov_core_free)                                \
  X(ov_core_read_model)                          \
  X(ov_core_read_model_from_memory_buffer)       \
  X(ov_core_compile_model)                       \
  X(ov_model_free)                               \
  X(ov_model_inputs_size)                        \
  X(ov_model_outputs_size)                       \
  X(ov_model_const_input_by_index)               \
  X(ov_model_const_output_by_index)              \
  X(ov_compiled_model_free)                      \
  X(ov_compiled_model_create_infer_request)      \
  X(ov_compiled_model_get_property)              \
  X(ov_compiled_model_get_runtime_model)         \
  X(ov_infer_request_free)                       \
  X(ov_infer_request_infer)                      \
  X(ov_infer_request_get_profiling_info)         \
  X(ov_profiling_info_list_free)                 \
  X(ov_infer_request_set_input_tensor_by_index)  \
  X(ov_infer_request_get_output_tensor_by_index) \
  X(ov_tensor_create)                            \
  X(ov_tensor_create_from_host_ptr)              \
  X(ov_tensor_get_byte_size)                     \
  X(ov_tensor_get_element_type)                  \
  X(ov_tensor_get_shape)                         \
  X(ov_tensor_data)                              \
  X(ov_tensor_free)                              \
  X(ov_shape_create)                             \
  X(ov_shape_free)                               \
  X(ov_port_get_any_name)                        \
  X(ov_port_get_element_type)                    \
  X(ov_port_get_partial_shape)                   \
  X(ov_output_const_port_free)                   \
  X(ov_partial_shape_free)

/// The loaded functions, under their own names.
struct Api {
#define VERNIER_OV_MEMBER(name) decltype(&::name) name = nullptr;
  VERNIER_OV_FUNCTIONS(VERNIER_OV_MEMBER)
#undef VERNIER_OV_MEMBER
  std::string version;
  std::string path;
  void* library = nullptr;  ///< dlopen's
};

/// kUnavailable, with the reason and how to install it, when there is no usable library.
Result<Api> LoadApi(std::string_view library);

/// ok for OK; otherwise `doing` and the library's own words.
Status Check(const Api& api, ov_status_e status, std::string_view doing);

ov_element_type_e ToOv(DType dtype);
DType FromOv(ov_element_type_e type);

/// Objects with their free function.
template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

}  // namespace vernier::ov
