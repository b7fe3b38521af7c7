// SPDX-License-Identifier: Apache-2.0
// The fields of perf_event_attr, and how each is tried.
#ifndef PMUCONF_TARGET_ATTR_ATTR_FIELDS_H_
#define PMUCONF_TARGET_ATTR_ATTR_FIELDS_H_

#include <linux/perf_event.h>

#include <functional>
#include <string>
#include <vector>

namespace pmuconf {

// When a field without an effect is ignored: always, or if the event without the field has a steady
// and exact count, samples, or such a count of a task.
enum class Shows { kAlways, kCount, kSamples, kTask, kNever };

struct AttrField {
  using Edit = std::function<void(perf_event_attr&)>;
  std::string name;
  Edit set;
  Edit base = {};        // changes the attr with and without the field
  bool samples = false;  // the event samples
  bool starts = true;    // an ioctl enables the event before the child runs
  bool execs = false;    // the child ends by execve(2)
  Shows shows = Shows::kNever;
};

// Returns all fields, and the pairs of fields that interact.
std::vector<AttrField> AttrFields();

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_ATTR_ATTR_FIELDS_H_
