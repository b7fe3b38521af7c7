# SPDX-License-Identifier: Apache-2.0
# ccache, if installed, shares object files between build directories. ci/build sets its directory.
find_program(PMUCONF_CCACHE ccache)
if(PMUCONF_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${PMUCONF_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PMUCONF_CCACHE})
  # With this option the preprocessed source names its precompiled header, so that ccache detects changes of the header.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()
