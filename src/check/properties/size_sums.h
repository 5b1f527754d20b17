// Dimensions of a model that must be as large as others together.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/properties/properties.h"
#include "check/runners/sample_drawer.h"

namespace vernier {

/// The first of these dimensions that the runner takes with the sizes of two others together, or of
/// one and 1 more, and refuses with one element less: a mask over cached and new tokens. One more
/// it either refuses, too, or always takes: of such a mask the end alone counts. With `equal`,
/// dimensions that are as large as another one come last; without it they are not tried, as giving
/// all dimensions one size is enough for them. It is tried at two places, with those that are
/// `known`. Dimensions without a name are left out.
std::optional<SizeSum> FindSizeSum(Subject& subject, std::span<const std::string> dimensions,
                                   std::span<const SizeSum> known, bool equal);

bool IsSum(std::span<const SizeSum> sums, std::string_view dimension);

/// "'total' as large as 'past' and 'tokens' together, which the model needs"; empty: there are
/// none.
std::string DescribeSums(std::span<const SizeSum> sums);

}  // namespace vernier
