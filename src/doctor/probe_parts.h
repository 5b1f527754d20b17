// Looks at what is here: each function fills one section of vernier doctor.
#pragma once

#include <string>
#include <vector>

#include "doctor/known_parts.h"
#include "record/schema/doctor_record.h"

namespace vernier {

/// This installation: the executable, the folders of its plug-ins, its Python part.
std::vector<DoctorPart> ProbeProgram(const std::vector<std::string>& backend_path);

/// The interpreter, and the packages that it has. `place` gets what was found. `given` is what
/// --python names, or empty.
std::vector<DoctorPart> ProbePackages(const std::string& given, PythonPlace& place);

/// Every plug-in in a process of its own, all at once; and the backends that this build lacks.
std::vector<DoctorPart> ProbeBackends(const std::vector<std::string>& backend_path,
                                      const PythonPlace& python);

/// NVIDIA's driver, its devices, and this build's kernels for them.
std::vector<DoctorPart> ProbeGpu();

/// Memory that workers share, memory at all, temporary space, processors, open files.
std::vector<DoctorPart> ProbeSystem();

}  // namespace vernier
