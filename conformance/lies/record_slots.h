// SPDX-License-Identifier: Apache-2.0
// The fields of a record or reading, by the attr of its event.
#ifndef PMUCONF_LIES_RECORD_SLOTS_H_
#define PMUCONF_LIES_RECORD_SLOTS_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "lies/slots.h"
#include "perf/ring.h"

namespace pmuconf {

// Adds the fields of a reading: "nr", "value", "time_enabled", "time_running", "id", "lost", each
// with `prefix`. Bytes that are too short for a field have no such field. Returns the bytes used.
std::size_t AddReading(std::span<std::byte> bytes, std::uint64_t read_format,
                       const std::string& prefix, Slots* slots);

// Adds "type", "misc", and the fields of the body. A field of a list has one slot for each entry.
// The trailer of sample_id_all has names such as "trailer.tid".
void AddRecord(Record* record, const perf_event_attr& attr, Slots* slots);

// Names that AddReading (without a prefix) and AddRecord can add.
std::vector<std::string> ReadingNames();
std::vector<std::string> RecordNames();

}  // namespace pmuconf

#endif  // PMUCONF_LIES_RECORD_SLOTS_H_
