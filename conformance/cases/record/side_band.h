// SPDX-License-Identifier: Apache-2.0
// Helpers of the cases about side-band records: an event that requests them, and access to their
// bytes.
#ifndef PMUCONF_CASES_RECORD_SIDE_BAND_H_
#define PMUCONF_CASES_RECORD_SIDE_BAND_H_

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cases/common.h"
#include "perf/ring.h"
#include "rules/REC.h"

namespace pmuconf {

// All id fields that sample_id_all can add to the end of a record.
inline constexpr std::uint64_t kTrailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                          PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                                          PERF_SAMPLE_IDENTIFIER;
inline constexpr std::size_t kTrailerBytes = 48;

template <typename T>
T At(const Record& record, std::size_t offset) {
  T value = {};
  if (offset + sizeof(T) > record.body.size()) {
    ADD_FAILURE() << "record of " << record.body.size() << " bytes ends before " << offset;
    return value;
  }
  std::memcpy(&value, record.body.data() + offset, sizeof(T));
  return value;
}

// The name at `offset`. Checks that zeros pad it to the next multiple of 8 bytes, where the id
// fields begin.
inline std::string NameAt(const Record& record, std::size_t offset) {
  if (offset + kTrailerBytes >= record.body.size()) {
    ADD_FAILURE() << "record of " << record.body.size() << " bytes has no name at " << offset;
    return {};
  }
  const auto* begin = reinterpret_cast<const char*>(record.body.data()) + offset;
  const std::string field(begin, record.body.size() - kTrailerBytes - offset);
  std::string name = field.substr(0, field.find('\0'));
  EXPECT_EQ(field, name + std::string((name.size() / 8 + 1) * 8 - name.size(), '\0'));
  return name;
}

// The offset of the id fields at the end of `record`.
inline std::size_t TrailerOf(const Record& record) {
  EXPECT_GE(record.body.size(), kTrailerBytes) << rule::REC_024;
  return record.body.size() < kTrailerBytes ? 0 : record.body.size() - kTrailerBytes;
}

inline std::uint32_t TrailerTid(const Record& record) {
  return At<std::uint32_t>(record, TrailerOf(record) + 4);
}

// Checks the id fields at the end of `record`, which `task` caused on this CPU.
inline void ExpectTrailer(const Record& record, const Event& event, pid_t task) {
  const std::size_t begin = TrailerOf(record);
  EXPECT_EQ(At<std::uint32_t>(record, begin), static_cast<std::uint32_t>(task)) << rule::REC_024;
  EXPECT_EQ(At<std::uint32_t>(record, begin + 4), static_cast<std::uint32_t>(task))
      << rule::REC_024;
  EXPECT_NE(At<std::uint64_t>(record, begin + 8), 0u) << rule::REC_024;
  EXPECT_EQ(At<std::uint64_t>(record, begin + 16), event.Id()) << rule::REC_024;
  EXPECT_EQ(At<std::uint64_t>(record, begin + 24), event.Id()) << rule::REC_024;
  EXPECT_EQ(At<std::uint32_t>(record, begin + 32), static_cast<std::uint32_t>(CurrentCpu()))
      << rule::REC_024;
  EXPECT_EQ(At<std::uint64_t>(record, begin + 40), event.Id()) << rule::REC_024;
}

// Sets the bits of an attr that request records.
using AttrEdit = std::function<void(perf_event_attr&)>;

// An enabled event that requests records, with a ring buffer for them. By default it counts an
// event of the target.
class SideBand {
 public:
  explicit SideBand(const AttrEdit& edit, const OpenOptions& options = {})
      : SideBand(target().AnyEvent(), edit, options) {}
  SideBand(const EventSpec& spec, const AttrEdit& edit, const OpenOptions& options = {})
      : event_(Open(spec, WithEdit(edit, options))), ring_(event_, 8) {
    event_.Enable();
  }

  const Event& event() const { return event_; }

  // Returns all records since the last call.
  std::vector<Record> DrainRaw() { return ring_.DrainRaw(); }
  // Does the same, and checks that all of them have that type.
  std::vector<Record> DrainRaw(std::uint32_t type) {
    std::vector<Record> records = DrainRaw();
    for (const Record& record : records) EXPECT_EQ(record.type, type);
    return records;
  }

 private:
  static OpenOptions WithEdit(const AttrEdit& edit, OpenOptions options) {
    options.sample_type = kTrailer;
    options.sample_id_all = true;
    options.edit = edit;
    return options;
  }

  Event event_;
  Ring ring_;
};

inline std::uint32_t Unsigned(pid_t id) { return static_cast<std::uint32_t>(id); }

}  // namespace pmuconf

#endif  // PMUCONF_CASES_RECORD_SIDE_BAND_H_
