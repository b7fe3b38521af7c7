// SPDX-License-Identifier: Apache-2.0
// Parts of the perf ABI that the headers of the oldest supported distribution lack. Their source is
// include/uapi/linux/perf_event.h of Linux 7.2.
#ifndef PMUCONF_PERF_NEWER_ABI_H_
#define PMUCONF_PERF_NEWER_ABI_H_

#include <linux/perf_event.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pmuconf {

// The flags of the attr are 64 bits, whose bit 0 is attr.disabled. Linux 6.19 added these two.
inline constexpr std::size_t kFlagsOffset = 40;
inline constexpr unsigned kDeferCallchain = 38;
inline constexpr unsigned kDeferOutput = 39;
static_assert(offsetof(perf_event_attr, read_format) == kFlagsOffset - 8);

inline void SetFlag(perf_event_attr* attr, unsigned bit) {
  auto* const at = reinterpret_cast<std::byte*>(attr) + kFlagsOffset;
  std::uint64_t flags = 0;
  std::memcpy(&flags, at, sizeof(flags));
  flags |= std::uint64_t{1} << bit;
  std::memcpy(at, &flags, sizeof(flags));
}

// PERF_CONTEXT_USER_DEFERRED: a cookie follows it in the call chain of a sample.
inline constexpr auto kContextUserDeferred = static_cast<std::uint64_t>(-640);
// PERF_RECORD_CALLCHAIN_DEFERRED: the user addresses that belong to a cookie.
inline constexpr std::uint32_t kRecordCallchainDeferred = 22;

inline constexpr std::size_t kConfig3Offset = 128;
inline constexpr std::size_t kConfig4Offset = 136;

// An attr of 144 bytes. It ends with config4.
class LongAttr {
 public:
  static constexpr std::uint32_t kSize = 144;

  explicit LongAttr(const perf_event_attr& attr) {
    static_assert(PERF_ATTR_SIZE_VER7 == kConfig3Offset);
    std::memcpy(bytes_.data(), &attr, PERF_ATTR_SIZE_VER7);
    SetSize(kSize);
  }

  void SetSize(std::uint32_t size) {
    std::memcpy(&bytes_[offsetof(perf_event_attr, size)], &size, sizeof(size));
  }
  void SetWord(std::size_t offset, std::uint64_t value) {
    std::memcpy(&bytes_[offset], &value, sizeof(value));
  }
  const std::byte* data() const { return bytes_.data(); }

 private:
  std::array<std::byte, kSize> bytes_ = {};
};

}  // namespace pmuconf

#endif  // PMUCONF_PERF_NEWER_ABI_H_
