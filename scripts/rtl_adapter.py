#!/usr/bin/env python3
"""Makes of somebody's RTL, whose pins a port map describes, a block with our pins: a SystemVerilog wrapper.

rtl_adapter.py MAP SOURCE... -o FOLDER [--set NAME=VALUE]... [--top NAME]

It writes FOLDER/<block>_adapter.sv and prints the files that belong to it, in their order. rtl-stubs/adapter/README.md has the format of
a map. Exit status 0; 2 where the map or the module does not fit, with one sentence.
"""
import argparse
import difflib
import functools
import pathlib
import re
import sys
import tomllib
import typing

import sv_pins

RTL = pathlib.Path(__file__).resolve().parent.parent / "rtl-stubs"
BLOCKS = ("mpa_framer", "marker_inserter", "crc_insert", "mpa_deframer", "crc_check", "irrq", "ddp_placement", "response_queue",
          "terminate_generator", "atomic_alu")
FURTHER = {"sctp_crc_insert": "crc_insert", "sctp_crc_check": "crc_check"}  # instances of the same modules
AWAKE = 64        # cycles, unless the map says otherwise
MAX_BITS = 1024   # of a stream's tdata
STYLES = ("axi_stream", "valid_ready", "credit")
KEYS = ("module", "block", "clock", "reset", "parameters", "pins", "ties", "constant", "unused", "busy_cycles")
LINK_KEYS = {"axi_stream": ("axi_stream", "pins", "tuser", "markers", "crc", "rest", "tdata_bits"),
             "valid_ready": ("valid_ready", "pins", "unused", "constant"),
             "credit": ("credit", "pins")}
NOT_HERE = {True: ("rest", "constant"), False: ("unused",)}  # for inputs of the block, for outputs
STREAM_PINS = ("tvalid", "tready", "tdata", "tkeep", "tlast")
OF_THE_STREAM = ("words", "first", "last")              # fields that a stream has in its own way
OF_MARKERS = ("marker", "marker_lane", "marker_valid")  # and when the markers are in it
SIDES = {"in": "s", "out": "m"}                         # how the parts call the streams


class Kind(typing.NamedTuple):
    """A block that AXI-Stream fits."""

    module: str      # of rtl-stubs/adapter
    parts: tuple     # modules in it
    markers: bool = False  # markers may be among the octets, or beside them
    crc: str = ""    # the side that may lack the CRC field
    verdict: str = ""      # the field that is the block's own work
    start: tuple = ()      # what only the input has, with its bits
    memory: tuple = ()     # other pins of ours that the part has


KINDS = {
    "crc_check": Kind("fpdu_through", ("words_to_axis", "axis_to_words", "carried_fields"), markers=True, crc="out", verdict="crc_ok"),
    "crc_insert": Kind("fpdu_through", ("words_to_axis", "axis_to_words", "carried_fields"), markers=True, crc="in"),
    "marker_inserter": Kind("fpdu_remade", ("words_to_axis", "axis_to_words", "fpdu_cut"), start=(("markers", 1), ("position", 9))),
    "mpa_framer": Kind("fpdu_framed", ("words_to_axis", "axis_to_words", "fpdu_cut"), crc="out", memory=("mem_index_o", "mem_data_i")),
}

# No stream gives beats of a block whose octets stay in memories of ours.
OF_OUR_MEMORIES = {
    "mpa_deframer": "mpa_deframer writes FPDUs into a memory of ours while it is offered their segment, and gives beats by their row there",
}


class MapError(Exception):
    """What is wrong with a map or with the module that it describes, in one sentence."""


def nearest(name, names):
    found = difflib.get_close_matches(str(name), list(names), 1, 0)
    return found[0] if found else "none"


def snake(name):
    """A module's parameter by the name that settings have: BeatBytes is beat_bytes."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


@functools.cache
class Packages:
    """The structures and constants of the messages."""

    def __init__(self):
        self.files = [RTL / "include" / name for name in ("rnic_stream_pkg.sv", "rnic_messages_pkg.sv")]
        text = "".join(file.read_text(encoding="utf-8") for file in self.files)
        self.structures = sv_pins.structures(text)
        self.constants = sv_pins.constants(text)

    def fields(self, pin):
        """(name, bits) of what a pin's structure holds."""
        return list(sv_pins.leaves(pin.type.split("::")[-1], self.structures))


@functools.cache
def module_of(block):
    return sv_pins.modules((RTL / "rtl" / f"{block}.sv").read_text(encoding="utf-8"))[block]


class Block:
    """One of our blocks: its pins, and the links among them."""

    def __init__(self, name, packages, settings):
        self.name = FURTHER.get(name, name)
        self.module = module_of(self.name)
        self.names = dict(packages.constants)
        self.parameters = {}
        for parameter, text in self.module.parameters.items():
            self.parameters[parameter] = settings.get(parameter, settings.get(snake(parameter), sv_pins.value(text, self.names)))
        self.names.update(self.parameters)
        self.settings = {snake(parameter): number for parameter, number in self.parameters.items()}
        self.names = self.module.names(self.names)
        pins = self.module.pins
        self.links = {}  # name: whether the block takes from it
        for pin in pins:
            if pin.endswith("_valid_i") and pin[:-8] + "_ready_o" in pins and pin[:-8] + "_i" in pins:
                self.links[pin[:-8]] = True
            if pin.endswith("_valid_o") and pin[:-8] + "_ready_i" in pins and pin[:-8] + "_o" in pins:
                self.links[pin[:-8]] = False

    def pins_of(self, link):
        """Ends of the names of a link's pins: _valid_i, _ready_o, _i, and _data_i where there are octets."""
        ends = ("_valid_i", "_ready_o", "_i", "_data_i") if self.links[link] else ("_ready_i", "_launch_o", "_valid_o", "_o", "_data_o")
        return [end for end in ends if link + end in self.module.pins]


class Wrapper:
    """The wrapper of one map. What it connects is checked on the way."""

    def __init__(self, tree, folder, sources, settings, top):
        self.tree = tree
        self.packages = Packages()
        self.check_keys(tree, "", KEYS + tuple(key for key, value in tree.items() if isinstance(value, dict) and key not in KEYS))
        block = self.text("block")
        if block not in BLOCKS and block not in FURTHER:
            self.refuse("block", f"there is no block '{block}'; the nearest is '{nearest(block, BLOCKS + tuple(FURTHER))}'")
        self.block = Block(block, self.packages, settings)
        self.top = top or f"{self.block.name}_adapter"
        self.folder = pathlib.Path(folder)
        self.sources = [pathlib.Path(source) for source in sources]
        self.asked = set()  # settings that the map's expressions name
        self.theirs = self.their_module()
        self.parameters = self.their_parameters()
        self.names = self.theirs.names(self.packages.constants | self.parameters)
        self.connected = {}  # their pin: (ours, the key that says so)
        self.taken = set()   # pins of ours beside the links that a part has
        self.declared, self.body, self.used, self.moves = [], [], {"reset_hold", "stays_awake"}, []

    # What a map says.

    def refuse(self, key, what):
        raise MapError(f"{key}: {what}")

    def check_keys(self, table, where, known):
        for key in table:
            if key not in known:
                self.refuse(where + key, f"unknown key; the nearest is '{nearest(key, known)}'")

    def text(self, key, table=None, where=""):
        table = self.tree if table is None else table
        if not isinstance(table.get(key), str) or not table[key]:
            self.refuse(where + key, "missing: a text is needed" if key not in table else f"{table[key]!r} is no text")
        return table[key]

    def table(self, key, table=None, where=""):
        value = (self.tree if table is None else table).get(key, {})
        if not isinstance(value, dict):
            self.refuse(where + key, f"{value!r} is no table")
        return value

    def list(self, key, table=None, where=""):
        value = (self.tree if table is None else table).get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.refuse(where + key, f"{value!r} is no list of texts")
        return value

    def one_of(self, key, table, where, values):
        value = table.get(key, values[0])
        if value not in values:
            self.refuse(where + key, f"{value!r} is not possible; the nearest is '{nearest(value, values)}'")
        return value

    def integer(self, key, table, where, default, low, high):
        value = table.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.refuse(where + key, f"{value!r} is not from {low} to {high}")
        return value

    def expression(self, key, value):
        self.asked |= set(re.findall(r"[A-Za-z_]\w*", str(value)))
        try:
            return sv_pins.value(value, self.packages.constants | self.block.settings)
        except ValueError as error:
            self.refuse(key, f"{error}; settings are {', '.join(sorted(self.block.settings))}")

    # Their module.

    def their_module(self):
        name, found = self.text("module"), {}
        for source in self.sources:
            try:
                found |= sv_pins.modules(source.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                raise MapError(f"{source}: cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from error
        if name not in found:
            files = ", ".join(source.name for source in self.sources) or "no file"
            self.refuse("module", f"{files} has no module '{name}'" + (f"; the nearest is '{nearest(name, found)}'" if found else ""))
        self.their_names = set(found)
        if name == self.top:
            self.refuse("module", f"'{name}' is the wrapper's own name")
        return found[name]

    def their_parameters(self):
        given = self.table("parameters")
        self.check_keys(given, "parameters.", self.theirs.parameters)
        values = {name: self.expression(f"parameters.{name}", value) for name, value in given.items()}
        return values

    def connect(self, pin, direction, bits, ours, key):
        """Connects a pin of theirs, an input or an output for so many bits, with an expression of ours."""
        if not isinstance(pin, str) or pin not in self.theirs.pins:
            self.refuse(key, f"{self.theirs.name} has no pin '{pin}'; the nearest is '{nearest(pin, self.theirs.pins)}'")
        there = self.theirs.pins[pin]
        if there.direction and there.direction != direction:
            self.refuse(key, f"{pin} is an {there.direction} of {self.theirs.name}; an {direction} is needed")
        width = there.width(self.names, self.packages.structures)
        if bits is not None and width not in (None, bits):
            self.refuse(key, f"{pin} has {width} bits; {bits} are needed")
        if pin in self.connected:
            self.refuse(key, f"{pin} is connected already, by {self.connected[pin][1]}")
        self.connected[pin] = (ours, key)

    def declare(self, name, bits):
        self.declared.append((name, bits))
        return name

    # The parts of a wrapper.

    def clock_and_reset(self):
        self.connect(self.text("clock"), "input", 1, "clk_i", "clock")
        reset = self.table("reset")
        self.check_keys(reset, "reset.", ("pin", "active", "cycles"))
        level = self.one_of("active", reset, "reset.", ("low", "high"))
        self.connect(self.text("pin", reset, "reset."), "input", 1, "!in_reset" if level == "low" else "in_reset", "reset.pin")
        return self.integer("cycles", reset, "reset.", 1, 1, 10000)

    def links(self):
        unknown = [key for key in self.tree if key not in KEYS and key not in self.block.links]
        for key in unknown:
            self.refuse(key, f"{self.block.name} has no link of this name, and it is no key; the nearest is "
                             f"'{nearest(key, tuple(self.block.links) + KEYS)}'")
        styles = {link: self.style(link) for link in self.block.links}
        streams = [link for link, style in styles.items() if style == "axi_stream"]
        if streams:
            Streams(self, streams).connect()
        for link, style in styles.items():
            if style == "valid_ready":
                self.valid_ready(link)
            elif style == "credit":
                self.credit(link)

    def style(self, link):
        table = self.tree.get(link, {"credit": link})
        named = [style for style in STYLES if style in table]
        if len(named) != 1:
            unknown = [key for key in table if not any(key in keys for keys in LINK_KEYS.values())]
            if unknown and not named:
                self.refuse(f"{link}.{unknown[0]}", f"unknown style; the nearest is '{nearest(unknown[0], STYLES)}'")
            self.refuse(link, f"one style is needed, of {', '.join(STYLES)}; there {'are ' + ' and '.join(named) if named else 'is none'}")
        self.check_keys(table, f"{link}.", [key for key in LINK_KEYS[named[0]] if key not in NOT_HERE[self.block.links[link]]])
        if not isinstance(table[named[0]], str):
            self.refuse(f"{link}.{named[0]}", f"{table[named[0]]!r} is no text: it is what their pins' names begin with")
        return named[0]

    def named(self, link, names):
        """Their name of each pin of a link: the style's prefix with the name, or what `pins` says."""
        table = self.tree.get(link, {})
        pins = self.table("pins", table, f"{link}.")
        self.check_keys(pins, f"{link}.pins.", names)
        prefix = next((table[style] for style in STYLES if style in table), link)
        return {name: (pins[name], f"{link}.pins.{name}") if name in pins else
                (prefix + name.replace(".", "_"), f"{link}.{self.style(link)}") for name in names}

    def credit(self, link):
        """Our own pins, with another prefix."""
        ends = self.block.pins_of(link)
        for end, (pin, key) in self.named(link, ends).items():
            ours = self.block.module.pins[link + end]
            gate = " && !in_reset" if end in ("_valid_i", "_ready_i") else ""
            self.connect(pin, ours.direction, ours.width(self.block.names, self.packages.structures), link + end + gate, key)
        self.moves.append(self.moved(link))

    def valid_ready(self, link):
        """A pin for each field. What they give stays until it is taken; what we give does, too."""
        table, takes = self.tree[link], self.block.links[link]
        if "_launch_o" in self.block.pins_of(link) or f"{link}_data_i" in self.block.module.pins and self.block.name in KINDS:
            self.refuse(f"{link}.valid_ready", f"{OF_OUR_MEMORIES[self.block.name]}; credit is the nearest" if self.block.name in OF_OUR_MEMORIES else
                        "beats of FPDUs have the style axi_stream or credit")
        pin = self.block.module.pins[link + ("_i" if takes else "_o")]
        fields = self.packages.fields(pin)
        octets = link + ("_data_i" if takes else "_data_o")
        if octets in self.block.module.pins:
            fields.append(("data", self.block.module.pins[octets].width(self.block.names, self.packages.structures)))
        names = self.named(link, ["valid", "ready"] + [field for field, _ in fields])
        left_out = self.list("unused", table, f"{link}.") if takes else self.table("constant", table, f"{link}.")
        kind = "unused" if takes else "constant"
        for field in left_out:
            if field not in dict(fields):
                self.refuse(f"{link}.{kind}", f"{pin.type.split('::')[-1]} has no field '{field}'; the nearest is '{nearest(field, dict(fields))}'")
        self.handshake(link, takes, names)
        for field, bits in fields:
            ours = octets if field == "data" else f"{pin.name}.{field}"
            theirs, key = names[field]
            if field in left_out:
                if not takes:
                    self.body.append(f"  assign {ours} = {bits}'d{self.constant(f'{link}.constant.{field}', left_out[field], bits)};")
                continue
            if theirs not in self.theirs.pins and ".pins." not in key:
                self.refuse(link, f"{self.theirs.name} has no pin '{theirs}' for the field '{field}': name it in {link}.pins, or the field in "
                                  f"{link}.{kind}; the nearest pin is '{nearest(theirs, self.theirs.pins)}'")
            self.connect(theirs, "input" if takes else "output", bits, ours, key)

    def handshake(self, link, takes, names):
        self.used.add("handshake")
        valid, ready = self.declare(f"{link}_valid", 1), self.declare(f"{link}_ready", 1)
        ours = [("giver_valid_i", f"{link}_valid_i"), ("giver_ready_o", f"{link}_ready_o"), ("taker_valid_o", valid), ("taker_ready_i", ready)]
        if not takes:
            ours = [("giver_valid_i", valid), ("giver_ready_o", ready), ("taker_valid_o", f"{link}_valid_o"), ("taker_ready_i", f"{link}_ready_i")]
        self.instance("handshake", f"u_{link}", {"TheyGive": f"1'b{int(not takes)}"}, [("waits_i", "in_reset"), *ours])
        for name, signal in (("valid", valid), ("ready", ready)):
            pin, key = names[name]
            self.connect(pin, "input" if (name == "valid") == takes else "output", 1, signal, key)
        self.moves.append(self.moved(link))

    def moved(self, link):
        return f"({link}_valid_i && {link}_ready_o)" if self.block.links[link] else f"{link}_valid_o"

    def constant(self, key, value, bits):
        number = self.expression(key, value)
        if not 0 <= number < 1 << bits:
            self.refuse(key, f"{number} does not fit into {bits} bits")
        return number

    # All other pins.

    def side_pins(self):
        pins, ties, constants, unused = self.table("pins"), self.table("ties"), self.table("constant"), self.list("unused")
        of_links = {link + end for link in self.block.links for end in self.block.pins_of(link)}
        side = {name: pin for name, pin in self.block.module.pins.items()
                if name not in of_links | self.taken and name not in ("clk_i", "rst_ni", "busy_o")}
        self.check_keys(pins, "pins.", (*side, "busy_o"))
        for key, names in (("unused", unused), ("constant", constants)):
            wanted = {name for name, pin in side.items() if pin.direction == ("input" if key == "unused" else "output")}
            for name in names:
                if name not in wanted:
                    self.refuse(key, f"'{name}' is not among these pins of {self.block.name}; the nearest is '{nearest(name, wanted)}'")
        for name, pin in side.items():
            bits = pin.width(self.block.names, self.packages.structures)
            if name in constants:
                self.body.append(f"  assign {name} = {self.constant(f'constant.{name}', constants[name], bits)};")
            elif name not in unused:
                if name not in pins and name not in self.theirs.pins:
                    self.refuse("pins", f"{self.theirs.name} has no pin '{name}', which {self.block.name} has: name it in pins, or in "
                                        f"{'unused' if pin.direction == 'input' else 'constant'}")
                self.connect(pins.get(name, name), pin.direction, bits, name, f"pins.{name}")
        for pin, number in ties.items():
            bits = self.theirs.pins[pin].width(self.names, self.packages.structures) if pin in self.theirs.pins else None
            self.connect(pin, "input", None, f"{bits or 32}'d{self.constant(f'ties.{pin}', number, bits or 32)}", f"ties.{pin}")

    def busy(self):
        """The clock runs while their block may be at work. Returns what says so."""
        pins = self.table("pins")
        awake = self.integer("busy_cycles", self.tree, "", AWAKE, 1, 65535)
        self.instance("stays_awake", "u_awake", {"Cycles": awake}, [("moved_i", " || ".join(["in_reset", *self.moves])), ("awake_o", "awake")])
        name = pins.get("busy_o", "busy_o" if "busy_o" in self.theirs.pins else None)
        if name is None:
            return "awake"
        self.connect(name, "output", 1, self.declare("busy", 1), "pins.busy_o")
        return "awake || busy"

    def all_inputs(self):
        for name, pin in self.theirs.pins.items():
            if pin.direction == "input" and name not in self.connected:
                self.refuse("ties", f"nothing drives the input {name} of {self.theirs.name}: connect it, or give it a value here")

    # The text.

    def instance(self, module, name, parameters, ports):
        of_parameters = ",\n".join(f"    .{key}({value})" for key, value in parameters.items())
        of_ports = ",\n".join(f"    .{port}" + (f"({signal})" if signal else "") for port, signal in ports)
        self.body.append(f"  {module} #(\n{of_parameters}\n  ) {name} (\n    .clk_i,\n    .rst_ni,\n{of_ports}\n  );")

    def their_instance(self):
        parameters = ",\n".join(f"    .{name}({number})" for name, number in self.parameters.items())
        ports = ",\n".join(f"    .{pin}({ours})" for pin, (ours, _) in self.connected.items())
        self.body.append(f"  {self.theirs.name} " + (f"#(\n{parameters}\n  ) " if parameters else "") + f"u_theirs (\n{ports}\n  );")

    def write(self):
        cycles = self.clock_and_reset()
        self.instance("reset_hold", "u_reset", {"Cycles": cycles}, [("in_reset_o", "in_reset")])
        self.links()
        self.side_pins()
        busy = self.busy()
        self.body.append(f"  assign busy_o = {busy};")
        self.all_inputs()
        for name in sorted(self.their_names & self.used):
            self.refuse("module", f"their module '{name}' has the name of a part of the wrapper; it needs another one")
        self.their_instance()
        header = self.block.module.header.rstrip().rstrip(";").rstrip().rstrip(")").rstrip()
        if "busy_o" not in self.block.module.pins:
            header += ",\n  output logic busy_o"
        signals = [("in_reset", 1), ("awake", 1), *self.declared]
        declared = "\n".join(f"  logic {f'[{bits - 1}:0] ' if bits > 1 else ''}{name};" for name, bits in signals)
        made_for = " || ".join(f"{name} != {number}" for name, number in self.made_for().items())
        check = f'  if ({made_for}) begin : gen_check\n    $error("{self.top}: made for other settings");\n  end\n' if made_for else ""
        text = (f"// Made by rtl_adapter.py: {self.theirs.name} with the pins of {self.block.name}; do not edit.\n"
                f"module {self.top}{header}\n);\n{declared}\n\n" + "\n\n".join(self.body) + f"\n{check}endmodule\n")
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"{self.top}.sv"
        file.write_text(text, encoding="utf-8")
        parts = [RTL / "adapter" / f"{name}.sv" for name in sorted(self.used)]
        return [*parts, *self.sources, file]

    def made_for(self):
        """Parameters of ours that widths or the map's expressions depend on."""
        ports = self.block.module.header
        return {name: number for name, number in self.block.parameters.items()
                if snake(name) in self.asked or len(re.findall(rf"\b{name}\b", ports)) > 1}


class Streams:
    """FPDUs by AXI-Stream: `in` goes into their module, `out` comes from it."""

    def __init__(self, wrapper, links):
        self.wrapper, self.block = wrapper, wrapper.block
        self.kind = KINDS.get(self.block.name)
        if self.block.name in OF_OUR_MEMORIES:
            nearest_style = "credit" if links[0] == "out" else "valid_ready"
            wrapper.refuse(f"{links[0]}.axi_stream", f"{OF_OUR_MEMORIES[self.block.name]}; {nearest_style} is the nearest")
        if not self.kind:
            wrapper.refuse(f"{links[0]}.axi_stream", f"only {', '.join(KINDS)} have streams of FPDUs; {self.block.name} has valid_ready or credit")
        for link in ("in", "out"):
            if link not in links:
                wrapper.refuse(link, "the style has to be axi_stream, as on the other side")
        self.tables = {link: wrapper.tree[link] for link in ("in", "out")}
        self.beat = wrapper.packages.fields(self.block.module.pins["out_o"])
        self.fields = {"in": [*wrapper.packages.fields(self.block.module.pins["in_i"]), *self.kind.start], "out": self.beat}

    def connect(self):
        inline, crc = self.inline(), self.crc()
        bits = {link: self.pins(link) for link in ("in", "out")}
        offered, returned = self.sideband("in", inline), self.sideband("out", inline)
        self.same_beats(bits, {"in": offered, "out": returned})
        self.all_fields({field for field, _ in returned}, inline)
        mask = self.wires(offered, returned)
        parameters = {"BeatBytes": "BeatBytes", "InBytes": bits["in"] // 8, "OutBytes": bits["out"] // 8, "Returned": mask}
        if self.kind.module == "fpdu_through":
            parameters |= {"Inline": f"1'b{int(inline)}", "InHasCrc": f"1'b{int(crc['in'])}", "CrcAlways": f"1'b{int('crc_on' not in dict(offered))}"}
        if self.kind.module != "fpdu_remade":
            parameters["OutHasCrc"] = f"1'b{int(crc['out'])}"
        self.part(parameters)

    def inline(self):
        """Whether markers are among the octets. Those of marker_inserter are words like others."""
        wrapper, inline = self.wrapper, {}
        for link, table in self.tables.items():
            if "markers" in table and not self.kind.markers:
                wrapper.refuse(f"{link}.markers", f"{self.block.name} has no such choice")
            inline[link] = wrapper.one_of("markers", table, f"{link}.", ("beside", "inline")) == "inline"
        if "markers" in self.tables["out"] and inline["out"] != inline["in"]:
            wrapper.refuse("out.markers", "markers leave as they came: as in.markers says")
        return inline["in"] or not self.kind.markers

    def crc(self):
        """Whether each side has the CRC field."""
        has = {}
        for link, table in self.tables.items():
            has[link] = self.wrapper.one_of("crc", table, f"{link}.", ("present", "absent")) == "present"
            if not has[link] and link != self.kind.crc:
                self.wrapper.refuse(f"{link}.crc", f"an FPDU without its CRC is of no use to {self.block.name}")
        return has

    def named(self, link):
        return self.wrapper.named(link, [*STREAM_PINS, "tuser", *(field for field, _ in self.fields[link])])

    def pins(self, link):
        """Connects a stream's own pins. Returns the bits of its tdata."""
        wrapper, table, names = self.wrapper, self.tables[link], self.named(link)
        pin, key = names["tdata"]
        if pin not in wrapper.theirs.pins:
            wrapper.refuse(key, f"{wrapper.theirs.name} has no pin '{pin}', which is this stream's tdata; the nearest is "
                                f"'{nearest(pin, wrapper.theirs.pins)}'")
        bits = wrapper.theirs.pins[pin].width(wrapper.names, wrapper.packages.structures)
        if "tdata_bits" in table or bits is None:
            if "tdata_bits" not in table:
                wrapper.refuse(f"{link}.tdata_bits", f"missing: the width of {pin} cannot be computed from its text")
            bits = wrapper.expression(f"{link}.tdata_bits", table["tdata_bits"])
        if bits % 32 or not 32 <= bits <= MAX_BITS:
            wrapper.refuse(key, f"{pin} has {bits} bits; a multiple of 32 up to {MAX_BITS} is needed, as FPDUs are words")
        for name, width in (("tvalid", 1), ("tready", 1), ("tdata", bits), ("tkeep", bits // 8), ("tlast", 1)):
            direction = "input" if (name != "tready") == (link == "in") else "output"
            wrapper.connect(names[name][0], direction, width, wrapper.declare(f"{SIDES[link]}_{name}", width), names[name][1])
        return bits

    def sideband(self, link, inline):
        """Fields that they have in tuser or on pins of their own: (field, the signal's text)."""
        wrapper, widths = self.wrapper, dict(self.fields[link])
        wanted, pins = wrapper.list("tuser", self.tables[link], f"{link}."), wrapper.table("pins", self.tables[link], f"{link}.")
        own = [name for name in pins if name in widths]
        not_these = tuple(name for name in OF_THE_STREAM if (link, name) != ("in", "first")) + (OF_MARKERS if inline else ())
        for field in wanted + own:
            if field not in widths:
                wrapper.refuse(f"{link}.tuser", f"there is no field '{field}'; the nearest is '{nearest(field, widths)}'")
            if field in not_these:
                wrapper.refuse(f"{link}.tuser", f"'{field}' is what the stream itself says")
        if len(set(wanted + own)) != len(wanted + own):
            wrapper.refuse(f"{link}.tuser", "a field is there twice")
        direction, side, signals, at = "input" if link == "in" else "output", SIDES[link], [], 0
        if wanted:
            total = sum(widths[field] for field in wanted)
            user = wrapper.declare(f"{side}_tuser", total)
            for field in wanted:
                signals.append((field, f"{user}[{at}+:{widths[field]}]" if total > 1 else user))
                at += widths[field]
            pin, key = self.named(link)["tuser"]
            wrapper.connect(pin, direction, total, user, key)
        for field in own:
            signals.append((field, wrapper.declare(f"{side}_{field}", widths[field])))
            wrapper.connect(pins[field], direction, widths[field], signals[-1][1], f"{link}.pins.{field}")
        return signals

    def same_beats(self, bits, signals):
        """Where a marker stands in a beat means nothing in beats of another cut."""
        ours = 8 * self.block.parameters["BeatBytes"]
        for link, fields in signals.items():
            for field in OF_MARKERS:
                if field in dict(fields) and bits[link] != ours:
                    self.wrapper.refuse(f"{link}.tuser", f"'{field}' is of a beat of {ours} bits, but this stream's have {bits[link]}")

    def all_fields(self, returned, inline):
        if self.kind.verdict and self.kind.verdict not in returned:
            self.wrapper.refuse("out.tuser", f"'{self.kind.verdict}' is missing: it is what {self.block.name} is for")
        if "rest" in self.tables["out"]:
            self.wrapper.one_of("rest", self.tables["out"], "out.", ("carried",))
            return
        for field, _ in self.beat:
            if field not in returned and field not in OF_THE_STREAM and not (inline and field in OF_MARKERS):
                self.wrapper.refuse("out", f"the field '{field}' is neither in tuser nor carried: name it, or say rest = \"carried\"")

    def wires(self, offered, returned):
        """Wires the fields. Returns the beat with ones in those that come back, as a constant."""
        wrapper, start = self.wrapper, dict(self.kind.start)
        for field, bits in start.items():
            wrapper.declare(f"start_{field}", bits)
        types = [self.block.module.pins[pin].type for pin in ("in_i", "out_o")]
        lines = ["  // verilator lint_off UNUSEDSIGNAL", f"  {types[0]} s_fields;", f"  {types[1]} m_fields;", "  // verilator lint_on UNUSEDSIGNAL"]
        lines += [f"  assign {signal} = {'start_' if field in start else 's_fields.'}{field};" for field, signal in offered]
        lines += ["  always_comb begin", "    m_fields = '0;", *(f"    m_fields.{field} = {signal};" for field, signal in returned), "  end"]
        wrapper.body.append("\n".join(lines))
        back = {field for field, _ in returned}
        ones = "".join(("1" if field in back else "0") * bits for field, bits in self.beat)
        return f"{len(ones)}'h{int(ones, 2):x}"

    def part(self, parameters):
        ours = [link + end for link in ("in", "out") for end in self.block.pins_of(link)] + list(self.kind.memory)
        ports = [("waits_i", "in_reset"), *((pin, "") for pin in ours)]
        for link, fields in (("in", "s_fields_o"), ("out", "m_fields_i")):
            gives = "o" if link == "in" else "i"
            back = "i" if link == "in" else "o"
            side = SIDES[link]
            ports += [(f"{side}_{name}_{back if name == 'tready' else gives}", f"{side}_{name}") for name in STREAM_PINS]
            ports.append((fields, fields[:-2]))
        ports += [(f"s_{field}_o", f"start_{field}") for field, _ in self.kind.start]
        self.wrapper.instance(self.kind.module, "u_fpdus", parameters, ports)
        self.wrapper.used |= {self.kind.module, *self.kind.parts}
        self.wrapper.taken |= set(self.kind.memory)
        self.wrapper.moves += [self.wrapper.moved("in"), self.wrapper.moved("out")]


def adapter(tree, folder, sources, settings=None, top=None):
    """Makes the wrapper that a map describes.

    tree      the map, as tomllib reads it
    folder    where <top>.sv is written
    sources   their files, one of which has the module
    settings  numbers by the names of our modules' parameters, BeatBytes or beat_bytes; others have their defaults
    top       the wrapper's name, by default <block>_adapter

    Returns the top's name, the files to read after our packages, and those of our parameters that the wrapper is made for. The parts
    that the wrapper uses are among the files, from rtl-stubs/adapter. Raises MapError, one sentence, where the map does not fit.
    """
    wrapper = Wrapper(tree, folder, sources, settings or {}, top)
    files = wrapper.write()
    return wrapper.top, files, wrapper.made_for()


def read_map(file):
    """The map in a file. Raises MapError where it is no TOML."""
    try:
        return tomllib.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise MapError(f"cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MapError(f"no TOML: {error}") from error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("map", metavar="MAP", type=pathlib.Path)
    parser.add_argument("sources", metavar="SOURCE", nargs="+", type=pathlib.Path)
    parser.add_argument("-o", dest="folder", metavar="FOLDER", required=True, type=pathlib.Path)
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[])
    parser.add_argument("--top", metavar="NAME")
    options = parser.parse_args()
    settings = {}
    for text in options.set:
        name, _, number = text.partition("=")
        if not number.isdecimal():
            parser.error(f"--set {text}: a name and a number are needed, as in beat_bytes=64")
        settings[name] = int(number)
    try:
        top, files, _ = adapter(read_map(options.map), options.folder, options.sources, settings, options.top)
    except MapError as error:
        print(f"rtl_adapter: {options.map}: {error}", file=sys.stderr)
        return 2
    print(top)
    print("\n".join(map(str, Packages().files + files)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
