"""The memories of a chip: pools and how full they were, without a run, and what twice of something costs."""
import json
import os
import re
import subprocess
import sys
import unittest

from rnicsim import QUICKSTART, ROOT, ProgramTest

AREA = ROOT / "scripts/area.py"


def memories(stats, node):
    """Of a node, {path: {figure: value}}; read from all figures, whatever the program takes for a memory."""
    found = {}

    def visit(part, path):
        for name, inner in part.items():
            if "unit" in inner and "description" in inner:
                found.setdefault(".".join(path), {})[name] = inner.get("value")
            else:
                visit(inner, [*path, name])
    visit(stats["stats"][node], [])
    return {path: figures for path, figures in found.items() if {"entries", "bits", "size"} <= set(figures)}


def octets(stats, node):
    """Of all of a node's memories, with everything on the chip."""
    return sum(m["entries"] * m["bits"] / 8 for m in memories(stats, node).values())


class Memories(ProgramTest):
    def scenario(self, **changes):
        contents = json.loads(QUICKSTART.read_text()) | changes
        path = self.folder / "scenario.json"
        path.write_text(json.dumps(contents))
        return path

    def stats(self, scenario, *options):
        return self.run_scenario(scenario, "--no-capture", *options)

    def area(self, *arguments):
        program = ("--program", os.environ["RNICSIM"])
        done = subprocess.run([sys.executable, "-B", AREA, "--memories", *program, *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    # Four Reads are outstanding from the beginning to the end: one is answered, and three wait for it.
    def test_marks_of_reads_are_those_of_ord(self):
        reads = {"name": "reads", "op": "read", "size": 65536, "count": 60, "depth": 16}
        connection = json.loads(QUICKSTART.read_text())["connections"][0] | {"ord": 4, "ird": 4}
        stats = self.stats(self.scenario(connections=[connection], work=[reads]))
        used = {node: {path: figures["used"] for path, figures in memories(stats, node).items()} for node in "ab"}
        expected = {"rnic.ddp_placement.reads": 4, "rnic.early_placement.reads": 4, "rnic.sq_completion.sinks": 4,
                    "rnic.rdmap_segmenter.wqes": 8, "rnic.rdmap_segmenter.listed": 1, "rnic.response_queue.atomics": 0,
                    "rnic.irrq.requests": 0, "rnic.sctp_association.sent": 0}
        self.assertEqual({path: used["a"][path] for path in expected}, expected)
        self.assertEqual(used["b"]["rnic.irrq.requests"], 3)
        self.assertEqual((used["b"]["rnic.rdmap_segmenter.answered"], used["b"]["rnic.ddp_placement.reads"]), (1, 0))
        for figures in (*memories(stats, "a").values(), *memories(stats, "b").values()):
            self.assertLessEqual(figures["used"], figures["entries"])

    # Eight connections at a time beside the one that stays; most of them are gone at the end.
    def test_marks_of_registers_are_of_what_there_was_at_a_time(self):
        stats = self.stats(ROOT / "traces/churn.json")
        found = {path: figures["used"] for path, figures in memories(stats, "b").items()}
        self.assertEqual(stats["stats"]["b"]["rnic"]["context"]["qps"]["value"], 1)
        expected = {"rnic.context.alive_qps": 9, "rnic.ddp_placement.queues": 9, "rnic.context.alive_srqs": 0,
                    "rnic.tcp_connection.connections": 9, "rnic.tcp_connection.flow_hash": 9, "rnic.sctp_association.associations": 0}
        self.assertEqual({path: found[path] for path in expected}, expected)

    # The smallest pools that there can be are full at times, and nothing stops.
    def test_pools_of_one_element(self):
        scenario = self.scenario(connections=[json.loads(QUICKSTART.read_text())["connections"][0] | {"ord": 1, "ird": 1}])
        small = [option for setting in ("context.qps=2", "fwcpu.max_ird=1", "fwcpu.max_ord=1", "tx.wqe_fetch.prefetch=1",
                                        "rx.rqe_fetch.prefetch=1") for option in ("--set", f"rnic.{setting}")]
        stats = self.stats(scenario, *small)
        self.assertTrue(all(check["passed"] for check in stats["checks"]))
        found = memories(stats, "a")
        self.assertEqual({path: found[path]["entries"] for path in ("rnic.irrq.requests", "rnic.rdmap_segmenter.wqes", "rnic.ddp_placement.reads")},
                         {"rnic.irrq.requests": 2, "rnic.rdmap_segmenter.wqes": 2, "rnic.ddp_placement.reads": 3})
        self.assertEqual(found["rnic.rdmap_segmenter.wqes"]["used"], 1)
        self.assertEqual(found["rnic.ddp_placement.reads"]["used"], 1)

    def test_the_table_is_that_of_the_statistics(self):
        stats = self.stats(QUICKSTART)
        for figures in memories(stats, "a").values():
            self.assertEqual(figures["size"], figures["entries"] * figures["bits"] / 8)
        code, text, _ = self.area("--run", self.folder / "out")
        self.assertEqual(code, 0)
        sums = [float(value) for value in re.findall(r"^all +([\d.]+)$", text, re.M)]
        self.assertEqual(sums, [round(octets(stats, node) / 1024, 1) for node in "ab"])
        reads = memories(stats, "a")["rnic.tx_table"]
        row = next(line.split() for line in text.splitlines() if line.startswith("rnic.tx_table "))
        self.assertEqual([float(value) for value in row[1:]],
                         [reads["entries"], reads["used"], reads["bits"], reads["ports"], reads["banks"], round(reads["size"] / 1024, 1),
                          reads["most_accesses"]])

    # What the program says without a run is what runs have, with as many and twice as many.
    def test_what_twice_as_many_cost(self):
        code, text, _ = self.area()
        self.assertEqual(code, 0)
        before = self.stats(QUICKSTART)
        self.assertIn(f"\nall{octets(before, 'a') / 1024:.1f}\n", re.sub(r"\nall +", "\nall", text))
        for name, setting in (("queue pairs", "rnic.context.qps=512"), ("STags", "rnic.context.stags=2048"),
                              ("completion queues", "rnic.context.cqs=512"), ("TCP flows", "rnic.tcp.max_flows=512"),
                              ("SCTP associations", "rnic.sctp.max_associations=32"),
                              ("receive reorder memory", "rnic.tcp.reorder_bytes=1048576")):
            with self.subTest(name):
                more = octets(self.stats(QUICKSTART, "--set", setting), "a") - octets(before, "a")
                line = next(line for line in text.splitlines() if line.startswith(f"{name} "))
                self.assertEqual(line.split()[-1], f"{more / 1024:.1f}")
                self.assertGreater(more, 0)

    def test_a_cache_is_smaller_than_its_home(self):
        stats = json.loads(self.run_program("config", "--memories", "--set", "rnic.context.cache.cq.entries=4", QUICKSTART).stdout)
        cqs = memories(stats, "a")["rnic.cq_table"]
        self.assertEqual((cqs["entries"], cqs["size"]), (256, 7 * cqs["bits"] / 8), "four, and a spare place for each reader")

    def test_mistakes(self):
        code, _, error = self.area("--set", "rnic.context.qps=0")
        self.assertEqual(code, 2)
        self.assertIn("rnic.context.qps", error)
        self.assertEqual(self.area("--run", self.folder / "nothing")[0], 2)
        for text in ("", "{", "[]", "{}", '{"stats": []}'):
            (self.folder / "stats.json").write_text(text, encoding="utf-8")
            code, _, error = self.area("--run", self.folder)
            self.assertEqual(code, 2)
            self.assertRegex(error, r"\A[^\n]*stats\.json: not the statistics of a run: [^\n]+\n?\Z")
        # Twice as many may be more than there can be: the others are shown all the same.
        code, text, _ = self.area("--set", "rnic.tcp.reorder_bytes=1073741824")
        self.assertEqual(code, 0)
        self.assertRegex(text, r"(?m)^receive reorder memory .*rnic\.tcp\.reorder_bytes = 2147483648 .*must be")
        self.assertRegex(text, r"(?m)^queue pairs .* [\d.]+$")


if __name__ == "__main__":
    unittest.main()
