// SPDX-License-Identifier: Apache-2.0
// Calls of perf_event_open by chance, for the errno model and a kernel to be asked both: of any
// fields, or of an event that opens and of which a few things are then changed.
//
// They are calls that can be made: what no case could prepare (a CPU that is offline), or of which
// the model knows nothing (types of PMUs without a list of checks), is not among them. Their events
// are disabled: a period of 1 on every CPU would otherwise be a load.
#ifndef PMUCONF_OPEN_RANDOM_H_
#define PMUCONF_OPEN_RANDOM_H_

#include <cstdint>
#include <vector>

#include "pmuconf/open_model.h"

namespace pmuconf {

// Where chance comes from: a seed, or the bytes that a fuzzer tries.
class OpenDraw {
 public:
  virtual ~OpenDraw() = default;
  virtual std::uint64_t Bits(unsigned n) = 0;  // the lowest n of them, up to 64
  std::uint64_t Below(std::uint64_t n) { return Bits(n <= 256 ? 16 : 64) % n; }
  bool OneIn(std::uint64_t n) { return Below(n) == 0; }
};

// The same call for the same seed and number, on every machine.
class SeededDraw : public OpenDraw {
 public:
  SeededDraw(std::uint64_t seed, std::uint64_t number);
  std::uint64_t Bits(unsigned n) override;

 private:
  std::uint64_t Next();
  std::uint64_t state_ = 0;
};

enum class OpenKind { kRandom, kMutated };

// Keeps what can be wrong with calls of a model, which must outlive it.
class OpenDrawer {
 public:
  explicit OpenDrawer(const OpenModel& model)
      : model_(&model), violations_(OpenViolationsOf(model)) {}

  OpenCall Call(OpenKind kind, OpenDraw& draw) const;

 private:
  OpenCall Random(OpenDraw& draw) const;
  OpenCall Mutated(OpenDraw& draw) const;

  const OpenModel* model_;
  std::vector<const OpenViolation*> violations_;
};

}  // namespace pmuconf

#endif  // PMUCONF_OPEN_RANDOM_H_
