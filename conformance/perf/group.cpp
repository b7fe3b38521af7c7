// SPDX-License-Identifier: Apache-2.0
// Opens groups.
#include "perf/group.h"

#include "system/broken.h"

namespace pmuconf {

GroupOpenResult TryOpenGroup(const std::vector<EventSpec>& specs, const OpenOptions& options) {
  OpenOptions each = options;
  if (each.read_format == OpenOptions{}.read_format) each.read_format = Group::kReadFormat;
  GroupOpenResult result;
  for (const EventSpec& spec : specs) {
    OpenResult opened = TryOpen(spec, each);
    if (!opened.ok()) {
      result.error = opened.error;
      return result;
    }
    result.events.push_back(std::move(opened.event));
    each.group_fd = result.events.front().fd();
    each.disabled = false;
    each.pinned = false;
    each.exclusive = false;
  }
  return result;
}

Group::Group(const std::vector<EventSpec>& specs, const OpenOptions& options) {
  GroupOpenResult result = TryOpenGroup(specs, options);
  if (!result.ok()) {
    throw BrokenErrno("perf_event_open of member " + std::to_string(result.events.size()) + " (" +
                          specs[result.events.size()].name + ") of a group",
                      result.error);
  }
  events_ = std::move(result.events);
}

}  // namespace pmuconf
