// SPDX-License-Identifier: Apache-2.0
// Helpers of the cases about AUX areas: a trace with both its buffers, and a reader of them.
#ifndef PMUCONF_CASES_AUX_TRACE_H_
#define PMUCONF_CASES_AUX_TRACE_H_

#include <unistd.h>

#include <utility>
#include <vector>

#include "cases/common.h"
#include "perf/ring.h"
#include "stimulus/aux.h"

namespace pmuconf {

// The number of whole records that fit into `bytes` of an area.
inline std::size_t RecordsIn(std::size_t bytes) { return bytes / target().trace_record(); }

// The data that a reader got from the AUX area and the ring buffer.
struct TraceData {
  std::vector<TracedBranch> branches;
  std::vector<AuxRecord> records;
  std::vector<ItraceStart> starts;
};

// A trace of this task (or of the target in `options`), a ring buffer of eight pages and an AUX
// area.
class Trace {
 public:
  explicit Trace(const AuxMapping& mapping = {}, const OpenOptions& options = {})
      : event_(Open(target().Trace(), options)), ring_(event_, 8), aux_(event_, &ring_, mapping) {}

  const Event& event() const { return event_; }
  Ring& ring() { return ring_; }
  AuxArea& aux() { return aux_; }

  // Returns all branches between tail and head with their records, and releases the space.
  TraceData Drain() {
    const std::uint64_t head = aux_.head();  // the device may move it during the read
    TraceData traced = Peek(head);
    aux_.set_tail(head);
    return traced;
  }

  // Like Drain(), but without releasing the space.
  TraceData Peek() { return Peek(aux_.head()); }

 private:
  TraceData Peek(std::uint64_t head) {
    const std::uint64_t tail = aux_.tail();
    const RingContents contents = ring_.Drain();
    return {DecodeTrace(aux_.Copy(tail, head), tail, aux_.data().size(), target().trace_record()),
            AuxRecords(contents), ItraceStarts(contents)};
  }

  Event event_;
  Ring ring_;
  AuxArea aux_;
};

// Enables the event for these branches only. They happen in this task on this CPU.
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
