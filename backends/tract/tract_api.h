// tract's C interface, found at run time: no library is linked. The declarations are those that the
// plug-in needs, of tract 0.23.9 (api/ffi). Every function but the first three returns 0, or 1 with
// the reason in tract_get_last_error(), which is the calling thread's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "vernier/status.h"

namespace vernier::tract {

struct Onnx;
struct InferenceFact;
struct InferenceModel;
struct Fact;
struct Dim;
struct Model;
struct Runnable;
struct Tensor;

/// Name without "tract_", result, and parameters. The two functions "into" consume what they are
/// given, also where they fail, and leave null.
#define VERNIER_TRACT_FUNCTIONS(X)                                                               \
  X(get_last_error, const char*, ())                                                             \
  X(version, const char*, ())                                                                    \
  X(free_cstring, void, (char*))                                                                 \
  X(onnx_create, int, (Onnx**))                                                                  \
  X(onnx_destroy, int, (Onnx**))                                                                 \
  X(onnx_load_with_options, int, (const Onnx*, const char* path, const char*, InferenceModel**)) \
  X(onnx_load_buffer_with_options, int,                                                          \
    (const Onnx*, const void*, size_t, const char* options, InferenceModel**))                   \
  X(inference_model_input_count, int, (const InferenceModel*, size_t*))                          \
  X(inference_model_output_count, int, (const InferenceModel*, size_t*))                         \
  X(inference_model_input_name, int, (const InferenceModel*, size_t, char**))                    \
  X(inference_model_output_name, int, (const InferenceModel*, size_t, char**))                   \
  X(inference_model_set_input_fact, int, (InferenceModel*, size_t, const InferenceFact*))        \
  X(inference_model_into_model, int, (InferenceModel**, Model**))                                \
  X(inference_model_destroy, int, (InferenceModel**))                                            \
  X(inference_fact_parse, int, (InferenceModel*, const char* spec, InferenceFact**))             \
  X(inference_fact_destroy, int, (InferenceFact**))                                              \
  X(model_input_fact, int, (const Model*, size_t, Fact**))                                       \
  X(model_output_fact, int, (const Model*, size_t, Fact**))                                      \
  X(model_transform, int, (Model*, const char*))                                                 \
  X(model_into_runnable, int, (Model**, Runnable**))                                             \
  X(model_destroy, int, (Model**))                                                               \
  X(fact_rank, int, (const Fact*, size_t*))                                                      \
  X(fact_datum_type, int, (const Fact*, uint32_t*))                                              \
  X(fact_dump, int, (const Fact*, char**))                                                       \
  X(fact_dim, int, (const Fact*, size_t, Dim**))                                                 \
  X(fact_destroy, int, (Fact**))                                                                 \
  X(dim_to_int64, int, (const Dim*, int64_t*))                                                   \
  X(dim_destroy, int, (Dim**))                                                                   \
  X(runnable_run, int, (Runnable*, Tensor**, Tensor**))                                          \
  X(runnable_profile_json, int, (Runnable*, Tensor**, char**))                                   \
  X(runnable_release, int, (Runnable**))                                                         \
  X(tensor_from_bytes, int, (uint32_t type, size_t rank, const size_t* shape, void*, Tensor**))  \
  X(tensor_as_bytes, int, (Tensor*, uint32_t*, size_t*, const size_t**, const void**))           \
  X(tensor_convert_to, int, (const Tensor*, uint32_t type, Tensor**))                            \
  X(tensor_destroy, int, (Tensor**))

/// The loaded functions.
struct Api {
#define VERNIER_TRACT_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  VERNIER_TRACT_FUNCTIONS(VERNIER_TRACT_MEMBER)
#undef VERNIER_TRACT_MEMBER
  std::string path;
};

/// kUnavailable, with the reason and how to install it, when there is no usable library.
Result<Api> LoadApi(std::string_view library);

/// ok for 0; otherwise kBackendError: `doing` and the library's own words on one line.
Status Check(const Api& api, int result, std::string_view doing);

/// tract's words on one line: the causes one after another, without the stack that Rust appends.
std::string OneLine(std::string_view words);

/// An object of the library that its destroy function ends.
template <typename T>
class Owned {
 public:
  explicit Owned(int (*destroy)(T**), T* object = nullptr) : object_(object), destroy_(destroy) {}
  Owned(Owned&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), destroy_(other.destroy_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object_ != nullptr) destroy_(&object_);
  }

  T* get() const { return object_; }
  T* release() { return std::exchange(object_, nullptr); }
  /// For functions that make an object, or that consume this one and leave null.
  T** at() { return &object_; }

 private:
  T* object_;
  int (*destroy_)(T**);
};

}  // namespace vernier::tract
