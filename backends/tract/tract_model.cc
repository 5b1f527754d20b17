#include "tract_model.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "inlined_weights.h"
#include "tract_tensor.h"

namespace vernier::tract {
namespace {

namespace fs = std::filesystem;

// The shapes that a model notes of its tensors have names for sizes, which clash with the numbers
// that its inputs are given; tract infers them all by itself.
constexpr const char* kLoadOptions = R"({"ignore_value_info":true})";

// Its Mmap would let a file that is missing pass for a damaged one.
Status CheckReadable(const std::string& path) {
  if (::access(path.c_str(), R_OK) == 0) return {};
  return Malformed("'" + path + "' cannot be read: " + std::strerror(errno));
}

Result<std::string> BytesOf(const vn_model& model) {
  if (model.bytes != nullptr) {
    return std::string(static_cast<const char*>(model.bytes), model.byte_count);
  }
  std::ifstream file(std::string(sdk::View(model.path)), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string SpecOfFact(const InputFact& fact) {
  std::string spec;
  for (const int64_t size : fact.shape) spec += std::to_string(size) + ",";
  return spec + std::string(FactName(fact.dtype));
}

using NameFunction = int (*)(const InferenceModel*, size_t, char**);

Result<std::string> NameOf(const Api& api, NameFunction name_at, const InferenceModel* model,
                           size_t index) {
  char* name = nullptr;
  VERNIER_TRY(Check(api, name_at(model, index, &name), "reading the names of inputs and outputs"));
  std::string copy(name);
  api.free_cstring(name);
  return copy;
}

// int64 for the type in which tract computes with sizes; kUndefined for one that its interface
// lacks.
Result<DType> TypeOf(const Api& api, const Fact* fact) {
  uint32_t type = 0;
  if (api.fact_datum_type(fact, &type) == 0) return FromTract(type);
  char* text = nullptr;  // "2,3,tdim"
  VERNIER_TRY(Check(api, api.fact_dump(fact, &text), "reading a type"));
  const bool is_size = std::string_view(text).ends_with("tdim");
  api.free_cstring(text);
  return is_size ? DType::kInt64 : DType::kUndefined;
}

// A size that tract knows only by formula is -1.
Result<InputFact> ReadFact(const Api& api, const Fact* fact) {
  InputFact read;
  VERNIER_ASSIGN_OR_RETURN(read.dtype, TypeOf(api, fact));
  size_t rank = 0;
  VERNIER_TRY(Check(api, api.fact_rank(fact, &rank), "reading a shape"));
  for (size_t axis = 0; axis < rank; ++axis) {
    Owned<Dim> dim(api.dim_destroy);
    VERNIER_TRY(Check(api, api.fact_dim(fact, axis, dim.at()), "reading a shape"));
    int64_t size = -1;
    if (api.dim_to_int64(dim.get(), &size) != 0) size = -1;
    read.shape.push_back(size);
  }
  return read;
}

}  // namespace

Result<ModelSource> ModelSource::Open(const Api& api, const Onnx* onnx, const vn_model& model) {
  ModelSource source(api, onnx);
  const std::string path(sdk::View(model.path));
  fs::path folder(sdk::View(model.external_data_dir));
  if (model.bytes == nullptr) VERNIER_TRY(CheckReadable(path));
  if (model.bytes == nullptr && folder.empty()) {
    source.path_ = path;
  } else {
    if (folder.empty()) folder = fs::path(path).parent_path();
    VERNIER_ASSIGN_OR_RETURN(const std::string bytes, BytesOf(model));
    VERNIER_ASSIGN_OR_RETURN(source.bytes_, WithWeightsInside(bytes, folder));
  }
  VERNIER_ASSIGN_OR_RETURN(source.loaded_, source.Load());
  VERNIER_TRY(source.ReadNames(model));
  return source;
}

Result<Owned<InferenceModel>> ModelSource::Load() const {
  Owned<InferenceModel> model(api_->inference_model_destroy);
  const int result =
      path_.empty() ? api_->onnx_load_buffer_with_options(onnx_, bytes_.data(), bytes_.size(),
                                                          kLoadOptions, model.at())
                    : api_->onnx_load_with_options(onnx_, path_.c_str(), kLoadOptions, model.at());
  VERNIER_TRY(Check(*api_, result, "reading the model"));
  return model;
}

// tract names an output by the node that makes it; the order is the graph's.
Status ModelSource::ReadNames(const vn_model& model) {
  const InferenceModel* const loaded = loaded_.get();
  size_t input_count = 0, output_count = 0;
  VERNIER_TRY(
      Check(*api_, api_->inference_model_input_count(loaded, &input_count), "reading the inputs"));
  VERNIER_TRY(Check(*api_, api_->inference_model_output_count(loaded, &output_count),
                    "reading the outputs"));
  const std::span<const vn_tensor* const> known(model.inputs, model.input_count);
  for (size_t i = 0; i < input_count; ++i) {
    VERNIER_ASSIGN_OR_RETURN(const std::string name,
                             NameOf(*api_, api_->inference_model_input_name, loaded, i));
    const auto at = std::ranges::find_if(
        known, [&](const vn_tensor* input) { return sdk::View(input->name) == name; });
    sdk::TensorSpec spec;
    spec.rank_known = false;
    if (at != known.end()) spec = sdk::SpecOf(**at);
    spec.name = name;
    inputs_.push_back(std::move(spec));
  }
  for (size_t i = 0; i < output_count; ++i) {
    sdk::TensorSpec spec;
    spec.rank_known = false;
    if (model.output_count == output_count) {
      spec.name = sdk::View(model.outputs[i]);
    } else {
      VERNIER_ASSIGN_OR_RETURN(spec.name,
                               NameOf(*api_, api_->inference_model_output_name, loaded, i));
    }
    outputs_.push_back(std::move(spec));
  }
  return {};
}

Status ModelSource::ReadOutputs(const Model* typed, Compiled& compiled) const {
  compiled.outputs = outputs_;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Owned<Fact> fact(api_->fact_destroy);
    VERNIER_TRY(Check(*api_, api_->model_output_fact(typed, i, fact.at()), "reading the outputs"));
    VERNIER_ASSIGN_OR_RETURN(InputFact read, ReadFact(*api_, fact.get()));
    compiled.outputs[i].dtype = read.dtype;
    compiled.outputs[i].rank_known = true;
    compiled.outputs[i].shape = std::move(read.shape);
  }
  return {};
}

Result<Owned<Model>> ModelSource::WithInputs(const std::vector<InputFact>& facts) {
  Owned<InferenceModel> model = std::move(loaded_);
  if (model.get() == nullptr) {
    VERNIER_ASSIGN_OR_RETURN(model, Load());
  }
  for (size_t i = 0; i < facts.size(); ++i) {
    const std::string doing = "setting the shape of input '" + inputs_[i].name + "'";
    Owned<InferenceFact> fact(api_->inference_fact_destroy);
    VERNIER_TRY(Check(
        *api_, api_->inference_fact_parse(model.get(), SpecOfFact(facts[i]).c_str(), fact.at()),
        doing));
    VERNIER_TRY(
        Check(*api_, api_->inference_model_set_input_fact(model.get(), i, fact.get()), doing));
  }
  Owned<Model> typed(api_->model_destroy);
  VERNIER_TRY(Check(*api_, api_->inference_model_into_model(model.at(), typed.at()),
                    "compiling the model"));
  return typed;
}

Status ModelSource::ReadInputTypes(const Model* typed, Compiled& compiled) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Owned<Fact> fact(api_->fact_destroy);
    VERNIER_TRY(Check(*api_, api_->model_input_fact(typed, i, fact.at()), "reading the inputs"));
    uint32_t type = 0;
    const bool known = api_->fact_datum_type(fact.get(), &type) == 0;
    compiled.input_types.push_back(known ? type : ToTract(compiled.facts[i].dtype));
  }
  return {};
}

Result<Compiled> ModelSource::Compile(const std::vector<InputFact>& facts, Precision precision) {
  VERNIER_ASSIGN_OR_RETURN(Owned<Model> typed, WithInputs(facts));
  Compiled compiled{Owned<Runnable>(api_->runnable_release), facts, {}, {}};
  VERNIER_TRY(ReadOutputs(typed.get(), compiled));
  if (precision == Precision::kFloat16) {
    VERNIER_TRY(Check(*api_, api_->model_transform(typed.get(), "f32_to_f16"),
                      "converting the model to float16"));
  }
  VERNIER_TRY(ReadInputTypes(typed.get(), compiled));
  VERNIER_TRY(Check(*api_, api_->model_into_runnable(typed.at(), compiled.runnable.at()),
                    "compiling the model"));
  return compiled;
}

}  // namespace vernier::tract
