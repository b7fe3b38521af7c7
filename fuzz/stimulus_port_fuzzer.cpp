// SPDX-License-Identifier: Apache-2.0
// core/port_arg: an argument of the stimulus port is accepted if every field is within the bounds
// of uapi/refpmu.h, and refused as a whole otherwise. Other bytes do not matter.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "property.h"

extern "C" {
#include "core/port_arg.h"
}

namespace pmuconf::fuzz {
namespace {

// A field of 32 bits: its offset and its maximum.
struct Field {
  std::size_t offset;
  std::uint32_t most;
};

// The bounds in uapi/refpmu.h as a table. Fields of 64 bits have none.
struct RequestKind {
  unsigned cmd;
  std::size_t size;
  std::array<Field, 5> fields;
};

#define AT(type, field, most) \
  Field { offsetof(refpmu_##type, field), most }
constexpr std::array<RequestKind, 11> kKinds = {{
    {REFPMU_IOC_RESET, 0, {}},
    {REFPMU_IOC_INFO, 32, {}},
    {REFPMU_IOC_PULSE,
     88,
     {AT(pulse, event, 0xffff), AT(pulse, privilege, 1), AT(pulse, per_pulse, 63),
      AT(pulse, latency, 0xffff), AT(pulse, reserved, 0)}},
    {REFPMU_IOC_CLOCK, 16, {AT(clock, mode, 1), AT(clock, reserved, 0)}},
    {REFPMU_IOC_ADVANCE, 40, {AT(advance, privilege, 1)}},
    {REFPMU_IOC_REG, 24, {AT(reg, write, 1)}},
    {REFPMU_IOC_LINE, 16, {AT(line, hold, 1), AT(line, reserved, 0)}},
    {REFPMU_IOC_INJECT, 24, {}},
    {REFPMU_IOC_LOG, 24, {}},
    {REFPMU_IOC_STATS, 312, {}},
    {REFPMU_IOC_BRANCHES, 32, {AT(branches, count, 65536), AT(branches, reserved, 0)}},
}};
#undef AT

// The bytes from user space, as the kernel reads them.
class Memory {
 public:
  explicit Memory(std::span<const uint8_t> bytes) {
    std::copy_n(bytes.begin(), std::min(bytes.size(), bytes_.size()), bytes_.begin());
  }
  std::uint32_t Read(std::size_t offset) const {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + offset, sizeof(value));
    return value;
  }
  void Write(std::size_t offset, std::uint32_t value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(value));
  }
  std::array<uint8_t, sizeof(refpmu_port_arg)>& bytes() { return bytes_; }
  refpmu_port_arg arg() const {
    refpmu_port_arg arg;
    std::memcpy(&arg, bytes_.data(), sizeof(arg));
    return arg;
  }
  int Check(unsigned cmd) const {
    const refpmu_port_arg arg = this->arg();
    const int status = refpmu_port_check(cmd, &arg);
    PROPERTY(std::equal(bytes_.begin(), bytes_.end(), reinterpret_cast<const uint8_t*>(&arg)),
             "a request is not changed");
    return status;
  }

 private:
  std::array<uint8_t, sizeof(refpmu_port_arg)> bytes_ = {};
};

// No request has a bound at offset 0, since that is the size.
bool IsValid(const RequestKind& kind, const Memory& memory) {
  if (kind.size == 0) return true;
  if (memory.Read(0) != kind.size) return false;
  return std::all_of(kind.fields.begin(), kind.fields.end(), [&memory](const Field& field) {
    return field.offset == 0 || memory.Read(field.offset) <= field.most;
  });
}

// Each field once at its bound and once above it, in an otherwise valid request.
void CheckBounds(const RequestKind& kind, Memory memory) {
  for (const Field& field : kind.fields) {
    if (field.offset == 0) continue;
    const std::uint32_t before = memory.Read(field.offset);
    memory.Write(field.offset, field.most);
    PROPERTY(memory.Check(kind.cmd) == 0, "a field may have the maximum of the header");
    memory.Write(field.offset, field.most + 1);
    PROPERTY(memory.Check(kind.cmd) == -EINVAL, "a field may not be more than the header says");
    memory.Write(field.offset, before);
  }
}

// Inverting all other bytes, including those after the request, does not change the answer.
void CheckRest(const RequestKind& kind, const Memory& memory, int status) {
  Memory other = memory;
  for (uint8_t& byte : other.bytes()) byte = static_cast<uint8_t>(~byte);
  if (kind.size != 0) other.Write(0, memory.Read(0));
  for (const Field& field : kind.fields)
    if (field.offset != 0) other.Write(field.offset, memory.Read(field.offset));
  PROPERTY(other.Check(kind.cmd) == status, "what has no bound may be anything");
}

void CheckPlain(const Memory& memory) {
  const refpmu_port_arg arg = memory.arg();
  const refpmu_pulse& pulse = arg.pulse;
  const bool plain = (pulse.skid | pulse.latency | pulse.source | pulse.response | pulse.regs) == 0;
  PROPERTY(refpmu_port_check_plain(&arg) == (plain && pulse.per_pulse < 2 ? 0 : -EINVAL),
           "a plain pulse has nothing that only a sample shows");
}

void CheckRequest(const RequestKind& kind, const Memory& memory) {
  PROPERTY(kind.size == _IOC_SIZE(kind.cmd),
           "a request is as long as it was when it was published");
  const int status = memory.Check(kind.cmd);
  const bool valid = IsValid(kind, memory);
  PROPERTY(status == (valid ? 0 : -EINVAL), "a request is taken if each of its fields may be so");
  if (valid) CheckBounds(kind, memory);
  CheckRest(kind, memory, status);
}

void CheckUnknownRequest(unsigned cmd, const Memory& memory) {
  const bool known = std::any_of(kKinds.begin(), kKinds.end(),
                                 [cmd](const RequestKind& kind) { return kind.cmd == cmd; });
  PROPERTY(known || memory.Check(cmd) == -ENOTTY, "what is no request gives ENOTTY");
}

void CheckEntries(const std::vector<refpmu_branch_entry>& entries) {
  const auto n = static_cast<u32>(entries.size());
  const auto invalid = std::find_if(entries.begin(), entries.end(), [](const auto& entry) {
    return entry.kind > 6 || entry.flags > 7 || entry.cycles > 65535 || entry.privilege > 1;
  });
  const auto valid_count = static_cast<u32>(invalid - entries.begin());
  PROPERTY(refpmu_port_check_entries(entries.data(), valid_count) == 0,
           "branches that can happen are taken");
  PROPERTY(refpmu_port_check_entries(entries.data(), n) == (valid_count == n ? 0 : -EINVAL),
           "branches are refused if one of them cannot happen");
}

}  // namespace
}  // namespace pmuconf::fuzz

// The first byte selects the request, the second whether its size is correct; the others are its
// bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace pmuconf::fuzz;
  if (size < 2) return 0;
  const std::span<const uint8_t> rest(bytes + 2, size - 2);
  const RequestKind& kind = kKinds.at(bytes[0] % kKinds.size());
  Memory memory(rest);
  CheckUnknownRequest(memory.Read(0), memory);
  CheckUnknownRequest(kind.cmd ^ 1U << bytes[0] % 32, memory);
  if (bytes[1] % 8 != 0) memory.Write(0, static_cast<std::uint32_t>(kind.size));
  CheckRequest(kind, memory);
  CheckPlain(memory);
  std::vector<refpmu_branch_entry> entries(rest.size() / sizeof(refpmu_branch_entry));
  if (!entries.empty())
    std::memcpy(entries.data(), rest.data(), entries.size() * sizeof(refpmu_branch_entry));
  CheckEntries(entries);
  return 0;
}
