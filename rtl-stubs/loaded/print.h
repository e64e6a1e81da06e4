// Verilator's VL_PRINTF in a library of RTL: what $error and failed assertions say becomes the text of a failure.
#pragma once

#ifdef __GNUC__
__attribute__((format(printf, 1, 2)))
#endif
int rnic_rtl_print(const char* format, ...);
