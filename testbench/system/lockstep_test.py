"""The program with faults in four twins (RNICSIM): lock-step reports and shows where a twin parted from its stage. A fault that no
RTL may have ends a run that has the twin in the stage's place."""
import csv
import re
import unittest

from rnicsim import ProgramTest


# Memory that is slow to write: the receive pipeline runs out of credits.
SLOW = ("--set", "rnic.pcie.link.host_credits.posted_headers=1")


class Wave:
    """Values over time of a VCD file, by hierarchical name."""

    def __init__(self, text):
        self.changes, names, scope, now = {}, {}, [], 0
        for line in map(str.strip, text.splitlines()):
            words = line.split()
            if line.startswith("$scope"):
                scope.append(words[2])
            elif line.startswith("$upscope"):
                scope.pop()
            elif line.startswith("$var"):
                names.setdefault(words[3], []).append(".".join([*scope, words[4]]))
            elif line.startswith("#"):
                now = int(line[1:])
            elif line and line[0] in "01xb":
                value, code = line[1:].split() if line[0] == "b" else (line[0], line[1:])
                for name in names.get(code, ()) if set(value) <= set("01") else ():
                    self.changes.setdefault(name, []).append((now, int(value, 2)))

    def at(self, name, time):
        return [value for when, value in self.changes[name] if when <= time][-1]


class Lockstep(ProgramTest):
    def test_the_first_difference(self):
        run = self.run_program("run", self.small_scenario(), "--lockstep", "crc_insert,sctp_crc_insert")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        told = re.search(r"in lock-step with RTL: (\S+)\.crc_insert, cycle (\d+): out\.octet\[(\d+)\]: "
                         r"the stage has (\d+), the twin (\d+), of request (\S+)\n", run.stderr)
        self.assertIsNotNone(told, run.stderr)
        cycle, octet, stage, twin = (int(n) for n in told.groups()[1:5])
        request = told[6]
        self.assertNotEqual(stage, twin)
        self.assertIn("both sides around it: out/lockstep.vcd", run.stderr)

        wave = Wave((self.folder / "out/lockstep.vcd").read_text())
        top = f"{told[1]}.crc_insert"
        parted = [time for time, value in wave.changes[f"{top}.differs"] if value]
        self.assertEqual(parted[0], 4000 * cycle)
        for side, value in (("stage", stage), ("twin", twin)):
            octets = wave.at(f"{top}.{side}.out.octet", parted[0])
            self.assertEqual(octets >> 8 * octet & 0xff, value)
            self.assertEqual(wave.at(f"{top}.{side}.out.valid", parted[0]), 1)
        cycles = [value for _, value in wave.changes[f"{top}.cycle"]]
        self.assertLessEqual(cycles[0], cycle - 3, "since the FPDU entered")
        self.assertEqual(cycles[-1], cycle + 16)

        # The octets belong to that request only.
        self.run_program("run", "small.json", "--trace", "trace.tsv")
        with open(self.folder / "trace.tsv", newline="", encoding="utf-8") as log:
            sent = [line for line in csv.DictReader(log, delimiter="\t", quoting=csv.QUOTE_NONE)
                    if line["kind"] == "fpdu_sent" and f"{line['node']}." in told[1]]
        entered = parted[0] - 3 * 4000  # the beat is at the end of a pipeline of four cycles
        self.assertEqual([line["request"] for line in sent if int(line["time_ps"]) == entered], [request])

    def test_the_same_run_without_the_twin(self):
        self.run_scenario(self.small_scenario(), "--lockstep", "mpa_deframer")

    def test_a_launch_without_credit(self):
        run = self.run_program("run", self.small_scenario(), "--rtl", "crc_check", *SLOW)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertRegex(run.stderr, r"(?m)^rnicsim: RTL in a stage's place: b\.rnic_b\.crc_check, cycle \d+: "
                                     r"out: a launch without credit$")
        self.assert_outputs()
        run = self.run_program("run", "small.json", "--lockstep", "crc_check", *SLOW)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertRegex(run.stderr, r"(?m)^rnicsim: in lock-step with RTL: b\.rnic_b\.crc_check, cycle \d+: "
                                     r"out\.launch: the stage has 0, the twin 1")
        self.assert_outputs("out/lockstep.vcd")

    def test_an_assertion_that_fails(self):
        said = r"marker_inserter, cycle \d+: an assertion of its RTL failed"
        run = self.run_program("run", self.small_scenario(), "--rtl", "marker_inserter")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertRegex(run.stderr, rf"(?m)^rnicsim: RTL in a stage's place: a\.rnic_a\.{said}$")
        self.assertIn("NotInterleaved_A", run.stdout + run.stderr)
        self.assert_outputs()
        run = self.run_program("run", "small.json", "--lockstep", "marker_inserter")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertRegex(run.stderr, rf"(?m)^rnicsim: in lock-step with RTL: a\.rnic_a\.{said}")
        self.assert_outputs("out/lockstep.vcd")

    def test_a_block_that_takes_nothing(self):
        run = self.run_program("run", self.small_scenario(), "--rtl", "mpa_framer")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertRegex(run.stderr, r"(?m)^rnicsim: RTL in a stage's place: a\.rnic_a\.mpa_framer, cycle \d+: never ready: for 10000 cycles ")
        self.assert_outputs()

    def assert_outputs(self, *more):
        """The outputs are those of a completed run."""
        files = self.files()
        for file in ("out/stats.json", "out/wire.pcapng", *more):
            self.assertIn(file, files)
        self.assertFalse([file for file in files if file.endswith(".part")])


if __name__ == "__main__":
    unittest.main()
