-- What Wireshark does not know of rnicsim's captures: TLPs of the PCIe interfaces (rnicsim run --capture-tlps), with
-- doorbells and other registers decoded; DDP over SCTP (ddp_sctp.lua); and the value of iWARP Immediate Data (RFC 7306
-- section 6), over TCP and SCTP.
--
--   wireshark -X lua_script:scripts/wireshark/rnicsim.lua out/wire.pcapng
--
-- Columns and filters: rnicsim_tlp.chip (a node's name), .type, .tag, .address, .request, .register, .qpn …; rnicsim_immediate.value.

local folder = debug.getinfo(1, "S").source:match("^@(.*[/\\])") or ""
local registers = dofile(folder .. "rnicsim_registers.lua")
dofile(folder .. "ddp_sctp.lua")

local tlp = Proto("rnicsim_tlp", "PCIe TLP")
local TYPES = {[0] = "MRd", [1] = "MWr", [2] = "Cpl", [3] = "CplD", [4] = "CfgRd0", [5] = "CfgWr0"}
local SPACES = {[0] = "host memory", [1] = "BAR0", [2] = "interrupt", [3] = "configuration space"}
local STATES = {[0] = "Successful Completion", [1] = "Unsupported Request", [4] = "Completer Abort"}
local field = {
  version = ProtoField.uint8("rnicsim_tlp.version", "Pseudo header version"),
  direction = ProtoField.uint8("rnicsim_tlp.direction", "Direction", base.DEC, {[1] = "to the device", [2] = "to the host"}),
  chip = ProtoField.string("rnicsim_tlp.chip", "Node whose link this is"),
  space = ProtoField.uint8("rnicsim_tlp.space", "Space", base.DEC, SPACES),
  offset = ProtoField.uint32("rnicsim_tlp.offset", "Offset", base.HEX),
  request = ProtoField.uint64("rnicsim_tlp.request", "Work request", base.HEX),
  node = ProtoField.uint32("rnicsim_tlp.node", "Node of the work request"),
  type = ProtoField.uint8("rnicsim_tlp.type", "Type", base.DEC, TYPES),
  poisoned = ProtoField.bool("rnicsim_tlp.poisoned", "Poisoned"),
  words = ProtoField.uint16("rnicsim_tlp.length", "Length (double words)"),
  requester = ProtoField.uint16("rnicsim_tlp.requester", "Requester ID", base.HEX),
  completer = ProtoField.uint16("rnicsim_tlp.completer", "Completer ID", base.HEX),
  tag = ProtoField.uint16("rnicsim_tlp.tag", "Tag"),
  enables = ProtoField.uint8("rnicsim_tlp.byte_enables", "Byte enables (last, first)", base.HEX),
  address = ProtoField.uint64("rnicsim_tlp.address", "Address", base.HEX),
  status = ProtoField.uint8("rnicsim_tlp.status", "Status", base.DEC, STATES),
  byte_count = ProtoField.uint16("rnicsim_tlp.byte_count", "Octets still to come"),
  lower = ProtoField.uint8("rnicsim_tlp.lower_address", "Lower address", base.HEX),
  data = ProtoField.bytes("rnicsim_tlp.data", "Data"),
  register = ProtoField.string("rnicsim_tlp.register", "Register"),
  vector = ProtoField.uint32("rnicsim_tlp.vector", "Interrupt vector"),
}
-- A filter for each field of a register: rnicsim_tlp.qpn, whichever doorbell it is in.
local of_register = {}
for _, register in pairs(registers) do
  for _, f in ipairs(register.fields) do
    if not field[f[1]] and not of_register[f[1]] then
      of_register[f[1]] = ProtoField.uint32("rnicsim_tlp." .. f[1], f[1])
    end
  end
end
local all = {}
for _, f in pairs(field) do all[#all + 1] = f end
for _, f in pairs(of_register) do all[#all + 1] = f end
tlp.fields = all

-- Octets of the pseudo header, by its version. The second one has the node of the work request on its own.
local PSEUDO = {[1] = 16, [2] = 24}

-- The node's name, of its interface "a.pcie"; nothing if the file has no names.
local interface_name = Field.new("frame.interface_name")
local function node_of_link()
  local name = interface_name()
  return name and tostring(name):match("^(.*)%.pcie$")
end

local function register_text(tree, register, value, range)
  local node = tree:add(field.register, range, register.name)
  local words = {}
  for _, f in ipairs(register.fields) do
    local name, low, width = f[1], f[2], f[3]
    local v = bit32.extract(value, low, width)
    node:add(of_register[name] or field[name], range, v)
    words[#words + 1] = name .. " " .. v
  end
  return register.name .. ": " .. table.concat(words, ", ")
end

function tlp.dissector(buffer, pinfo, root)
  local pseudo = buffer:len() > 0 and PSEUDO[buffer(0, 1):uint()]
  if not pseudo or buffer:len() < pseudo + 12 then return 0 end
  local tree = root:add(tlp, buffer())
  pinfo.cols.protocol = "PCIe"
  local to_device, space, offset = buffer(1, 1):uint() == 1, buffer(2, 1):uint(), buffer(4, 4):uint()
  tree:add(field.version, buffer(0, 1))
  tree:add(field.direction, buffer(1, 1))
  tree:add(field.space, buffer(2, 1))
  if space == 1 or space == 3 then tree:add(field.offset, buffer(4, 4)) end
  if buffer(8, 8):uint64() ~= UInt64(0) then tree:add(field.request, buffer(8, 8)) end
  if pseudo == 24 then tree:add(field.node, buffer(16, 4)) end

  local first = buffer(pseudo, 1):uint()
  local four, with_data = bit32.btest(first, 0x20), bit32.btest(first, 0x40)
  local completion = bit32.band(first, 0x1f) == 0x0a
  local config = bit32.band(first, 0x1f) == 0x04
  local kind = (completion and 2 or config and 4 or 0) + (with_data and 1 or 0)
  local second, control = buffer(pseudo + 1, 1):uint(), buffer(pseudo + 2, 2):uint()
  local words = bit32.band(control, 0x3ff)
  if words == 0 and kind ~= 2 then words = 1024 end
  tree:add(field.type, buffer(pseudo, 1), kind)
  tree:add(field.poisoned, buffer(pseudo + 2, 2), bit32.btest(control, 0x4000))
  tree:add(field.words, buffer(pseudo + 2, 2), words)
  local high_tag = bit32.extract(second, 7) * 512 + bit32.extract(second, 3) * 256
  local info = TYPES[kind]
  local body = pseudo + (four and 16 or 12)
  if completion then
    local status = buffer(pseudo + 6, 2):uint()
    local tag = high_tag + buffer(pseudo + 10, 1):uint()
    local left = bit32.band(status, 0xfff)
    tree:add(field.completer, buffer(pseudo + 4, 2))
    tree:add(field.status, buffer(pseudo + 6, 2), bit32.rshift(status, 13))
    tree:add(field.byte_count, buffer(pseudo + 6, 2), left == 0 and 4096 or left)
    tree:add(field.requester, buffer(pseudo + 8, 2))
    tree:add(field.tag, buffer(pseudo + 10, 1), tag)
    tree:add(field.lower, buffer(pseudo + 11, 1))
    info = string.format("%s tag %d, %s", info, tag, STATES[bit32.rshift(status, 13)] or "?")
  else
    local address = four and buffer(pseudo + 8, 8) or config and buffer(pseudo + 10, 2) or buffer(pseudo + 8, 4)
    tree:add(field.requester, buffer(pseudo + 4, 2))
    tree:add(field.tag, buffer(pseudo + 6, 1), high_tag + buffer(pseudo + 6, 1):uint())
    tree:add(field.enables, buffer(pseudo + 7, 1))
    tree:add(field.address, address, address:uint64())
    info = string.format("%s %s", info, "0x" .. address:uint64():tohex():gsub("^0+", ""))
    if kind == 0 or config then info = info .. string.format(" tag %d", high_tag + buffer(pseudo + 6, 1):uint()) end
  end
  if words > 0 then info = info .. string.format(", %d octets", 4 * words) end
  if with_data and buffer:len() > body then
    local data = buffer(body)
    tree:add(field.data, data)
    if space == 1 and not completion then
      local register = registers[offset]
      if register and data:len() >= 4 then info = info .. " " .. register_text(tree, register, data(0, 4):le_uint(), data(0, 4)) end
    elseif space == 2 then
      tree:add_le(field.vector, data(0, 4))
      info = info .. string.format(" interrupt, vector %d", data(0, 4):le_uint())
    end
  elseif space == 1 and not completion and registers[offset] then
    tree:add(field.register, buffer(4, 4), registers[offset].name)
    info = info .. " " .. registers[offset].name
  end
  pinfo.cols.info = info
  local node = node_of_link()
  if node then tree:add(field.chip, node):set_generated() end
  local host, device = "host" .. (node and " " .. node or ""), "device" .. (node and " " .. node or "")
  pinfo.cols.src = to_device and host or device
  pinfo.cols.dst = to_device and device or host
  return buffer:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, tlp)

-- Immediate Data is a message of 8 octets behind the 18 of an untagged DDP header.
local immediate = Proto("rnicsim_immediate", "iWARP Immediate Data")
local value = ProtoField.bytes("rnicsim_immediate.value", "Immediate data")
local solicited = ProtoField.bool("rnicsim_immediate.solicited", "Solicited event")
immediate.fields = {value, solicited}
local opcode_field, header_field = Field.new("iwarp_rdma.opcode"), Field.new("iwarp_ddp")
local IMMEDIATE, IMMEDIATE_SE, UNTAGGED, BYTES = 0x8, 0x9, 18, 8

function immediate.dissector(_, pinfo, root)
  local headers = {header_field()}
  for i, opcode in ipairs({opcode_field()}) do
    local header = headers[i]
    if header and (opcode.value == IMMEDIATE or opcode.value == IMMEDIATE_SE) then
      local message = header.source
      if message and message:len() >= header.offset + UNTAGGED + BYTES then
        local octets = message(header.offset + UNTAGGED, BYTES)
        local tree = root:add(immediate, octets)
        tree:add(value, octets)
        tree:add(solicited, octets, opcode.value == IMMEDIATE_SE)
        pinfo.cols.info:append(" Immediate Data " .. tostring(octets:bytes()))
      end
    end
  end
end

register_postdissector(immediate)
