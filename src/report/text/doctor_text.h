// The page that vernier doctor prints.
#pragma once

#include <string>

#include "record/schema/doctor_record.h"

namespace vernier {

/// Sections with a line for each part; below what is not usable, why, what it would enable and the
/// command that gets it. At the end the counts, and each fault.
std::string FormatDoctorText(const DoctorRecord& record);

}  // namespace vernier
