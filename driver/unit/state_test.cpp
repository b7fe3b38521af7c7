// SPDX-License-Identifier: Apache-2.0
// Tests the transitions of an event's state: the vectors, and the invariants of every sequence.
#include <gtest/gtest.h>

#include <random>

#include "core.h"

namespace pmuconf {
namespace {

const refpmu_state_vector kTransitions[] = {
#include "state.inc"
};

TEST(State, MatchesTheVectors) {
  for (const refpmu_state_vector& row : kTransitions) {
    const refpmu_step step = refpmu_state_step(row.state, row.op);
    EXPECT_EQ(step.next, row.next) << "state " << int{row.state} << " op " << row.op;
    EXPECT_EQ(step.actions, row.actions) << "state " << int{row.state} << " op " << row.op;
  }
}

TEST(State, TransitionsPreserveOtherBits) {
  for (int state = 0; state < 256; ++state) {
    for (int op = 0; op <= REFPMU_OP_MAX; ++op) {
      const refpmu_step step =
          refpmu_state_step(static_cast<u8>(state), static_cast<refpmu_op>(op));
      EXPECT_EQ(step.next & ~3, state & ~3) << state << " " << op;
      const refpmu_step plain =
          refpmu_state_step(static_cast<u8>(state & 3), static_cast<refpmu_op>(op));
      EXPECT_EQ(step.actions, plain.actions) << state << " " << op;
    }
  }
}

TEST(State, UnknownOperationDoesNothing) {
  const refpmu_step step = refpmu_state_step(REFPMU_STOPPED, static_cast<refpmu_op>(77));
  EXPECT_EQ(step.next, REFPMU_STOPPED);
  EXPECT_EQ(step.actions, 0);
}

// Effect of the actions on a counter that receives events.
struct Device {
  bool enabled = false;
  u64 counter = 0;
  u64 prev = 0;
  u64 count = 0;

  void Apply(u8 actions) {
    if (actions & REFPMU_DO_DISABLE) enabled = false;
    if (actions & REFPMU_DO_FOLD) count += counter - prev, prev = counter;
    if (actions & REFPMU_DO_RELOAD) counter = prev = 1'000'000;
    if (actions & REFPMU_DO_ENABLE) enabled = true;
  }
};

TEST(State, RandomSequenceCountsTheEventsBetweenStartAndStop) {
  std::mt19937_64 random(3);
  Device device;
  u8 state = REFPMU_STOPPED | REFPMU_UPTODATE;
  u64 counted = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto op = static_cast<refpmu_op>(REFPMU_OP_START + random() % 4);
    const bool was_running = !(state & REFPMU_STOPPED);
    const refpmu_step step = refpmu_state_step(state, op);
    device.Apply(step.actions);
    state = step.next;
    EXPECT_EQ(device.enabled, !(state & REFPMU_STOPPED)) << "op " << op;
    if (op == REFPMU_OP_START_RELOAD && was_running) {
      EXPECT_TRUE(step.actions & REFPMU_DO_WARN);
    }
    if (state & REFPMU_UPTODATE) {
      EXPECT_EQ(device.count, counted) << "UPTODATE claimed too early by op " << op;
    }
    if (device.enabled) {
      const u64 events = random() % 100;
      device.counter += events;
      counted += events;
    }
  }
  device.Apply(refpmu_state_step(state, REFPMU_OP_STOP_UPDATE).actions);
  EXPECT_EQ(device.count, counted);
  EXPECT_GT(counted, 0u);
}

}  // namespace
}  // namespace pmuconf
