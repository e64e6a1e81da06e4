# Prints how much of its budget the image uses; rnic.ld does not let it be more.
# cmake -D IMAGE=rnic_fw.elf -D NM=riscv64-unknown-elf-nm -P report_size.cmake
execute_process(COMMAND ${NM} ${IMAGE} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
foreach(name text_begin text_end text_budget data_begin bss_begin bss_end data_budget)
  string(REGEX MATCH "([0-9a-f]+) [A-Za-z] rnic_${name}\n" found "${symbols}")
  set(${name} 0x${CMAKE_MATCH_1})
endforeach()
math(EXPR text "${text_end} - ${text_begin}")
math(EXPR text_budget ${text_budget})
math(EXPR data "${bss_begin} - ${data_begin}")
math(EXPR bss "${bss_end} - ${bss_begin}")
math(EXPR total "${data} + ${bss}")
math(EXPR data_budget ${data_budget})
message("RV32 firmware: text ${text} of ${text_budget} octets; static data ${total} of ${data_budget} octets "
        "(data ${data}, bss ${bss})")
