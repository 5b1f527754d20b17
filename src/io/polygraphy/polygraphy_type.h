// Which of Polygraphy's classes a JSON object stands for.
#pragma once

#include <string>
#include <string_view>

#include "io/json/json_tape.h"
#include "vernier/status.h"

namespace vernier {

/// "ndarray", "RunResults", ...; "" for a plain object or another kind of value. Knows the marker
/// `polygraphy_class` and the older `__polygraphy_encoded_<Type>`; LazyNumpyArray is LazyArray.
/// kMalformed for a class that is not one of Polygraphy's.
Result<std::string> PolygraphyTypeOf(JsonValue value);

/// What Python would call the type of the decoded value: "<class 'list'>", with what we call it:
/// "<class 'list'> (a list of saved inputs)".
std::string DescribeDecoded(JsonValue value);

}  // namespace vernier
