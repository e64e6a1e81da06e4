# Headers from outside of the project, compiled once for each way in which their users are compiled: in a library, in a
# library that also speaks JSON, or in a program of tests.
function(rnic_precompiled target)
  file(WRITE ${CMAKE_BINARY_DIR}/${target}.cpp "")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${target}.cpp)
  target_compile_features(${target} PRIVATE cxx_std_17)
  target_link_libraries(${target} PRIVATE PkgConfig::SYSTEMC fmt::fmt rnic_warnings)  # -Wpedantic defines a macro less
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()
set(usual <model/common/precompiled.h>)
rnic_precompiled(rnic_precompiled ${usual})
rnic_precompiled(rnic_precompiled_json ${usual} <nlohmann/json.hpp>)
set_target_properties(rnic_precompiled rnic_precompiled_json PROPERTIES POSITION_INDEPENDENT_CODE ON)

# Has the sources of a target compiled `size` at a time. CMake's own UNITY_BUILD writes absolute paths into its files, which
# a compiler cache does not know in another clone.
function(rnic_unite target size)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  list(FILTER ARGN INCLUDE REGEX "[.]cpp$")  # not the objects of others
  set(batch 0)
  while(ARGN)
    list(SUBLIST ARGN 0 ${size} sources)
    list(REMOVE_ITEM ARGN ${sources})
    set_source_files_properties(${sources} PROPERTIES HEADER_FILE_ONLY ON)
    list(TRANSFORM sources REPLACE "(.+)" "#include \"${folder}/\\1\"\n")
    list(JOIN sources "" text)
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/Unity/${target}_${batch}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
    target_sources(${target} PRIVATE ${unit})
    math(EXPR batch "${batch} + 1")
  endwhile()
endfunction()

# One folder is one library: rnic_library(rx SOURCES crc_check.cpp LINK rnic::common rnic::wire).
# The LINK line is the architecture; a folder that links more than its row in the architecture table is a mistake.
# HEADERS: those without a source of their name, where the folder has several libraries.
# PLAIN: nothing in it needs SystemC. JSON: most of it reads or writes JSON. UNITY n: n sources are one translation unit, where
# each is small beside what it includes. ALONE: sources that are not, or that have definitions of their own.
function(rnic_library name)
  cmake_parse_arguments(ARG "PLAIN;JSON" "UNITY" "SOURCES;ALONE;HEADERS;LINK;PRIVATE_LINK" ${ARGN})
  set(target rnic_${name})
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES} ${ARG_ALONE} ${ARG_HEADERS})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:rnic_warnings>)
    if(ARG_UNITY AND RNIC_UNITY)
      rnic_unite(${target} ${ARG_UNITY} ${ARG_SOURCES})
    endif()
    set(precompiled rnic_precompiled)
    if(ARG_JSON)
      set(precompiled rnic_precompiled_json)
    endif()
    if(NOT ARG_PLAIN)
      target_precompile_headers(${target} REUSE_FROM ${precompiled})
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:fmt::fmt>)  # its definitions are those of the headers
    endif()
  else()
    add_library(${target} INTERFACE ${ARG_HEADERS})
    set(scope INTERFACE)
  endif()
  add_library(rnic::${name} ALIAS ${target})
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/rnicsim>)
  target_compile_features(${target} ${scope} cxx_std_17)
  target_link_libraries(${target} ${scope} ${ARG_LINK})
  # Every cycle goes through these, and what they compare tells a fuzzer nothing.
  if(RNIC_FUZZ AND name MATCHES "^(common|host|driver)$")
    target_compile_options(${target} PRIVATE -fno-sanitize-coverage=trace-cmp)
  endif()
  if(ARG_PRIVATE_LINK)
    target_link_libraries(${target} PRIVATE ${ARG_PRIVATE_LINK})
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY RNIC_LIBRARIES ${target})
endfunction()

if(RNIC_BUILD_TESTS)
  rnic_precompiled(rnic_precompiled_test ${usual} <gmock/gmock.h>)
  rnic_precompiled(rnic_precompiled_plain_test <gmock/gmock.h>)
  target_link_libraries(rnic_precompiled_test PRIVATE GTest::gmock)
  target_link_libraries(rnic_precompiled_plain_test PRIVATE GTest::gmock)
endif()

# rnic_test(rx_test LABELS unit SOURCES crc_check_test.cpp LINK rnic::rx rnic_stage_test): a program of tests, which is one
# test to ctest and leaves what each of its own came to in results/. Each runs in a process of its own, because SystemC elaborates
# once per process, but for PLAIN programs, which have no SystemC. PREFIX tells tests apart whose sources are in two
# programs. TIMEOUT is one test's, in seconds.
function(rnic_test name)
  cmake_parse_arguments(ARG "PLAIN" "TIMEOUT;PREFIX" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 30)
  endif()
  set(results ${CMAKE_BINARY_DIR}/results/${name}.xml)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock fmt::fmt rnic_warnings)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  if(ARG_PLAIN)
    target_precompile_headers(${name} REUSE_FROM rnic_precompiled_plain_test)
    target_link_libraries(${name} PRIVATE GTest::gmock_main)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 --gtest_output=xml:${results})
  else()
    target_precompile_headers(${name} REUSE_FROM rnic_precompiled_test)
    target_link_libraries(${name} PRIVATE rnic_stage_test)
    add_test(NAME ${name} COMMAND ${name} --jobs=1 --timeout=${ARG_TIMEOUT} --results=${results} --prefix=${ARG_PREFIX})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 7200 COST 10)
  foreach(label IN LISTS ARG_LABELS)
    set_property(GLOBAL APPEND PROPERTY RNIC_TESTS_${label} ${name})
  endforeach()
endfunction()
