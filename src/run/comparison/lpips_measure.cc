#include "run/comparison/lpips_measure.h"

namespace vernier {

Result<std::unique_ptr<ScriptClient>> LpipsMeasure::Open() {
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, start_());
  return ScriptClient::Open(worker, static_cast<uint64_t>(ScriptRole::kPerceptual),
                            ScriptRole::kPerceptual, {"perceptual_metrics", "lpips"});
}

Result<double> LpipsMeasure::Measure(const Tensor& a, const Tensor& b) {
  // Asked once: what is missing stays missing for the whole run.
  if (!client_) client_.emplace(Open());
  if (!client_->ok()) return client_->status();
  return (**client_)->Measure(a, b);
}

}  // namespace vernier
