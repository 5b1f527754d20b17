#include "cli/bind_onnx_save.h"

#include "util/cast_grammar.h"

namespace vernier {

Result<SaveOnnxOptions> BindOnnxSave(const ParsedArgs& args, Logger& log) {
  SaveOnnxOptions options;
  options.log = &log;
  options.source.directory = std::string(args.Value("external_data_dir").value_or(""));
  options.ignore_weights = args.Has("ignore_external_data");
  if (args.Has("strict_external_data")) options.source.links = LinkPolicy::kRefuse;
  if (args.Has("external_data_path")) {
    options.external_path = std::string(args.Value("external_data_path").value_or(""));
  }
  if (const auto word = args.Value("external_data_size_threshold")) {
    VERNIER_ASSIGN_OR_RETURN(const int64_t threshold, ParseByteCount(*word));
    if (threshold < 0) {
      return InvalidArgument("--external-data-size-threshold: expected a size >= 0, got " +
                             std::to_string(threshold));
    }
    options.size_threshold = static_cast<uint64_t>(threshold);
    if (!options.external_path) {
      log.Once(
          Severity::kWarning,
          "size_threshold is set, but external data path has not been set. No external data will "
          "be written.");
    }
  }
  options.one_file = !args.Has("all_tensors_to_one_file");
  return options;
}

}  // namespace vernier
