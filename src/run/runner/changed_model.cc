#include "run/runner/changed_model.h"

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "run/workers/model_source.h"

namespace vernier {

Result<OnnxModel> LoadChanged(ModelPlan plan, WorkerPool& pool, Logger& log) {
  if (!plan.shape_inference && !plan.fp_to_fp16) return OnnxModel::Open(plan.path);
  plan.type = "onnx";
  VERNIER_ASSIGN_OR_RETURN(
      const std::shared_ptr<const ModelSource> source,
      ModelSource::Prepare(plan, log, [&pool] { return pool.GetForScripts(); }));
  const int memory = source->edited_bytes().get();
  if (memory < 0) return OnnxModel::Open(source->request().model_path);
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::Open("/proc/self/fd/" + std::to_string(memory)));
  const std::span<const std::byte> bytes = file->bytes();
  return OnnxModel::FromBytes(bytes, std::move(file), plan.path);
}

}  // namespace vernier
