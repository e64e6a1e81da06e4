# C++17 everywhere: the distribution's SystemC library is tagged with the standard it was built for.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# In the mode that asks the compiler what a source depends on, a miss costs next to nothing, and precompiled headers are
# known by what they were made of. Paths are those of the clone's files relative to its root, for ccache and in debug information,
# so that one clone has the use of what was compiled in another.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros
                                CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -fdebug-prefix-map=${PROJECT_BINARY_DIR}=.)

# g++ collects its garbage all the time where headers were precompiled: a seventh of what it does.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()

# Position-independent static libraries are never interposed; without this g++ does not inline across functions.
add_compile_options(-fno-semantic-interposition)

# Compiling third-party headers (SystemC, Boost) as our own code would drown our warnings in theirs.
add_library(rnic_warnings INTERFACE)
target_compile_options(rnic_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor $<$<CXX_COMPILER_ID:GNU>:-Woverloaded-virtual> -Wcast-align -Wformat=2
  $<$<BOOL:${RNIC_WERROR}>:-Werror>)

if(RNIC_SANITIZE)
  add_compile_definitions(RNIC_SANITIZED)
  add_compile_options(-fsanitize=${RNIC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RNIC_SANITIZE})
endif()
if(RNIC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "RNIC_FUZZ wants clang, whose libFuzzer it uses: cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
if(RNIC_COVERAGE)
  add_link_options(--coverage)
  set(RNIC_COUNTED --coverage)  # for our own code, not for Verilator's
endif()
