# Reset: global and stack pointer, zeros where there is no data, and then the firmware sleeps between interrupts.
    .option arch, +zicsr
    .section .text.start, "ax"
    .globl rnic_start
rnic_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, rnic_stack_top
    la a0, rnic_bss_begin
    la a1, rnic_bss_end
1:  bgeu a0, a1, 2f
    sw zero, 0(a0)
    addi a0, a0, 4
    j 1b
2:  call rnic_boot
    la t0, rnic_interrupt
    csrw mtvec, t0
    li t0, 0x880            # external and timer interrupts
    csrw mie, t0
    csrsi mstatus, 8
3:  wfi
    j 3b
