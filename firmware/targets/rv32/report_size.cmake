# Prints how much of its budget the image uses. rnic.ld rejects an image that exceeds it.
# cmake -D IMAGE=rnic_fw.elf -D NM=riscv64-unknown-elf-nm -P report_size.cmake
execute_process(COMMAND ${NM} ${IMAGE} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
foreach(name text_bytes text_budget data_bytes bss_bytes data_budget)
  string(REGEX MATCH "([0-9a-f]+) [A-Za-z] rnic_${name}\n" found "${symbols}")
  math(EXPR ${name} 0x${CMAKE_MATCH_1})
endforeach()
math(EXPR static_bytes "${data_bytes} + ${bss_bytes}")
message("RV32 firmware: text ${text_bytes} of ${text_budget} octets; static data ${static_bytes} of ${data_budget} octets "
        "(data ${data_bytes}, bss ${bss_bytes})")
