// SPDX-License-Identifier: Apache-2.0
// The modelled hardware against a slow model that counts cycle by cycle and stores registers in a
// map.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "property.h"
#include "unit/model_session.h"

namespace pmuconf::fuzz {
namespace {

class FuzzedSource {
 public:
  explicit FuzzedSource(FuzzedDataProvider& data) : data_(data) {}
  u64 operator()(u64 low, u64 high) { return data_.ConsumeIntegralInRange<u64>(low, high); }
  bool more() const { return data_.remaining_bytes() > 0; }

 private:
  FuzzedDataProvider& data_;
};

void CheckReset(const refpmu_model_params& params) {
  refpmu_model model;
  std::memset(&model, 0x5a, sizeof(model));
  const refpmu_model before = model;
  const bool depth = params.lbr == 0 || params.lbr == 8 || params.lbr == 16 || params.lbr == 32;
  const bool fine = params.general >= 1 && params.general <= REFPMU_MAX_GENERAL &&
                    params.fixed <= REFPMU_MAX_FIXED && params.width >= 16 && params.width <= 64 &&
                    depth;
  PROPERTY(refpmu_model_reset(&model, &params) == (fine ? 0 : -EINVAL),
           "parameters out of range are refused");
  PROPERTY(fine || std::memcmp(static_cast<const void*>(&model), static_cast<const void*>(&before),
                               sizeof(model)) == 0,
           "a refused reset changes nothing");
}

}  // namespace
}  // namespace pmuconf::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace pmuconf;
  using namespace pmuconf::fuzz;
  FuzzedDataProvider data(bytes, size);
  refpmu_model_params any = {};
  any.general = data.ConsumeIntegral<u8>();
  any.fixed = data.ConsumeIntegral<u8>();
  any.width = data.ConsumeIntegral<u8>();
  any.lbr = data.ConsumeIntegral<u8>();
  CheckReset(any);
  refpmu_model_params params = {};
  params.general = data.PickValueInArray<u8>({1, 2, 4, 4, 4, 32});
  params.fixed = data.ConsumeIntegralInRange<u8>(0, REFPMU_MAX_FIXED);
  params.width = data.PickValueInArray<u8>({16, 32, 40, 48, 48, 63, 64});
  params.lbr = data.PickValueInArray<u8>({0, 8, 16, 32});
  params.records = data.ConsumeBool();
  params.trace = data.ConsumeBool();
  params.min_period = data.PickValueInArray<u64>({0, 0, 1, 2, 16, 200});
  FuzzedSource draw(data);
  const char* broken = nullptr;
  try {
    ModelSession<FuzzedSource>(draw, params).Run(60);
  } catch (const std::logic_error& error) {
    broken = error.what();
    PROPERTY(broken == nullptr, broken);
  }
  return 0;
}
