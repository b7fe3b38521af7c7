// SPDX-License-Identifier: Apache-2.0
// Executes the operations of a program in this process, one after the other. Undo() undoes the
// effects of a program before the next one runs.
#ifndef PMUCONF_TOOLS_REPRO_CHILD_H_
#define PMUCONF_TOOLS_REPRO_CHILD_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "system/fd.h"
#include "tools/repro/event_slots.h"
#include "tools/repro/machine.h"
#include "tools/repro/program.h"
#include "tools/repro/run.h"
#include "tools/repro/tasks.h"

namespace pmuconf {

class ProgramExecutor {
 public:
  ProgramExecutor(const ProgramMachine& machine, bool cpus);
  ProgramExecutor(const ProgramExecutor&) = delete;
  ~ProgramExecutor();

  // Executes one operation in its task, and waits for its end.
  Outcome Do(const Step& step);
  // Executes a program. In a race each task executes its operations without waiting for others.
  void DoAll(std::span<const Step> steps, Outcome* outcomes);
  // The bytes that the last operation of the first task read: a reading, records, an id, the events
  // of poll, or the si_code of the last signal.
  std::span<const std::byte> data() const { return data_[0]; }
  // Disables all events, and does work that they would count. Returns a message if the count of one
  // changes, and else nullptr.
  const char* CountsWhileDisabled();
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
    bool grouped = false;       // a reading has the events of its group
    bool tail_written = false;  // by kTail, so records may not begin there
  };
  Outcome DoHere(const Step& step);
  void Race(std::span<const Step> steps, std::uint64_t rounds, Outcome* outcomes);
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
  Outcome Affinity(unsigned which) const;
  Outcome MapAny(const Step& step);
  Outcome Remap(const Step& step);
  Outcome Tail(const Step& step);
  // Makes a mapping the ring buffer of a slot. Unmaps it and returns false if the slot has one.
  bool KeepRing(unsigned slot, std::span<std::byte> ring, bool writable);
  std::span<std::byte> TakeRing(unsigned slot);  // it is no longer that of the slot
  // The rest of DoOpen(): the new event replaces the old one of the slot.
  void Store(int fd, unsigned slot, bool grouped);
  std::vector<std::byte>& Data() { return data_[CurrentTask()]; }
  std::byte* CopyAttr(const OpenCall& call);
  // If the call names a task, cgroup or CPU that this process lacks, changes it to one that no
  // machine has.
  void ReplaceMissing(OpenCall& call) const;
  int Pid(const OpenCall& call) const;
  int CpuOf(OpenCpu cpu) const;

  const ProgramMachine& machine_;
  bool cpus_;
  bool cpu_offline_ = false;
  bool racing_ = false;
  EventSlots events_;  // not used in a race
  // In a race, the tasks change a slot with this lock. No system call under test needs it.
  std::mutex lock_;
  std::array<Slot, kProgramSlots> slots_;
  std::unique_ptr<ProgramTasks> tasks_;  // nullptr: only the first task has been used
  pid_t child_ = -1;
  int child_fd_ = -1;
  pid_t exited_ = -1;
  Fd file_, port_, trace_port_;
  std::byte* memory_ = nullptr;  // two pages for each task; the second one is inaccessible
  std::array<std::vector<std::byte>, kProgramTasks> data_;
};

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_CHILD_H_
