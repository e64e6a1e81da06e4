#include "model/capture/replay/replay_session.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic::replay {

using host::CmEventType;
using wire::Opcode;

namespace {

constexpr std::uint32_t kNoLkey = 0;  // STag 0 is never registered
// IRD and ORD for MPA revision 1, whose frames do not carry them.
constexpr std::uint16_t kUntoldDepth = 32;

std::uint8_t connect_flags(const wire::MpaFrame& request) {
  unsigned flags = 0;
  const auto add = [&flags](bool on, abi::CmFlags flag) { flags |= on ? static_cast<unsigned>(flag) : 0u; };
  add(request.markers, abi::kCmMarkers);
  add(request.crc, abi::kCmCrc);
  if (!request.enhanced) return static_cast<std::uint8_t>(flags);
  add(true, abi::kCmEnhanced);
  add(request.enhanced->peer_to_peer, abi::kCmPeerToPeer);
  add(request.enhanced->peer_to_peer && request.enhanced->rtr_send, abi::kCmRtrSend);
  add(request.enhanced->peer_to_peer && request.enhanced->rtr_write, abi::kCmRtrWrite);
  add(request.enhanced->peer_to_peer && request.enhanced->rtr_read, abi::kCmRtrRead);
  return static_cast<std::uint8_t>(flags);
}

// A responder follows the initiator and chooses only what it asks for beyond that. It accepts the ready-to-receive
// messages that its reply names.
std::uint8_t listen_flags(const wire::MpaFrame& request, const wire::MpaFrame& reply) {
  unsigned flags = abi::kCmEnhanced;
  if (reply.crc && !request.crc) flags |= abi::kCmCrc;
  if (reply.markers) flags |= abi::kCmMarkers;
  if (reply.enhanced && reply.enhanced->peer_to_peer) {
    if (reply.enhanced->rtr_send) flags |= abi::kCmRtrSend;
    if (reply.enhanced->rtr_write) flags |= abi::kCmRtrWrite;
    if (reply.enhanced->rtr_read) flags |= abi::kCmRtrRead;
  }
  return static_cast<std::uint8_t>(flags);
}

host::ConnParam param_of(const wire::MpaFrame& frame) {
  host::ConnParam param;
  param.responder_resources = frame.enhanced ? frame.enhanced->ird : kUntoldDepth;
  param.initiator_depth = frame.enhanced ? frame.enhanced->ord : kUntoldDepth;
  if (frame.enhanced) param.max_ird = frame.enhanced->ird;  // the real side sent the result
  param.private_data.assign(frame.private_data.begin(), frame.private_data.end());
  return param;
}

}  // namespace

ReplayProgram::Session::Session(const Script& script, host::Context& context, ReplayPeer& peer, std::uint32_t peer_ip,
                                host::Core& core)
    : script_(script), peer_(peer), peer_ip_(peer_ip), session_(context, core) {
  create();
}

void ReplayProgram::Session::create() {
  host::Context& context = session_.context();
  const host::Pd pd = session_.domain();
  memory_.emplace(script_, context, pd, context.alloc_pd());
  session_.make_cqs(kSends, kReceives);
  session_.make_qp(kSends, kReceives);

  std::uint64_t bytes = 64;
  for (const Message& m : script_.real.messages()) {
    payload_at_.push_back(bytes);
    bytes += m.payload.size();
  }
  for (const Receive& r : script_.memory.receives) {
    buffers_.push_back({&script_.fed.messages()[r.message], bytes, r.bytes});
    bytes += r.bytes;
  }
  payloads_ = &session_.memory(bytes, abi::kLocalWrite, 64);
  for (std::uint64_t& at : payload_at_) at += payloads_->address();
  for (Buffer& b : buffers_) b.address += payloads_->address();
  for (std::size_t i = 0; i < payload_at_.size(); ++i) {
    const std::vector<std::uint8_t>& from = script_.real.messages()[i].payload;
    std::copy(from.begin(), from.end(), context.memory().span(payload_at_[i], from.size()).data());
  }
  // A session answered only with a Terminate had no listener.
  const bool listened = !script_.refused && (script_.transport == host::Transport::kTcp || script_.real.started());
  if (script_.model == Side::kResponder && listened && script_.fed.started()) {
    const wire::MpaFrame reply = script_.real.started() ? script_.real.startup() : wire::MpaFrame{};
    session_.listen(script_.model_port, listen_flags(script_.fed.startup(), reply), script_.transport);
  }
}

bool ReplayProgram::Session::advance() {
  if (stage_ == Stage::kCreating) {
    if (memory_->failed()) throw ConfigError("the device refused to register the connection's memory");
    if (session_.ready() && memory_->ready()) begin();
    return false;
  }
  take_events();
  memory_->advance();
  post_receives();
  if (stage_ == Stage::kConnected) post_sends();
  poll();
  close_in_turn();
  const bool ended = stage_ == Stage::kEnded || (script_.model == Side::kResponder && stage_ == Stage::kSetup);
  return ended && peer_.over();
}

void ReplayProgram::Session::begin() {
  stage_ = Stage::kSetup;
  post_receives();
  peer_.begin(script_, memory_->translated(), [this](const MemoryChange& c) { return memory_->apply(c); });
  if (script_.model == Side::kResponder) return;
  host::ConnParam param;
  if (script_.real.started()) {
    const wire::MpaFrame request = script_.real.startup();
    param = param_of(request);
    param.flags = connect_flags(request);
  }
  param.transport = script_.transport;
  session_.connect(peer_ip_, script_.peer_port, param);
}

void ReplayProgram::Session::take_events() {
  host::CmEvent event;
  while (session_.next(event)) {
    ++progress_;
    switch (event.type) {
      case CmEventType::kConnectRequest:
        requested(event);
        break;
      case CmEventType::kEstablished:
        stage_ = Stage::kConnected;
        break;
      case CmEventType::kQpError:
        failed_ = true;
        break;
      case CmEventType::kRejected:
      case CmEventType::kConnectError:
      case CmEventType::kDisconnected:
        if (session_.listens()) session_.stop_listening();
        stage_ = Stage::kEnded;
        break;
    }
  }
}

void ReplayProgram::Session::requested(const host::CmEvent& event) {
  session_.stop_listening();
  if (!script_.real.started()) return;  // the real side did not answer
  const wire::MpaFrame reply = script_.real.startup();
  if (reply.rejected) {
    session_.context().reject(event.connection, reply.private_data);
    stage_ = Stage::kEnded;
  } else {
    session_.accept(event.connection, param_of(reply));
  }
}

void ReplayProgram::Session::post_receives() {
  while (posted_receives_ < buffers_.size() && session_.qp().rq().free() != 0) {
    const Buffer& b = buffers_[posted_receives_];
    host::RecvWr wr;
    wr.wr_id = posted_receives_;
    wr.num_sge = b.bytes == 0 ? 0 : 1;
    wr.sg_list[0] = {b.address, b.bytes, payloads_->lkey()};
    if (session_.qp().post_recv(wr) != 0) return;
    ++posted_receives_;
  }
}

void ReplayProgram::Session::post_sends() {
  while (posted_sends_ < script_.posts.size() && post(script_.posts[posted_sends_])) {
    ++posted_sends_;
    ++progress_;
  }
}

bool ReplayProgram::Session::post(const Script::Post& post) {
  if (peer_.acked() < post.fed_octets) return false;
  return !failed_ && session_.qp().sq().free() != 0 && session_.qp().post_send(request(post.message)) == 0;
}

// The request that makes a device send this message; for a Terminate, one that it must refuse.
host::SendWr ReplayProgram::Session::request(std::size_t message) const {
  const Message& m = script_.real.messages()[message];
  const Opcode op = m.header.opcode;
  host::SendWr wr;
  wr.wr_id = message;
  wr.send_flags = abi::kWqeSignaled;
  wr.num_sge = 1;
  wr.sg_list[0] = {payload_at_[message], static_cast<std::uint32_t>(m.payload.size()), payloads_->lkey()};
  if (op == Opcode::kTerminate) {
    wr.sg_list[0].lkey = kNoLkey;
  } else if (op == Opcode::kReadRequest) {
    const auto read = wire::ReadRequest::parse(m.payload);
    RNIC_CHECK(read.has_value());  // checked by ScriptWriter
    wr.opcode = abi::WrOpcode::kRdmaRead;
    wr.sg_list[0] = memory_->sink(message, *read);
    wr.remote_addr = read->src_to;
    wr.rkey = read->src_stag;
  } else if (op == Opcode::kWrite) {
    wr.opcode = abi::WrOpcode::kRdmaWrite;
    wr.remote_addr = m.header.to;
    wr.rkey = m.header.stag;
  } else {
    if (wire::solicits_event(op)) wr.send_flags |= abi::kWqeSolicited;
    if (wire::invalidates(op)) {
      wr.opcode = abi::WrOpcode::kSendWithInv;
      wr.invalidate_rkey = m.header.stag;
    }
  }
  return wr;
}

void ReplayProgram::Session::poll() {
  host::Wc wc;
  while (session_.send_cq().poll_cq(&wc, 1) == 1) {
    ++completed_;
    ++progress_;
  }
  while (session_.recv_cq().poll_cq(&wc, 1) == 1) {
    ++progress_;
    if (wc.status == abi::WcStatus::kSuccess) received(wc);
  }
}

void ReplayProgram::Session::received(const host::Wc& wc) {
  const Buffer& b = buffers_[wc.wr_id];
  const std::vector<std::uint8_t>& sent = b.message->payload;
  const MutableByteSpan got = session_.context().memory().span(b.address, b.bytes);
  if (wc.byte_len == sent.size() && std::equal(sent.begin(), sent.end(), got.data())) return;
  misplaced_.push_back(fmt::format("{}: received {} octets, or others", describe(*b.message), wc.byte_len));
}

// The program disconnects when it did in the capture and has no request outstanding.
void ReplayProgram::Session::close_in_turn() {
  if (disconnecting_ || stage_ != Stage::kConnected || !script_.model_closes_first) return;
  const bool said = peer_.answered() >= script_.close_after;
  const bool idle = posted_sends_ == script_.posts.size() && completed_ >= posted_sends_ && said;
  if (!idle || peer_.acked() < script_.model_closes_after || !peer_.resting()) return;
  disconnecting_ = true;
  session_.disconnect();
}

Outcome ReplayProgram::Session::outcome() const {
  Outcome o;
  o.script = &script_;
  if (stage_ == Stage::kCreating) return o;
  const MessageReader& answer = peer_.answer();
  o.startup.assign(answer.octets().begin(),
                   answer.octets().begin() + static_cast<std::ptrdiff_t>(answer.startup_bytes()));
  for (const Message& m : answer.messages()) o.messages.push_back(memory_->translated_back(m));
  o.rest = answer.rest();
  o.stream_error = answer.error().empty() ? peer_.transport_error() : answer.error();
  o.refused = peer_.refused();
  o.misplaced = misplaced_;
  for (std::string& text : memory_->misplaced()) o.misplaced.push_back(std::move(text));
  return o;
}

std::string ReplayProgram::Session::waiting_for() const {
  if (stage_ == Stage::kCreating) return script_.name + ": its objects on the device";
  return fmt::format("{}: {} of {} messages of the model, {} of {} octets taken from the peer", script_.name,
                     peer_.answer().whole_messages(), script_.real.whole_messages(), peer_.acked(),
                     script_.fed.octets().size());
}

}  // namespace rnic::replay
