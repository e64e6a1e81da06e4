// Atomics and immediate data (RFC 7306) between a whole chip and a peer whose octets are given here.
#include "testbench/system/one_stream_host.h"

namespace rnic::test {
namespace {

using abi::WcOpcode;
using abi::WcStatus;
using abi::WrOpcode;
using testing::ElementsAre;

constexpr std::uint64_t kBefore = 0xfffffffffffffffe;

std::string hex_of(std::uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

class AtomicResponder : public OneStreamBench {
 protected:
  // An Atomic Request up to its operands.
  static std::string request(unsigned msn, const char* operation, const std::string& stag = "{ALL}",
                             const std::string& to = "{W0}", const char* ddp_reserved = "00000000") {
    char head[96];
    std::snprintf(head, sizeof head, "414A %s 00000001 %08x 00000000 %s 0000%04x ", ddp_reserved, msn, operation,
                  0xbee0 + msn);
    return head + stag + " " + to + " ";
  }
  static std::string response(unsigned msn, unsigned request_msn, const std::string& original) {
    char head[96];
    std::snprintf(head, sizeof head, "414B 00000000 00000003 %08x 00000000 0000%04x ", msn, 0xbee0 + request_msn);
    return head + original;
  }
  static constexpr const char* kAddThree = "0000000000000003 0000000000000000 0000000000000000 FFFFFFFFFFFFFFFF";
};

TEST_F(AtomicResponder, FetchAddReturnsTheOriginalAndTheHostsByteOrderIsKept) {
  converse([&] {
    host.set_word(0, kBefore);
    host.set_word(1, 7);
    send(request(1, "00000000") + kAddThree);
    EXPECT_EQ(stream->receive(), from_hex(response(1, 1, "FFFFFFFFFFFFFFFE")));
    EXPECT_EQ(host.word(0), 1u);
    EXPECT_EQ(host.word(1), 7u);
    send(request(2, "00000000") + "0101010101010101 8080808080808080 0000000000000000 FFFFFFFFFFFFFFFF");
    EXPECT_EQ(stream->receive(), from_hex(response(2, 2, "0000000000000001")));
    EXPECT_EQ(host.word(0), 0x0101010101010102u);
    EXPECT_TRUE(host.completions.empty());  // never delivered to the program
  });
}

TEST_F(AtomicResponder, CmpSwapReturnsTheOriginalWhetherItMatchedOrNot) {
  converse([&] {
    host.set_word(0, 0x1111222233334444);
    send(request(1, "00000002") + "AAAABBBBCCCCDDDD FFFF000000000000 9999999999994444 000000000000FFFF");
    EXPECT_EQ(stream->receive(), from_hex(response(1, 1, "1111222233334444")));
    EXPECT_EQ(host.word(0), 0xaaaa222233334444u);
    send(request(2, "00000002") + "0000000000000000 FFFFFFFFFFFFFFFF 0000000000000001 000000000000000F");
    EXPECT_EQ(stream->receive(), from_hex(response(2, 2, "AAAA222233334444")));
    EXPECT_EQ(host.word(0), 0xaaaa222233334444u);
  });
}

// Header octets 2 to 5, the 28 bits before the AOpCode, and the fields that FetchAdd does not use.
TEST_F(AtomicResponder, ReservedFieldsAreIgnored) {
  converse([&] {
    host.set_word(0, kBefore);
    send(request(1, "A5A5A5A0", "{ALL}", "{W0}", "DEADBEEF") +
         "0000000000000003 0000000000000000 1234567812345678 0F0F0F0F0F0F0F0F");
    EXPECT_EQ(stream->receive(), from_hex(response(1, 1, "FFFFFFFFFFFFFFFE")));
    EXPECT_EQ(host.word(0), 1u);
    send("4148 DEADBEEF 00000000 00000001 00000000 0102030405060708");
    peer.wait_us(10);
    ASSERT_EQ(host.completions.size(), 1u);
    EXPECT_EQ(host.completions[0].imm_data, 0x0102030405060708u);
  });
}

// The buffer's address must be aligned, not the tagged offset (choices.md 3).
TEST_F(AtomicResponder, AnyOffsetOfAnAlignedAddressWillDo) {
  converse([&] {
    host.set_word(1, 40);
    send(request(1, "00000000", "{ODD}", "0000000000000004") + kAddThree);
    EXPECT_EQ(stream->receive(), from_hex(response(1, 1, "0000000000000028")));
    EXPECT_EQ(host.word(1), 43u);
    send(request(2, "00000000", "{ODD}", "0000000000000008") + kAddThree);
    EXPECT_EQ(stream->receive(), from_hex("4147 00000000 00000002 00000001 00000000"
                                          "0207C000 0046 414A 00000000 00000001 00000002 00000000"));
    EXPECT_EQ(host.word(1), 43u);
    EXPECT_EQ(host.word(2), 0u);
    EXPECT_TRUE(stream->receive_fin());
    stream->send_fin();
  });
  ASSERT_GE(host.events.size(), 2u);
  EXPECT_EQ(host.events[1].type, host::CmEventType::kQpError);
  EXPECT_EQ(host.events[1].terminate.cause, wire::rdma::kCatastrophicStream);
}

// A chain in which each request compares with the value that the previous one swapped in, all in flight at once.
TEST_F(AtomicResponder, RequestsAreProcessedAndAnsweredInTheirOrder) {
  converse([&] {
    host.set_word(0, 0);
    const std::string all = "FFFFFFFFFFFFFFFF";
    for (unsigned i = 1; i <= 16; ++i) send(request(i, "00000002") + hex_of(i) + all + hex_of(i - 1) + all);
    for (unsigned i = 1; i <= 16; ++i) EXPECT_EQ(stream->receive(), from_hex(response(i, i, hex_of(i - 1))));
    EXPECT_EQ(host.word(0), 16u);
  });
}

// Both kinds share one gapless run of MSNs on QN 1; QN 3 counts separately; IRD is one pool.
TEST_F(AtomicResponder, ReadsAndAtomicsShareTheirQueueAndAreAnsweredInOrder) {
  host.ird = 4;
  converse([&] {
    host.set_word(0, 5);
    host.set_word(1, 0x0102030405060708);
    const std::string read = " 00000000 00000100 0000000000002000 00000008 {ALL} ";
    send("4141 00000000 00000001 00000001" + read + "{W0}");
    send(request(2, "00000000") + kAddThree);
    send("4141 00000000 00000001 00000003" + read + "{W0}");
    send(request(4, "00000000", "{ALL}", "{W1}") + kAddThree);
    EXPECT_EQ(stream->receive(), from_hex("C142 00000100 0000000000002000 0500000000000000"));
    EXPECT_EQ(stream->receive(), from_hex(response(1, 2, "0000000000000005")));
    EXPECT_EQ(stream->receive(), from_hex("C142 00000100 0000000000002000 0800000000000000"));
    EXPECT_EQ(stream->receive(), from_hex(response(2, 4, "0102030405060708")));
    EXPECT_EQ(host.word(1), 0x010203040506070bu);
  });
}

// RFC 7306 section 7: work before an atomic or a Read is done before its answer.
TEST_F(AtomicResponder, AnAtomicSeesTheWriteBeforeIt) {
  converse([&] {
    for (unsigned i = 1; i <= 8; ++i) {
      const std::string to = hex_of(host.address(i));
      send("C140 {ALL} " + to + hex_of(std::uint64_t{16 * i} << 56));
      send(request(i, "00000000", "{ALL}", to) + kAddThree);
    }
    for (unsigned i = 1; i <= 8; ++i) {
      EXPECT_EQ(stream->receive(), from_hex(response(i, i, hex_of(16 * i))));
      EXPECT_EQ(host.word(i), 16 * i + 3);
    }
  });
}

TEST_F(AtomicResponder, ImmediateDataAndSendsCompleteInTheirOrderBeforeTheAnswersBehindThem) {
  converse([&] {
    host.set_word(0, 9);
    send("4143 00000000 00000000 00000001 00000000");
    send("4148 00000000 00000000 00000002 00000000 1111111111111111");
    send("4149 00000000 00000000 00000003 00000000 2222222222222222");
    send("4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00000008 {ALL} {W0}");
    EXPECT_EQ(stream->receive(), from_hex("C142 00000100 0000000000002000 0900000000000000"));
    EXPECT_EQ(host.completions.size(), 3u);
    send("4148 00000000 00000000 00000004 00000000 3333333333333333");
    send(request(2, "00000000") + kAddThree);
    EXPECT_EQ(stream->receive(), from_hex(response(1, 2, "0000000000000009")));
    EXPECT_EQ(host.completions.size(), 4u);
    send("4143 00000000 00000000 00000005 00000000");
    send(request(3, "00000000") + kAddThree);
    EXPECT_EQ(stream->receive(), from_hex(response(2, 3, "000000000000000c")));
    EXPECT_EQ(host.completions.size(), 5u);
  });
  ASSERT_EQ(host.completions.size(), 5u);
  const std::uint64_t immediates[] = {0, 0x1111111111111111, 0x2222222222222222, 0x3333333333333333, 0};
  for (unsigned i = 0; i < 5; ++i) {
    const host::Wc& wc = host.completions[i];
    EXPECT_EQ(wc.wr_id, 1000 + i);  // each has used up one receive request
    EXPECT_EQ(wc.opcode, immediates[i] != 0 ? WcOpcode::kRecvRdmaWithImm : WcOpcode::kRecv);
    EXPECT_EQ(wc.imm_data, immediates[i]);
    EXPECT_EQ(wc.solicited, i == 2);
  }
}

// The program reads the Write's octets the moment it learns of the Immediate Data.
TEST_F(AtomicResponder, ImmediateDataCompletesOnlyWhenTheWriteBeforeItIsPlaced) {
  std::uint64_t seen = 0;
  host.on_complete = [&](const host::Wc&) { seen = host.word(511); };
  converse([&] {
    std::string payload;
    for (unsigned i = 0; i < 1000; ++i) payload += i < 992 ? "00" : "EE";
    send("C140 {ALL} " + hex_of(host.address(387)) + payload);
    send("4148 00000000 00000000 00000001 00000000 1111111111111111");
    peer.wait_us(20);
  });
  EXPECT_EQ(seen, 0xeeeeeeeeeeeeeeeeu);
}

// Allowed overtaking: Immediate Data and Sends arrive before a long Read Response or an atomic's answer.
TEST_F(AtomicResponder, WhatComesLaterNeedNotWaitForTheAnswers) {
  converse([&] {
    host.set_word(0, 1);
    send("4141 00000000 00000001 00000001 00000000 00000100 0000000000002000 00001000 {ALL} {W0}");
    send("4148 00000000 00000000 00000001 00000000 1111111111111111");
    send(request(2, "00000000") + kAddThree);
    send("4149 00000000 00000000 00000002 00000000 1111111111111111");
    send("4143 00000000 00000000 00000003 00000000");
    send("C140 {ALL} {W3} 5555555555555555");
    EXPECT_TRUE(peer.wait_for([&] { return host.completions.size() == 3 && host.word(3) != 0; }));
    Bytes ulpdu;
    unsigned segments = 0;
    do ulpdu = stream->receive(), ++segments;
    while (ulpdu.size() > 1 && ulpdu[0] == 0x81);
    EXPECT_EQ(segments, 3u);  // 4096 octets
    EXPECT_EQ(stream->receive(), from_hex(response(1, 2, "0000000000000001")));
  });
}

// An atomic after a segment that TCP has not received is not delivered, so it does not start.
TEST_F(AtomicResponder, NothingHappensBeforeDelivery) {
  converse([&] {
    host.set_word(0, 100);
    const Bytes write = stream->fpdu(octets("C140 {ALL} {W1} 5555555555555555"));
    const Bytes atomic = stream->fpdu(octets(request(1, "00000000") + kAddThree));
    stream->send(Bytes(write.begin(), write.begin() + 20));  // half the Write
    peer.wait_us(20);
    EXPECT_EQ(host.word(0), 100u);
    Bytes rest(write.begin() + 20, write.end());
    rest.insert(rest.end(), atomic.begin(), atomic.end() - 8);
    stream->send(rest);
    peer.wait_us(20);
    EXPECT_EQ(host.word(1), 0x5555555555555555u);
    EXPECT_EQ(host.word(0), 100u);
    stream->send(Bytes(atomic.end() - 8, atomic.end()));
    EXPECT_EQ(stream->receive(), from_hex(response(1, 1, "0000000000000064")));
    EXPECT_EQ(host.word(0), 103u);
  });
}

class NoExtensions : public OneStreamBench {
 protected:
  NoExtensions() : OneStreamBench(config()) {}
  static NodeConfig config() {
    NodeConfig c;
    c.rnic.fwcpu.rdmap_extensions = false;
    return c;
  }
  void expect_refused(const char* ulpdu, const char* terminate) {
    converse([=] {
      EXPECT_FALSE(node.context.query_device().atomics);
      EXPECT_FALSE(node.context.query_device().immediate_data);
      send(ulpdu);
      EXPECT_EQ(stream->receive(), from_hex(std::string("4147 00000000 00000002 00000001 00000000") + terminate));
      EXPECT_TRUE(stream->receive_fin());
      stream->send_fin();
    });
  }
};
TEST_F(NoExtensions, RefuseImmediateData) {
  expect_refused("4148 00000000 00000000 00000001 00000000 0102030405060708",
                 "0206C000 001A 4148 00000000 00000000 00000001 00000000");
}
TEST_F(NoExtensions, RefuseImmediateDataWithSe) {
  expect_refused("4149 00000000 00000000 00000001 00000000 0102030405060708",
                 "0206C000 001A 4149 00000000 00000000 00000001 00000000");
}
TEST_F(NoExtensions, RefuseAtomicRequests) {
  expect_refused(
      "414A 00000000 00000001 00000001 00000000 00000000 00000001 {ALL} {W0} 0000000000000001 0000000000000000 "
      "0000000000000000 FFFFFFFFFFFFFFFF",
      "0206C000 0046 414A 00000000 00000001 00000001 00000000");
}
TEST_F(NoExtensions, RefuseAtomicResponses) {
  expect_refused("414B 00000000 00000003 00000001 00000000 00000001 0000000000000000",
                 "0206C000 001E 414B 00000000 00000003 00000001 00000000");
}

class AtomicRequester : public OneStreamBench {
 protected:
  host::SendWr fetch_add(std::uint64_t id, unsigned local, std::uint64_t add, std::uint64_t tops = 0) const {
    host::SendWr wr = host::send_request(id, WrOpcode::kFetchAdd, host.sge(local));
    wr.remote_addr = 0x4008;
    wr.rkey = 0x300;
    wr.atomic.compare_add = add;
    wr.atomic.field_tops = tops;
    return wr;
  }
  host::SendWr cmp_swap(std::uint64_t id, unsigned local, std::uint64_t compare, std::uint64_t swap) const {
    host::SendWr wr = fetch_add(id, local, compare);
    wr.opcode = WrOpcode::kCmpSwap;
    wr.atomic.swap = swap;
    return wr;
  }
  host::SendWr read(std::uint64_t id, unsigned local) const {
    host::SendWr wr = fetch_add(id, local, 0);
    wr.opcode = WrOpcode::kRdmaRead;
    return wr;
  }
  host::SendWr plain_send(std::uint64_t id) const {
    host::SendWr wr;
    wr.wr_id = id;
    wr.send_flags = abi::kWqeSignaled;
    return wr;
  }
  host::SendWr immediate(std::uint64_t id, std::uint64_t data, unsigned flags = 0) const {
    host::SendWr wr = plain_send(id);
    wr.opcode = WrOpcode::kImmediate;
    wr.send_flags |= static_cast<std::uint8_t>(flags);
    wr.imm_data = data;
    return wr;
  }
  std::vector<std::uint64_t> finished() const {
    std::vector<std::uint64_t> ids;
    for (const host::Wc& wc : host.completions) {
      if (wc.wr_id < 1000 && wc.status == WcStatus::kSuccess) ids.push_back(wc.wr_id);
    }
    return ids;
  }
  // The n-th request of QN 1 up to its operands; the chip chooses its identifier.
  void expect_atomic(unsigned msn, const char* operation, const char* operands, std::string& id) {
    const Bytes ulpdu = stream->receive();
    ASSERT_EQ(ulpdu.size(), 70u);
    char hex[200];
    std::snprintf(hex, sizeof hex, "414A 00000000 00000001 %08x 00000000 %s", msn, operation);
    EXPECT_EQ(Bytes(ulpdu.begin(), ulpdu.begin() + 22), from_hex(hex));
    EXPECT_EQ(Bytes(ulpdu.begin() + 26, ulpdu.end()), from_hex(std::string("00000300 0000000000004008") + operands));
    std::snprintf(hex, sizeof hex, "%02x%02x%02x%02x", ulpdu[22], ulpdu[23], ulpdu[24], ulpdu[25]);
    id = hex;
  }
  void respond(unsigned msn, const std::string& id, const char* original) {
    char head[64];
    std::snprintf(head, sizeof head, "414B 00000000 00000003 %08x 00000000 ", msn);
    send(head + id + original);
  }
  std::string identifier[8];
};

TEST_F(AtomicRequester, RequestsAreWhatTheFigureSaysAndTheOriginalArrivesInHostOrder) {
  host.work = [&] {
    host.post(fetch_add(1, 0, 0x1122, 0x80));
    host.post(cmp_swap(2, 1, 4, 5));
  };
  converse([&] {
    start_work();
    expect_atomic(1, "00000000", "0000000000001122 0000000000000080 0000000000000000 FFFFFFFFFFFFFFFF", identifier[1]);
    expect_atomic(2, "00000002", "0000000000000005 FFFFFFFFFFFFFFFF 0000000000000004 FFFFFFFFFFFFFFFF", identifier[2]);
    EXPECT_NE(identifier[1], identifier[2]);
    peer.wait_us(20);
    EXPECT_THAT(finished(), ElementsAre());  // TCP has acknowledged them, but their outcome is unknown
    respond(1, identifier[1], "1122334455667788");
    peer.wait_us(10);
    EXPECT_THAT(finished(), ElementsAre(1));
    EXPECT_EQ(host.word(0), 0x1122334455667788u);
    respond(2, identifier[2], "0000000000000004");
    peer.wait_us(10);
    EXPECT_THAT(finished(), ElementsAre(1, 2));
    EXPECT_EQ(host.word(1), 4u);
  });
  EXPECT_EQ(host.completions[1].opcode, WcOpcode::kFetchAdd);
  EXPECT_EQ(host.completions[1].byte_len, 8u);
  EXPECT_EQ(host.completions[2].opcode, WcOpcode::kCompSwap);
}

// The n-th response of QN 3 belongs to the n-th atomic, with Reads in between; all complete in posting order.
TEST_F(AtomicRequester, TheMsnOfQueueThreeFindsTheRequest) {
  host.work = [&] {
    host.post(fetch_add(1, 0, 1));
    host.post(read(2, 1));
    host.post(fetch_add(3, 2, 1));
  };
  converse([&] {
    start_work();
    const char* const operands = "0000000000000001 0000000000000000 0000000000000000 FFFFFFFFFFFFFFFF";
    expect_atomic(1, "00000000", operands, identifier[1]);
    EXPECT_EQ(stream->receive(), octets("4141 00000000 00000001 00000002 00000000 {LKEY} {W1} 00000008 00000300 "
                                        "0000000000004008"));
    expect_atomic(3, "00000000", operands, identifier[3]);
    respond(1, identifier[1], "000000000000000A");
    send("C142 {LKEY} {W1} 0B00000000000000");
    respond(2, identifier[3], "000000000000000C");
    peer.wait_us(10);
    EXPECT_THAT(finished(), ElementsAre(1, 2, 3));
    EXPECT_EQ(host.word(0), 10u);
    EXPECT_EQ(host.word(1), 11u);
    EXPECT_EQ(host.word(2), 12u);
  });
}

// ORD counts Reads and atomics together.
TEST_F(AtomicRequester, OrdIsOnePool) {
  host.ord = 2;
  host.work = [&] {
    host.post(read(1, 0));
    host.post(fetch_add(2, 1, 1));
    host.post(fetch_add(3, 2, 1));
    host.post(plain_send(4));
  };
  converse([&] {
    start_work();
    const char* const operands = "0000000000000001 0000000000000000 0000000000000000 FFFFFFFFFFFFFFFF";
    EXPECT_EQ(stream->receive().size(), 46u);
    expect_atomic(2, "00000000", operands, identifier[2]);
    peer.wait_us(20);
    EXPECT_EQ(stream->unread(), 0u);
    send("C142 {LKEY} {W0} 0B00000000000000");
    expect_atomic(3, "00000000", operands, identifier[3]);
    EXPECT_EQ(stream->receive(), from_hex("4143 00000000 00000000 00000001 00000000"));
    respond(1, identifier[2], "0000000000000001");
    respond(2, identifier[3], "0000000000000002");
    peer.wait_us(10);
    EXPECT_THAT(finished(), ElementsAre(1, 2, 3, 4));
  });
}

TEST_F(AtomicRequester, AFenceWaitsForTheAtomicsBeforeIt) {
  host.work = [&] {
    host.post(fetch_add(1, 0, 1));
    host::SendWr fenced = plain_send(2);
    fenced.send_flags |= abi::kWqeFence;
    host.post(fenced);
  };
  converse([&] {
    start_work();
    expect_atomic(1, "00000000", "0000000000000001 0000000000000000 0000000000000000 FFFFFFFFFFFFFFFF", identifier[1]);
    peer.wait_us(20);
    EXPECT_EQ(stream->unread(), 0u);
    respond(1, identifier[1], "0000000000000000");
    EXPECT_EQ(stream->receive(), from_hex("4143 00000000 00000000 00000001 00000000"));
  });
}

// Immediate Data takes its MSN among the Sends. A Write with immediate data is two messages and one completion.
TEST_F(AtomicRequester, ImmediateDataIsIssuedInOrderAmongSends) {
  host.work = [&] {
    host.set_word(0, 0x0102030405060708);
    host.post(plain_send(1));
    host.post(immediate(2, 0xa1a2a3a4a5a6a7a8));
    host::SendWr write = plain_send(3);
    write.opcode = WrOpcode::kRdmaWrite;
    write.send_flags |= abi::kWqeSolicited;
    write.num_sge = 1;
    write.sg_list[0] = host.sge(0);
    write.remote_addr = 0x4008;
    write.rkey = 0x300;
    write.imm_data = 0xb1b2b3b4b5b6b7b8;
    host.post(write);
    host.post(plain_send(4));
  };
  converse([&] {
    start_work();
    EXPECT_EQ(stream->receive(), from_hex("4143 00000000 00000000 00000001 00000000"));
    EXPECT_EQ(stream->receive(), from_hex("4148 00000000 00000000 00000002 00000000 A1A2A3A4A5A6A7A8"));
    EXPECT_EQ(stream->receive(), from_hex("C140 00000300 0000000000004008 0807060504030201"));
    EXPECT_EQ(stream->receive(), from_hex("4149 00000000 00000000 00000003 00000000 B1B2B3B4B5B6B7B8"));
    EXPECT_EQ(stream->receive(), from_hex("4143 00000000 00000000 00000004 00000000"));
    peer.wait_us(10);
    EXPECT_THAT(finished(), ElementsAre(1, 2, 3, 4));
  });
  EXPECT_EQ(host.completions[3].opcode, WcOpcode::kRdmaWrite);
}

// RFC 7306 section 5.2.2 rule 7.
TEST_F(AtomicRequester, AResponseToAnotherRequestEndsTheStream) {
  host.work = [&] {
    host.set_word(0, 77);
    host.post(fetch_add(1, 0, 1));
  };
  converse([&] {
    start_work();
    expect_atomic(1, "00000000", "0000000000000001 0000000000000000 0000000000000000 FFFFFFFFFFFFFFFF", identifier[1]);
    identifier[1][0] = identifier[1][0] == '8' ? '9' : '8';
    respond(1, identifier[1], "1122334455667788");
    EXPECT_EQ(stream->receive(), from_hex("4147 00000000 00000002 00000001 00000000"
                                          "02FFC000 001E 414B 00000000 00000003 00000001 00000000"));
    EXPECT_TRUE(stream->receive_fin());
    stream->send_fin();
    peer.wait_us(10);
  });
  EXPECT_EQ(host.status(1), WcStatus::kWrFlushErr);
  EXPECT_EQ(host.word(0), 77u);
  ASSERT_GE(host.events.size(), 2u);
  EXPECT_EQ(host.events[1].type, host::CmEventType::kQpError);
}

// RFC 7306 section 8.1: a request that cannot be built is not sent; a Terminate without headers goes out instead.
TEST_F(AtomicRequester, ABadLocalKeyIsLocalCatastrophic) {
  host.work = [&] {
    host::SendWr wr = fetch_add(1, 0, 1);
    wr.sg_list[0].lkey ^= 0x80;
    host.post(wr);
  };
  converse([&] {
    start_work();
    EXPECT_EQ(stream->receive(), from_hex("4147 00000000 00000002 00000001 00000000 00000000"));
    EXPECT_TRUE(stream->receive_fin());
    stream->send_fin();
    peer.wait_us(10);
  });
  EXPECT_EQ(host.status(1), WcStatus::kLocProtErr);
}

TEST_F(AtomicRequester, TheDeviceSaysWhatItCan) {
  converse([&] {
    EXPECT_TRUE(node.context.query_device().atomics);
    EXPECT_TRUE(node.context.query_device().immediate_data);
  });
}

}  // namespace
}  // namespace rnic::test
