// SPDX-License-Identifier: Apache-2.0
// Time that a program has, on a machine that may stand still: a virtual one whose host is busy
// loses seconds at once, and a program cannot use what nobody had.
#ifndef PMUCONF_LIB_BUDGET_H_
#define PMUCONF_LIB_BUDGET_H_

#include <algorithm>

namespace pmuconf {

class Budget {
 public:
  // Whoever waits looks at least so often, and is charged for at most twice that each time.
  static constexpr double kSlice_s = 0.25;

  explicit Budget(double seconds) : left_s_(seconds) {}

  // `elapsed_s` have passed since the last call.
  void Charge(double elapsed_s) { left_s_ -= std::min(elapsed_s, 2 * kSlice_s); }
  bool over() const { return left_s_ <= 0; }
  // How long to wait now at most: never 0 before it is over.
  int WaitMs() const {
    return over() ? 0 : static_cast<int>(std::min(left_s_, kSlice_s) * 1000) + 1;
  }

 private:
  double left_s_;
};

}  // namespace pmuconf

#endif  // PMUCONF_LIB_BUDGET_H_
