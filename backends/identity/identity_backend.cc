// Returns every input as an output of the same name. It needs no framework, so it is the first
// backend that the conformance suite runs, and the folder to copy when writing a new one. With the
// option `device=cuda` its outputs lie on a GPU, as those of a real one may.
#include <algorithm>
#include <cstring>

#include "vernier/backend_cuda.hpp"
#include "vernier/backend_sdk.hpp"

namespace vernier {
namespace {

using DeviceContext = std::shared_ptr<const cuda::PrimaryContext>;

class IdentitySession final : public sdk::Session {
 public:
  /// `context` is null where outputs are to be in host memory.
  IdentitySession(std::vector<sdk::TensorSpec> signature, DeviceContext context,
                  const sdk::Host& host)
      : signature_(std::move(signature)), context_(std::move(context)), host_(host) {}

  std::span<const sdk::TensorSpec> inputs() const override { return signature_; }
  std::span<const sdk::TensorSpec> outputs() const override { return signature_; }
  sdk::SessionInfo info() const override {
    return {"none", context_ != nullptr ? context_->name() : "CPU"};
  }

  uint32_t FeedsBack() const override { return VN_FEEDS_BACK_CPU | VN_FEEDS_BACK_CUDA; }

  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override {
    sdk::RunOutcome outcome;
    for (const vn_tensor* input : inputs) {
      sdk::OutputTensor output;
      output.name = std::string(sdk::View(input->name));
      output.dtype = FromAbi(input->dtype_code, input->dtype_bits).value_or(DType::kUndefined);
      output.shape = {input->shape, input->shape + input->rank};
      output.byte_size = input->byte_size;
      // Texts have no place on a device.
      if (context_ != nullptr && output.dtype != DType::kString) {
        VERNIER_TRY(CopyToDevice(*input, output));
      } else {
        CopyToHost(*input, output);
      }
      outcome.outputs.push_back(std::move(output));
    }
    return outcome;
  }

 private:
  void CopyToHost(const vn_tensor& input, sdk::OutputTensor& output) const {
    if (void* const memory = host_.OutputMemory(input.byte_size); memory != nullptr) {
      output.data = std::memcpy(memory, input.data, input.byte_size);
      return;
    }
    const auto* first = static_cast<const char*>(input.data);
    const auto copy = std::make_shared<std::vector<char>>(first, first + input.byte_size);
    output.data = copy->data();
    output.keep_alive = copy;
  }

  Status CopyToDevice(const vn_tensor& input, sdk::OutputTensor& output) {
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<cuda::DeviceMemory> memory,
                             cuda::DeviceMemory::Allocate(context_, input.byte_size));
    if (input.byte_size > 0) {
      const cuda::CurrentContext current(*context_);
      VERNIER_TRY(current.status());
      const cuda::Driver& driver = context_->driver();
      std::vector<std::byte> from_device;
      const void* bytes = input.data;
      if (input.device_type == VN_DEVICE_CUDA) {
        from_device.resize(input.byte_size);
        VERNIER_TRY(driver.Check(
            driver.MemcpyDtoH(from_device.data(), reinterpret_cast<cuda::DevicePointer>(input.data),
                              input.byte_size),
            "copying from the device"));
        bytes = from_device.data();
      }
      VERNIER_TRY(driver.Check(driver.MemcpyHtoD(memory->pointer(), bytes, input.byte_size),
                               "copying to the device"));
      // The call may return when the bytes have left the host, not when they have arrived.
      VERNIER_TRY(driver.Check(driver.StreamSynchronize(nullptr), "waiting for a copy"));
    }
    output.data = memory->data();
    output.keep_alive = memory;
    output.device_type = VN_DEVICE_CUDA;
    output.device_id = context_->ordinal();
    return {};
  }

  std::vector<sdk::TensorSpec> signature_;
  DeviceContext context_;
  sdk::Host host_;
};

class IdentityBackend {
 public:
#include "abilities.def"
  static constexpr std::string_view kVersion = "1";

  static std::span<const vn_option_info> OptionTable() {
    static const vn_option_info kOptions[] = {
        sdk::OptionRow("device", "word", "cpu", "where outputs lie", {.values = "cpu cuda"}),
    };
    return kOptions;
  }
  static Result<std::unique_ptr<IdentityBackend>> Create(const sdk::Host& host, sdk::Options) {
    return std::unique_ptr<IdentityBackend>(new IdentityBackend(host));
  }

  std::string_view framework_version() const { return "built in"; }
  std::string_view framework_path() const { return ""; }

  Result<std::unique_ptr<sdk::Session>> Open(const vn_model& model, sdk::Options options) {
    std::vector<sdk::TensorSpec> signature;
    for (const vn_tensor* input : std::span(model.inputs, model.input_count)) {
      sdk::TensorSpec spec = sdk::SpecOf(*input);
      if (std::ranges::find(signature, spec.name, &sdk::TensorSpec::name) != signature.end()) {
        return Malformed("'" + std::string(sdk::View(model.path)) + "' has the input '" +
                         spec.name + "' twice");
      }
      signature.push_back(std::move(spec));
    }
    if (signature.empty()) {
      return Malformed("the identity backend needs a model with inputs, and '" +
                       std::string(sdk::View(model.path)) + "' has none");
    }
    VERNIER_ASSIGN_OR_RETURN(DeviceContext context, ContextFor(options.Get("device", "cpu")));
    return std::unique_ptr<sdk::Session>(
        std::make_unique<IdentitySession>(std::move(signature), std::move(context), host_));
  }

 private:
  explicit IdentityBackend(const sdk::Host& host) : host_(host) {}

  Result<DeviceContext> ContextFor(std::string_view device) const {
    if (device == "cpu") return DeviceContext();
    if (device != "cuda") {
      return InvalidArgument("--identity-device: expected cpu or cuda, got '" +
                             std::string(device) + "'");
    }
    if (!host_.takes_cuda_outputs()) {
      return Unimplemented("this host does not accept outputs on a CUDA device");
    }
    VERNIER_ASSIGN_OR_RETURN(const cuda::Driver driver, cuda::Driver::Load());
    VERNIER_ASSIGN_OR_RETURN(cuda::PrimaryContext context, cuda::PrimaryContext::Retain(driver, 0));
    return std::make_shared<const cuda::PrimaryContext>(std::move(context));
  }

  sdk::Host host_;
};

}  // namespace
}  // namespace vernier

VERNIER_EXPORT_BACKEND(vernier::IdentityBackend)
