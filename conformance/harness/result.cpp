// SPDX-License-Identifier: Apache-2.0
// Names of results.
#include "harness/result.h"

#include <array>
#include <utility>

namespace pmuconf {
namespace {

constexpr std::array<std::pair<Result, std::string_view>, 9> kNames = {{
    {Result::kPass, "PASS"},
    {Result::kFail, "FAIL"},
    {Result::kSkip, "SKIP"},
    {Result::kWaived, "WAIVED"},
    {Result::kBroken, "BROKEN"},
    {Result::kTimeout, "TIMEOUT"},
    {Result::kCrash, "CRASH"},
    {Result::kNotRun, "NOT_RUN"},
    {Result::kUnexpectedPass, "UNEXPECTED_PASS"},
}};

}  // namespace

std::string_view ToString(Result result) {
  for (const auto& [known, name] : kNames) {
    if (known == result) return name;
  }
  return "?";
}

std::optional<Result> ResultFromString(std::string_view name) {
  for (const auto& [result, known] : kNames) {
    if (known == name) return result;
  }
  return std::nullopt;
}

}  // namespace pmuconf
