# SPDX-License-Identifier: Apache-2.0

# The binaries of cfg_shapes_test.cc: what control flow looks like depends on how it is compiled, so
# that is written out here and the same in every build.
set(folder "${CMAKE_CURRENT_BINARY_DIR}/cfg-shapes")
set(assembly "${CMAKE_CURRENT_SOURCE_DIR}/cfg_shapes.S")
set(c_source "${CMAKE_CURRENT_SOURCE_DIR}/cfg_shapes.c")
set(waits "${CMAKE_CURRENT_SOURCE_DIR}/cfg_waits.c")
set(link -nostdlib -Wl,--build-id -Wl,--unresolved-symbols=ignore-all)
set(library "${CMAKE_C_COMPILER}" ${link} -shared -fPIC)
set(gcc ${library} -fno-optimize-sibling-calls "${c_source}")

add_custom_command(
  OUTPUT "${folder}/made"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
  COMMAND "${CMAKE_C_COMPILER}" ${link} -static -no-pie -Wl,--entry=if_else -o "${folder}/assembly"
          "${assembly}"
  COMMAND "${CMAKE_OBJCOPY}" --strip-all "${folder}/assembly" "${folder}/stripped"
  COMMAND ${gcc} -O0 -o "${folder}/o0.so"
  COMMAND ${gcc} -O1 -o "${folder}/o1.so"
  COMMAND ${gcc} -Os -o "${folder}/os.so"
  COMMAND "${CMAKE_COMMAND}" -E touch "${folder}/made"
  DEPENDS "${assembly}" "${c_source}" "${CMAKE_CURRENT_LIST_FILE}"
  COMMENT "Binaries of cfg_shapes_test"
  VERBATIM)
set(wait_folder "${CMAKE_CURRENT_BINARY_DIR}/cfg-waits")
add_custom_command(
  OUTPUT "${wait_folder}/made"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${wait_folder}"
  COMMAND ${library} "${waits}" -O0 -o "${wait_folder}/o0.so"
  COMMAND ${library} "${waits}" -O1 -o "${wait_folder}/o1.so"
  COMMAND ${library} "${waits}" -O2 -o "${wait_folder}/o2.so"
  COMMAND ${library} "${waits}" -Os -o "${wait_folder}/os.so"
  COMMAND "${CMAKE_COMMAND}" -E touch "${wait_folder}/made"
  DEPENDS "${waits}" "${CMAKE_CURRENT_LIST_FILE}"
  COMMENT "Binaries of cfg_waits_test"
  VERBATIM)
add_custom_target(svd_cfg_shapes DEPENDS "${folder}/made" "${wait_folder}/made")

svd_add_test(cfg_test
  cfg_binaries_test.cc
  cfg_observed_test.cc
  cfg_post_dominators_test.cc
  cfg_shapes_test.cc
  cfg_waits_test.cc)
add_dependencies(cfg_test svd_cfg_shapes)
target_compile_definitions(cfg_test PRIVATE
  "SVD_CFG_SHAPES=\"${folder}\"" "SVD_CFG_WAITS=\"${wait_folder}\"")
