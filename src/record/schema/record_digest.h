// What a record says in short, for tables over many runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vernier/run_record.h"

namespace vernier {

struct RecordDigest {
  int64_t pairs = 0;      ///< of sides that were to be compared
  int64_t outputs = 0;    ///< compared, over all pairs
  int64_t failed = 0;     ///< of these
  int64_t partial = 0;    ///< of these: agree, in fewer iterations than were requested
  int64_t elements = 0;   ///< of one iteration of these
  int64_t vacuous = 0;    ///< of these: their agreement shows nothing
  int64_t retyped = 0;    ///< outputs whose element types differ
  int64_t one_sided = 0;  ///< outputs without a counterpart
  int64_t left_out = 0;   ///< outputs that a script dropped or gave no verdict on
  std::string worst_output;
  double worst_times_tolerance = 0;  ///< 0 without a worst output
  std::string retyped_output;        ///< the first of `retyped`: "y (int32 against int64)"
  std::vector<std::string> saved;    ///< files of tensors
  std::string error;  ///< why the run was given up, the first runner failed, or a file is missing
};

RecordDigest DigestOf(const RunRecord& record);

}  // namespace vernier
