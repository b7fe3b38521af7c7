# SPDX-License-Identifier: Apache-2.0
# Provides GTest::gtest, GTest::gmock and their libraries with main(), from the distribution's package.
#
# The libraries of a later release are compiled by a later compiler. They need its C++ library and, on riscv64,
# relocations that crash the linker of binutils 2.40. So these are built from their package's sources.
if(PMUCONF_NEWER_LIBRARIES)
  set(INSTALL_GTEST OFF)
  add_subdirectory("${PMUCONF_SYSROOT}/usr/src/googletest" googletest EXCLUDE_FROM_ALL)
else()
  find_package(GTest REQUIRED)
endif()
