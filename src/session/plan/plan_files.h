// A run that would write over what it reads.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// A file that is read, and the option that names it.
struct FileRead {
  std::string path;
  std::string_view flag;
};

/// kInvalidArgument, in one sentence, where a file that the plan saves is there already and is one
/// that it reads, or that is read besides: models with their external weights, saved data with the
/// files of their folders, scripts, what runners are given; or where two things would be saved to
/// one file, `log_file` included where it is not empty. Inputs, outputs and blobs among each other
/// are ValidatePlan()'s. Models are opened only where a file that is saved exists.
Status CheckPlanFiles(const RunPlan& plan, std::span<const FileRead> read_besides = {},
                      const std::string& log_file = {});

// What the check of a plan and that of a command line (options/bind/file_conflicts.h) have in
// common.

/// Whether a file at this path is data that writing would replace, or will be data: a regular file,
/// or nothing yet. Devices, pipes and folders are not.
bool IsPlaceOfData(const std::string& path);

/// kInvalidArgument: `path`, which `flag` has this `reader` ("run", "command") write, is read by
/// it. `read_by`: the option that names it there; may be empty.
Status WouldOverwrite(std::string_view flag, const std::string& path, std::string_view reader,
                      std::string_view read_by);
/// kInvalidArgument: two options would write `path`.
Status WouldBeWrittenTwice(std::string_view first, std::string_view second,
                           const std::string& path);

/// Whether writing the file `written` would replace one that a reader of the folder or file `read`
/// reads: the same file, or JSON and ONNX test data within the folder.
bool WouldReplaceData(const std::string& written, const std::string& read);

}  // namespace vernier
