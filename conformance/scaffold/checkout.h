// SPDX-License-Identifier: Apache-2.0
// The checkout that `pmuconf new` writes to. Its rules and cases can be newer than this program.
#ifndef PMUCONF_SCAFFOLD_CHECKOUT_H_
#define PMUCONF_SCAFFOLD_CHECKOUT_H_

#include <map>
#include <string>
#include <vector>

namespace pmuconf::scaffold {

inline constexpr const char* kRules = "conformance/rules";
inline constexpr const char* kCases = "conformance/cases";
inline constexpr const char* kTargets = "conformance/targets";

// A case in the sources.
struct SourceCase {
  std::string suite;
  std::string name;
  std::string file;  // from the root of the checkout
  std::string Id() const { return suite + "." + name; }
};

class Checkout {
 public:
  // Throws ConfigError if `root` is not the root of a checkout.
  explicit Checkout(std::string root);

  const std::string& root() const { return root_; }

  // Returns the content of a file, by its path from the root. Throws ConfigError.
  std::string Read(const std::string& path) const;
  bool Exists(const std::string& path) const;

  // Returns the names of the rule files, without ".toml", in order.
  std::vector<std::string> RuleAreas() const;
  // Returns the status of each rule of all areas, or of one area, by its id.
  std::map<std::string, std::string> RuleStatuses() const;
  std::map<std::string, std::string> RuleStatuses(const std::string& area) const;

  // Returns the folders of conformance/cases, in order.
  std::vector<std::string> CaseFolders() const;
  std::vector<SourceCase> Cases() const;
  // Returns new ids of renamed cases by their old ids.
  std::map<std::string, std::string> RenamedIds() const;
  // Returns the suite that has most cases of the rules of an area; "" if no case names one.
  std::string SuiteFor(const std::string& rule_area) const;

  std::vector<std::string> Targets() const;

 private:
  std::string Path(const std::string& path) const { return root_ + "/" + path; }
  std::vector<std::string> CaseFiles() const;
  std::vector<std::string> Stems(const std::string& folder) const;  // of the TOML files

  std::string root_;
};

}  // namespace pmuconf::scaffold

#endif  // PMUCONF_SCAFFOLD_CHECKOUT_H_
