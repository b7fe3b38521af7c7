# SPDX-License-Identifier: Apache-2.0
# What was compiled once is not compiled again in another folder: ccache, where it is. ci/build says where it remembers.
find_program(PMUCONF_CCACHE ccache)
if(PMUCONF_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${PMUCONF_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PMUCONF_CCACHE})
  # What it reads of a source that takes a precompiled header names that header.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()
