// SPDX-License-Identifier: Apache-2.0
#include "tools/repro/checks.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "tools/repro/child.h"

namespace pmuconf {
namespace {

// PERF_RECORD_CALLCHAIN_DEFERRED, the last one of Linux 7.3.
constexpr std::uint32_t kLastRecord = 22;
constexpr std::size_t kAlignment = 8;

}  // namespace

const char* WrongRecord(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    perf_event_header header = {};
    if (bytes.size() < sizeof(header)) return "a record is cut off before data_head";
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.size < sizeof(header) || header.size % kAlignment != 0) {
      return "a record has an invalid size";
    }
    if (header.size > bytes.size()) return "a record ends behind data_head";
    if (header.type == 0 || header.type > kLastRecord) return "a record has an unknown type";
    bytes = bytes.subspan(header.size);
  }
  return nullptr;
}

std::size_t CountOpenEvents() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::size_t count = 0;
  for (const fs::directory_entry& file : fs::directory_iterator("/proc/self/fd", ignored)) {
    const fs::path to = fs::read_symlink(file.path(), ignored);
    count += to == "anon_inode:[perf_event]" ? 1 : 0;
  }
  return count;
}

const char* ProgramExecutor::CountsWhileDisabled() {
  // A reading is {value, ...} unless it is that of a group, which may have events that no slot has.
  std::array<std::array<std::uint64_t, 32>, kProgramSlots> before = {};
  const auto first = [](const Slot& slot, std::array<std::uint64_t, 32>& reading) {
    if (slot.fd < 0 || slot.grouped) return false;
    const ssize_t size = read(slot.fd, reading.data(), sizeof(reading));
    return size >= ssize_t{sizeof(reading[0])};
  };
  for (const Slot& slot : slots_) {
    if (slot.fd >= 0) ioctl(slot.fd, PERF_EVENT_IOC_DISABLE, 0);
  }
  std::array<bool, kProgramSlots> known = {};
  for (unsigned i = 0; i < kProgramSlots; ++i) known[i] = first(slots_[i], before[i]);
  constexpr std::uint64_t kRounds = 16;
  for (unsigned way = 0; way < ChoiceCount(Operation::kWork); ++way) {
    Step step;
    step.operation = Operation::kWork;
    step.which = way;
    step.value = kRounds;
    DoHere(step);
  }
  for (unsigned which = 0; which < kDrawnPulses && port_.get() >= 0; ++which) {
    Step step;
    step.operation = Operation::kPulse;
    step.which = which;
    step.value = kRounds;
    DoHere(step);
  }
  for (unsigned i = 0; i < kProgramSlots; ++i) {
    std::array<std::uint64_t, 32> after = {};
    if (known[i] && first(slots_[i], after) && after[0] != before[i][0]) {
      return "the count of a disabled event changes";
    }
  }
  return nullptr;
}

}  // namespace pmuconf
