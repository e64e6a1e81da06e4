// SystemC brings main(); one test is one process, since SystemC elaborates once per process.
#include <systemc>

#include <gmock/gmock.h>

int sc_main(int argc, char* argv[]) {
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
