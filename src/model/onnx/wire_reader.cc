#include "model/onnx/wire_reader.h"

#include <bit>
#include <cstring>
#include <protozero/buffer_string.hpp>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace vernier {

void WireSource::Fail(const char* at, OnnxMessage message, uint32_t field, std::string reason) {
  if (fault_) return;
  fault_ = Fault{static_cast<size_t>(at - file_.data()), message, field, std::move(reason)};
}

Status WireSource::FaultStatus(std::string_view path) const {
  if (!fault_) return {};
  std::string where(MessageName(fault_->message));
  if (const OnnxFieldInfo* field = FindField(fault_->message, fault_->field)) {
    where += "." + std::string(field->name);
  }
  return Malformed("'" + std::string(path) + "' is not a valid ONNX file: byte " +
                   std::to_string(fault_->offset) + ", " + where + ": " + fault_->reason);
}

void WireReader::FailAt(const char* at, std::string reason) {
  source_->Fail(at, message_, field_, std::move(reason));
  at_ = end_;
}

uint64_t WireReader::Varint() {
  const char* const start = at_;
  try {
    return protozero::decode_varint(&at_, end_);
  } catch (const protozero::end_of_buffer_exception&) {
    FailAt(start, "the data ends inside a number");
  } catch (const protozero::exception&) {
    FailAt(start, "a number is longer than ten bytes");
  }
  return 0;
}

// Tags and lengths are 32-bit: protobuf's parsers refuse longer spellings.
uint64_t WireReader::ShortVarint(const char* what) {
  const char* const start = at_;
  const uint64_t value = Varint();
  if (!failed() && (at_ - start > 5 || value > UINT32_MAX)) FailAt(start, what);
  return failed() ? 0 : value;
}

bool WireReader::Next() {
  if (at_ == end_ || source_->failed()) return false;
  tag_at_ = at_;
  field_ = 0;
  const uint64_t tag = ShortVarint("this is not a field of the protobuf format");
  if (source_->failed()) return false;
  if ((tag >> 3) == 0) {
    FailAt(tag_at_, "this is not a field of the protobuf format");
    return false;
  }
  field_ = static_cast<uint32_t>(tag >> 3);
  const auto type = static_cast<unsigned>(tag & 7);
  if (type > 5 || type == 3 || type == 4) {
    FailAt(tag_at_, "wire type " + std::to_string(type) + " is not used by ONNX");
    return false;
  }
  type_ = static_cast<WireType>(type);
  return true;
}

void WireReader::SkipFixed(size_t size) {
  if (static_cast<size_t>(end_ - at_) < size) {
    Fail("the data ends inside a number");
    return;
  }
  at_ += size;
}

uint32_t WireReader::Fixed32() {
  const char* const start = at_;
  SkipFixed(4);
  uint32_t value = 0;
  if (!failed()) std::memcpy(&value, start, sizeof(value));
  return value;
}

std::string_view WireReader::Bytes() {
  const char* const start = at_;
  const uint64_t length = ShortVarint("this is not a length");
  if (failed()) return {};
  const auto left = static_cast<uint64_t>(end_ - at_);
  if (length > left) {
    FailAt(start, "a length of " + std::to_string(length) + " bytes where " + std::to_string(left) +
                      " are left");
    return {};
  }
  const std::string_view bytes(at_, static_cast<size_t>(length));
  at_ += length;
  return bytes;
}

WireReader WireReader::Message(OnnxMessage child) {
  const char* const start = at_;
  const std::string_view bytes = Bytes();
  if (depth_ + 1 > kWireDepthLimit) {
    FailAt(start, "messages are nested more than " + std::to_string(kWireDepthLimit) + " deep");
  }
  // A cursor must not be null: arithmetic on its pointers would be undefined.
  return WireReader(*source_, child, failed() ? std::string_view(end_, 0) : bytes, depth_ + 1);
}

void WireReader::CheckPacked(OnnxField kind, std::string_view bytes) {
  if (kind == OnnxField::kPackedWord && bytes.size() % 4 != 0) {
    FailAt(bytes.data(), "its size is not a multiple of four bytes");
  }
  if (kind == OnnxField::kPackedLong && bytes.size() % 8 != 0) {
    FailAt(bytes.data(), "its size is not a multiple of eight bytes");
  }
  if (kind != OnnxField::kPackedVarint || bytes.empty()) return;
  WireReader numbers(*source_, message_, bytes, depth_);
  numbers.field_ = field_;
  while (numbers.at_ != numbers.end_) numbers.Varint();
}

// A cursor over the numbers of the field, packed or single.
WireReader WireReader::Packed() {
  const char* const start = at_;
  if (type_ == WireType::kBytes) {
    const std::string_view bytes = Bytes();
    WireReader numbers(*source_, message_, failed() ? std::string_view(end_, 0) : bytes, depth_);
    numbers.field_ = field_;
    return numbers;
  }
  Skip();
  const std::string_view single(start, failed() ? 0 : static_cast<size_t>(at_ - start));
  WireReader numbers(*source_, message_, single, depth_);
  numbers.field_ = field_;
  return numbers;
}

void WireReader::AppendInts(std::vector<int64_t>& out) {
  if (type_ != WireType::kVarint && type_ != WireType::kBytes) return Skip();
  WireReader numbers = Packed();
  while (numbers.at_ != numbers.end_) {
    const int64_t value = numbers.Int64();
    if (!failed()) out.push_back(value);
  }
}

void WireReader::AppendFloats(std::vector<float>& out) {
  if (type_ != WireType::kFixed32 && type_ != WireType::kBytes) return Skip();
  WireReader numbers = Packed();
  while (numbers.at_ != numbers.end_) {
    const auto value = std::bit_cast<float>(numbers.Fixed32());
    if (!failed()) out.push_back(value);
  }
}

void WireReader::Skip() {
  switch (type_) {
    case WireType::kVarint:
      Varint();
      return;
    case WireType::kFixed64:
      SkipFixed(8);
      return;
    case WireType::kFixed32:
      SkipFixed(4);
      return;
    case WireType::kBytes:
      break;
  }
  const OnnxFieldInfo* info = FindField(message_, field_);
  if (info != nullptr && info->kind == OnnxField::kMessage) {
    WireReader inner = Message(info->child);
    while (inner.Next()) inner.Skip();
    return;
  }
  const std::string_view bytes = Bytes();
  if (info != nullptr) CheckPacked(info->kind, bytes);
}

void AppendVarint(std::string& out, uint64_t value) {
  protozero::add_varint_to_buffer(&out, value);
}

void AppendTag(std::string& out, uint32_t field, WireType type) {
  AppendVarint(out, uint64_t{field} << 3 | static_cast<uint64_t>(type));
}

void AppendVarintField(std::string& out, uint32_t field, uint64_t value) {
  AppendTag(out, field, WireType::kVarint);
  AppendVarint(out, value);
}

void AppendBytesField(std::string& out, uint32_t field, std::string_view bytes) {
  AppendTag(out, field, WireType::kBytes);
  AppendVarint(out, bytes.size());
  out += bytes;
}

}  // namespace vernier
