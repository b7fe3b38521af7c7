// SPDX-License-Identifier: Apache-2.0
// Parses readings inside longer data: results of read(2) and samples.
#ifndef PMUCONF_LIB_READING_H_
#define PMUCONF_LIB_READING_H_

#include "lib/words.h"
#include "pmuconf/event.h"

namespace pmuconf {

Reading TakeReading(Words* words, std::uint64_t read_format);
GroupReading TakeGroupReading(Words* words, std::uint64_t read_format);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_READING_H_
