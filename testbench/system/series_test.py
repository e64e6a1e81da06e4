"""Figures over time, and a warm-up that is not counted (model/system/series.md)."""
import contextlib
import csv
import json
import sqlite3
import unittest

from rnicsim import QUICKSTART, TRACES, ProgramTest


class Series(ProgramTest):
    def series(self, *options):
        stats = self.run_scenario(*options)
        return stats, json.loads((self.folder / "out/series.json").read_text())

    @staticmethod
    def column(series, name):
        at = [c["name"] for c in series["columns"]].index(name)
        return [row[at] for row in series["rows"]]

    def test_rates_add_up_to_the_counters(self):
        stats, series = self.series(QUICKSTART, "--stats-every", "10us")
        times = series["time_ps"]
        self.assertEqual(times[:-1], [10_000_000 * (i + 1) for i in range(len(times) - 1)])
        self.assertEqual(times[-1], stats["sim_time_ps"])
        lengths = [b - a for a, b in zip([0, *times], times)]
        for node in "ab":
            counters = stats["stats"][node]["rnic"]
            for name, block, counter, scale in (("tx.fpdus", "rdmap_segmenter", "fpdus", 1e-12),
                                                ("mac_tx.frames", "mac_tx", "frames", 1e-12),
                                                ("tx.payload", "rdmap_segmenter", "payload_bytes", 1e-3 / 8)):
                total = sum(rate * length * scale for rate, length in zip(self.column(series, f"{node}.{name}"), lengths))
                self.assertAlmostEqual(total / counters[block][counter]["value"], 1, delta=1e-4)
        wire = self.column(series, "wire b to a")
        self.assertGreater(max(wire), 0.99)
        self.assertLessEqual(max(wire), 1.05)
        kinds = {c["name"]: (c["unit"], c["kind"]) for c in series["columns"]}
        self.assertEqual(kinds["a.tx.payload"], ("Gb/s", "rate"))
        self.assertEqual(kinds["a.pcie.tags"], ("tags", "level"))
        self.assertEqual(max(self.column(series, "a.window")), 131072)

    def test_a_name_is_of_one_column(self):
        """Links have names, too: rx.placed is one."""
        _, series = self.series(QUICKSTART, "--stats-every", "50us", "--stats-per-qp", "--set", "sim.account_links=true")
        names = [c["name"] for c in series["columns"]]
        self.assertEqual(len(names), len(set(names)))
        units = {c["name"]: c["unit"] for c in series["columns"]}
        self.assertEqual((units["a.rx.placed"], units["a.rx.payload"]), ("link", "Gb/s"))

    def test_payload_that_is_placed_is_payload_that_was_sent(self):
        """However it arrives: with losses, most of it is placed after gaps."""
        for options in (), ("--set", "link.forward.loss.every=40"):
            run = self.run_program("run", TRACES / "write_bw.json", "--set", "work.writes.count=100", "--stats-every", "10us", *options)
            self.assertIn(run.returncode, (0, 1), run.stderr)  # the goodput suffers
            stats, series = (json.loads((self.folder / f"out/{name}.json").read_text()) for name in ("stats", "series"))
            lengths = [b - a for a, b in zip([0, *series["time_ps"]], series["time_ps"])]
            placed = sum(rate * length * 1e-3 / 8 for rate, length in zip(self.column(series, "b.rx.payload"), lengths))
            self.assertAlmostEqual(placed / stats["results"][0]["bytes"], 1, delta=0.05 if options else 1e-4)  # some twice

    def test_csv_is_the_same(self):
        _, series = self.series(QUICKSTART, "--stats-every", "50us")
        with (self.folder / "out/series.csv").open() as file:
            header, *rows = csv.reader(file)
        self.assertEqual(header, ["time_ps", *(f"{c['name']} ({c['unit']})" for c in series["columns"])])
        self.assertEqual([int(row[0]) for row in rows], series["time_ps"])
        self.assertEqual([[None if v == "" else float(v) for v in row[1:]] for row in rows], series["rows"])

    def test_looking_changes_nothing(self):
        plain = self.run_scenario(QUICKSTART)
        seen, _ = self.series(QUICKSTART, "--stats-every", "1.7us", "--stats-per-qp", "--warmup", "33us")
        self.assertEqual(seen["digest"], plain["digest"])
        self.assertEqual(seen["sim_time_ps"], plain["sim_time_ps"])

    def test_per_qp(self):
        _, series = self.series(TRACES / "qps16.json", "--stats-every", "20us", "--stats-per-qp")
        names = {c["name"] for c in series["columns"]}
        qps = {n.split(".")[1] for n in names if n.startswith("a.qp")}
        self.assertEqual(len(qps), 16)
        whole = sum(filter(None, self.column(series, f"a.{qps.pop()}.acknowledged")))
        self.assertGreater(whole, 0)
        self.assertIsNone(series["rows"][0][[c["name"] for c in series["columns"]].index("a.qp1.cwnd")])

    def test_none_unless_asked_for(self):
        self.run_scenario(QUICKSTART)
        self.assertFalse((self.folder / "out/series.json").exists())

    def test_an_earlier_runs_series_does_not_stay(self):
        self.series(QUICKSTART, "--stats-every", "50us")
        self.run_scenario(QUICKSTART)
        self.assertFalse((self.folder / "out/series.csv").exists())

    def test_bad_intervals(self):
        for options, text in ((("--stats-every", "0us"), "--stats-every: must be 1 ns or more"),
                              (("--stats-every", "soon"), "'soon' is not a time with its unit, such as 12us"),
                              (("--stats-per-qp",), "--stats-per-qp needs --stats-every")):
            run = self.run_program("run", QUICKSTART, *options)
            self.assertEqual(run.returncode, 2)
            self.assertIn(text, run.stderr)


    def test_a_series_has_a_limit(self):
        """The series is kept in memory until the run ends."""
        whole = self.series(QUICKSTART, "--stats-every", "10us")[1]
        values = sum(value is not None for row in whole["rows"] for value in row)
        self.series(QUICKSTART, "--stats-every", "10us", "--set", f"sim.max_series_values={values}")
        for interval, most in (("10us", values - 1), ("1ns", 100_000)):
            run = self.run_program("run", QUICKSTART, "--stats-every", interval, "--set", f"sim.max_series_values={most}", "--out", "less")
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertRegex(run.stderr, rf"^rnicsim: --stats-every: the series has more than sim.max_series_values = {most} values "
                                         r"after [0-9]+ rows and [0-9.]+ us; a longer interval has less\n$")
        default = self.run_program("run", QUICKSTART, "--stats-every", "1ns", "--out", "less")
        self.assertEqual(default.returncode, 2, default.stdout)
        self.assertIn("sim.max_series_values = 10000000 values", default.stderr)


class Warmup(ProgramTest):
    def test_only_what_follows_counts(self):
        scenario = TRACES / "write_bw.json"
        whole = self.run_scenario(scenario, "--no-capture")
        late = self.run_scenario(scenario, "--no-capture", "--warmup", "1ms")
        self.assertEqual(late["digest"], whole["digest"])
        self.assertEqual(late["warmup_ps"], 1_000_000_000)
        before = self.run_scenario(scenario, "--no-capture", "--stats-every", "1ms") and json.loads(
            (self.folder / "out/series.json").read_text())
        rate = before["rows"][0][[c["name"] for c in before["columns"]].index("a.mac_tx.frames")]
        frames = [s["stats"]["a"]["rnic"]["mac_tx"]["frames"]["value"] for s in (whole, late)]
        self.assertAlmostEqual(frames[0] - frames[1], rate * 1e-3, delta=1)
        # Steady state: the same rate over less time.
        result, later = whole["results"][0], late["results"][0]
        self.assertLess(later["count"], result["count"])
        self.assertEqual(later["bytes"], later["count"] * 65536)
        self.assertAlmostEqual(later["goodput_gbps"], result["goodput_gbps"], delta=1)
        self.assertEqual(later["latency_ns"]["count"], later["count"])
        self.assertTrue(later["data_ok"])
        # Accounts start again.
        for thing, all_of_it in zip(late["occupancy"], whole["occupancy"]):
            self.assertAlmostEqual(all_of_it["cycles"] - thing["cycles"], 1_000_000_000 // thing["cycle_ps"], delta=1000)
            self.assertEqual(sum(thing["histogram"]), thing["cycles"])
            self.assertEqual(sum(thing[f"{k}_cycles"] for k in ("busy", "blocked", "starved", "idle")), thing["cycles"])
        histogram = late["stats"]["b"]["rnic"]["fwcpu"]["commands"]["connect"]
        self.assertEqual(histogram["count"], 0)
        self.assertEqual(late["bottleneck"]["name"], "wire a to b")

    def test_figures_of_the_steady_part(self):
        """Computed from the database and the series of the whole run."""
        warm = 300_000_000
        options = TRACES / "write_bw.json", "--set", "work.writes.count=400", "--warmup", "300us", "--stats-every", "10us"
        stats = self.run_scenario(*options, "--db", "out/run.sqlite")
        with contextlib.closing(sqlite3.connect(self.folder / "out/run.sqlite")) as database:
            # There is a Send before and one after the Writes: the first one starts them, the last one says that all have arrived.
            posted = database.execute("SELECT posted_ps, polled_ps FROM requests WHERE polled_ps NOT NULL AND text LIKE 'a.%' "
                                      "ORDER BY posted_ps").fetchall()
        self.assertEqual(len(posted), 402)
        result, requests = stats["results"][0], [r for r in posted[1:-1] if r[1] >= warm]
        latencies = sorted(polled - posted for posted, polled in requests)
        self.assertGreater(len(latencies), 200)
        self.assertLess(len(latencies), 400)
        self.assertEqual((result["count"], result["bytes"]), (len(latencies), 65536 * len(latencies)))
        self.assertEqual(result["duration_ps"], max(polled for _, polled in requests) - warm)
        self.assertAlmostEqual(result["goodput_gbps"], 8000 * result["bytes"] / result["duration_ps"])
        self.assertEqual(result["latency_ns"]["max"] * 1000, latencies[-1])
        for name, per_mille in ("p50", 500), ("p99", 990):
            self.assertEqual(result["latency_ns"][name] * 1000, latencies[-(-len(latencies) * per_mille // 1000) - 1])
        series = json.loads((self.folder / "out/series.json").read_text())
        times, names = series["time_ps"], [c["name"] for c in series["columns"]]
        rows = [(end - begin, row) for begin, end, row in zip([0, *times], times, series["rows"]) if begin >= warm]
        self.assertEqual(rows[0][0], 10_000_000)

        def total(column):
            return sum(length * row[names.index(column)] for length, row in rows)

        time = total("wire a to b") and sum(length for length, _ in rows)
        for node in "ab":
            chip = stats["stats"][node]["rnic"]
            self.assertAlmostEqual(total(f"{node}.mac_tx.frames") * 1e-12 / chip["mac_tx"]["frames"]["value"], 1, delta=1e-3)
            # The last row ends with the run, but its clocks stop a little later.
            busy, cycles = chip["fwcpu"]["busy_cycles"]["value"], time / 4000
            self.assertAlmostEqual(chip["fwcpu"]["utilization"]["value"], busy / cycles, delta=1e-3)
            self.assertLessEqual(chip["mac_rx"]["buffered_max"]["value"], 1 << 16)
            for thing in stats["occupancy"]:
                if (thing["node"], thing["name"]) == (node, "tx.jobs"):
                    taken = sum(i * thing["bin_width"] * n for i, n in enumerate(thing["histogram"]))
                    self.assertAlmostEqual(total(f"{node}.tx.jobs") / time, taken / thing["cycles"], delta=0.05)
        # Everything is steady until the last Writes.
        steady = [row[names.index("wire a to b")] for _, row in rows[:(requests[-1][1] - warm) // 10_000_000 - 2]]
        self.assertAlmostEqual(sum(steady) / len(steady), 1, delta=0.01)
        self.assertGreater(stats["utilization"]["wire a to b"], 0.99)
        self.assertEqual(stats["bottleneck"]["name"], "wire a to b")

    def test_longer_than_the_run(self):
        run = self.run_program("run", QUICKSTART, "--warmup", "1s")
        self.assertIn("rnicsim: --warmup: the run has ended before, so that no figure is without it\n", run.stderr)
        self.assertEqual(run.returncode, 2)


if __name__ == "__main__":
    unittest.main()
