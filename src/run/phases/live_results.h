// What the live runners of a run have made: all of it stays, whatever ends the run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "run/feeds/feed_stream.h"
#include "run/saved/output_savers.h"
#include "run/saved/output_spill.h"
#include "run/saved/saved_progress.h"
#include "vernier/status.h"

namespace vernier {

struct LiveResults {
  Status status = {};                            ///< why the run cannot go on
  std::unique_ptr<FeedStream> feeds = {};        ///< as far as they were used; null: nothing is fed
  std::unique_ptr<SavedProgress> progress = {};  ///< what --resume goes on from; null without
  std::optional<OutputSavers> savers = {};       ///< from the first feed on
  std::unique_ptr<OutputSpill> spill = {};       ///< of runners that take turns; else null
  /// Feeds whose turn came, of the runner that got furthest: more may have been read. nullopt
  /// before the first.
  std::optional<int64_t> feeds_used = {};
  bool feeds_ended = false;  ///< the turn of the end came, behind the last feed
  int64_t iterations = 0;    ///< of the runner that got furthest
  /// --strict: which runners do not run with sizes of 1, and others do; empty: there are none.
  std::string refused_sizes = {};
};

}  // namespace vernier
