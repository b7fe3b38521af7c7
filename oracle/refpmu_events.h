// SPDX-License-Identifier: Apache-2.0
// Tables of refpmu's events and formats, written independently of the driver, for the errno model
// and the fuzz harness, which check the driver's own lists.
#ifndef PMUCONF_ORACLE_REFPMU_EVENTS_H_
#define PMUCONF_ORACLE_REFPMU_EVENTS_H_

#include <array>
#include <cstdint>

namespace pmuconf {

// format/: event config:0-7, umask config:8-15, edge config:18, inv config:23, cmask config:24-31
inline constexpr std::uint64_t kRefpmuCode = 0xffff;
inline constexpr std::uint64_t kRefpmuEdge = 1ull << 18;
inline constexpr std::uint64_t kRefpmuInv = 1ull << 23;
inline constexpr std::uint64_t kRefpmuCmask = 0xffull << 24;
inline constexpr std::uint64_t kRefpmuConfig =
    kRefpmuCode | kRefpmuEdge | kRefpmuInv | kRefpmuCmask;

enum class RefpmuPlace { kAny, kFirstTwo, kLast, kPairs, kRecords };

struct RefpmuEvent {
  std::uint64_t code;
  int fixed;  // fixed counter, -1 for none
  RefpmuPlace place;
};

// The events in the driver's documentation, one entry per code.
inline constexpr std::array<RefpmuEvent, 24> kRefpmuEvents = {{
    {0x003c, 1, RefpmuPlace::kAny},      {0x00c0, 0, RefpmuPlace::kAny},
    {0x013c, 2, RefpmuPlace::kAny},      {0x01d0, -1, RefpmuPlace::kAny},
    {0x01d1, -1, RefpmuPlace::kAny},     {0x01d2, -1, RefpmuPlace::kFirstTwo},
    {0x01d3, -1, RefpmuPlace::kLast},    {0x01d4, -1, RefpmuPlace::kPairs},
    {0x00c4, -1, RefpmuPlace::kAny},     {0x00c5, -1, RefpmuPlace::kAny},
    {0x01b7, -1, RefpmuPlace::kRecords}, {0x01bb, -1, RefpmuPlace::kRecords},
    {0x01cd, -1, RefpmuPlace::kRecords}, {0x4f2e, -1, RefpmuPlace::kAny},
    {0x412e, -1, RefpmuPlace::kAny},     {0x01b1, -1, RefpmuPlace::kAny},
    {0x81d0, -1, RefpmuPlace::kAny},     {0x82d0, -1, RefpmuPlace::kAny},
    {0x0151, -1, RefpmuPlace::kAny},     {0x0283, -1, RefpmuPlace::kAny},
    {0x0e08, -1, RefpmuPlace::kAny},     {0x0e49, -1, RefpmuPlace::kAny},
    {0x2085, -1, RefpmuPlace::kAny},     {0x0e85, -1, RefpmuPlace::kAny},
}};

struct RefpmuEncoding {
  std::uint64_t config;
  std::uint64_t config1;
};

// Encodings of PERF_COUNT_HW_*, in their order.
inline constexpr std::array<RefpmuEncoding, 10> kRefpmuGeneric = {{
    {0x003c, 0},
    {0x00c0, 0},
    {0x4f2e, 0},
    {0x412e, 0},
    {0x00c4, 0},
    {0x00c5, 0},
    {0x0104013c, 0},  // bus-cycles: edges of the reference clock
    {0x018000c0, 0},  // stalled-cycles-frontend: cycles in which no instruction retires
    {0x018001b1, 0},  // stalled-cycles-backend: cycles in which nothing executes
    {0x013c, 0},
}};

struct RefpmuCacheEvent {
  std::uint64_t id;  // cache | operation << 8 | result << 16
  RefpmuEncoding encoding;
};

// Bits of OFFCORE_RSP. Requests: read 0x1, write 0x2, prefetch 0x10. Responses: from any source,
// from memory, from remote memory.
inline constexpr std::uint64_t kRefpmuAnybody = 0x3ffffc0000;
inline constexpr std::uint64_t kRefpmuMemory = 0x3fffc00000;
inline constexpr std::uint64_t kRefpmuRemote = 0x3fff800000;
inline constexpr std::array<RefpmuCacheEvent, 22> kRefpmuCaches = {{
    {0x00000, {0x81d0, 0}},
    {0x10000, {0x0151, 0}},
    {0x00100, {0x82d0, 0}},
    {0x10001, {0x0283, 0}},
    {0x00002, {0x01b7, kRefpmuAnybody | 0x1}},
    {0x10002, {0x01b7, kRefpmuMemory | 0x1}},
    {0x00102, {0x01b7, kRefpmuAnybody | 0x2}},
    {0x10102, {0x01b7, kRefpmuMemory | 0x2}},
    {0x00202, {0x01b7, kRefpmuAnybody | 0x10}},
    {0x10202, {0x01b7, kRefpmuMemory | 0x10}},
    {0x00003, {0x81d0, 0}},
    {0x10003, {0x0e08, 0}},
    {0x00103, {0x82d0, 0}},
    {0x10103, {0x0e49, 0}},
    {0x00004, {0x2085, 0}},
    {0x10004, {0x0e85, 0}},
    {0x00005, {0x00c4, 0}},
    {0x10005, {0x00c5, 0}},
    {0x00006, {0x01b7, kRefpmuMemory | 0x1}},
    {0x10006, {0x01b7, kRefpmuRemote | 0x1}},
    {0x00106, {0x01b7, kRefpmuMemory | 0x2}},
    {0x10106, {0x01b7, kRefpmuRemote | 0x2}},
}};

constexpr const RefpmuEvent* RefpmuByCode(std::uint64_t code) {
  for (const RefpmuEvent& event : kRefpmuEvents) {
    if (event.code == code) return &event;
  }
  return nullptr;
}

// Return nullptr for an invalid number, or for a cache event that the device does not support.
constexpr const RefpmuEncoding* RefpmuByGeneric(std::uint64_t id) {
  return id < kRefpmuGeneric.size() ? &kRefpmuGeneric[id] : nullptr;
}
constexpr const RefpmuEncoding* RefpmuByCache(std::uint64_t id) {
  for (const RefpmuCacheEvent& event : kRefpmuCaches) {
    if (event.id == id) return &event.encoding;
  }
  return nullptr;
}

// Returns whether the three fields of a PERF_TYPE_HW_CACHE number are in range.
constexpr bool RefpmuIsCache(std::uint64_t id) {
  return (id & 0xff) < 7 && (id >> 8 & 0xff) < 3 && (id >> 16) < 2;
}

// Returns the valid bits of config1 for that code.
constexpr std::uint64_t RefpmuConfig1(std::uint64_t code) {
  if (code == 0x01b7 || code == 0x01bb) return 0x3fffff8fff;
  return code == 0x01cd ? 0xffff : 0;
}

// PERF_SAMPLE_BRANCH_* bits: those that select kinds of branches, and all that the driver knows.
inline constexpr std::uint64_t kRefpmuBranchCallStack = 0x800, kRefpmuBranchKinds = 0x3ff8,
                               kRefpmuBranchKnown = 0x7ffff;

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_REFPMU_EVENTS_H_
