// SPDX-License-Identifier: Apache-2.0
// Lies about memory and files: records, control pages, counters, BPF variables, texts.
#ifndef PMUCONF_LIES_ANSWERS_H_
#define PMUCONF_LIES_ANSWERS_H_

#include <linux/perf_event.h>

#include <optional>
#include <string>
#include <vector>

#include "lies/liar.h"
#include "perf/ring.h"

namespace pmuconf {

// Sets the hooks of system/answers.h and perf/answers.h.
void HookAnswers();

// The parts of HookAnswers() that change values.
void LieAboutRecords(Liar* liar, const perf_event_attr& attr, std::vector<Record>* records);
void LieAboutFile(Liar* liar, const std::string& path, std::optional<std::string>* text);
void LieAboutFolder(Liar* liar, const std::string& path, std::vector<std::string>* names);

}  // namespace pmuconf

#endif  // PMUCONF_LIES_ANSWERS_H_
