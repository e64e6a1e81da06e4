# Installs a build, moves the prefix elsewhere, and uses it from there: the program, and a foreign project.
# cmake -D BUILD=dir -D COMPILER=g++ -D FLAGS="-O2 …" -D PYTHON=python3 -D WORK=dir -P install_test.cmake
set(prefix ${WORK}/moved)
set(scenario ${prefix}/share/rnicsim/traces/read_bw_ord1.json)
file(REMOVE_RECURSE ${WORK})

function(run expected)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  string(FIND "${output}" "${expected}" found)
  if(NOT status EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "${ARGN}\nends with ${status}; expected was '${expected}' in\n${output}")
  endif()
endfunction()

run("" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
file(RENAME ${WORK}/installed ${prefix})

run("rnic.clock_period_ps" ${prefix}/bin/rnicsim config --list)
run("data: passed" ${prefix}/bin/rnicsim run ${scenario} --out ${WORK}/out)
if(EXISTS ${prefix}/share/rnicsim/rnic_fw.elf)
  run("data: passed" ${prefix}/bin/rnicsim run ${scenario} --set rnic.fwcpu.target=rv32 --out ${WORK}/out)
endif()

run("" ${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/foreign -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS})
run("" ${CMAKE_COMMAND} --build ${WORK}/foreign)
run("4d504120494420526571204672616d65c0010000 e3069283" ${WORK}/foreign/mpa_request)
run("data ok" ${WORK}/foreign/simulate ${scenario})

# The golden library, by CMake and by pkg-config.
file(GLOB_RECURSE golden ${prefix}/librnic_golden.so.1)
if(golden)
  set(fpdu "0005726e696321007171e65f of version")
  run("" ${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/golden -B ${WORK}/foreign_golden -D CMAKE_PREFIX_PATH=${prefix})
  run("" ${CMAKE_COMMAND} --build ${WORK}/foreign_golden)
  run("${fpdu}" ${WORK}/foreign_golden/fpdu)
  get_filename_component(folder ${golden} DIRECTORY)
  run("" sh -c "PKG_CONFIG_PATH=${folder}/pkgconfig && export PKG_CONFIG_PATH && cc -std=c99 -Wall -Werror ${CMAKE_CURRENT_LIST_DIR}/golden/fpdu.c \
$(pkg-config --cflags --libs rnic_golden) -o ${WORK}/fpdu")
  run("${fpdu}" ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${folder} ${WORK}/fpdu)

  # What the program does with it.
  run(" passed, 0 failed" ${prefix}/bin/rnicsim vectors ${CMAKE_CURRENT_LIST_DIR}/../../vectors)
  run("are right" ${prefix}/bin/rnicsim run ${scenario} --scoreboard all --out ${WORK}/out)

  # A test bench in SystemVerilog, with the checkers on its block.
  set(rtl ${prefix}/share/rnicsim/rtl-stubs)
  run("" sh -c "PKG_CONFIG_PATH=${folder}/pkgconfig && export PKG_CONFIG_PATH && verilator --binary --timing --assert -Wno-lint --reloop-limit 100000 \
-y ${rtl}/rtl -y ${rtl}/checkers -I${rtl}/golden ${rtl}/include/rnic_stream_pkg.sv ${rtl}/include/rnic_messages_pkg.sv \
${rtl}/include/rnic_ddp_pkg.sv ${rtl}/include/rnic_crc32c_pkg.sv ${rtl}/golden/rnic_golden_pkg.sv ${rtl}/checkers/bind_all.sv \
${rtl}/examples/dpi/crc_check_tb.sv --top-module crc_check_tb -CFLAGS -O0 -LDFLAGS \"$(pkg-config --libs rnic_golden)\" --Mdir ${WORK}/bench")
  run("all right" ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${folder} ${WORK}/bench/Vcrc_check_tb)

  # Whole runs, by C and by Python; and an example of the package.
  file(READ ${CMAKE_CURRENT_LIST_DIR}/../../digests.json digests)
  string(JSON digest GET ${digests} read_bw_ord1)
  string(REGEX MATCH "^[0-9a-f]+" digest ${digest})
  run("${digest}" ${WORK}/foreign_golden/scenario ${scenario})
  run("" sh -c "PKG_CONFIG_PATH=${folder}/pkgconfig && export PKG_CONFIG_PATH && cc -std=c99 -Wall -Werror ${CMAKE_CURRENT_LIST_DIR}/golden/scenario.c \
$(pkg-config --cflags --libs rnic_run) -o ${WORK}/scenario")
  run("${digest}" ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${folder} ${WORK}/scenario ${scenario})
  set(python ${CMAKE_COMMAND} -E env --unset=RNICSIM_LIBRARY_PATH PYTHONPATH=${prefix}/share/rnicsim/python ${PYTHON} -B)
  run("0005726e696321007171e65f\ndigest ${digest}" ${python} ${CMAKE_CURRENT_LIST_DIR}/golden/use.py ${scenario})
  if(EXISTS ${prefix}/share/rnicsim/rnic_fw.elf)
    run("data: passed" ${python} ${CMAKE_CURRENT_LIST_DIR}/golden/use.py ${scenario} rv32)
  endif()
  run("octets are as they should be" ${python} ${prefix}/share/rnicsim/python/examples/stream_oracle.py --fpdus 20)
endif()

file(REMOVE_RECURSE ${WORK})
