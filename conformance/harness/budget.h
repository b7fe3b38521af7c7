// SPDX-License-Identifier: Apache-2.0
// A time budget that tolerates stalls. A virtual machine on a busy host can stand still for
// seconds, and a program cannot use that time.
#ifndef PMUCONF_HARNESS_BUDGET_H_
#define PMUCONF_HARNESS_BUDGET_H_

#include <algorithm>

namespace pmuconf {

class Budget {
 public:
  // A caller that waits calls Charge() at least this often. One call charges at most twice this
  // time.
  static constexpr double kSlice_s = 0.25;

  explicit Budget(double seconds) : remaining_s_(seconds) {}

  // Charges the time since the last call.
  void Charge(double elapsed_s) { remaining_s_ -= std::min(elapsed_s, 2 * kSlice_s); }
  bool over() const { return remaining_s_ <= 0; }
  // Returns the maximum time to wait now, in milliseconds; 0 only if the budget is over.
  int WaitMs() const {
    return over() ? 0 : static_cast<int>(std::min(remaining_s_, kSlice_s) * 1000) + 1;
  }

 private:
  double remaining_s_;
};

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_BUDGET_H_
