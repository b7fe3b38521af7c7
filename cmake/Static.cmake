# SPDX-License-Identifier: Apache-2.0
# link_static(TARGET): without libraries, if PMUCONF_STATIC says so.
#
# A static program of GCC registers all its frames at its start, and sorts them when it first throws: for the suite that
# is four fifths of what a case that is skipped takes. With the linker's table they are found as in any other program;
# its start code calls what registers them only where that is linked under its name.
function(link_static target)
  if(PMUCONF_STATIC)
    target_link_options(${target} PRIVATE -static -s
      -Wl,--eh-frame-hdr,--wrap=__register_frame_info,--wrap=__deregister_frame_info)
  endif()
endfunction()
