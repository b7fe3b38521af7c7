// SPDX-License-Identifier: Apache-2.0
// A small checkout in a temporary folder, for the tests of `pmuconf new`.
#ifndef PMUCONF_SELFTEST_NEW_TREE_H_
#define PMUCONF_SELFTEST_NEW_TREE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "scaffold/change.h"
#include "target/target.h"

namespace pmuconf::scaffold {

class NewTree : public testing::Test {
 protected:
  NewTree() {
    Put("conformance/rules/TOY.toml",
        "# Rules on toys.\n\n[[rule]]\nid      = \"TOY-001\"\nstatus  = \"active\"\n\n"
        "[[rule]]\nid      = \"TOY-002\"\nstatus  = \"draft\"\n\n"
        "[[rule]]\nid      = \"TOY-007\"\nstatus  = \"retired\"\n");
    Put("conformance/rules/BOX.toml", "[[rule]]\nid = \"BOX-001\"\nstatus = \"draft\"\n");
    Put("conformance/cases/toys/all_test.cpp",
        "// Toys.\n#include <vector>\n\n#include \"cases/common.h\"\n"
        "#include \"rules/TOY.h\"\n\nnamespace pmuconf {\nnamespace {\n\n"
        "CONFORMANCE_CASE(Toys, ToyMakesNoise,\n                 .rules = {rule::TOY_001}) {}\n"
        "\n}  // namespace\n}  // namespace pmuconf\n");
    Put("conformance/cases/toys/bear_test.cpp",
        "CONFORMANCE_CASE(Bear, BearSleepsLong, .rules = {rule::BOX_001}) {}\n");
    Put("conformance/renamed.toml",
        "[[case]]\nold = \"Toys.NoiseComesOfToys\"\nnew = \"Toys.ToyMakesNoise\"\n");
    Put("conformance/targets/simple.toml",
        "[target]\nname = \"simple\"\nmatch = \"simple\"\nkind = \"software\"\n"
        "[[event]]\nname = \"dummy\"\naccuracy = \"exact\"\n");
  }
  ~NewTree() override { std::filesystem::remove_all(root_); }

  const std::string& root() const { return root_; }
  void Put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string Get(const std::string& path) const {
    return ReadWhole(root_ + "/" + path).value_or("(no such file)");
  }
  // The paths of all files, also of hidden ones.
  std::set<std::string> Files() const {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      if (entry.is_regular_file()) {
        files.insert(entry.path().lexically_relative(root_).string());
      }
    }
    return files;
  }

 private:
  std::string root_ = testing::TempDir() + "new_tree." + std::to_string(getpid());
};

// Returns the message of the ConfigError that `call` throws, which must be one line.
template <typename Call>
std::string Refusal(const Call& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "no error";
}

}  // namespace pmuconf::scaffold

#endif  // PMUCONF_SELFTEST_NEW_TREE_H_
