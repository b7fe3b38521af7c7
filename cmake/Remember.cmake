# SPDX-License-Identifier: Apache-2.0
# ccache shares object files between build directories, if it is installed. ci/build sets its folder.
find_program(PMUCONF_CCACHE ccache)
if(PMUCONF_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${PMUCONF_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PMUCONF_CCACHE})
  # With a precompiled header, the preprocessed source only names that header, so ccache also needs the header's
  # content.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()
