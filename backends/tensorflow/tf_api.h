// TensorFlow's C interface, found at run time: no library is linked, no header is needed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tf_declarations.h"
#include "vernier/dtype.h"
#include "vernier/status.h"

namespace vernier::tf {

/// The loaded functions, under their own names.
struct Api {
#define VERNIER_TF_MEMBER(name) decltype(&::vernier::tf::name) name = nullptr;
  VERNIER_TF_FUNCTIONS(VERNIER_TF_MEMBER)
#undef VERNIER_TF_MEMBER
  std::string path;
};

/// kUnavailable, with the reason and how to install it, when there is no usable library.
Result<Api> LoadApi(std::string_view library);

/// Objects with their delete function.
template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

/// A TF_Status that is asked once.
class Outcome {
 public:
  explicit Outcome(const Api& api) : api_(api), status_(api.TF_NewStatus(), api.TF_DeleteStatus) {}

  TF_Status* get() const { return status_.get(); }
  bool ok() const { return api_.TF_GetCode(status_.get()) == 0; }
  /// TensorFlow's words in one line.
  std::string message() const;
  /// ok, or an error with `doing` and TensorFlow's words.
  Status Check(StatusCode code, std::string_view doing) const;

 private:
  const Api& api_;
  Handle<TF_Status> status_;
};

/// kUndefined for what has no tensor type of ours: resources, variants, quantised types.
DType FromTf(TF_DataType type);
/// 0 for a type that TensorFlow does not have.
TF_DataType ToTf(DType dtype);
/// "resource", "qint8", ...
std::string TfTypeName(TF_DataType type);

}  // namespace vernier::tf
