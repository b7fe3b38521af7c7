# SPDX-License-Identifier: Apache-2.0
# Toolchain for another architecture: Debian's cross compiler, and the libraries in PMUCONF_SYSROOT. ci/build passes the
# options PMUCONF_* that `pmuvm sysroot --cmake` prints: they come from the file of the architecture in vm/arches.
set(PMUCONF_SYSROOT "" CACHE PATH "Unpacked packages of the libraries, for the other architecture")
set(PMUCONF_PROCESSOR "" CACHE STRING "The other architecture, as `uname -m` prints it")
set(PMUCONF_TRIPLE "" CACHE STRING "The other architecture, as the names of compilers and library folders have it")
set(PMUCONF_LIBRARIES "" CACHE STRING "Libraries that static libraries of the sysroot need in addition")
set(PMUCONF_NEWER_LIBRARIES OFF CACHE BOOL "The libraries are of a later release than the compiler")
if(NOT IS_DIRECTORY "${PMUCONF_SYSROOT}/usr/include")
  message(FATAL_ERROR "PMUCONF_SYSROOT='${PMUCONF_SYSROOT}' holds no libraries: ci/build sets it")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES
  PMUCONF_SYSROOT PMUCONF_PROCESSOR PMUCONF_TRIPLE PMUCONF_LIBRARIES)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR "${PMUCONF_PROCESSOR}")
set(CMAKE_C_COMPILER "${PMUCONF_TRIPLE}-gcc")
set(CMAKE_CXX_COMPILER "${PMUCONF_TRIPLE}-g++")
# The compiler provides the C library, and the sysroot the other libraries. The host's libraries must not be found.
include_directories(SYSTEM "${PMUCONF_SYSROOT}/usr/include")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${PMUCONF_SYSROOT}/usr/lib/${PMUCONF_TRIPLE}")
list(TRANSFORM PMUCONF_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE libraries)
list(JOIN libraries " " libraries)
set(CMAKE_C_STANDARD_LIBRARIES_INIT "${libraries}")
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "${libraries}")
set(CMAKE_FIND_ROOT_PATH "${PMUCONF_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
