// Boards of the stages of requests, answers and errors.
#include <fmt/format.h>

#include "model/golden/abi/rnic_golden_messages.h"
#include "model/rnic/completion/response_queue.h"
#include "model/rnic/responder/atomic_alu.h"
#include "model/rnic/responder/irrq.h"
#include "model/rnic/terminate/terminate_generator.h"
#include "model/scoreboard/context_rows.h"
#include "model/scoreboard/other_writes.h"
#include "model/scoreboard/watched_stages.h"

namespace rnic::scoreboard {
namespace {

void terminates(Stage& stage, const WatchedChip& chip, StageBoard& board) {
  auto& s = dynamic_cast<TerminateGenerator&>(stage);
  board.add(std::make_unique<ContextRows>(board, *chip.contexts, ContextRows::kQp));
  watch(board, s.in, RNIC_TERMINATE_GENERATOR_IN);
  watch_pushes(board, s.out, RNIC_TERMINATE_GENERATOR_OUT);
  watch_pushes(board, s.event, RNIC_TERMINATE_GENERATOR_EVENT);
}
std::string terminate_settings(Stage&, const WatchedChip& chip) {
  return fmt::format("{}, \"foreign_stag_is_invalid\": {}", context_settings(*chip.contexts, ContextRows::kQp),
                     chip.terminate->foreign_stag_is_invalid);
}

void requests(Stage& stage, const WatchedChip& chip, StageBoard& board) {
  auto& s = dynamic_cast<Irrq&>(stage);
  board.add(std::make_unique<ContextRows>(board, *chip.contexts, ContextRows::kQp));
  watch(board, s.sent, RNIC_IRRQ_SENT);
  watch(board, s.in, RNIC_IRRQ_IN);
  watch_pushes(board, s.out, RNIC_IRRQ_OUT);
  watch_pushes(board, s.atomic, RNIC_IRRQ_ATOMIC);
  watch_pushes(board, s.event, RNIC_IRRQ_EVENT);
}
std::string request_settings(Stage&, const WatchedChip& chip) {
  return context_settings(*chip.contexts, ContextRows::kQp);
}

constexpr unsigned kOfMemory = ContextRows::kQp | ContextRows::kStags;

// A read has landed where the stage takes its operand from; so has that of a twin.
void atomics(Stage& stage, const WatchedChip& chip, StageBoard& board) {
  auto& s = dynamic_cast<AtomicAlu&>(stage);
  TransactionsOf<DmaReadDone> reads;
  reads.landed = [&s](std::uint32_t tag) { return ByteSpan(s.landing(tag), abi::kAtomicBytes); };
  board.add(std::make_unique<ContextRows>(board, *chip.contexts, kOfMemory));
  board.add(std::make_unique<OtherWrites>(board, s.words(), RNIC_ATOMIC_ALU_OTHERS));
  watch(board, s.written, RNIC_ATOMIC_ALU_WRITTEN);
  board.add(std::make_unique<InPort<DmaReadDone>>(board, *s.read_done, RNIC_ATOMIC_ALU_READ_DONE, std::move(reads)));
  watch(board, s.in, RNIC_ATOMIC_ALU_IN);
  watch_pushes(board, s.read, RNIC_ATOMIC_ALU_READ);
  watch_pushes(board, s.write, RNIC_ATOMIC_ALU_WRITE);
  watch_pushes(board, s.out, RNIC_ATOMIC_ALU_OUT);
  watch_pushes(board, s.event, RNIC_ATOMIC_ALU_EVENT);
}
std::string atomic_settings(Stage&, const WatchedChip& chip) {
  const AtomicAluConfig& alu = *chip.atomic_alu;
  return fmt::format(R"({}, "operations": {}, "initiation_interval": {}, "pipeline_cycles": {})",
                     context_settings(*chip.contexts, kOfMemory), alu.operations, alu.initiation_interval,
                     alu.pipeline_cycles);
}

void responses(Stage& stage, const WatchedChip& chip, StageBoard& board) {
  auto& s = dynamic_cast<ResponseQueue&>(stage);
  board.add(std::make_unique<ContextRows>(board, *chip.contexts, kOfMemory));
  watch(board, s.written, RNIC_RESPONSE_QUEUE_WRITTEN);
  watch(board, s.issued, RNIC_RESPONSE_QUEUE_ISSUED);
  watch(board, s.in, RNIC_RESPONSE_QUEUE_IN);
  watch_pushes(board, s.dma, RNIC_RESPONSE_QUEUE_DMA);
  watch_pushes(board, s.done, RNIC_RESPONSE_QUEUE_DONE);
  watch_pushes(board, s.unblock, RNIC_RESPONSE_QUEUE_UNBLOCK);
  watch_pushes(board, s.event, RNIC_RESPONSE_QUEUE_EVENT);
}
std::string response_settings(Stage&, const WatchedChip& chip) { return context_settings(*chip.contexts, kOfMemory); }

}  // namespace

const std::vector<WatchedStage>& watched_requests() {
  static const std::vector<WatchedStage> all = {{"terminate_generator", terminates, terminate_settings},
                                                {"irrq", requests, request_settings, ContextRows::kQp},
                                                {"atomic_alu", atomics, atomic_settings, kOfMemory},
                                                {"response_queue", responses, response_settings, kOfMemory}};
  return all;
}

}  // namespace rnic::scoreboard
