# SPDX-License-Identifier: Apache-2.0
# link_static(TARGET) links the target without shared libraries if PMUCONF_STATIC is set.
#
# A static program of GCC registers all its exception frames at start, and sorts them at the first throw. For the suite
# this is four fifths of the time of a skipped case. With --eh-frame-hdr it finds them in the linker's table instead.
# The start code calls the registration functions only if they are linked. The --wrap options rename its references to
# them, so it does not find them.

# libelf.a needs this library in newer releases of the distribution.
find_library(PMUCONF_ZSTD libzstd.a)
if(PMUCONF_STATIC AND PMUCONF_ZSTD)
  string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " ${PMUCONF_ZSTD}")
endif()

# A static program does not name the folders that it was built in, so builds in different folders are equal. ccache
# makes the paths below the checkout relative to the build folder.
if(PMUCONF_STATIC)
  file(RELATIVE_PATH above "${CMAKE_BINARY_DIR}" "${CMAKE_SOURCE_DIR}")
  add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=" "-ffile-prefix-map=${above}="
    "-ffile-prefix-map=${CMAKE_BINARY_DIR}/=")
  if(PMUCONF_SYSROOT)
    add_compile_options("-ffile-prefix-map=${PMUCONF_SYSROOT}=")
  endif()
endif()

function(link_static target)
  if(PMUCONF_STATIC)
    # Inline functions are in sections of their own, and many are called nowhere.
    target_link_options(${target} PRIVATE -static -s -Wl,--gc-sections
      -Wl,--eh-frame-hdr,--wrap=__register_frame_info,--wrap=__deregister_frame_info)
    target_sources(${target} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/newer_libraries.c")
  endif()
endfunction()
