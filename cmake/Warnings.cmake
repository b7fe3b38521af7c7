# SPDX-License-Identifier: Apache-2.0
# pmuconf_warnings: the warning options of all targets of the project.
option(PMUCONF_WARNINGS_ARE_ERRORS "A warning ends the build" ON)
add_library(pmuconf_warnings INTERFACE)
target_compile_options(pmuconf_warnings INTERFACE
  -Wall -Wextra $<$<BOOL:${PMUCONF_WARNINGS_ARE_ERRORS}>:-Werror> -Wshadow -Wundef -Wvla -Wpointer-arith -Wimplicit-fallthrough
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
