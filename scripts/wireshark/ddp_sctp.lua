-- DDP over SCTP (RFC 5043, RFC 6581 section 7), which Wireshark 4 shows as plain data: of a DATA chunk with PPID 16 the
-- DDP-SSN, and the segment behind it by Wireshark's iWARP dissector; of one with PPID 17 a session control message.
-- rnicsim.lua loads it.
--
-- Filters: ddp_sctp.ssn; ddp_session.ssn, .code, .ird, .ord, .private_data …

local PPID_SEGMENT, PPID_SESSION = 16, 17
local SSN_BYTES, CONTROL_BYTES, ENHANCED_BYTES, FIRST_ENHANCED = 2, 4, 4, 5
local CODES = {"Initiate", "Accept", "Reject", "Terminate", "Enhanced Initiate", "Enhanced Accept", "Enhanced Reject"}

local segment = Proto("ddp_sctp", "DDP over SCTP")
local segment_ssn = ProtoField.uint16("ddp_sctp.ssn", "DDP-SSN")
segment.fields = {segment_ssn}
local iwarp = Dissector.get("iwarp_ddp_rdmap")

function segment.dissector(buffer, pinfo, root)
  if buffer:len() <= SSN_BYTES then return 0 end
  local tree = root:add(segment, buffer(0, SSN_BYTES))
  tree:add(segment_ssn, buffer(0, SSN_BYTES))
  tree:append_text(", DDP-SSN " .. buffer(0, SSN_BYTES):uint())
  -- A malformed segment is in the tree as such, and then an error of the call.
  pcall(iwarp.call, iwarp, buffer(SSN_BYTES):tvb(), pinfo, root)
  return buffer:len()
end

local session = Proto("ddp_session", "DDP Stream Session")
local field = {
  ssn = ProtoField.uint16("ddp_session.ssn", "DDP-SSN"),
  code = ProtoField.uint16("ddp_session.code", "Function code", base.HEX, CODES),
  peer_to_peer = ProtoField.bool("ddp_session.a", "A, peer to peer", 32, nil, 0x80000000),
  send = ProtoField.bool("ddp_session.b", "B, zero-length Send", 32, nil, 0x40000000),
  ird = ProtoField.uint32("ddp_session.ird", "IRD", base.DEC, nil, 0x3fff0000),
  write = ProtoField.bool("ddp_session.c", "C, zero-length Write", 32, nil, 0x8000),
  read = ProtoField.bool("ddp_session.d", "D, zero-length Read", 32, nil, 0x4000),
  ord = ProtoField.uint32("ddp_session.ord", "ORD", base.DEC, nil, 0x3fff),
  private_data = ProtoField.bytes("ddp_session.private_data", "Private data"),
}
session.fields = {field.ssn, field.code, field.peer_to_peer, field.send, field.ird, field.write, field.read, field.ord,
                  field.private_data}
local refused = ProtoExpert.new("ddp_session.refused", "No session control message", expert.group.MALFORMED,
                                expert.severity.ERROR)
session.experts = {refused}

function session.dissector(buffer, pinfo, root)
  local tree = root:add(session, buffer())
  if buffer:len() < CONTROL_BYTES then
    tree:add_proto_expert_info(refused, "Shorter than DDP-SSN and function code")
    return buffer:len()
  end
  local code = buffer(2, 2):uint()
  tree:add(field.ssn, buffer(0, 2))
  tree:add(field.code, buffer(2, 2))
  local name = CODES[code]
  if not name then tree:add_proto_expert_info(refused, "Unknown function code") end
  local private = CONTROL_BYTES
  if name and code >= FIRST_ENHANCED and buffer:len() >= CONTROL_BYTES + ENHANCED_BYTES then
    local word = buffer(CONTROL_BYTES, ENHANCED_BYTES)
    for _, f in ipairs({field.peer_to_peer, field.send, field.ird, field.write, field.read, field.ord}) do tree:add(f, word) end
    private = private + ENHANCED_BYTES
  end
  if buffer:len() > private then tree:add(field.private_data, buffer(private)) end
  tree:append_text(", " .. (name or "unknown"))
  pinfo.cols.info:append(" Session " .. (name or string.format("code 0x%04x", code)))
  return buffer:len()
end

local identifiers = DissectorTable.get("sctp.ppi")
identifiers:add(PPID_SEGMENT, segment)
identifiers:add(PPID_SESSION, session)
