// SPDX-License-Identifier: Apache-2.0
// LAVA's signals.
#include "report/lava.h"

namespace pmuconf {
namespace {

constexpr std::string_view kAccepted =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";

}  // namespace

std::string_view LavaResult(Result result) {
  switch (result) {
    case Result::kPass:
      return "pass";
    case Result::kFail:
    case Result::kTimeout:
    case Result::kCrash:
    case Result::kUnexpectedPass:
      return "fail";
    case Result::kSkip:
    case Result::kWaived:
      return "skip";
    case Result::kBroken:
    case Result::kNotRun:
      return "unknown";
  }
  return "unknown";
}

std::string_view LavaResult(Verdict verdict) {
  switch (verdict) {
    case Verdict::kConformant:
    case Verdict::kPartial:
      return "pass";
    case Verdict::kNotConformant:
      return "fail";
    case Verdict::kNotJudged:
      return "unknown";
  }
  return "unknown";
}

std::string LavaName(std::string_view name) {
  std::string text(name.empty() ? "_" : name);
  for (char& c : text) {
    if (kAccepted.find(c) == std::string_view::npos) c = '_';
  }
  return text;
}

LavaSignals::~LavaSignals() {
  if (!finished_) Verdict("unknown");
}

void LavaSignals::Start(const std::string& target) {
  target_ = target;
  Open(target);
}

void LavaSignals::Begin(const std::string& id) { Print("STARTTC " + LavaName(id)); }

void LavaSignals::End(const CaseResult& row) {
  const std::string name = LavaName(row.id);
  Print("ENDTC " + name);
  Print("TESTCASE TEST_CASE_ID=" + name + " RESULT=" + std::string(LavaResult(row.result)));
  printed_.insert(row.id);
}

void LavaSignals::Finish(const Report& report) {
  target_ = report.target;
  const auto print = [this](const CaseResult& row) {
    Begin(row.id);
    End(row);
  };
  for (const CaseResult& row : report.cases) {
    if (printed_.contains(row.id)) continue;
    Open(target_);
    print(row);
  }
  for (const LayerResults& layer : report.layers) {
    Open(target_ + "." + layer.layer);
    for (const CaseResult& row : layer.cases) print(row);
  }
  Verdict(LavaResult(report.verdict));
}

void LavaSignals::Verdict(std::string_view result) {
  finished_ = true;
  if (!target_.empty()) Open(target_);
  Print("TESTCASE TEST_CASE_ID=verdict RESULT=" + std::string(result));
  Close();
}

void LavaSignals::Open(const std::string& set) {
  if (open_ == set) return;
  Close();
  Print("TESTSET START " + LavaName(set));
  open_ = set;
}

void LavaSignals::Close() {
  if (!open_.empty()) Print("TESTSET STOP");
  open_.clear();
}

void LavaSignals::Print(const std::string& signal) {
  if (on()) *os_ << "\n<LAVA_SIGNAL_" + signal + ">\n" << std::flush;
}

}  // namespace pmuconf
