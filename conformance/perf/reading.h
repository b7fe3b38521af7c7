// SPDX-License-Identifier: Apache-2.0
// Parses readings inside longer data: results of read(2) and samples.
#ifndef PMUCONF_PERF_READING_H_
#define PMUCONF_PERF_READING_H_

#include "perf/event.h"
#include "text/words.h"

namespace pmuconf {

Reading TakeReading(Words* words, std::uint64_t read_format);
GroupReading TakeGroupReading(Words* words, std::uint64_t read_format);

}  // namespace pmuconf

#endif  // PMUCONF_PERF_READING_H_
