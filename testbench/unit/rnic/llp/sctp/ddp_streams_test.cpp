// DDP stream sequence numbers of received and sent chunks (RFC 5043 sections 5.2.1 and 6).
#include "model/rnic/llp/sctp/ddp_streams.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <gmock/gmock.h>

#include "model/common/check.h"

namespace rnic::sctp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::SessionCode;
using Octets = std::vector<std::uint8_t>;

constexpr std::uint16_t kStream = 1;
constexpr StreamLimits kLimits{2, 64, 4096};

Octets segment(std::uint16_t ssn, std::size_t bytes = 20) {
  Octets octets(wire::kDdpSsnBytes + bytes);
  store_be16(octets.data(), ssn);
  return octets;
}
Octets control(std::uint16_t ssn, SessionCode code, std::size_t private_bytes = 0) {
  Octets octets(wire::SessionMessage::kHeaderBytes + private_bytes);
  store_be16(octets.data(), ssn);
  store_be16(octets.data() + wire::kDdpSsnBytes, static_cast<std::uint16_t>(code));
  return octets;
}

class DdpStreamsTest : public testing::Test {
 protected:
  Arrival chunk(std::uint32_t ppid, const Octets& octets, bool unordered = true) {
    const Arrival arrival = streams_.arrive({kStream, ppid, unordered, octets, ReceivedId{load(octets)}});
    if (arrival.fate == ChunkFate::kPlace) placed_.push_back(load(octets));
    return arrival;
  }
  ChunkFate segment_comes(std::uint16_t ssn) { return chunk(wire::kPpidDdpSegment, segment(ssn)).fate; }
  ChunkFate control_comes(std::uint16_t ssn, SessionCode code) {
    return chunk(wire::kPpidDdpSession, control(ssn, code)).fate;
  }
  StreamViolation violation_of(const Arrival& arrival) {
    EXPECT_EQ(arrival.fate, ChunkFate::kViolation);
    return arrival.violation;
  }
  // The numbers that deliver() returns; tokens equal numbers.
  std::vector<std::uint32_t> delivered(Delivery::Kind kind = Delivery::Kind::kSegment) {
    std::vector<std::uint32_t> numbers;
    while (const auto delivery = streams_.deliver(kStream)) {
      EXPECT_EQ(delivery->token.v, delivery->ddp_ssn);
      if (delivery->kind == kind) numbers.push_back(delivery->ddp_ssn);
    }
    return numbers;
  }
  // Becomes an initiator that has received its Accept.
  void accepted() {
    streams_.begin(kStream);
    EXPECT_EQ(control_comes(0, SessionCode::kAccept), ChunkFate::kHeld);
    EXPECT_THAT(delivered(Delivery::Kind::kControl), ElementsAre(0));
    streams_.open(kStream);
  }
  std::vector<std::uint32_t> released() {
    std::vector<std::uint32_t> tokens;
    streams_.discard(kStream, [&](ReceivedId token) { tokens.push_back(token.v); });
    return tokens;
  }
  static std::uint32_t load(const Octets& octets) { return octets.size() < 2 ? 0 : load_be16(octets.data()); }

  DdpStreams streams_{kLimits};
  std::vector<std::uint32_t> placed_;
};

// Sending.

TEST_F(DdpStreamsTest, NumbersOfASessionBeginAtZeroWithoutGapsForBothKindsOfChunk) {
  EXPECT_EQ(streams_.take_ssn(kStream, true), 0);
  EXPECT_EQ(streams_.take_ssn(kStream, false), 1);
  EXPECT_EQ(streams_.take_ssn(kStream, false), 2);
  EXPECT_EQ(streams_.take_ssn(0, true), 0);  // another stream
}

TEST_F(DdpStreamsTest, SentNumbersWrap) {
  for (unsigned n = 0; n < 65'536; ++n) {
    ASSERT_EQ(streams_.take_ssn(kStream, false), n);
    streams_.acknowledged(kStream);
  }
  EXPECT_EQ(streams_.take_ssn(kStream, false), 0);
}

TEST_F(DdpStreamsTest, At32767UnacknowledgedChunksNoneIsSent) {
  for (unsigned n = 0; n < kDdpSsnWindow; ++n) ASSERT_TRUE(streams_.take_ssn(kStream, false));
  EXPECT_FALSE(streams_.take_ssn(kStream, true));
  streams_.acknowledged(kStream);
  EXPECT_EQ(streams_.take_ssn(kStream, true), 32'767);
}

TEST_F(DdpStreamsTest, TellsWhenAControlMessageIsAcknowledged) {
  streams_.take_ssn(kStream, true);
  streams_.take_ssn(kStream, false);
  streams_.take_ssn(kStream, true);
  EXPECT_TRUE(streams_.acknowledged(kStream));
  EXPECT_FALSE(streams_.acknowledged(kStream));
  EXPECT_TRUE(streams_.acknowledged(kStream));
  EXPECT_THROW(streams_.acknowledged(kStream), InternalError);
}

TEST_F(DdpStreamsTest, NumbersBeginAtZeroAgainInTheNextSession) {
  streams_.take_ssn(kStream, true);
  EXPECT_THROW(streams_.restart(kStream, [](ReceivedId) {}), InternalError);
  streams_.acknowledged(kStream);
  streams_.restart(kStream, [](ReceivedId) {});
  EXPECT_EQ(streams_.take_ssn(kStream, true), 0);
}

// Receiving.

TEST_F(DdpStreamsTest, SegmentsArePlacedAsTheyComeAndDeliveredInOrder) {
  accepted();
  for (const std::uint16_t ssn : {3, 1, 4, 2}) EXPECT_EQ(segment_comes(ssn), ChunkFate::kPlace);
  EXPECT_THAT(placed_, ElementsAre(3, 1, 4, 2));
  EXPECT_THAT(delivered(), ElementsAre(1, 2, 3, 4));
}

TEST_F(DdpStreamsTest, AcceptOvertakenBySegmentsHoldsThemUntilTheSessionIsOpen) {
  streams_.begin(kStream);
  EXPECT_EQ(segment_comes(2), ChunkFate::kHeld);
  EXPECT_EQ(segment_comes(1), ChunkFate::kHeld);
  EXPECT_THAT(delivered(), IsEmpty());
  EXPECT_EQ(control_comes(0, SessionCode::kAccept), ChunkFate::kHeld);
  EXPECT_THAT(delivered(Delivery::Kind::kControl), ElementsAre(0));
  streams_.open(kStream);
  const auto first = streams_.deliver(kStream);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->placed);
  EXPECT_EQ(first->ddp_ssn, 1);
  EXPECT_THAT(delivered(), ElementsAre(2));
  EXPECT_EQ(streams_.held_octets(), 0u);
}

TEST_F(DdpStreamsTest, TerminateBehindTheLastSegmentMayArriveFirst) {
  accepted();
  EXPECT_EQ(control_comes(3, SessionCode::kTerminate), ChunkFate::kHeld);
  EXPECT_THAT(delivered(Delivery::Kind::kControl), IsEmpty());
  EXPECT_EQ(segment_comes(2), ChunkFate::kPlace);
  EXPECT_EQ(segment_comes(1), ChunkFate::kPlace);
  std::vector<Delivery::Kind> kinds;
  while (const auto delivery = streams_.deliver(kStream)) kinds.push_back(delivery->kind);
  EXPECT_THAT(kinds, ElementsAre(Delivery::Kind::kSegment, Delivery::Kind::kSegment, Delivery::Kind::kControl));
  EXPECT_EQ(streams_.mode(kStream), StreamMode::kEnded);
}

TEST_F(DdpStreamsTest, ReceivedNumbersWrap) {
  accepted();
  std::uint32_t last = 0;
  for (std::uint32_t n = 1; n < 140'000; n += 2) {  // in pairs, the second one first
    ASSERT_EQ(segment_comes(static_cast<std::uint16_t>(n + 1)), ChunkFate::kPlace);
    ASSERT_EQ(segment_comes(static_cast<std::uint16_t>(n)), ChunkFate::kPlace);
    for (const std::uint32_t ssn : delivered()) ASSERT_EQ(ssn, ++last & 0xffff);
  }
  EXPECT_EQ(last, 140'000u);
}

TEST_F(DdpStreamsTest, NothingIsHeldBeyondTheWindowAndTheOctets) {
  streams_.begin(kStream);
  EXPECT_EQ(segment_comes(64), ChunkFate::kNoRoom);
  EXPECT_EQ(segment_comes(32'767), ChunkFate::kNoRoom);
  EXPECT_EQ(segment_comes(63), ChunkFate::kHeld);
  EXPECT_EQ(chunk(wire::kPpidDdpSegment, segment(2, 4096 - 2 - 22)).fate, ChunkFate::kHeld);
  EXPECT_EQ(streams_.held_octets(), 4096u);
  EXPECT_EQ(segment_comes(3), ChunkFate::kNoRoom);
  // The awaited number is accepted all the same.
  EXPECT_EQ(control_comes(0, SessionCode::kAccept), ChunkFate::kHeld);
  EXPECT_THAT(delivered(Delivery::Kind::kControl), ElementsAre(0));
  EXPECT_EQ(segment_comes(1), ChunkFate::kNoRoom);
  streams_.open(kStream);
  EXPECT_EQ(segment_comes(1), ChunkFate::kPlace);
  EXPECT_THAT(delivered(), ElementsAre(1, 2));
  EXPECT_EQ(streams_.held_octets(), 22u);
}

TEST_F(DdpStreamsTest, HeldOctetsAreThoseOfAllStreams) {
  streams_.begin(0);
  streams_.begin(kStream);
  const Octets large = segment(1, 4000);
  EXPECT_EQ(streams_.arrive({0, wire::kPpidDdpSegment, true, large, ReceivedId{1}}).fate, ChunkFate::kHeld);
  EXPECT_EQ(chunk(wire::kPpidDdpSegment, segment(1, 100)).fate, ChunkFate::kNoRoom);
}

TEST_F(DdpStreamsTest, NoSessionIsOnAStreamThatHasNoPair) {
  const Octets initiate = control(0, SessionCode::kInitiate);
  EXPECT_EQ(streams_.arrive({2, wire::kPpidDdpSession, true, initiate, ReceivedId{0}}).fate, ChunkFate::kStray);
}

// Violations.

TEST_F(DdpStreamsTest, ForeignPpidEndsTheSession) {
  accepted();
  EXPECT_EQ(violation_of(chunk(0, segment(1))), StreamViolation::kForeignPpid);
}
TEST_F(DdpStreamsTest, OrderedChunkEndsTheSessionAndHasHadItsNumber) {
  accepted();
  EXPECT_EQ(violation_of(chunk(wire::kPpidDdpSegment, segment(1), false)), StreamViolation::kOrdered);
  EXPECT_EQ(control_comes(2, SessionCode::kTerminate), ChunkFate::kHeld);
  EXPECT_THAT(delivered(Delivery::Kind::kControl), ElementsAre(2));
}
TEST_F(DdpStreamsTest, ChunksThatAreTooShortEndTheSession) {
  accepted();
  EXPECT_EQ(violation_of(chunk(wire::kPpidDdpSegment, {0})), StreamViolation::kTooShort);
  EXPECT_EQ(violation_of(chunk(wire::kPpidDdpSession, {0, 1, 0})), StreamViolation::kTooShort);
}
TEST_F(DdpStreamsTest, PrivateDataOf513OctetsEndTheSession) {
  streams_.begin(kStream);
  EXPECT_EQ(violation_of(chunk(wire::kPpidDdpSession, control(0, SessionCode::kAccept, 513))),
            StreamViolation::kPrivateData);
}
TEST_F(DdpStreamsTest, PrivateDataOf512OctetsAreGood) {
  streams_.begin(kStream);
  EXPECT_EQ(chunk(wire::kPpidDdpSession, control(0, SessionCode::kAccept, 512)).fate, ChunkFate::kHeld);
}
TEST_F(DdpStreamsTest, NumberOutOfTheWindowEndsTheSession) {
  accepted();
  EXPECT_EQ(segment_comes(32'768), ChunkFate::kNoRoom);  // 32767 beyond the next one: valid, but there is no room
  EXPECT_EQ(violation_of(chunk(wire::kPpidDdpSegment, segment(32'769))), StreamViolation::kOutOfWindow);
}
TEST_F(DdpStreamsTest, NumberOfADeliveredChunkEndsTheSession) {
  accepted();
  EXPECT_EQ(violation_of(chunk(wire::kPpidDdpSegment, segment(0))), StreamViolation::kOutOfWindow);
}
TEST_F(DdpStreamsTest, NumberSeenTwiceEndsTheSession) {
  accepted();
  segment_comes(2);
  EXPECT_EQ(violation_of(chunk(wire::kPpidDdpSegment, segment(2))), StreamViolation::kDuplicate);
}
TEST_F(DdpStreamsTest, ChunkBehindTheLastOneEndsTheSession) {
  accepted();
  control_comes(3, SessionCode::kTerminate);
  EXPECT_EQ(violation_of(chunk(wire::kPpidDdpSegment, segment(4))), StreamViolation::kBeyondEnd);
}
TEST_F(DdpStreamsTest, LastChunkBeforeAnotherEndsTheSession) {
  accepted();
  segment_comes(4);
  EXPECT_EQ(violation_of(chunk(wire::kPpidDdpSession, control(3, SessionCode::kTerminate))),
            StreamViolation::kBeyondEnd);
}
TEST_F(DdpStreamsTest, SegmentInTheAnswersPlaceEndsTheSession) {
  streams_.begin(kStream);
  EXPECT_EQ(violation_of(chunk(wire::kPpidDdpSegment, segment(0))), StreamViolation::kSegmentFirst);
}

TEST_F(DdpStreamsTest, NothingIsPlacedOrDeliveredAfterAViolationAndTheRunIsFollowed) {
  accepted();
  segment_comes(1);
  segment_comes(3);
  EXPECT_THAT(delivered(), ElementsAre(1));
  segment_comes(3);  // twice
  placed_.clear();
  EXPECT_THAT(released(), ElementsAre(3));
  EXPECT_EQ(segment_comes(2), ChunkFate::kDropped);
  EXPECT_EQ(control_comes(4, SessionCode::kTerminate), ChunkFate::kHeld);
  EXPECT_THAT(delivered(Delivery::Kind::kControl), ElementsAre(4));
  EXPECT_THAT(placed_, IsEmpty());
  EXPECT_EQ(streams_.mode(kStream), StreamMode::kEnded);
}

TEST_F(DdpStreamsTest, WhatThePeerSendsAfterItsOwnViolationIsAcknowledgedHoweverFarAhead) {
  accepted();
  EXPECT_EQ(segment_comes(64), ChunkFate::kPlace);
  EXPECT_EQ(segment_comes(65), ChunkFate::kNoRoom);
  segment_comes(64);  // twice
  EXPECT_EQ(segment_comes(65), ChunkFate::kDropped);
}

TEST_F(DdpStreamsTest, ChunksBehindAnOwnEndWaitForTheirPlaceInTheRun) {
  accepted();
  released();
  EXPECT_EQ(segment_comes(64), ChunkFate::kDropped);
  EXPECT_EQ(segment_comes(65), ChunkFate::kNoRoom);
}

TEST_F(DdpStreamsTest, ControlMessageAmongSegmentsIsTheEndWhateverItSays) {
  accepted();
  EXPECT_EQ(control_comes(1, SessionCode::kAccept), ChunkFate::kHeld);
  EXPECT_EQ(segment_comes(2), ChunkFate::kPlace);  // not yet known to be after the end
  EXPECT_THAT(delivered(), IsEmpty());
  EXPECT_EQ(segment_comes(3), ChunkFate::kDropped);
}

// Between sessions.

TEST_F(DdpStreamsTest, IdleStreamTakesAnInitiateOnly) {
  EXPECT_EQ(segment_comes(0), ChunkFate::kStray);
  EXPECT_EQ(segment_comes(1), ChunkFate::kStray);
  EXPECT_EQ(control_comes(0, SessionCode::kAccept), ChunkFate::kStray);
  EXPECT_TRUE(chunk(wire::kPpidDdpSession, control(1, SessionCode::kTerminate)).terminate);
  EXPECT_EQ(control_comes(0, SessionCode::kEnhancedInitiate), ChunkFate::kHeld);
  EXPECT_THAT(delivered(Delivery::Kind::kControl), ElementsAre(0));
  EXPECT_EQ(segment_comes(1), ChunkFate::kHeld);  // from an initiator that goes by the acknowledgement
  EXPECT_THAT(delivered(), IsEmpty());
}

TEST_F(DdpStreamsTest, NextSessionWaitsUntilTheFirstIsOver) {
  accepted();
  control_comes(1, SessionCode::kTerminate);
  EXPECT_THAT(delivered(Delivery::Kind::kControl), ElementsAre(1));
  EXPECT_EQ(segment_comes(2), ChunkFate::kDropped);  // after its sender's last chunk
  EXPECT_EQ(control_comes(0, SessionCode::kInitiate), ChunkFate::kHeld);
  EXPECT_THAT(delivered(Delivery::Kind::kControl), IsEmpty());
  streams_.restart(kStream, [](ReceivedId) { FAIL(); });
  EXPECT_THAT(delivered(Delivery::Kind::kControl), ElementsAre(0));
}

TEST_F(DdpStreamsTest, NextSessionBeforeTheTerminateIsAViolation) {
  accepted();
  EXPECT_EQ(control_comes(0, SessionCode::kInitiate), ChunkFate::kViolation);
}

TEST_F(DdpStreamsTest, ResetReleasesAll) {
  accepted();
  segment_comes(2);
  streams_.take_ssn(kStream, true);
  std::vector<std::uint32_t> tokens;
  streams_.reset([&](ReceivedId token) { tokens.push_back(token.v); });
  EXPECT_THAT(tokens, ElementsAre(2));
  EXPECT_EQ(streams_.mode(kStream), StreamMode::kIdle);
  EXPECT_EQ(streams_.take_ssn(kStream, true), 0);
}

TEST(DdpStreamsLimits, WindowIsAPowerOfTwo) {
  EXPECT_THROW(DdpStreams({1, 48, 100}), InternalError);
  EXPECT_THROW(DdpStreams({1, 0, 100}), InternalError);
  EXPECT_EQ(DdpStreams::context_bytes({16, 256, 100}) / 1024, 32u);
}

// Arrival orders against a model without window or ring: a set of all numbers that have arrived.

struct Model {
  std::set<std::uint32_t> come;
  std::uint32_t next = 0;
  std::vector<std::uint32_t> deliver(bool open) {
    std::vector<std::uint32_t> numbers;
    while (come.count(next) != 0 && (open || next == 0)) numbers.push_back(next++);
    return numbers;
  }
};

class Orders : public testing::Test {
 protected:
  // Chunk 0 is the Accept, the last one the Terminate.
  void run(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const std::uint32_t chunks = 3 + below(200), start_delay = below(20);
    const bool fault = below(3) == 0;
    const std::uint32_t fault_at = fault ? below(chunks) : chunks;
    std::vector<std::uint32_t> pending(chunks);
    for (std::uint32_t n = 0; n < chunks; ++n) pending[n] = n;

    DdpStreams streams(kLimits);
    streams.begin(0);
    Model model;
    std::vector<std::uint32_t> placed, delivered, expected;
    bool open = false, ended = false;
    std::uint32_t opens_in = start_delay;
    const auto drain = [&] {
      while (const auto d = streams.deliver(0)) {
        if (d->kind == Delivery::Kind::kRelease) continue;
        if (d->kind == Delivery::Kind::kSegment && !d->placed) placed.push_back(d->token.v);
        delivered.push_back(d->token.v);
        ASSERT_EQ(d->ddp_ssn, d->token.v);
      }
    };
    for (std::uint32_t step = 0; !pending.empty(); ++step) {
      ASSERT_LT(step, 100'000u);
      if (step == fault_at && open) {
        const Octets twice = segment(static_cast<std::uint16_t>(*model.come.begin()));
        ASSERT_EQ(streams.arrive({0, wire::kPpidDdpSegment, true, twice, ReceivedId{0}}).fate, ChunkFate::kViolation);
        ended = true;
        break;
      }
      if (!open && !delivered.empty() && opens_in-- == 0) {
        streams.open(0);
        open = true;
        drain();
      }
      // Any order that SCTP may cause: a chunk not far after the missing one.
      const std::uint32_t pick = below(std::min<std::uint32_t>(static_cast<std::uint32_t>(pending.size()), 80));
      const std::uint32_t n = pending[pick];
      const auto ssn = static_cast<std::uint16_t>(n);
      const bool is_control = n == 0 || n + 1 == chunks;
      const Octets octets =
          is_control ? control(ssn, n == 0 ? SessionCode::kAccept : SessionCode::kTerminate) : segment(ssn);
      const ChunkFate fate =
          streams.arrive({0, is_control ? wire::kPpidDdpSession : wire::kPpidDdpSegment, true, octets, ReceivedId{n}})
              .fate;
      if (fate == ChunkFate::kNoRoom) {
        ASSERT_TRUE(n >= model.next + kLimits.window || !open);
        continue;  // it will come again
      }
      ASSERT_EQ(fate, open && !is_control ? ChunkFate::kPlace : ChunkFate::kHeld);
      if (fate == ChunkFate::kPlace) placed.push_back(n);
      model.come.insert(n);
      pending.erase(pending.begin() + pick);
      drain();
      for (const std::uint32_t number : model.deliver(open)) expected.push_back(number);
      ASSERT_EQ(delivered, expected) << "step " << step;
    }
    if (ended) {
      const auto so_far = delivered;
      const auto in_place = placed;
      streams.discard(0, [](ReceivedId) {});
      for (const std::uint32_t n : pending) {
        const bool is_control = n + 1 == chunks;
        const auto ssn = static_cast<std::uint16_t>(n);
        const Octets octets = is_control ? control(ssn, SessionCode::kTerminate) : segment(ssn);
        const std::uint32_t ppid = is_control ? wire::kPpidDdpSession : wire::kPpidDdpSegment;
        ASSERT_NE(streams.arrive({0, ppid, true, octets, ReceivedId{n}}).fate, ChunkFate::kPlace);
        drain();
      }
      EXPECT_EQ(placed, in_place);
      for (std::size_t i = so_far.size(); i < delivered.size(); ++i) EXPECT_EQ(delivered[i] + 1, chunks);
    } else {
      if (!open) {
        streams.open(0);
        drain();
      }
      EXPECT_EQ(delivered.size(), chunks);
      EXPECT_EQ(streams.mode(0), StreamMode::kEnded);
      std::sort(placed.begin(), placed.end());
      EXPECT_EQ(std::unique(placed.begin(), placed.end()) - placed.begin(), chunks - 2);
    }
    EXPECT_EQ(streams.held_octets(), 0u);
  }
};

TEST_F(Orders, DeliveryIsInTheOrderOfSendingAndNothingTwice) {
  for (std::uint32_t seed = 0; seed < 4000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    run(seed);
  }
}

}  // namespace
}  // namespace rnic::sctp
