// A loaded plug-in, seen from the worker that hosts it. The only place that touches the tables of
// backend_abi.h.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/plugin/device_tensors.h"
#include "backend/plugin/plugin_host.h"
#include "backend/plugin/plugin_outputs.h"
#include "backend/wire/messages.h"
#include "vernier/backend_abi.h"
#include "vernier/status.h"

namespace vernier {

/// Outputs of one run; whatever happens, each is released once.
class OutputSet {
 public:
  /// `capacity` places for a plug-in to fill.
  explicit OutputSet(size_t capacity) : pointers_(capacity, nullptr) {}
  ~OutputSet() {
    for (vn_tensor* t : pointers_) {
      if (t != nullptr && t->release != nullptr) t->release(t);
    }
  }
  OutputSet(const OutputSet&) = delete;
  OutputSet& operator=(const OutputSet&) = delete;

  vn_tensor** data() { return pointers_.data(); }
  /// A tensor that is taken from here, by writing nullptr, is released by the taker.
  std::span<vn_tensor*> tensors() { return pointers_; }
  /// One more tensor. The place, for the same purpose, is valid until the next one is added.
  vn_tensor*& Add(vn_tensor* tensor) { return pointers_.emplace_back(tensor); }

 private:
  std::vector<vn_tensor*> pointers_;
};

/// One session of a plug-in.
class PluginSession {
 public:
  /// `host` must outlive it.
  PluginSession(const vn_backend_api* api, vn_session* session, PluginHost& host)
      : api_(api), session_(session), host_(host), ahead_(host) {}
  ~PluginSession() { api_->close(session_); }
  PluginSession(const PluginSession&) = delete;
  PluginSession& operator=(const PluginSession&) = delete;

  Result<SessionDescription> Describe();

  struct Outcome {
    TensorBlock outputs;
    double inference_seconds = 0;
  };
  Result<Outcome> Run(const TensorMap& inputs, const RunPlaces& places);

  /// Resets what it keeps from run to run to the initial state. kNotFound: it keeps nothing.
  Status Reset();

 private:
  // An output of the signature: what a run must return. kUndefined: any type.
  struct DeclaredOutput {
    std::string name;
    DType dtype = DType::kUndefined;
  };

  Result<std::vector<vn_tensor>> ReadSignature(bool is_output);
  Status DescribeNotExposed(SessionDescription& description);
  struct Destination {
    OutputSet& parts;  ///< keeps them
    OutputDestination to;
  };
  Status AddOutputs(std::span<vn_tensor*> outputs, const Destination& to) const;
  // Whether there are parts, beside or in the place of the output of that name.
  Result<bool> AddParts(size_t output, const std::string& name, const Destination& to) const;
  Result<size_t> IndexOf(std::string_view name, size_t guess) const;

  const vn_backend_api* api_;
  vn_session* session_;
  PluginHost& host_;
  OutputsAhead ahead_;
  std::vector<DeclaredOutput> outputs_;
  uint32_t feeds_back_ = 0;  ///< VN_FEEDS_BACK_*
};

/// A plug-in with its framework loaded. Never unloaded: frameworks do not survive that.
class Plugin {
 public:
  /// kUnavailable when the file is no plug-in of this major version or its framework is missing.
  static Result<std::unique_ptr<Plugin>> Load(const LoadRequest& request, PluginLog log);

  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  BackendInfo info() const;

  /// While it is set, memory for outputs is there whatever their size, and holds that byte.
  void FillOutputs(std::optional<uint8_t> fill) {
    reached_.fill = fill;
    reached_.placed = 0;
  }
  /// For how many outputs memory was requested and given since.
  uint64_t placed_outputs() const { return reached_.placed; }

  /// The reader of outputs no longer needs the memory of that number (TensorBlock::lent).
  void TakeBack(uint64_t number) { reached_.lent.TakeBack(number); }

  /// `bytes` is the edited model, empty to read the path; it must outlive the session.
  Result<std::unique_ptr<PluginSession>> Open(const OpenRequest& request,
                                              std::span<const std::byte> bytes);

 private:
  explicit Plugin(PluginLog log);
  std::vector<BackendOption> Options() const;
  // Options of `create`, where those with a meaning have the plug-in's names.
  Result<OptionList> NameOptions(OptionList options) const;
  std::vector<std::string> NeutralEnvironments() const;
  static Result<std::unique_ptr<Plugin>> LoadOne(const std::string& path, const OptionList& options,
                                                 PluginLog log);

  PluginHost reached_;
  vn_host host_;
  const vn_backend_api* api_ = nullptr;
  vn_backend* backend_ = nullptr;
};

}  // namespace vernier
