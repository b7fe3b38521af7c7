# SPDX-License-Identifier: Apache-2.0
# link_static(TARGET) links the target without shared libraries if PMUCONF_STATIC is set.
#
# A static program of GCC registers all its exception frames at start, and sorts them at the first throw. For the suite
# this is four fifths of the time of a skipped case. With --eh-frame-hdr it finds them in the linker's table instead.
# The --wrap options rename the registration functions, so that the start code, which calls them only if they are
# linked, does not.
function(link_static target)
  if(PMUCONF_STATIC)
    target_link_options(${target} PRIVATE -static -s
      -Wl,--eh-frame-hdr,--wrap=__register_frame_info,--wrap=__deregister_frame_info)
  endif()
endfunction()
