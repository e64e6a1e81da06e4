"""Blocks that wait for rows and host memory: RTL that does not go on though nothing is in its way is named."""
import json
import re
import unittest

from rnicsim import ROOT, ProgramTest

PORTS = ROOT / "rtl-stubs/loaded/ports.h"

# A block in C with any pins. Its outputs are 0; EVAL may change some of them.
BLOCK = """#include <stdlib.h>
#include "rnic_rtl.h"
enum { %(names)s, kCount };
static const rnic_rtl_port kPorts[] = { %(ports)s };
struct block { uint32_t pins[kCount][%(words)d], clk, asked; };
static void* open_block(void) { return calloc(1, sizeof(struct block)); }
static void* port_address(void* instance, uint32_t i) { return ((struct block*)instance)->pins[i]; }
static uint8_t* bit(struct block* b, unsigned i) { return (uint8_t*)b->pins[i]; }
static void eval(void* instance) {
  struct block* const b = instance;
  %(eval)s
  (void)bit(b, 0);
}
static const char* failed(void* instance) { return instance ? NULL : ""; }
const rnic_rtl rnic_rtl_1 = { sizeof(rnic_rtl), RNIC_RTL_ABI, "%(block)s", "{}", kPorts, kCount, open_block, port_address, eval, failed, NULL, free };
"""


class Waits(ProgramTest):
    def setUp(self):
        super().setUp()
        scenario = json.loads((ROOT / "traces/atomics.json").read_text())
        scenario["connections"][0]["qps"] = 2
        scenario["work"] = [{"name": "words", "op": "fetch_add", "words": 4, "count": 20, "depth": 4}]
        (self.folder / "small.json").write_text(json.dumps(scenario))

    def compile(self, block, takes, does=""):
        """The block, which takes all messages of these inputs, and gives none, unless it `does` something else."""
        text = PORTS.read_text(encoding="utf-8")
        text = text[text.index(f'kBlock = "{block}"'):].partition("\n};")[0]
        pins = [(name, direction, int(bits) if bits.isdecimal() else 512 if bits == "OctetsPort" else 6)  # by a table of 64 operations
                for direction, bits, name in re.findall(r' = (in|out)<(\w+)>\("(\w+)"', text)]
        ports = ", ".join(f'{{"{name}", {bits}, RNIC_RTL_{direction.upper()}PUT}}' for name, direction, bits in pins)
        text = BLOCK % {"block": block, "names": ", ".join(f"k_{name}" for name, _, _ in pins), "ports": ports,
                        "words": max(bits for _, _, bits in pins) // 32 + 2,
                        "eval": " ".join(f"*bit(b, k_{link}_ready_o) = *bit(b, k_{link}_valid_i);" for link in takes) + does}
        (self.folder / "block.c").write_text(text)
        run = self.run_command("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC", "-I", ROOT / "rtl-stubs/loaded",
                               "block.c", "-o", "lib.so")
        self.assertEqual(run.returncode, 0, run.stderr)

    def run_with(self, block, *takes, does="", options=()):
        self.compile(block, takes, does)
        run = self.run_program("run", "small.json", "--rtl", f"{block}=./lib.so", "--out", "out", *options)
        self.assertNotIn("bug of rnicsim", run.stderr)
        return run

    def test_never_ready(self):
        for block, link, takes in (("irrq", "in", ()), ("atomic_alu", "in", ()), ("response_queue", "issued", ()), ("response_queue", "in", ("issued",)),
                                   ("ddp_placement", "in", ("posted", "rqe", "read_issued", "answered"))):
            with self.subTest(block=block, link=link):
                run = self.run_with(block, *takes)
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertRegex(run.stderr, rf"(?m)^rnicsim: RTL in a stage's place: [ab]\.rnic_[ab]\.{block}, cycle \d+: never ready: for 10000 cycles it "
                                             rf"has taken no message, though one waits and there is room in all outputs \({link}: \d+")

    def test_never_valid(self):
        for block, takes in (("irrq", ("in",)), ("atomic_alu", ("in",)), ("response_queue", ("issued", "in"))):
            with self.subTest(block=block):
                run = self.run_with(block, *takes)
                self.assertEqual(run.returncode, 3, run.stderr)
                self.assertRegex(run.stderr, rf"(?m)^[ab]\.rnic_[ab]\.{block}: its RTL has given nothing for [1-8] messages that it has taken, and waits for "
                                             r"nothing$")

    def test_who_was_at_work_is_not_named(self):
        """A time limit finds messages in a block that has just taken them."""
        run = self.run_with("atomic_alu", "in", options=("--set", "sim.max_time_us=50"))
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("time limit reached at 50.000 us", run.stderr)
        self.assertNotIn("its RTL has given nothing", run.stderr)

    def test_who_waits_for_memory_may_refuse(self):
        """It takes one message, and may read for it. The patience with it then begins with the answer, which takes longer than that."""
        reads = """
  *bit(b, k_in_ready_o) = *bit(b, k_in_valid_i) && *bit(b, k_read_ready_i) && !b->asked;
  *bit(b, k_read_valid_o) = READS && *bit(b, k_in_ready_o);
  b->pins[k_read_o][2] = 8u << 25;
  *bit(b, k_read_done_ready_o) = *bit(b, k_read_done_valid_i);
  if (*bit(b, k_clk_i) && !b->clk && *bit(b, k_rst_ni)) b->asked |= *bit(b, k_in_ready_o);
  b->clk = *bit(b, k_clk_i);"""
        cycles = []
        for yes in ("0", "1"):
            run = self.run_with("atomic_alu", does=reads.replace("READS", yes), options=("--set", "host.root_complex.memory_read_ns=100000"))
            self.assertEqual(run.returncode, 1, run.stderr)
            said = re.search(r"atomic_alu, cycle (\d+): never ready: ", run.stderr)
            self.assertTrue(said, run.stderr)
            cycles.append(int(said[1]))
        self.assertGreater(cycles[1] - cycles[0], 24_000)


if __name__ == "__main__":
    unittest.main()
