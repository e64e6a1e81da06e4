"""Waveforms of a window and a scope of a run."""
import json
import unittest

from rnicsim import QUICKSTART, TRACES, ProgramTest

WINDOW = ("--wave-scope", "rnic_a.tx", "--wave-from", "34us", "--wave-to", "36us")


class Waves(ProgramTest):
    def dump(self, name, *options):
        self.run_scenario(self.small_scenario(), "--wave", name, *options)
        return (self.folder / name).read_bytes()

    def test_vcd_holds_the_scope_and_the_window_only(self):
        lines = self.dump("w.vcd", *WINDOW).decode().splitlines()
        top = [line.split()[2] for line in lines if line.startswith("$scope")][:2]
        self.assertEqual(top, ["rnic_a", "tx"])
        self.assertNotIn("$scope module rx $end", lines)
        self.assertNotIn("$scope module rnic_b $end", lines)
        times = [int(line[1:]) for line in lines if line.startswith("#")]
        self.assertEqual(times[0], 34_000_000)
        self.assertLessEqual(times[-1], 36_000_000)
        self.assertEqual(times, sorted(times))
        self.assertGreater(len(times), 100)  # traffic, not just first and last values

    def test_fst_is_written_and_the_same_twice(self):
        first = self.dump("w.fst", *WINDOW)
        self.assertGreater(len(first), 1000)
        self.assertEqual(first, self.dump("w.fst", *WINDOW))

    def test_both_chips_without_a_scope(self):
        text = self.dump("w.vcd", "--wave-from", "34us", "--wave-to", "35us").decode()
        self.assertIn("$scope module rnic_a $end", text)
        self.assertIn("$scope module rnic_b $end", text)

    def pins(self, first_us):
        """Of the chip's transmit side from 200 us on, by signal: the times at which it changed, and to what."""
        text = self.dump("w.vcd", "--wave-scope", "rnic_a.tx", "--wave-from", f"{first_us}us", "--wave-to", "204us").decode()
        head, body = text.split("$enddefinitions $end\n")
        names, scope = {}, []
        for words in map(str.split, head.splitlines()):
            if words[0] == "$scope":
                scope.append(words[2])
            elif words[0] == "$upscope":
                scope.pop()
            elif words[0] == "$var":
                names[words[3]] = ".".join([*scope, words[4]])
        changes, now = {name: [] for name in names.values()}, 0
        for line in body.splitlines():
            if line[0] == "#":
                now = max(int(line[1:]), 200_000_000)
                continue
            value, code = line[1:].split() if line[0] == "b" else (line[0], line[1:])
            of = changes[names[code]]
            if of and of[-1][0] == now:
                of.pop()  # before, or in this instant
            if not of or of[-1][1] != value:
                of.append((now, value))
        return changes

    def test_a_late_window_shows_what_observing_from_the_beginning_does(self):
        whole, late = self.pins(0), self.pins(200)
        self.assertEqual(whole.keys(), late.keys())
        moves = 0
        for name, changes in whole.items():
            if changes[0][1] != late[name][0][1]:  # of a beat that had passed before
                self.assertNotIn(name.rsplit(".", 1)[1], ("valid", "ready", "credit"))
                self.assertLessEqual(set(late[name][0][1]), {"x"}, name)
                changes, late[name] = changes[1:], late[name][1:]
            self.assertEqual(changes, late[name], name)
            moves += len(changes)
        self.assertGreater(moves, 1000)

    def test_outside_of_its_window_nothing_is_observed(self):
        """Counted in work, of which the clock's is none: stages run ahead but in the window, and links tell nobody."""
        plain = self.run_scenario(QUICKSTART, "--no-capture")
        for first_us in (300, 1500, 2900):
            window = ("--wave", "w.fst", "--wave-from", f"{first_us}us", "--wave-to", f"{first_us + 1}us")
            stats = self.run_scenario(QUICKSTART, "--no-capture", *window)
            self.assertEqual(stats["digest"], plain["digest"])
            self.assertLess(stats["wave_changes"], 1_000_000)  # of 50 million in the whole run
            for node in "ab":
                calls = [run["stats"][node]["core_clk"]["stage_calls"]["value"] for run in (stats, plain)]
                self.assertLess(calls[0], 1.05 * calls[1])

    def test_a_slow_narrow_chip_runs_far_ahead(self):
        """Long FPDUs take many cycles, and cycles long: what has moved ahead of the window has to have happened before it."""
        slow = [word for key in ("rnic.clock_period_ps=100000", "rnic.datapath.beat_bytes=16", "rnic.tcp.mtu=9000",
                                 "rnic.rx.mpa_deframer.queue_fpdus=64") for word in ("--set", key)]
        scenario = json.loads((TRACES / "write_bw.json").read_text())
        scenario["checks"] = [{"check": "data"}]  # it is no faster than its clock
        (self.folder / "slow.json").write_text(json.dumps(scenario))
        for first_us in (400, 40_000):
            window = ("--wave", "w.vcd", "--wave-from", f"{first_us}us", "--wave-to", f"{first_us + 2}us")
            self.run_scenario("slow.json", "--no-capture", *slow, *window)


if __name__ == "__main__":
    unittest.main()
