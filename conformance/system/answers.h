// SPDX-License-Identifier: Apache-2.0
// Hooks of a program that alters what the kernel answers to a case (conformance/lies). They are
// null unless a lie is on.
#ifndef PMUCONF_SYSTEM_ANSWERS_H_
#define PMUCONF_SYSTEM_ANSWERS_H_

#include <optional>
#include <string>
#include <vector>

namespace pmuconf {

struct FileAnswers {
  void (*file)(const std::string& path, std::optional<std::string>* text) = nullptr;
  void (*folder)(const std::string& path, std::vector<std::string>* names) = nullptr;
};
FileAnswers& file_answers();

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_ANSWERS_H_
