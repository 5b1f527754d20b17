// Returns every input as an output of the same name. It needs no framework, so it is the first
// backend that the conformance suite runs, and the folder to copy when writing a new one.
#include "vernier/backend_sdk.hpp"

namespace vernier {
namespace {

class IdentitySession final : public sdk::Session {
 public:
  explicit IdentitySession(std::vector<sdk::TensorSpec> signature)
      : signature_(std::move(signature)) {}

  std::span<const sdk::TensorSpec> inputs() const override { return signature_; }
  std::span<const sdk::TensorSpec> outputs() const override { return signature_; }
  sdk::SessionInfo info() const override { return {"none", "CPU"}; }

  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override {
    sdk::RunOutcome outcome;
    for (const vn_tensor* input : inputs) {
      const auto* first = static_cast<const char*>(input->data);
      const auto copy = std::make_shared<std::vector<char>>(first, first + input->byte_size);
      outcome.outputs.push_back({
          .name = std::string(sdk::View(input->name)),
          .dtype = FromAbi(input->dtype_code, input->dtype_bits).value_or(DType::kUndefined),
          .shape = {input->shape, input->shape + input->rank},
          .data = copy->data(),
          .byte_size = copy->size(),
          .keep_alive = copy,
          .skipped = {},
      });
    }
    return outcome;
  }

 private:
  std::vector<sdk::TensorSpec> signature_;
};

class IdentityBackend {
 public:
  static constexpr std::string_view kName = "identity";
  static constexpr std::string_view kVersion = "1";

  static std::span<const vn_option_info> OptionTable() { return {}; }
  static Result<std::unique_ptr<IdentityBackend>> Create(const sdk::Host&, sdk::Options) {
    return std::make_unique<IdentityBackend>();
  }

  std::string_view framework_version() const { return "built in"; }
  std::string_view framework_path() const { return ""; }

  Result<std::unique_ptr<sdk::Session>> Open(const vn_model& model, sdk::Options) {
    std::vector<sdk::TensorSpec> signature;
    for (const vn_tensor* input : std::span(model.inputs, model.input_count)) {
      signature.push_back(sdk::SpecOf(*input));
    }
    if (signature.empty()) {
      return Malformed("the identity backend needs a model with inputs, and '" +
                       std::string(sdk::View(model.path)) + "' has none");
    }
    return std::unique_ptr<sdk::Session>(std::make_unique<IdentitySession>(std::move(signature)));
  }
};

}  // namespace
}  // namespace vernier

VERNIER_EXPORT_BACKEND(vernier::IdentityBackend)
