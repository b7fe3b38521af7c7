# SPDX-License-Identifier: Apache-2.0
# link_static(TARGET): links statically if PMUCONF_STATIC is set.
#
# A static program of GCC registers all its frames at its start, and sorts them at the first throw. For the suite that
# is four fifths of the time of a skipped case. With the linker's table the frames are found as in a dynamic program.
# The start code calls the registration function only if it is linked.
function(link_static target)
  if(PMUCONF_STATIC)
    target_link_options(${target} PRIVATE -static -s
      -Wl,--eh-frame-hdr,--wrap=__register_frame_info,--wrap=__deregister_frame_info)
  endif()
endfunction()
