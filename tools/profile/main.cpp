// SPDX-License-Identifier: Apache-2.0
// profile: a sampling profiler for any PMU and event, with a BPF program that runs on overflow.
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>

#include "tools/profile/options.h"
#include "tools/profile/session.h"

namespace pmuconf::profile {
namespace {

int Main(int argc, char** argv) {
  const auto options = ParseOptions(argc, argv);
  if (!options) return 0;
  if (options->out.empty()) return RunSession(*options, std::cout);
  std::ofstream out(options->out, std::ios::binary);
  if (!out) {
    throw UserError("-o '" + options->out + "' cannot be written: " + std::strerror(errno));
  }
  return RunSession(*options, out);
}

}  // namespace
}  // namespace pmuconf::profile

int main(int argc, char** argv) {
  try {
    return pmuconf::profile::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "profile: " << error.what() << '\n';
    return 2;
  }
}
