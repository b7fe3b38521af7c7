// SPDX-License-Identifier: Apache-2.0
// Random calls of perf_event_open(2), to compare the errno model with a kernel. A call has random
// fields, or it is a valid call with a few changes.
//
// A case can execute every call, and the model can predict it. So no call needs an offline CPU
// where none is offline, or a PMU whose checks the model does not know. All events are disabled,
// because a period of 1 on every CPU would overload the machine.
#ifndef PMUCONF_ORACLE_OPEN_RANDOM_H_
#define PMUCONF_ORACLE_OPEN_RANDOM_H_

#include <cstdint>
#include <vector>

#include "oracle/open_model.h"

namespace pmuconf {

// The source of randomness: a seed, or the input of a fuzzer.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual std::uint64_t Bits(unsigned n) = 0;  // the lowest `n` bits are random, up to 64
  std::uint64_t Below(std::uint64_t n) { return Bits(n <= 256 ? 16 : 64) % n; }
  bool OneIn(std::uint64_t n) { return Below(n) == 0; }
};

// Returns the same sequence for the same seed and number on every machine.
class SeededSource : public RandomSource {
 public:
  SeededSource(std::uint64_t seed, std::uint64_t number);
  std::uint64_t Bits(unsigned n) override;

 private:
  std::uint64_t Next();
  std::uint64_t state_ = 0;
};

enum class OpenCallKind { kRandom, kMutated };

// Draws calls for a model. The model must outlive it.
class OpenCallGenerator {
 public:
  explicit OpenCallGenerator(const OpenModel& model)
      : model_(&model), violations_(ApplicableViolations(model)) {}

  OpenCall Call(OpenCallKind kind, RandomSource& random) const;

 private:
  OpenCall Random(RandomSource& random) const;
  OpenCall Mutated(RandomSource& random) const;

  const OpenModel* model_;
  std::vector<const OpenViolation*> violations_;
};

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_OPEN_RANDOM_H_
