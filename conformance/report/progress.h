// SPDX-License-Identifier: Apache-2.0
// Shows a person where a run is: one line that changes on a terminal, a line a case elsewhere.
#ifndef PMUCONF_REPORT_PROGRESS_H_
#define PMUCONF_REPORT_PROGRESS_H_

#include <chrono>
#include <ostream>
#include <string>

#include "lib/result.h"

namespace pmuconf {

class Progress {
 public:
  // `live`: `os` is a terminal; `colour`: and may be painted.
  Progress(std::size_t total, bool live, bool colour, std::ostream& os)
      : total_(total), live_(live), colour_(colour), os_(os) {}

  void Begin(const std::string& id);
  void End(const CaseResult& result);

 private:
  void Clear();

  std::size_t total_, done_ = 0, bad_ = 0;
  bool live_, colour_;
  std::ostream& os_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

// Whether to paint what goes to descriptor `fd`: a terminal, and no NO_COLOR (no-color.org).
bool Colour(int fd);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_PROGRESS_H_
