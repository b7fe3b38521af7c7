// SPDX-License-Identifier: Apache-2.0
// The open events of a program, and whether the errno model can predict the next open. The model
// can use an event as leader only if it is as simple as the model's own leaders and is alone in its
// group.
#ifndef PMUCONF_TOOLS_REPRO_EVENT_SLOTS_H_
#define PMUCONF_TOOLS_REPRO_EVENT_SLOTS_H_

#include <array>
#include <optional>

#include "tools/repro/machine.h"
#include "tools/repro/program.h"

namespace pmuconf {

class EventSlots {
 public:
  // Returns the call as the model must be asked, with the event in slot `leader` behind group_fd.
  // Returns nullopt if the model cannot predict it.
  std::optional<OpenCall> ModelCall(const ProgramMachine& machine, OpenCall call,
                                    unsigned leader) const;
  // The call opened an event into `slot`, with that leader.
  void Opened(const ProgramMachine& machine, const OpenCall& call, unsigned slot, unsigned leader);
  void Closed(unsigned slot);
  // Both slots have the event from then on.
  void Duplicated(unsigned slot, unsigned to);
  void Mapped(unsigned slot) { slots_[slot].buffer = true; }
  void Unmapped(unsigned slot) { slots_[slot].buffer = false; }
  // An operation changed the event in a way that the model's leaders never experience.
  void Modified(unsigned slot) { slots_[slot].plain = false; }
  // As Modified(), for all events, because a CPU or a task went away.
  void AllModified();
  // A race of tasks may have opened or closed an event in each slot.
  void AllUnknown();

 private:
  struct SlotState {
    bool open = false;
    bool plain = false;
    bool buffer = false;
    OpenCall call;
  };
  std::array<SlotState, kProgramSlots> slots_;
  bool unknown_ = false;      // whether a slot has an event
  bool breakpoints_ = false;  // a breakpoint was opened and may still exist
};

// Returns whether an event from this call is like the model's own leaders.
bool IsPlainLeader(const ProgramMachine& machine, const OpenCall& call);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_EVENT_SLOTS_H_
