// SPDX-License-Identifier: Apache-2.0
// Tests the device model against a simple, slow device, with random programs.
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "model_session.h"

namespace pmuconf {
namespace {

class RandomDraw {
 public:
  explicit RandomDraw(u64 seed) : engine_(seed) {}
  u64 operator()(u64 low, u64 high) {
    return std::uniform_int_distribution<u64>(low, high)(engine_);
  }
  static bool more() { return true; }

 private:
  std::mt19937_64 engine_;
};

class ModelAgainstSlowDevice : public testing::TestWithParam<int> {};

TEST_P(ModelAgainstSlowDevice, RandomProgramsHaveEqualResults) {
  RandomDraw draw(static_cast<u64>(GetParam()));
  constexpr u8 kWidths[] = {16, 31, 32, 33, 48, 63, 64};
  constexpr u8 kDepths[] = {0, 8, 16, 32};
  u64 overflows = 0;
  u64 records = 0;
  for (int i = 0; i < 60; ++i) {
    refpmu_model_params params = {};
    params.general = static_cast<u8>(draw(1, 6));
    params.fixed = static_cast<u8>(draw(0, REFPMU_MAX_FIXED));
    params.width = kWidths[draw(0, 6)];
    params.lbr = kDepths[draw(0, 3)];
    params.records = draw(0, 2) != 0;
    params.trace = draw(0, 2) != 0;
    params.min_period = draw(0, 2) != 0 ? 0 : draw(1, 200);
    ModelSession<RandomDraw> session(draw, params);
    try {
      session.Run(200);
    } catch (const std::logic_error& broken) {
      FAIL() << "program " << i << ": " << broken.what();
    }
    overflows += session.overflows();
    records += session.records();
  }
  EXPECT_GT(overflows, 300u);
  EXPECT_GT(records, 100u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelAgainstSlowDevice, testing::Range(100, 105));

}  // namespace
}  // namespace pmuconf
