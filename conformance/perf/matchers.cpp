// SPDX-License-Identifier: Apache-2.0
// Computes bounds and prints values for the matchers.
#include "perf/matchers.h"

#include <cmath>

namespace pmuconf {

bool WithinAccuracy(const EventSpec& spec, std::uint64_t n, std::uint64_t value, std::uint64_t* low,
                    std::uint64_t* high) {
  n *= spec.accuracy.step;
  const auto relative =
      static_cast<std::uint64_t>(std::ceil(spec.accuracy.rel * static_cast<double>(n)));
  const std::uint64_t slack = spec.accuracy.abs > relative ? spec.accuracy.abs : relative;
  const std::uint64_t from = n > slack ? n - slack : 0;
  const std::uint64_t to = n > UINT64_MAX - slack ? UINT64_MAX : n + slack;
  if (low != nullptr) *low = from;
  if (high != nullptr) *high = to;
  return value >= from && value <= to;
}

void PrintTo(const Reading& reading, std::ostream* os) {
  *os << "{value " << reading.value << ", enabled " << reading.time_enabled << " ns, running "
      << reading.time_running << " ns, id " << reading.id << ", lost " << reading.lost << "}";
}

void PrintTo(const GroupEntry& entry, std::ostream* os) {
  *os << "{value " << entry.value << ", id " << entry.id << ", lost " << entry.lost << "}";
}

void PrintTo(const GroupReading& reading, std::ostream* os) {
  *os << "{enabled " << reading.time_enabled << " ns, running " << reading.time_running << " ns";
  for (const GroupEntry& entry : reading.entries) {
    *os << ", ";
    PrintTo(entry, os);
  }
  *os << "}";
}

void PrintTo(const OpenResult& result, std::ostream* os) {
  *os << (result.ok() ? std::string("an open event") : ErrnoName(result.error));
}

void PrintTo(const SysResult& result, std::ostream* os) {
  *os << (result.ok() ? std::to_string(result.value) : ErrnoName(result.error));
}

}  // namespace pmuconf
