// SPDX-License-Identifier: Apache-2.0
// Opens the port, and restores clocks and lines.
#include "target/target_port.h"

#include "system/broken.h"
#include "system/context.h"
#include "target/target.h"

namespace pmuconf {
namespace {

// Destructors restore the clock or line. They cannot throw, so a failure is stored in the context.
template <typename F>
void Restore(F&& call) {
  try {
    call();
  } catch (const Broken& broken) {
    if (!context().broken) context().broken = broken.what();
  }
}

}  // namespace

const Port& port() {
  static const Port the_port = [] {
    if (target().port_path().empty()) throw Broken("target " + target().name() + " has no port");
    return Port(target().port_path());
  }();
  return the_port;
}

AutoClock::AutoClock(int cpu) : cpu_(cpu) { port().SetManualClock(cpu_, false); }
AutoClock::~AutoClock() {
  Restore([this] { port().SetManualClock(cpu_, true); });
}

HoldLine::HoldLine(int cpu) : cpu_(cpu) { port().SetLine(true, cpu_); }
HoldLine::~HoldLine() {
  Restore([this] { Release(); });
}
void HoldLine::Release() {
  if (!held_) return;
  held_ = false;
  port().SetLine(false, cpu_);
}

}  // namespace pmuconf
