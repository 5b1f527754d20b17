#include "options/bind/bind_onnx_save.h"

#include "options/bind/bind_model.h"

namespace vernier {

Result<SaveOnnxOptions> BindOnnxSave(const ParsedArgs& args, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan model, BindModel(args));
  SaveOnnxOptions options;
  options.log = &log;
  options.source.directory = model.external_data_dir;
  if (model.strict_external_data) options.source.links = LinkPolicy::kRefuse;
  options.ignore_weights = model.ignore_external_data;
  options.external_path = model.save_external_data;
  options.size_threshold = model.save_external_threshold;
  options.one_file = model.save_one_file;
  if (model.save_threshold_given && !options.external_path) {
    log.Once(
        Severity::kWarning,
        "size_threshold is set, but external data path has not been set. No external data will "
        "be written.");
  }
  return options;
}

}  // namespace vernier
