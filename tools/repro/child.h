// SPDX-License-Identifier: Apache-2.0
// Executes the operations of a program in this process, one after the other. Undo() undoes the
// effects of a program before the next one runs.
#ifndef PMUCONF_TOOLS_REPRO_CHILD_H_
#define PMUCONF_TOOLS_REPRO_CHILD_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "system/fd.h"
#include "tools/repro/event_slots.h"
#include "tools/repro/machine.h"
#include "tools/repro/program.h"
#include "tools/repro/run.h"

namespace pmuconf {

class ProgramExecutor {
 public:
  ProgramExecutor(const ProgramMachine& machine, bool cpus);
  ProgramExecutor(const ProgramExecutor&) = delete;
  ~ProgramExecutor();

  Outcome Do(const Step& step);
  // The bytes that the last operation read: a reading, records, an id, the events of poll, or the
  // si_code of the last signal.
  std::span<const std::byte> data() const { return data_; }
  // Kills children and switches the CPU on again. A process that exits after this leaves events and
  // buffers to the kernel.
  void End();
  // Does End(), and also closes events and unmaps buffers.
  void Undo();

 private:
  struct Slot {
    int fd = -1;
    std::byte* ring = nullptr;
    std::size_t size = 0;
    bool writable = false;
    std::byte* aux = nullptr;
    std::size_t aux_size = 0;
  };
  Outcome DoOpen(const Step& step);
  Outcome Ioctl(const Step& step);
  Outcome Map(const Step& step);
  Outcome MapAux(const Step& step);
  Outcome Unmap(unsigned slot);
  Outcome UnmapAux(unsigned slot);
  Outcome Read(const Step& step);
  Outcome Drain(unsigned slot);
  Outcome Close(unsigned slot);
  Outcome ForkOne();
  Outcome CommandChild(unsigned which);
  Outcome Poll(unsigned slot);
  Outcome Duplicate(const Step& step);
  Outcome Pulse(const Step& step);
  Outcome ChildPulse(const Step& step);
  Outcome Advance(const Step& step);
  Outcome Signals(const Step& step);
  Outcome Branch(const Step& step);
  Outcome Attach(unsigned slot);
  Outcome Cpu(bool on);
  std::byte* CopyAttr(const OpenCall& call);
  // If the call names a task, cgroup or CPU that this process lacks, changes it to one that no
  // machine has.
  void ReplaceMissing(OpenCall& call) const;
  int Pid(const OpenCall& call) const;
  int CpuOf(OpenCpu cpu) const;

  const ProgramMachine& machine_;
  bool cpus_;
  bool cpu_offline_ = false;
  EventSlots events_;
  std::array<Slot, kProgramSlots> slots_;
  pid_t child_ = -1;
  int child_fd_ = -1;
  pid_t exited_ = -1;
  Fd file_, port_, trace_port_;
  std::byte* memory_ = nullptr;
  std::vector<std::byte> data_;
};

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_CHILD_H_
