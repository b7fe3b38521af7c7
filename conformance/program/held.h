// SPDX-License-Identifier: Apache-2.0
// The events that a program has open, and what the errno model can know of the next one: a leader
// is known if it is as plain as the model's, and alone.
#ifndef PMUCONF_PROGRAM_HELD_H_
#define PMUCONF_PROGRAM_HELD_H_

#include <array>
#include <optional>

#include "program/machine.h"
#include "program/program.h"

namespace pmuconf {

class HeldEvents {
 public:
  // The call as the model is to be asked, with the leader in slot `leader`; none if it cannot be
  // asked.
  std::optional<OpenCall> Question(const ProgramMachine& machine, OpenCall call,
                                   unsigned leader) const;
  // It has opened, into `slot`, for `call` with that leader.
  void Opened(const ProgramMachine& machine, const OpenCall& call, unsigned slot, unsigned leader);
  void Closed(unsigned slot);
  void Mapped(unsigned slot) { slots_[slot].buffer = true; }
  void Unmapped(unsigned slot) { slots_[slot].buffer = false; }
  // Something was done to it that the model's leaders never see.
  void Touched(unsigned slot) { slots_[slot].plain = false; }
  // The same, to all of them: a CPU went, or a task.
  void AllTouched();

 private:
  struct Held {
    bool open = false;
    bool plain = false;
    bool buffer = false;
    OpenCall call;
  };
  std::array<Held, kProgramSlots> slots_;
  bool breakpoints_ = false;  // there was one, and may still be
};

// Whether an event that this call opened is what the model takes leaders for.
bool PlainLeader(const ProgramMachine& machine, const OpenCall& call);

}  // namespace pmuconf

#endif  // PMUCONF_PROGRAM_HELD_H_
