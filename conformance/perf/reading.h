// SPDX-License-Identifier: Apache-2.0
// Parses readings inside longer data: results of read(2) and samples.
#ifndef PMUCONF_PERF_READING_H_
#define PMUCONF_PERF_READING_H_

#include "perf/event.h"
#include "text/byte_reader.h"

namespace pmuconf {

Reading ReadReading(ByteReader* reader, std::uint64_t read_format);
GroupReading ReadGroupReading(ByteReader* reader, std::uint64_t read_format);

}  // namespace pmuconf

#endif  // PMUCONF_PERF_READING_H_
