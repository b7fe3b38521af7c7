# SPDX-License-Identifier: Apache-2.0
# bpf_skeletons(TARGET FILE...) compiles each <name>.bpf.c to <name>.skel.h on the include path of TARGET.
include("${CMAKE_SOURCE_DIR}/conformance/arch/${CMAKE_SYSTEM_PROCESSOR}.cmake")
find_program(PMUCONF_BPF_CLANG clang REQUIRED)
find_program(PMUCONF_BPFTOOL NAMES bpftool PATHS /usr/sbin REQUIRED)
find_path(PMUCONF_ASM_DIR asm/types.h PATHS "/usr/include/${CMAKE_CXX_LIBRARY_ARCHITECTURE}"
  "/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}" "/usr/${CMAKE_CXX_LIBRARY_ARCHITECTURE}/include"
  NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH REQUIRED)

function(bpf_skeletons target)
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/generated/bpf")
  set(headers)
  foreach(source IN LISTS ARGN)
    get_filename_component(folder "${source}" DIRECTORY)
    file(GLOB shared CONFIGURE_DEPENDS "${folder}/*.h" "${folder}/../*.h")
    get_filename_component(name "${source}" NAME)
    string(REGEX REPLACE "\\.bpf\\.c$" "" name "${name}")
    add_custom_command(
      OUTPUT "${dir}/${name}.skel.h"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${dir}"
      COMMAND "${PMUCONF_BPF_CLANG}" -target bpf -O2 -g -Wall -Werror
        # The output must not depend on the path of the sources.
        "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=."
        -D__TARGET_ARCH_${PMUCONF_BPF_ARCH} -idirafter "${PMUCONF_ASM_DIR}"
        -c "${source}" -o "${dir}/${name}.bpf.o"
      # The analyzer reports leaks in bpftool's output, for the case that an allocation fails.
      COMMAND "${CMAKE_COMMAND}" -E echo "/* NOLINTBEGIN(clang-analyzer-unix.Malloc) */"
        > "${dir}/${name}.skel.h.part"
      COMMAND "${PMUCONF_BPFTOOL}" gen skeleton "${dir}/${name}.bpf.o" name "${name}_bpf"
        >> "${dir}/${name}.skel.h.part"
      COMMAND "${CMAKE_COMMAND}" -E echo "/* NOLINTEND(clang-analyzer-unix.Malloc) */"
        >> "${dir}/${name}.skel.h.part"
      COMMAND "${CMAKE_COMMAND}" -E rename "${dir}/${name}.skel.h.part" "${dir}/${name}.skel.h"
      DEPENDS "${source}" ${shared}
      COMMENT "BPF skeleton ${name}"
      VERBATIM)
    list(APPEND headers "${dir}/${name}.skel.h")
  endforeach()
  add_custom_target(${target}_files DEPENDS ${headers})
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${dir}")
  add_dependencies(${target} ${target}_files)
endfunction()
