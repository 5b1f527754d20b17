// Numbers of the ZIP format (PKWARE APPNOTE 6.3.10) that the reader and the writer share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vernier::zip {

inline constexpr uint32_t kLocalSignature = 0x04034b50;
inline constexpr uint32_t kEntrySignature = 0x02014b50;
inline constexpr uint32_t kEndSignature = 0x06054b50;
inline constexpr uint32_t kEnd64Signature = 0x06064b50;
inline constexpr uint32_t kLocator64Signature = 0x07064b50;

inline constexpr size_t kLocalSize = 30;
inline constexpr size_t kEntrySize = 46;
inline constexpr size_t kEndSize = 22;
inline constexpr size_t kEnd64Size = 56;
inline constexpr size_t kLocator64Size = 20;

inline constexpr uint16_t kZip64Field = 1;
inline constexpr uint16_t kPaddingField = 0xd935;  // zipalign's
inline constexpr uint16_t kEncryptedFlag = 1;
inline constexpr uint16_t kUtf8Flag = 0x800;
inline constexpr uint16_t kStored = 0;
inline constexpr uint16_t kDeflated = 8;
inline constexpr uint16_t kVersion = 45;  // ZIP64

// A field with all bits set: the number is in the ZIP64 field or record.
inline constexpr uint32_t kMax32 = 0xffffffff;
inline constexpr uint16_t kMax16 = 0xffff;

// Texts and directories of more are neither read nor written.
inline constexpr uint64_t kMostText = uint64_t{1} << 30;

}  // namespace vernier::zip
