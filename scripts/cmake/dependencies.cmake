# Every dependency is a Debian 12 package; scripts/setup.sh installs them all.
find_package(PkgConfig REQUIRED)

function(rnic_require_pkg name module package)
  pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${module})
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${module} was not found. Install ${package}, or run scripts/setup.sh, which installs everything.")
  endif()
endfunction()

rnic_require_pkg(SYSTEMC systemc libsystemc-dev)
rnic_require_pkg(ISAL libisal libisal-dev)
rnic_require_pkg(LIBELF libelf libelf-dev)
rnic_require_pkg(PCAP libpcap libpcap-dev)
rnic_require_pkg(SQLITE3 sqlite3 libsqlite3-dev)
rnic_require_pkg(UNICORN unicorn libunicorn-dev)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Boost REQUIRED COMPONENTS program_options)  # of the rest only headers

# SystemC encodes the C++ standard in a symbol; a mismatch is a page of linker errors, so ask first.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::SYSTEMC)
set(CMAKE_REQUIRED_FLAGS -std=c++17)
check_cxx_source_compiles("#include <systemc>\nint sc_main(int, char*[]) { sc_core::sc_start(); return 0; }" RNIC_SYSTEMC_LINKS)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT RNIC_SYSTEMC_LINKS)
  message(FATAL_ERROR "SystemC ${SYSTEMC_VERSION} was found but does not link with C++17 objects. It must be built for "
                      "C++17, as Debian 12's libsystemc-dev is; a library built for another standard cannot be mixed.")
endif()

find_package(verilator 5 QUIET HINTS $ENV{VERILATOR_ROOT} /usr/share/verilator)
if(NOT verilator_FOUND)
  message(FATAL_ERROR "Verilator 5 was not found. Install verilator, or run scripts/setup.sh, which installs everything.")
endif()

# What only tests and benchmarks need may be missing where somebody only runs the program.
find_package(GTest QUIET)
find_package(benchmark QUIET)
if(RNIC_BUILD_TESTS AND NOT GTest_FOUND)
  message(STATUS "No GoogleTest: no tests; scripts/test.sh installs it")
  set(RNIC_BUILD_TESTS OFF)
endif()
if(RNIC_BUILD_BENCH AND NOT benchmark_FOUND)
  message(STATUS "No Google Benchmark: no benchmarks; scripts/bench.sh installs it")
  set(RNIC_BUILD_BENCH OFF)
endif()
