// SPDX-License-Identifier: Apache-2.0
// Finds the texts of rules in failures.
#include "harness/failures.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace pmuconf {
namespace {

bool IsAbout(const std::string& failure, const Rule& rule, const std::vector<Rule>& rules) {
  return rules.size() == 1 || failure.find(rule.text) != std::string::npos;
}

}  // namespace

void Failures::Add(const std::string& text) {
  const auto it = std::ranges::find(failures_, text, &std::pair<std::string, int>::first);
  if (it == failures_.end()) {
    failures_.emplace_back(text, 1);
  } else {
    ++it->second;
  }
}

std::vector<std::string> Failures::Named(const std::vector<Rule>& rules) const {
  std::vector<std::string> named;
  for (const Rule& rule : rules) {
    const bool found = std::ranges::any_of(
        failures_, [&](const auto& failure) { return IsAbout(failure.first, rule, rules); });
    if (found) named.emplace_back(rule.id);
  }
  return named;
}

std::vector<Rule> Failures::Violated(const std::vector<Rule>& rules) const {
  const std::vector<std::string> named = Named(rules);
  std::vector<Rule> failed;
  std::ranges::copy_if(rules, std::back_inserter(failed), [&](const Rule& rule) {
    return std::ranges::find(named, rule.id) != named.end();
  });
  return failed.empty() ? rules : failed;
}

std::vector<std::string> Failures::ViolatedAlone(const std::vector<Rule>& rules) const {
  const bool all_name_one = std::ranges::all_of(failures_, [&](const auto& failure) {
    return std::ranges::any_of(
        rules, [&](const Rule& rule) { return IsAbout(failure.first, rule, rules); });
  });
  std::vector<std::string> named = Named(rules);
  return all_name_one && named.size() < rules.size() ? named : std::vector<std::string>();
}

std::string Failures::ToString() const {
  std::ostringstream os;
  for (const auto& [failure, times] : failures_) {
    os << failure;
    if (times > 1) os << "(" << times << " times)\n";
  }
  return os.str();
}

}  // namespace pmuconf
