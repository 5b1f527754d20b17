// What a search costs where TensorRT builds an engine for every model that it runs.
#pragma once

#include <cstddef>

#include "blame/probe/search_subject.h"
#include "blame/sides/search_sides.h"
#include "util/log.h"

namespace vernier {

/// Before the first of them: that engines are built, and how many at least. Nothing where no side
/// builds any.
void AnnounceBuilds(const SearchSides& sides, Logger& logger);

/// After the first: how long it took, and how many more this many batches need.
void ForecastBuilds(const SearchSubject& subject, size_t batches);

}  // namespace vernier
