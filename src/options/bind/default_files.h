// The names of files that --output-dir has written where no option gives another.
#pragma once

namespace vernier {

inline constexpr const char* kDefaultRecord = "record.json";
inline constexpr const char* kDefaultReport = "report.html";
inline constexpr const char* kDefaultLog = "run.log";

}  // namespace vernier
