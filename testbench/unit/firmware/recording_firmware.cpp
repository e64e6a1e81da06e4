// The firmware on the recording bus, instantiated once for all tests.
#include "firmware/app/instantiate.h"
#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw {

template class ConnectionManager<test::RecordingBus, test::SmallCapacity>;
template class Firmware<test::RecordingBus, test::SmallCapacity>;

}  // namespace rnic::fw
