# SPDX-License-Identifier: Apache-2.0
# unite(TARGET NAME FILE...): a preset with PMUCONF_UNITY compiles the files, given by absolute paths, as one source
# NAME.cpp. Unlike that of CMake's unity builds, it includes them by paths relative to the top folder. So ccache also
# finds its object for a checkout in another folder.
option(PMUCONF_UNITY "Compile the files of a folder as one source" OFF)
function(unite target name)
  if(NOT PMUCONF_UNITY)
    return()
  endif()
  set(text "// SPDX-License-Identifier: Apache-2.0\n")
  foreach(file IN LISTS ARGN)
    file(RELATIVE_PATH path "${CMAKE_SOURCE_DIR}" "${file}")
    string(APPEND text "#include \"${path}\"\n")
  endforeach()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/unity/${name}.cpp")
  file(GENERATE OUTPUT "${source}" CONTENT "${text}")
  set_source_files_properties(${ARGN} PROPERTIES HEADER_FILE_ONLY ON)
  target_sources(${target} PRIVATE "${source}")
endfunction()
