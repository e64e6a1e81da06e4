// Makes the program that a scenario describes.
#pragma once

#include <memory>

#include "model/programs/consumer/consumer.h"

namespace rnic::consumer {

std::unique_ptr<Consumer> make_consumer(host::Context& context, const ProgramSpec& spec);

}  // namespace rnic::consumer
