# SPDX-License-Identifier: Apache-2.0
# PMUCONF_SANITIZERS=address,undefined instruments every target. A sanitizer report ends the program.
if(PMUCONF_SANITIZERS)
  add_compile_options(-fsanitize=${PMUCONF_SANITIZERS} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PMUCONF_SANITIZERS})
endif()
