// SPDX-License-Identifier: Apache-2.0
// What the cases about AUX areas share: a trace with both its buffers, and reading all of it.
#ifndef PMUCONF_CASES_AUX_TRACE_H_
#define PMUCONF_CASES_AUX_TRACE_H_

#include <unistd.h>

#include <utility>
#include <vector>

#include "cases/common.h"
#include "pmuconf/aux.h"
#include "pmuconf/ring.h"

namespace pmuconf {

// Whole records that fit into `bytes` of an area.
inline std::size_t RecordsIn(std::size_t bytes) { return bytes / target().trace_record(); }

// What a reader took out.
struct Taken {
  std::vector<TracedBranch> branches;
  std::vector<AuxRecord> records;
  std::vector<ItraceStart> starts;
};

// A trace of this task (or what `options` say), a ring of eight pages and an AUX area.
class Trace {
 public:
  explicit Trace(const AuxMapping& mapping = {}, const OpenOptions& options = {})
      : event_(Open(target().Trace(), options)), ring_(event_, 8), aux_(event_, &ring_, mapping) {}

  const Event& event() const { return event_; }
  Ring& ring() { return ring_; }
  AuxArea& aux() { return aux_; }

  // Everything between tail and head, and the records about it; gives the room back.
  Taken Take() {
    const std::uint64_t head = aux_.head();  // it may move on while this reads
    Taken taken = Look(head);
    aux_.set_tail(head);
    return taken;
  }

  // The same, but the area stays as full as it is.
  Taken Look() { return Look(aux_.head()); }

 private:
  Taken Look(std::uint64_t head) {
    const std::uint64_t tail = aux_.tail();
    const RingContents contents = ring_.Drain();
    return {DecodeTrace(aux_.Copy(tail, head), tail, aux_.data().size(), target().trace_record()),
            AuxRecords(contents), ItraceStarts(contents)};
  }

  Event event_;
  Ring ring_;
  AuxArea aux_;
};

// Enabled around the branches, which happen in this task on this CPU.
inline void TraceBranches(const Event& event, const std::vector<Branch>& branches) {
  event.Enable();
  port().Branches(branches);
  event.Disable();
}

inline std::vector<Branch> operator+(std::vector<Branch> left, const std::vector<Branch>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_AUX_TRACE_H_
