"""Waveforms of a window and a scope of a run."""
import csv
import json
import unittest

from rnicsim import NEEDS_IMAGE, QUICKSTART, RV32, TRACES, ProgramTest
from wave_file import read_fst, read_vcd, time_in

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
        """The chip's transmit side from 200 us on, by signal: the times of its changes, and the new values."""
        text = self.dump("w.vcd", "--wave-scope", "rnic_a.tx", "--wave-from", f"{first_us}us", "--wave-to", "204us").decode()
        changes = {}
        for name, found in read_vcd(text).items():
            changes[name] = of = []
            for at, value in ((max(at, 200_000_000), value) for at, value in found):
                if of and of[-1][0] == at:
                    of.pop()  # earlier, or at this time
                if not of or of[-1][1] != value:
                    of.append((at, value))
        return changes

    def test_a_late_window_shows_what_observing_from_the_beginning_does(self):
        whole, late = self.pins(0), self.pins(200)
        self.assertEqual(whole.keys(), late.keys())
        moves = 0
        for name, changes in whole.items():
            if changes[0][1] != late[name][0][1]:  # from a beat that passed earlier
                self.assertNotIn(name.rsplit(".", 1)[1], ("valid", "ready", "credit"))
                self.assertLessEqual(set(late[name][0][1]), {"x"}, name)
                changes, late[name] = changes[1:], late[name][1:]
            self.assertEqual(changes, late[name], name)
            moves += len(changes)
        self.assertGreater(moves, 1000)

    def test_outside_of_its_window_nothing_is_observed(self):
        """Counted as work without the clock's: stages run ahead outside the window, and links report nothing."""
        plain = self.run_scenario(QUICKSTART, "--no-capture")
        for first_us in (300, 1500, 2900):
            window = ("--wave", "w.fst", "--wave-from", f"{first_us}us", "--wave-to", f"{first_us + 1}us")
            stats = self.run_scenario(QUICKSTART, "--no-capture", *window)
            self.assertEqual(stats["digest"], plain["digest"])
            self.assertLess(stats["wave_changes"], 1_200_000)  # out of 50 million in the whole run
            for node in "ab":
                calls = [run["stats"][node]["core_clk"]["stage_calls"]["value"] for run in (stats, plain)]
                self.assertLess(calls[0], 1.05 * calls[1])

    def test_a_slow_narrow_chip_runs_far_ahead(self):
        """Long FPDUs take many cycles, and the cycles are long: anything that moved ahead of the window must have happened before it."""
        slow = [word for key in ("rnic.clock_period_ps=100000", "rnic.datapath.beat_bytes=16", "rnic.tcp.mtu=9000",
                                 "rnic.rx.mpa_deframer.queue_fpdus=64") for word in ("--set", key)]
        scenario = json.loads((TRACES / "write_bw.json").read_text())
        scenario["checks"] = [{"check": "data"}]  # the chip is no faster than its clock
        (self.folder / "slow.json").write_text(json.dumps(scenario))
        for first_us in (400, 40_000):
            window = ("--wave", "w.vcd", "--wave-from", f"{first_us}us", "--wave-to", f"{first_us + 2}us")
            self.run_scenario("slow.json", "--no-capture", *slow, *window)

    def test_a_window_outside_of_the_run_is_said(self):
        scenario = self.small_scenario()
        run = self.run_program("run", scenario, "--wave", "w.vcd", "--wave-from", "1s")
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stderr, r"^rnicsim: no change is in w.vcd: the run has ended at \d+[pnu]s, before --wave-from 1000ms\n$")
        self.assertEqual(len([line for line in (self.folder / "w.vcd").read_text().splitlines() if line.startswith("#")]), 1)
        for window in (("--wave-from", "1us"), ("--wave-to", "1s"), ("--wave-from", "100us", "--wave-to", "1s")):
            self.assertEqual(self.run_program("run", scenario, "--wave", "w.vcd", *window).stderr, "")

    def test_wave_scope_alone_lists_the_scopes(self):
        """Each of them can be dumped. Nothing is run or written."""
        scenario = self.small_scenario()
        for words in (("--wave-scope",), ("--wave-scope", "--wave", "w.vcd"), ("--no-capture", "--wave-scope", "rnic_a", "--wave-scope")):
            listed = self.run_program("run", scenario, *words)
            self.assertEqual((listed.returncode, listed.stderr), (0, ""))
            scopes = listed.stdout.splitlines()
            self.assertEqual(len(scopes), len(set(scopes)))
            self.assertEqual({"rnic_a", "rnic_a.tx", "rnic_a.state.flow0", "host_b"} - set(scopes), set())
            self.assertEqual(self.files(), [scenario])
        self.dump("w.vcd", "--wave-to", "1us", *(word for scope in scopes for word in ("--wave-scope", scope)))
        for words in (("run", TRACES / "loss-sweep.json", "--wave-scope"), ("run", TRACES / "loss-sweep.json", "--point", "2", "--wave-scope"),
                      ("replay", TRACES / "siw/rping-64.pcap", "--as", "server", "--wave-scope")):
            self.assertTrue(any(line.endswith(".tx") for line in self.run_program(*words).stdout.splitlines()))
        for words, said in ((("loss-sweep.json", "--point", "99"), "run: --point 99: the sweep has points 0 to"), (("interop/echo_server.json",), "--wave-scope without a scope: not for a scenario")):
            run = self.run_program("run", TRACES / words[0], *words[1:], "--wave-scope")
            self.assertEqual((run.returncode, len(run.stderr.splitlines())), (2, 1))
            self.assertIn(said, run.stderr)


class Owners(ProgramTest):
    """Whose each beat is, the chip's clock and what the cable does; in both formats."""

    def both(self, scenario, *options):
        found = []
        for name, read in (("w.vcd", lambda file: read_vcd(file.read_text())), ("w.fst", read_fst)):
            self.run_scenario(scenario, "--no-capture", "--wave", name, *options, codes=(0, 1))
            found.append(read(self.folder / name))
        self.assertEqual(found[0], found[1])
        return found[0]

    def at(self, changes, ps):
        return [value for when, value in changes if when <= ps][-1]

    def test_the_owner_of_each_beat_is_that_of_the_events(self):
        """The last beat of an FPDU is pushed when the log says, and seen a cycle later or more; each beat before has the same owner."""
        scenario = self.small_scenario()
        window = ("--wave-scope", "rnic_a.tx", "--wave-from", "60us", "--wave-to", "75us")
        waves = self.both(scenario, *window, "--trace", "log.tsv")
        with open(self.folder / "log.tsv", newline="", encoding="utf-8") as log:
            lines = list(csv.DictReader(log, delimiter="\t", quoting=csv.QUOTE_NONE))
        link = next(line["where"] for line in lines if line["kind"] == "fpdu_sent" and line["node"] == "a")
        sent = [line["request"] for line in lines if line["where"] == link and 61_000_000 <= int(line["time_ps"]) < 74_000_000]
        edges = sorted({at for pin in ("valid", "ready") for at, _ in waves[f"{link}.{pin}"]})
        moved, owners = [], set()
        for begin in range(edges[0], 75_000_000, 4000):
            if all(self.at(waves[f"{link}.{pin}"], begin) == "1" for pin in ("valid", "ready")):
                owner = self.at(waves[f"{link}.owner"], begin)
                owners.add(owner)
                if self.at(waves[f"{link}.last"], begin) == "1":
                    moved.append(owner)
        self.assertGreater(len(sent), 10)
        self.assertIn(",".join(sent), ",".join(moved))
        self.assertLessEqual(owners, set(line["request"] for line in lines))

    def test_the_clock_of_each_chip(self):
        """It rises at each edge at which anything of the chip changes, and falls half a period later."""
        waves = self.both(self.small_scenario(), "--wave-scope", "rnic_a", "--wave-from", "60us", "--wave-to", "62us", "--set", "nodes.a.rnic.clock_period_ps=3200")
        edges = waves["rnic_a.clock.clk"]
        rises = {at for at, value in edges if value == "1"}
        self.assertEqual([(at + 1600, "0") for at in sorted(rises)][:-1], [edge for edge in edges if edge[1] == "0" and edge[0] > min(rises)][:len(rises) - 1])
        self.assertEqual(sorted(rises)[1:-1], list(range(60_000_000 + -60_000_000 % 3200, 62_000_000, 3200))[1:len(rises) - 1])
        self.assertEqual(len(rises), 625)
        moved = {at for name, changes in waves.items() if name.startswith("rnic_a.tx.") and name.endswith((".valid", ".ready"))
                 for at, _ in changes if at > 60_000_000}
        self.assertGreater(len(moved), 100)
        self.assertLessEqual(moved, rises)
        with_scope = self.both(self.small_scenario(), "--wave-scope", "rnic_b.clock", "--wave-to", "1us")
        self.assertEqual(list(with_scope), ["rnic_b.clock.clk"])

    def test_what_the_cable_does_is_a_text(self):
        scenario = self.small_scenario()
        faults = ("--set", "link.forward.loss.frames=20", "--set", "link.forward.duplicate.frames=20,30", "--set", "link.reverse.reorder.every=15")
        waves = self.both(scenario, *faults, "--wave-scope", "cable", "--trace", "log.tsv")
        with open(self.folder / "log.tsv", newline="", encoding="utf-8") as log:
            told = [line for line in csv.DictReader(log, delimiter="\t", quoting=csv.QUOTE_NONE) if line["where"].startswith("cable.")]
        self.assertGreater(len(told), 3)
        for way in ("cable.a_to_b", "cable.b_to_a"):
            expected = [(int(line["time_ps"]), f"{line['kind']}: {line['words']}") for line in told if line["where"] == way]
            self.assertEqual([change for change in waves[f"{way}.event"] if change[1]], expected)
        late = self.both(scenario, *faults, "--wave-scope", "cable.a_to_b", "--wave-from", "1ms")
        self.assertEqual([value for _, value in late["cable.a_to_b.event"]], [""])


class Probes(ProgramTest):
    """The state that stages describe."""

    def probes(self, scenario, *options):
        stats = self.run_scenario(scenario, "--no-capture", "--wave", "w.vcd", *options)
        return stats, read_vcd((self.folder / "w.vcd").read_text())

    def test_they_agree_with_the_accounts_to_the_picosecond(self):
        """Resources are in use for as many cycles as the accounts say; neither is sampled."""
        limits = ("--set", "rnic.pcie.link.host_credits.posted_headers=8", "--set", "rnic.pcie.dma_read.max_tags=8")
        stats, waves = self.probes(self.small_scenario(), "--wave-scope", "rnic_a.state", "--wave-scope", "host_a", *limits)
        accounts = {(o["node"], o["name"]): o for o in stats["occupancy"]}
        names = {"tx.jobs": "rnic_a.state.tx.jobs_in_use", "tx.wqe_prefetch": "rnic_a.state.wqe_fetch.entries",
                 "tx.wqe_reads": "rnic_a.state.wqe_fetch.reads", "pcie.tags": "rnic_a.state.pcie.tags_in_use",
                 "pcie.read_requests": "rnic_a.state.pcie.read_requests", "tx.ord": "rnic_a.state.qp0.ord_outstanding",
                 "responder.irrq": "rnic_a.state.qp0.irrq_depth", "host.memory_reads": "host_a.memory_reads",
                 "pcie.to_host.posted_headers": "rnic_a.state.pcie.to_host.posted_headers_in_use",
                 "fwcpu": "rnic_a.state.firmware.activity", "host.core0": "host_a.core0.activity"}
        for account, name in names.items():
            with self.subTest(account):
                a = accounts["a", account]
                in_use = sum(a["histogram"][1:]) * a["cycle_ps"]
                end = stats["sim_time_ps"]
                self.assertAlmostEqual(time_in(waves[name], lambda value: int(value, 2) != 0, end), in_use, delta=2 * a["cycle_ps"])
                if account != "responder.irrq":  # node a sends requests and receives none
                    self.assertGreater(in_use, 0)

    def test_tcp_of_a_flow(self):
        """In this order at every time: SND.UNA of one end, RCV.NXT of the other, SND.NXT, and the edge of the window."""
        _, waves = self.probes(self.small_scenario(), "--wave-scope", "rnic_a.state.flow0", "--wave-scope", "rnic_b.state.flow0")
        at_time = {}
        for name, changes in waves.items():
            _, node, variable = name.replace(".state.flow0", "").replace("_", ".", 1).split(".")
            for at, value in changes:
                at_time.setdefault(at, []).append(((node, variable), value))
        now, checked = {}, set()
        for _, changes in sorted(at_time.items()):
            now.update((key, None if "x" in value else int(value, 2)) for key, value in changes)
            if not now["a", "state"] == now["b", "state"] == 3:  # established
                continue
            una, nxt, edge = (now["a", name] for name in ("snd_una", "snd_nxt", "snd_una"))
            edge += now["a", "peer_window"]
            behind = [(n - una) % 2**32 for n in (now["b", "rcv_nxt"], nxt, edge)]
            self.assertEqual(behind, sorted(behind))
            self.assertGreater(now["a", "cwnd"], 0)
            checked.add(una)
        self.assertGreater(len(checked), 100)

    def test_queue_pairs_beyond_the_sixteenth_are_named(self):
        _, waves = self.probes(TRACES / "qps16.json", "--wave-from", "90us", "--wave-to", "91us", "--wave-scope", "rnic_a.state")
        self.assertIn("rnic_a.state.qp15.state", waves)
        self.assertNotIn("rnic_a.state.qp16.state", waves)
        _, waves = self.probes(TRACES / "qps16.json", "--wave-from", "90us", "--wave-to", "91us", "--wave-scope", "rnic_a.state.qp16")
        self.assertEqual({name.rsplit(".", 1)[0] for name in waves}, {"rnic_a.state.qp16"})

    @NEEDS_IMAGE
    def test_the_firmwares_processor(self):
        """Its program counter moves through functions while it is busy, and only then."""
        _, waves = self.probes(self.small_scenario(), *RV32, "--wave-scope", "rnic_a.state.firmware", "--wave-to", "40us")
        pcs = [(at, int(v, 2)) for at, v in waves["rnic_a.state.firmware.pc"] if "x" not in v and int(v, 2)]
        self.assertGreater(len(pcs), 100)
        self.assertGreater(len({v for _, v in waves["rnic_a.state.firmware.function"]}), 5)
        busy = waves["rnic_a.state.firmware.activity"]
        began = [at for (_, before), (at, after) in zip(busy, busy[1:]) if "x" not in before and int(before, 2) == 0]
        self.assertGreaterEqual(len(began), 3)
        self.assertLessEqual(set(began), {at for at, _ in pcs})  # a handler begins with its first instruction
        for at, _ in pcs:
            self.assertNotEqual(int([v for t, v in busy if t <= at][-1], 2), 0, at)


if __name__ == "__main__":
    unittest.main()
