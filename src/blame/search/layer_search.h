// All layers of the candidate, batch by batch: which tensors differ, and which layers cause that.
#pragma once

#include <cstddef>
#include <vector>

#include "blame/graph/probe_plan.h"
#include "blame/probe/search_subject.h"
#include "blame/sides/memory_plan.h"
#include "blame/sides/reference_probe.h"
#include "vernier/blame_record.h"
#include "vernier/status.h"

namespace vernier {

struct LayerPlan {
  MemoryPlan memory;
  std::vector<ProbeBatch> batches;

  /// That are to be looked at.
  size_t layers() const;
};

/// Divides the layers with a visible output into batches that fit in the memory that is free now.
/// Logs how much that is, and where a limit cannot be kept.
LayerPlan PlanLayers(const SearchSubject& subject, const NameSet& visible);

/// Examines the layers of the plan, and with --resume continues from what an interrupted search has
/// saved. Fills layers, disturbance, batches, planned_bytes and resume_key of `record`, and extends
/// `findings`; on error they have what was found until then. kCancelled; kMalformed for files of
/// saved outputs or of --resume that are damaged or do not belong here; kIo.
Status SearchLayers(const SearchSubject& subject, const ReferenceSource& source, LayerPlan plan,
                    TensorFindings& findings, BlameRecord& record);

}  // namespace vernier
