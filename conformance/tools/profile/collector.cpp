// SPDX-License-Identifier: Apache-2.0
// Order, symbols, counting.
#include "tools/profile/collector.h"

#include <algorithm>
#include <iterator>

namespace pmuconf::profile {

void Collector::Take(std::span<const std::byte> bytes) {
  auto sample = ParseSample(bytes);
  if (!sample) {
    ++broken_;
    return;
  }
  const std::uint64_t time_ns = sample->head.time_ns;
  waiting_.push_back({time_ns, std::move(*sample)});
}

void Collector::Take(const SideRecord& record) {
  switch (record.kind) {
    case SideRecord::Kind::kThrottle:
      ++throttled_;
      return;
    case SideRecord::Kind::kLost:
      records_lost_ += record.lost;
      return;
    default:
      symbolizer_.Prefetch(record);
      waiting_.push_back({record.time_ns, record});
  }
}

void Collector::WorkOff(std::uint64_t time_ns,
                        const std::function<void(const SideRecord&)>& followed) {
  const auto later = std::partition(waiting_.begin(), waiting_.end(),
                                    [&](const Item& item) { return item.time_ns <= time_ns; });
  std::stable_sort(waiting_.begin(), later,
                   [](const Item& a, const Item& b) { return a.time_ns < b.time_ns; });
  for (auto item = waiting_.begin(); item != later; ++item) {
    if (const auto* const record = std::get_if<SideRecord>(&item->what)) {
      symbolizer_.Follow(*record);
      followed(*record);
    } else {
      Count(std::get<RawSample>(item->what));
    }
  }
  waiting_.erase(waiting_.begin(), later);
}

void Collector::Count(const RawSample& sample) {
  const std::string comm = sample.Command();
  const std::uint32_t pid = sample.head.pid;
  stack_.assign(1, symbolizer_.Command(comm));
  SampleText text = {.comm = comm, .pid = pid, .cpu = sample.head.cpu, .kernel = {}, .user = {}};
  const auto add = [&](const Resolved& resolved) {
    stack_.insert(stack_.end(), resolved.frames.rbegin(), resolved.frames.rend());
  };
  // A caller is shown where it calls: the address that it returns to may be another line's, or
  // another function's.
  for (std::size_t i = sample.user.size(); i-- > 0;) {
    const Resolved& resolved = symbolizer_.User(pid, sample.user[i] - (i == 0 ? 0 : 1));
    add(resolved);
    if (text_ != nullptr) text.user.push_back({sample.user[i], &resolved, i != 0});
  }
  for (std::size_t i = sample.kernel.size(); i-- > 0;) {
    const Resolved& resolved = symbolizer_.Kernel(sample.kernel[i] - (i == 0 ? 0 : 1));
    add(resolved);
    if (text_ != nullptr) text.kernel.push_back({sample.kernel[i], &resolved, i != 0});
  }
  stacks_.Add(stack_, sample.head.period);
  if (text_ == nullptr) return;
  std::reverse(text.user.begin(), text.user.end());
  std::reverse(text.kernel.begin(), text.kernel.end());
  WriteSample(text, stacks_, *text_);
}

}  // namespace pmuconf::profile
