# SPDX-License-Identifier: Apache-2.0

# The programs of source_map_test.cc. How they are compiled is what is tested, so it is written out
# here and the same in every build.
set(folder "${CMAKE_CURRENT_BINARY_DIR}/source-programs")
set(cxx_source "${CMAKE_CURRENT_SOURCE_DIR}/source_program.cc")
set(c_source "${CMAKE_CURRENT_SOURCE_DIR}/source_program.c")
set(cxx "${CMAKE_CXX_COMPILER}" -std=c++20 -O1 -Wl,--build-id -pthread "${cxx_source}")
set(c "${CMAKE_C_COMPILER}" -O1 -Wl,--build-id "${c_source}")
set(strip_to "${CMAKE_OBJCOPY}" --strip-all)
set(debug_of "${CMAKE_OBJCOPY}" --only-keep-debug)

add_custom_command(
  OUTPUT "${folder}/made"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
  COMMAND ${cxx} -gdwarf-5 -o "${folder}/dwarf5"
  COMMAND ${cxx} -gdwarf-4 -fdebug-types-section -o "${folder}/dwarf4"
  COMMAND ${cxx} -gdwarf-5 -gsplit-dwarf -o "${folder}/split"
  COMMAND ${cxx} -gdwarf-5 -gsplit-dwarf -o "${folder}/split_lost"
  COMMAND "${CMAKE_COMMAND}" -E remove "${folder}/split_lost-source_program.dwo"
  COMMAND ${c} -gdwarf-5 -o "${folder}/c"
  COMMAND ${c} -gdwarf-5 -O0 -o "${folder}/c_unoptimised"
  COMMAND ${c} -gdwarf-5 -ffunction-sections -Wl,--gc-sections -o "${folder}/collected"
  COMMAND ${strip_to} "${folder}/dwarf5" "${folder}/stripped"
  COMMAND "${CMAKE_OBJCOPY}" --strip-debug "${folder}/dwarf5" "${folder}/symbols_only"
  COMMAND ${debug_of} "${folder}/dwarf5" "${folder}/separate.debug"
  COMMAND ${strip_to} "--add-gnu-debuglink=${folder}/separate.debug" "${folder}/dwarf5" "${folder}/separate"
  COMMAND ${debug_of} "${folder}/dwarf4" "${folder}/strange.debug"
  COMMAND ${strip_to} "--add-gnu-debuglink=${folder}/strange.debug" "${folder}/dwarf5" "${folder}/strange"
  COMMAND "${CMAKE_COMMAND}" -E touch "${folder}/made"
  DEPENDS "${cxx_source}" "${c_source}" "${CMAKE_CURRENT_LIST_FILE}"
  WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
  COMMENT "Programs of source_map_test"
  VERBATIM)
add_custom_target(svd_source_programs DEPENDS "${folder}/made")

svd_add_test(source_map_test source_map_test.cc source_names_test.cc)
add_dependencies(source_map_test svd_source_programs)
target_link_libraries(source_map_test PRIVATE PkgConfig::CAPSTONE)
target_compile_definitions(source_map_test PRIVATE
  "SVD_ADDR2LINE=\"${CMAKE_ADDR2LINE}\"" "SVD_SOURCE_PROGRAMS=\"${folder}\""
  "SVD_SOURCE_FOLDER=\"${CMAKE_CURRENT_SOURCE_DIR}\"")
