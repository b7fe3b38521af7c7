// SPDX-License-Identifier: Apache-2.0
// From GoogleTest's verdict to the project's result and message.
#include "lib/runner.h"

#include <algorithm>

#include "lib/context.h"
#include "pmuconf/case.h"

namespace pmuconf {
namespace {

constexpr std::size_t kAttrsShown = 4;

// Collects failures; GoogleTest's own printer is switched off.
class Listener : public testing::EmptyTestEventListener {
 public:
  const std::string& failures() const { return failures_; }

 private:
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (!part.failed()) return;
    std::string file = part.file_name() == nullptr ? "" : part.file_name();
    const std::size_t at = file.rfind("conformance/");
    if (at != std::string::npos) file.erase(0, at);
    failures_ += file + ":" + std::to_string(part.line_number()) + ": " + part.message() + "\n";
  }

  std::string failures_;
};

// What a person needs to understand a case that did not pass.
std::string Explain(const CaseInfo& info, const std::string& what) {
  std::string text = what;
  if (!text.empty() && text.back() != '\n') text += '\n';
  for (const Rule& rule : info.meta.rules) {
    text += "rule " + std::string(rule.id) + " (" + std::string(ToString(rule.level)) +
            "): " + std::string(rule.text) + "\n";
  }
  const auto& opened = context().opened;
  for (std::size_t i = 0; i < std::min(opened.size(), kAttrsShown); ++i) {
    text += "opened: " + opened[i] + "\n";
  }
  if (opened.size() > kAttrsShown) {
    text += "opened: " + std::to_string(opened.size() - kAttrsShown) + " more\n";
  }
  text += "here: pmuconf run --target " + target().path() + " --case " + info.Id();
  return text;
}

}  // namespace

const CaseInfo* FindCase(std::string_view id) {
  const auto cases = AllCases();
  const auto it =
      std::find_if(cases.begin(), cases.end(), [&](const CaseInfo& c) { return c.Id() == id; });
  return it == cases.end() ? nullptr : &*it;
}

CaseResult RunHere(const CaseInfo& info) {
  std::string name = "pmuconf";
  char* argv[] = {name.data(), nullptr};
  int argc = 1;
  testing::InitGoogleMock(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  auto* const listener = new Listener;
  listeners.Append(listener);
  testing::RegisterTest(info.suite.c_str(), info.name.c_str(), nullptr, nullptr, info.file.c_str(),
                        info.line, [&info] { return info.make(info.meta); });
  const bool good = RUN_ALL_TESTS() == 0;

  CaseResult result;
  result.id = info.Id();
  for (const Rule& rule : info.meta.rules) result.rules.emplace_back(rule.id);
  const Context& c = context();
  if (!good) {  // an expectation was judged: that stands, whatever broke afterwards
    result.result = Result::kFail;
    result.message =
        Explain(info, listener->failures() + (c.broken ? "then broken: " + *c.broken : ""));
  } else if (c.broken) {
    result.result = Result::kBroken;
    result.message = Explain(info, *c.broken);
  } else if (c.skipped) {
    result.result = Result::kSkip;
    result.message = *c.skipped;
  } else {
    result.result = Result::kPass;
  }
  return result;
}

}  // namespace pmuconf
