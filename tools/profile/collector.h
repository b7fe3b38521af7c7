// SPDX-License-Identifier: Apache-2.0
// Sorts samples and side-band records by time, and adds the samples to the stack store.
#ifndef PMUCONF_TOOLS_PROFILE_COLLECTOR_H_
#define PMUCONF_TOOLS_PROFILE_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <vector>

#include "tools/profile/known_stacks.h"
#include "tools/profile/raw_sample.h"
#include "tools/profile/report.h"
#include "tools/profile/side_band.h"
#include "tools/profile/symbolizer.h"

namespace pmuconf::profile {

class Collector {
 public:
  // `text`: a stream to which each sample is written on arrival; null: none.
  Collector(StackStore& stacks, Symbolizer& symbolizer, std::ostream* text)
      : stacks_(stacks), symbolizer_(symbolizer), text_(text) {}

  void Add(std::span<const std::byte> sample);
  void Add(const SideRecord& record);
  // Processes all items older than `time_ns` in order. Calls `applied` for each record.
  void ProcessUntil(std::uint64_t time_ns, const std::function<void(const SideRecord&)>& applied);

  std::uint64_t throttled() const { return throttled_; }
  std::uint64_t records_lost() const { return records_lost_; }
  std::uint64_t broken() const { return broken_; }  // invalid samples

 private:
  // A waiting sample or record.
  struct Item {
    std::uint64_t time_ns;
    std::uint32_t at;     // offset in bytes_, or index in records_
    std::uint32_t bytes;  // 0: a record
  };

  void Apply(const SideRecord& record);
  void Count(std::span<const std::byte> bytes);
  StackStore::NodeId Resolve(const RawSample& sample, bool& cacheable);
  void DiscardProcessed();

  StackStore& stacks_;
  Symbolizer& symbolizer_;
  std::ostream* text_;
  std::vector<Item> waiting_;
  std::vector<std::byte> bytes_;
  std::vector<SideRecord> records_;
  KnownStacks known_;
  std::vector<FrameId> stack_;  // a member to reuse its memory
  std::uint64_t throttled_ = 0;
  std::uint64_t records_lost_ = 0;
  std::uint64_t broken_ = 0;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_COLLECTOR_H_
