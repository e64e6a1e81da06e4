"""Runs with SystemVerilog twins in place of stages, and beside them, equal the runs without: same cycles, same octets."""
import os
import shutil
import unittest

from rnicsim import TRACES, ProgramTest


def without_marks(part):
    """Statistics without the marks of pools, which a twin has in its own memories."""
    if not isinstance(part, dict) or "unit" in part:
        return part
    pool = set(part) == {"entries", "used", "bits", "size"}
    return {name: without_marks(inner) for name, inner in part.items() if not (pool and name == "used")}


class Rtl(ProgramTest):
    def compare(self, scenario, *options):
        """The same run twice, with and without options: equal except for the number of calls to the calendar."""
        runs = []
        for extra in ([], options):
            stats = self.run_scenario(scenario, *extra)
            wire = (self.folder / "out/wire.pcapng").read_bytes()
            chips = [without_marks(node["rnic"]) for node in stats["stats"].values() if "rnic" in node]
            self.assertEqual(len(chips), 2)
            runs.append((stats["digest"], stats["results"], chips, wire))
        for plain, other, what in zip(*runs, ("digest", "results", "counters", "capture")):
            self.assertEqual(plain, other, what)

    def test_all_twins_at_once(self):
        self.compare(self.small_scenario(), "--rtl", "all")

    def test_without_markers(self):
        self.compare(self.small_scenario(markers=False), "--rtl", "all")

    def test_without_crc(self):
        self.compare(self.small_scenario(crc=False), "--rtl", "all")

    def test_a_run_that_does_not_end_says_what_twins_wait_for(self):
        run = self.run_program("run", TRACES / "write_bw.json", "--no-capture", "--rtl", "all",
                               "--set", "sim.max_time_us=100")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertRegex(run.stderr, r"(?m)^a\.rnic_a\.crc_insert waits for (its RTL to go on|room in out) \(in: \d+[,)]")

    def test_one_by_one(self):
        self.compare(self.small_scenario(), "--rtl", "crc_insert,mpa_framer")

    def test_both_directions(self):
        self.compare(TRACES / "atomics.json", "--rtl", "all")

    def test_in_lock_step(self):
        self.compare(self.small_scenario(markers=True), "--lockstep", "all")

    def test_atomics_in_lock_step(self):
        self.compare(TRACES / "atomics.json", "--lockstep", "atomic_alu")

    def test_some_instead_and_some_beside(self):
        self.compare(self.small_scenario(), "--rtl", "all", "--lockstep", "crc_check,marker_inserter")

    def test_a_stage_without_a_twin(self):
        run = self.run_program("run", self.small_scenario(), "--rtl", "crc_chek")
        self.assertEqual(run.returncode, 2)
        self.assertIn("no stage 'crc_chek' has a twin; the nearest that has is 'crc_check'", run.stderr)

    def test_all_but_one(self):
        run = self.run_program("run", self.small_scenario(), "--rtl", "all,-crc_chek")
        self.assertEqual(run.returncode, 2)
        self.assertIn("no stage 'crc_chek' has a twin; the nearest that has is 'crc_check'", run.stderr)
        few = ("--set", "rnic.context.cache.qp.entries=4")
        self.assertEqual(self.run_program("run", self.small_scenario(), "--rtl", "all", *few).returncode, 2)
        for name in ("ddp_placement", "irrq", "response_queue"):
            run = self.run_program("run", self.small_scenario(), "--rtl", name, *few)
            self.assertEqual(run.returncode, 2)
            self.assertIn(f"the twin of {name} is built for rnic.context.cache.qp.entries = all queue pairs, but it is 4", run.stderr)
        digests = [self.run_scenario(self.small_scenario(), *few, *twins)["digest"]
                   for twins in ((), ("--rtl", "all,-ddp_placement,-irrq,-response_queue"))]
        self.assertEqual(*digests)

    def test_a_program_without_twins_says_how_to_get_them(self):
        alone = self.folder / "bin" / "rnicsim"
        alone.parent.mkdir()
        shutil.copy(os.environ["RNICSIM"], alone)
        inside = self.run_command(alone, "run", self.small_scenario(), "--lockstep", "all", "--lockstep-inside")
        self.assertEqual(inside.returncode, 2)
        self.assertRegex(inside.stderr, r"^rnicsim: run: --lockstep-inside needs .*/bin/rnicsim_rtl_trace, which does not exist; "
                                        r"`scripts/build\.sh release rnicsim_rtl_trace` builds it\n$")
        vectors = self.run_command(alone, "vectors", "vectors")
        self.assertEqual(vectors.returncode, 2)
        self.assertRegex(vectors.stderr, r"^rnicsim: vectors: it needs .*/bin/rnicsim_vectors, which does not exist; "
                                         r"`scripts/build\.sh release rnicsim_vectors` builds it\n$")
        for arguments in (("run", self.small_scenario(), "--lockstep", "all"), ("vectors", "vectors", "--rtl", "all")):
            run = self.run_command(alone, *arguments)
            self.assertEqual(run.returncode, 2)
            self.assertRegex(run.stderr, rf"^rnicsim: {arguments[0]}: --rtl and --lockstep need .*/bin/rnicsim_rtl, which "
                                         r"does not exist; `scripts/build\.sh release rnicsim_rtl` builds it\n$")


if __name__ == "__main__":
    unittest.main()
