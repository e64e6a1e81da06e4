"""Port maps that do not fit are refused in one sentence that names the key; what fits becomes a wrapper of the pins that it names."""
import copy
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import rtl_adapter
import sv_pins

FOREIGN = ROOT / "testbench" / "golden" / "foreign"
DELETE = object()


def changed(tree, path, value):
    """A copy of a map with another value at a path such as "in.tuser"."""
    tree = copy.deepcopy(tree)
    *tables, key = path.split(".")
    at = tree
    for table in tables:
        at = at.setdefault(table, {})
    if value is DELETE:
        del at[key]
    else:
        at[key] = value
    return tree


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Maps(InAFolder):
    def load(self, name):
        return rtl_adapter.read_map(FOREIGN / f"{name}.toml")

    def adapt(self, tree, source):
        top, files, parameters = rtl_adapter.adapter(tree, self.folder, [FOREIGN / source])
        return top, files, parameters, (self.folder / f"{top}.sv").read_text()

    def assert_refused(self, tree, source, sentence):
        with self.assertRaises(rtl_adapter.MapError) as caught:
            self.adapt(tree, source)
        text = str(caught.exception)
        self.assertNotIn("\n", text)
        self.assertEqual(text, sentence)

    def assert_each_refused(self, name, source, cases):
        tree = self.load(name)
        self.adapt(tree, source)
        for path, value, sentence in cases:
            with self.subTest(path=path, value=value):
                self.assert_refused(changed(tree, path, value), source, sentence)

    def test_of_a_stream(self):
        self.assert_each_refused("axis_crc", "axis_crc.sv", [
            ("clok", "aclk", "clok: unknown key; the nearest is 'clock'"),
            ("clock", DELETE, "clock: missing: a text is needed"),
            ("clock", 5, "clock: 5 is no text"),
            ("clock", "clk", "clock: axis_crc_check has no pin 'clk'; the nearest is 'aclk'"),
            ("clock", "m_axis_tlast", "clock: m_axis_tlast is an output of axis_crc_check; an input is needed"),
            ("module", "axis_crc", "module: axis_crc.sv has no module 'axis_crc'; the nearest is 'axis_crc_check'"),
            ("block", "crc_chek", "block: there is no block 'crc_chek'; the nearest is 'crc_check'"),
            ("reset", "aresetn", "reset: 'aresetn' is no table"),
            ("reset.pin", "areset", "reset.pin: axis_crc_check has no pin 'areset'; the nearest is 'aresetn'"),
            ("reset.pin", "aclk", "reset.pin: aclk is connected already, by clock"),
            ("reset.active", "lo", "reset.active: 'lo' is not possible; the nearest is 'low'"),
            ("reset.cycles", 0, "reset.cycles: 0 is not from 1 to 10000"),
            ("reset.edges", 4, "reset.edges: unknown key; the nearest is 'cycles'"),
            ("busy_cycles", 70000, "busy_cycles: 70000 is not from 1 to 65535"),
            ("parameters.DATABITS", 64, "parameters.DATABITS: unknown key; the nearest is 'DATA_BITS'"),
            ("parameters.DATA_BITS", "8*beat_byte",
             "parameters.DATA_BITS: 'beat_byte' is not known; settings are beat_bytes, pipeline_cycles"),
            ("parameters.DATA_BITS", "8*(", "parameters.DATA_BITS: '8*(' is no expression of integers; settings are beat_bytes, pipeline_cycles"),
            ("parameters.DATA_BITS", 520,
             "in.axi_stream: s_axis_tdata has 520 bits; a multiple of 32 up to 1024 is needed, as FPDUs are words"),
            ("parameters.DATA_BITS", 2048,
             "in.axi_stream: s_axis_tdata has 2048 bits; a multiple of 32 up to 1024 is needed, as FPDUs are words"),
            ("in", DELETE, "in: the style has to be axi_stream, as on the other side"),
            ("in.axi_stream", DELETE, "in: one style is needed, of axi_stream, valid_ready, credit; there is none"),
            ("in.axistream", "s_", "in.axistream: unknown key; the nearest is 'axi_stream'"),
            ("in.credit", "s_", "in: one style is needed, of axi_stream, valid_ready, credit; there are axi_stream and credit"),
            ("in.axi_stream", 1, "in.axi_stream: 1 is no text: it is what their pins' names begin with"),
            ("in.axi_stream", "s_axi_",
             "in.axi_stream: axis_crc_check has no pin 's_axi_tdata', which is this stream's tdata; the nearest is 's_axis_tdata'"),
            ("in.pins", {"tkep": "x"}, "in.pins.tkep: unknown key; the nearest is 'tkeep'"),
            ("in.pins", {"tkeep": "s_axis_tstrb"}, "in.pins.tkeep: axis_crc_check has no pin 's_axis_tstrb'; the nearest is 's_axis_tuser'"),
            ("in.pins", {"tkeep": "s_axis_tlast"}, "in.pins.tkeep: s_axis_tlast has 1 bits; 64 are needed"),
            ("in.pins", {"tlast": "s_axis_tvalid"}, "in.pins.tlast: s_axis_tvalid is connected already, by in.axi_stream"),
            ("in.markers", "in_line", "in.markers: 'in_line' is not possible; the nearest is 'inline'"),
            ("out.markers", "beside", "out.markers: markers leave as they came: as in.markers says"),
            ("in.tuser", "first", "in.tuser: 'first' is no list of texts"),
            ("in.tuser", ["first", "crc_onn"], "in.tuser: there is no field 'crc_onn'; the nearest is 'crc_on'"),
            ("in.tuser", ["first", "last"], "in.tuser: 'last' is what the stream itself says"),
            ("in.tuser", ["first", "marker_valid"], "in.tuser: 'marker_valid' is what the stream itself says"),
            ("in.tuser", ["first", "first"], "in.tuser: a field is there twice"),
            ("in.tuser", ["first"], "in.axi_stream: s_axis_tuser has 2 bits; 1 are needed"),
            ("in.tuser", DELETE, "ties: nothing drives the input s_axis_tuser of axis_crc_check: connect it, or give it a value here"),
            ("in.rest", "carried", "in.rest: unknown key; the nearest is 'markers'"),
            ("in.crc", "absent", "in.crc: an FPDU without its CRC is of no use to crc_check"),
            ("out.tuser", DELETE, "out.tuser: 'crc_ok' is missing: it is what crc_check is for"),
            ("out.rest", DELETE, "out: the field 'ends' is neither in tuser nor carried: name it, or say rest = \"carried\""),
            ("out.rest", "carry", "out.rest: 'carry' is not possible; the nearest is 'carried'"),
            ("ties", {"m_axis_tready": 1}, "ties.m_axis_tready: m_axis_tready is connected already, by out.axi_stream"),
            ("ties", {"enable": 1}, "ties.enable: axis_crc_check has no pin 'enable'; the nearest is 'aclk'"),
            ("pins", {"row_o": "x"}, "pins.row_o: unknown key; the nearest is 'busy_o'"),
            ("event", {"credit": "e"}, "event: crc_check has no link of this name, and it is no key; the nearest is 'reset'"),
        ])

    def test_of_markers_beside(self):
        tree = changed(self.load("axis_crc_narrow"), "in.markers", "beside")
        self.adapt(tree, "axis_crc.sv")
        self.assert_refused(changed(tree, "in.tuser", ["marker_valid"]), "axis_crc.sv",
                            "in.tuser: 'marker_valid' is of a beat of 512 bits, but this stream's have 128")

    def test_of_other_streams(self):
        self.assert_each_refused("axis_markers", "axis_markers.sv", [
            ("in.markers", "inline", "in.markers: marker_inserter has no such choice"),
            ("out.crc", "absent", "out.crc: an FPDU without its CRC is of no use to marker_inserter"),
            ("in.tuser", ["marker", "position"], "in.tuser: 'marker' is what the stream itself says"),
            ("in.tuser", ["markers"], "in.axi_stream: s_tuser has 10 bits; 1 are needed"),
            ("out.tuser", ["markers"], "out.tuser: there is no field 'markers'; the nearest is 'marker'"),
        ])
        self.assert_each_refused("axis_framer", "axis_framer.sv", [
            ("in.pins.bytes", "u_len", "in.pins.bytes: axis_framer has no pin 'u_len'; the nearest is 'u_length'"),
            ("in.tuser", ["words"], "in.tuser: there is no field 'words'; the nearest is 'markers'"),
            ("in.crc", "absent", "in.crc: an FPDU without its CRC is of no use to mpa_framer"),
            ("out.rest", DELETE, "out: the field 'ends' is neither in tuser nor carried: name it, or say rest = \"carried\""),
            ("pins", {"mem_index_o": "x"}, "pins.mem_index_o: unknown key; the nearest is 'busy_o'"),
        ])

    def test_of_messages(self):
        self.assert_each_refused("term_maker", "term_maker.sv", [
            ("in", DELETE, "in.credit: term_maker has no pin 'in_valid_i'; the nearest is 'say_valid'"),
            ("in.axi_stream", "err_", "in: one style is needed, of axi_stream, valid_ready, credit; there are axi_stream and valid_ready"),
            ("in", {"axi_stream": "err_"},
             "in.axi_stream: only crc_check, crc_insert, marker_inserter, mpa_framer have streams of FPDUs; terminate_generator has valid_ready or credit"),
            ("in.constant", {"qpn": 1}, "in.constant: unknown key; the nearest is 'pins'"),
            ("in.unused", ["cause.cod"], "in.unused: qp_event_t has no field 'cause.cod'; the nearest is 'cause.code'"),
            ("in.unused", ["malformed"], "ties: nothing drives the input err_malformed of term_maker: connect it, or give it a value here"),
            ("in.pins", {"cause.cod": "err_code"}, "in.pins.cause.cod: unknown key; the nearest is 'cause.code'"),
            ("in.pins", DELETE, "in: term_maker has no pin 'err_cause_code' for the field 'cause.code': name it in in.pins, or the field in "
                                "in.unused; the nearest pin is 'say_cause_code'"),
            ("in.pins", {"cause.code": "err_cause_layer"}, "in.pins.cause.code: err_cause_layer has 4 bits; 8 are needed"),
            ("out.unused", ["qpn"], "out.unused: unknown key; the nearest is 'pins'"),
            ("out.constant", {"qpn": 1 << 32}, "out.constant.qpn: 4294967296 does not fit into 32 bits"),
            ("out.constant", {"qp": 1}, "out.constant: terminate_message_t has no field 'qp'; the nearest is 'qpn'"),
            ("out.pins", {"bytes": "term_qpn"}, "out.pins.bytes: term_qpn has 32 bits; 6 are needed"),
            ("out.pins", {"qpn": "term_bytes"}, "out.pins.qpn: term_bytes has 6 bits; 32 are needed"),
            ("event", DELETE, "event.credit: term_maker has no pin 'event_ready_i'; the nearest is 'err_ready'"),
            ("pins.out_octets_o", DELETE,
             "pins: term_maker has no pin 'out_octets_o', which terminate_generator has: name it in pins, or in constant"),
            ("pins.qp_epoch_i", DELETE, "pins: term_maker has no pin 'qp_epoch_i', which terminate_generator has: name it in pins, or in unused"),
            ("pins.qp_index_o", "qp_alive", "pins.qp_index_o: qp_alive is an input of term_maker; an output is needed"),
            ("unused", DELETE,
             "pins: term_maker has no pin 'foreign_stag_is_invalid_i', which terminate_generator has: name it in pins, or in unused"),
            ("unused", ["out_octets_o"], "unused: 'out_octets_o' is not among these pins of terminate_generator; the nearest is 'qp_exists_i'"),
            ("constant", {"qp_epoch_i": 0}, "constant: 'qp_epoch_i' is not among these pins of terminate_generator; the nearest is 'reported_o'"),
        ])

    def test_what_our_blocks_cannot_have(self):
        tree = changed(self.load("axis_crc"), "block", "ddp_placement")
        self.assert_refused(tree, "axis_crc.sv", "in.axi_stream: only crc_check, crc_insert, marker_inserter, mpa_framer have streams of FPDUs; "
                                                 "ddp_placement has valid_ready or credit")
        ours = "mpa_deframer writes FPDUs into a memory of ours while it is offered their segment, and gives beats by their row there"
        tree = changed(self.load("axis_crc"), "block", "mpa_deframer")
        self.assert_refused(tree, "axis_crc.sv", f"in.axi_stream: {ours}; valid_ready is the nearest")
        tree = changed(tree, "in", {"credit": "in"})
        self.assert_refused(tree, "axis_crc.sv", f"out.axi_stream: {ours}; credit is the nearest")
        tree, text = self.fields_of("mpa_deframer")
        (self.folder / "fields.sv").write_text(text)
        self.assert_refused(changed(tree, "out", {"valid_ready": "out"}), self.folder / "fields.sv", f"out.valid_ready: {ours}; credit is the nearest")

    def lint(self, top, files):
        packages = [ROOT / f"rtl-stubs/include/{name}.sv" for name in ("rnic_stream_pkg", "rnic_messages_pkg", "rnic_crc32c_pkg", "rnic_ddp_pkg")]
        run = subprocess.run(["verilator", "--lint-only", "-Wno-lint", "-Wno-style", "-y", ROOT / "rtl-stubs/rtl", "--top-module", top, *packages,
                              *files], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_our_own_pins(self):
        """Each block of ours in itself, by the shortest map."""
        for block in rtl_adapter.BLOCKS:
            with self.subTest(block=block):
                source = ROOT / f"rtl-stubs/rtl/{block}.sv"
                tree = {"module": block, "block": block, "clock": "clk_i", "reset": {"pin": "rst_ni"}}
                top, files, _ = rtl_adapter.adapter(tree, self.folder, [source])
                self.lint(top, files)

    def test_a_pin_for_each_field(self):
        """A module whose pins are the fields of each message of a block, with the direction of each."""
        for block in ("irrq", "atomic_alu", "response_queue", "ddp_placement", "mpa_deframer"):
            with self.subTest(block=block):
                tree, text = self.fields_of(block)
                (self.folder / "fields.sv").write_text(text)
                top, files, _ = rtl_adapter.adapter(tree, self.folder, [self.folder / "fields.sv"])
                self.lint(top, files)
                self.assertIn("busy_o = awake;", files[-1].read_text())

    def fields_of(self, name):
        """A map and the text of its module, which does nothing."""
        packages = rtl_adapter.Packages()
        block = rtl_adapter.Block(name, packages, {})
        tree = {"module": "fields", "block": name, "clock": "clk", "reset": {"pin": "rst"}}
        pins = ["input clk", "input rst"]
        for link, takes in block.links.items():
            message = block.module.pins[link + ("_i" if takes else "_o")]
            if message.type.endswith("fpdu_beat_t"):
                tree[link] = {"credit": f"{link}_beats"}
                continue
            tree[link] = {"valid_ready": f"{link}__"}
            fields = [("valid", 1), *packages.fields(message)] + [("data", block.module.pins[f"{link}_data_i"].width(block.names, packages.structures) if f"{link}_data_i" in block.module.pins else 64)] * any(f"{link}_data{end}" in block.module.pins for end in ("_i", "_o"))
            pins += [f"{'input' if takes else 'output'} [{bits - 1}:0] {link}__{field.replace('.', '_')}" for field, bits in fields]
            pins.append(f"{'output' if takes else 'input'} {link}__ready")
        for pin, ours in block.module.pins.items():
            link = next((link for link in block.links if pin in [link + end for end in block.pins_of(link)]), None)
            if link in tree and "credit" in tree[link]:
                pin = pin.replace(link, f"{link}_beats", 1)
            elif link or pin in ("clk_i", "rst_ni", "busy_o"):
                continue
            bits = ours.width(block.names, packages.structures)
            written = f"[{bits - 1}:0]" if bits else ours.type + "".join(f"[{text}]" for text in ours.ranges)
            pins.append(f"{ours.direction} {written} {pin}")
        return tree, f"module fields ({', '.join(pins)}); endmodule\n"

    def test_nothing_but_sentences(self):
        """Every value of a map, replaced by values of every type: a sentence, or a wrapper."""
        values = [None, True, -1, 1.5, "", "x", "in", [], [1], ["x"], {}, {"x": 1}, {"x": {"y": []}}]
        for name, source in (("axis_crc", "axis_crc.sv"), ("fcs_append", "fcs_append.sv"), ("axis_framer", "axis_framer.sv"), ("term_maker", "term_maker.sv")):
            tree = self.load(name)
            keys = [*rtl_adapter.KEYS, *tree]
            paths = keys + [f"{key}.{inner}" for key in ("in", "out", "reset")
                            for inner in (*tree[key], "pins", "tuser", "unused", "constant", "rest", "tdata_bits", "crc", "x")]
            for path in paths:
                for value in values:
                    with self.subTest(path=path, value=value):
                        try:
                            self.adapt(changed(tree, path, value), source)
                        except rtl_adapter.MapError as error:
                            self.assertRegex(str(error), r"\A[\w.]+: .+\Z")


class Program(InAFolder):
    def run_adapter(self, *arguments):
        return subprocess.run([sys.executable, "-B", ROOT / "scripts/rtl_adapter.py", *arguments, "-o", self.folder], capture_output=True,
                              text=True, timeout=60, check=False)

    def assert_refuses(self, sentence, *arguments):
        run = self.run_adapter(*arguments)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (2, "", f"rtl_adapter: {sentence}\n"))

    def test_sentences(self):
        mine, map_ = self.folder / "mine.sv", self.folder / "mine.toml"
        good = FOREIGN / "axis_crc.toml"
        self.assert_refuses(f"{good}: {mine}: cannot be read: No such file or directory", good, mine)
        mine.write_bytes(b"\xff\xfe")
        self.assert_refuses(f"{good}: {mine}: cannot be read: it is no text", good, mine)
        mine.write_text("module other; endmodule")
        self.assert_refuses(f"{good}: module: mine.sv has no module 'axis_crc_check'; the nearest is 'other'", good, mine)
        self.assert_refuses(f"{map_}: cannot be read: No such file or directory", map_, mine)
        map_.write_text("module = 'x'\nmodule = 'y'\n")
        self.assert_refuses(f"{map_}: no TOML: Cannot overwrite a value (at line 2, column 13)", map_, mine)

    def test_a_module_with_the_name_of_a_part(self):
        mine = self.folder / "mine.sv"
        mine.write_text((FOREIGN / "axis_crc.sv").read_text() + "module reset_hold(input a); endmodule\n")
        good = FOREIGN / "axis_crc.toml"
        self.assert_refuses(f"{good}: module: their module 'reset_hold' has the name of a part of the wrapper; it needs another one", good, mine)
        mine.write_text((FOREIGN / "axis_crc.sv").read_text() + "module handshake(input a); endmodule\n")  # not in this one
        self.assertEqual(self.run_adapter(good, mine).returncode, 0)

    def test_a_setting(self):
        run = self.run_adapter(FOREIGN / "axis_crc.toml", FOREIGN / "axis_crc.sv", "--set", "beat_bytes=32", "--top", "mine")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.split("\n")[0], "mine")
        text = (self.folder / "mine.sv").read_text()
        self.assertIn(".DATA_BITS(256)", text)
        self.assertIn("if (BeatBytes != 32)", text)

    def test_a_map_has_twenty_lines(self):
        self.assertLessEqual(len((FOREIGN / "axis_crc.toml").read_text().splitlines()), 20)


class Pins(unittest.TestCase):
    """What modules say of themselves, in the styles in which people write them."""

    def pins(self, text, **names):
        (module,) = sv_pins.modules(text).values()
        known = module.names(names)
        return {pin.name: (pin.direction, pin.width(known, {})) for pin in module.pins.values()}

    def test_headers(self):
        want = {"clk": ("input", 1), "d": ("input", 8), "e": ("input", 8), "q": ("output", 16)}
        for text in (
                "module m #(parameter W = 8) (input clk, input [W-1:0] d, e, output reg [2*W-1:0] q); endmodule",
                "module m #(parameter int unsigned W = 4'd8, localparam X = W * 2)\n(input wire clk, input var logic [W-1:0] d, e,"
                " output logic [X-1:0] q = '0); endmodule",
                "module m (clk, d, e, q); parameter W = 'h8; input clk; input [W-1:0] d, e; output [2*W-1:0] q; reg [2*W-1:0] q; endmodule",
                "// module n (input a);\nmodule automatic m import p::*, r::x; #(parameter W = $clog2(256), type T = logic)"
                " (input clk /* , x */, input [0:W-1] d, e, output [W>4 ? 15 : 7:0] q); endmodule : m",
                "(* keep *) module m (\n`ifdef SIM\n input clk,\n`else\n input clk,\n`endif\n input [7:0] d, e, output [1:0][7:0] q); endmodule",
        ):
            with self.subTest(text=text):
                self.assertEqual(self.pins(text), want)

    def test_a_width_that_cannot_be_computed(self):
        self.assertEqual(self.pins("module m (input [`W-1:0] a, input [f(3):0] b, input pkg::t c); endmodule"),
                         {"a": ("input", None), "b": ("input", None), "c": ("input", None)})

    def test_expressions(self):
        for text, number in (("8*4+2", 34), ("7/2", 3), ("7%4", 3), ("2**5", 32), ("1<<3", 8), ("$clog2(65)", 7), ("$clog2(1)", 0), ("-3+W", 5),
                             ("8'hff", 255), ("12'b1_1", 3), ("W > 4 ? 2 : 3", 2)):
            self.assertEqual(sv_pins.value(text, {"W": 8}), number, text)
        for text in ("", "W.x", "__import__('os')", "1/0", "2**65", "open", "lambda: 0", "'1", "1.5", "[1]", "9**9**9", "("):
            with self.assertRaises(ValueError, msg=text):
                sv_pins.value(text, {"W": 8})


if __name__ == "__main__":
    unittest.main()
