# SPDX-License-Identifier: Apache-2.0
# Toolchain for arm64: Debian's cross compiler, and the libraries below PMUCONF_SYSROOT (pmuvm sysroot).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(PMUCONF_SYSROOT "" CACHE PATH "Unpacked packages of the libraries, for the other architecture")
if(NOT IS_DIRECTORY "${PMUCONF_SYSROOT}/usr/include")
  message(FATAL_ERROR "PMUCONF_SYSROOT='${PMUCONF_SYSROOT}' holds no libraries: ci/build sets it")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PMUCONF_SYSROOT)
# The compiler has the C library and the folder has the others. Libraries of the host must not be used.
include_directories(SYSTEM "${PMUCONF_SYSROOT}/usr/include")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${PMUCONF_SYSROOT}/usr/lib/aarch64-linux-gnu")
set(CMAKE_FIND_ROOT_PATH "${PMUCONF_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
