# SPDX-License-Identifier: Apache-2.0

# The binaries of cfg_shapes_test.cc: what control flow looks like depends on how it is compiled, so
# that is written out here and the same in every build.
set(folder "${CMAKE_CURRENT_BINARY_DIR}/cfg-shapes")
set(assembly "${CMAKE_CURRENT_SOURCE_DIR}/cfg_shapes.S")
set(c_source "${CMAKE_CURRENT_SOURCE_DIR}/cfg_shapes.c")
set(link -nostdlib -Wl,--build-id -Wl,--unresolved-symbols=ignore-all)
set(gcc "${CMAKE_C_COMPILER}" ${link} -shared -fPIC -fno-optimize-sibling-calls "${c_source}")

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
add_custom_target(svd_cfg_shapes DEPENDS "${folder}/made")

svd_add_test(cfg_test
  cfg_binaries_test.cc
  cfg_observed_test.cc
  cfg_post_dominators_test.cc
  cfg_shapes_test.cc)
add_dependencies(cfg_test svd_cfg_shapes)
target_compile_definitions(cfg_test PRIVATE "SVD_CFG_SHAPES=\"${folder}\"")
