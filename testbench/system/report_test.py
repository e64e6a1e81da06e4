"""rnicsim report: the page as the program writes it, without a browser."""
import contextlib
import json
import re
import sqlite3
import unittest

from report_folders import ReportTest, data_of, rows_of
from rnicsim import QUICKSTART, ROOT, TRACES
from sctp_scenarios_test import over_sctp


class Report(ReportTest):
    def page(self, *folders):
        report = self.report(*folders)
        self.assertEqual(report.returncode, 0, report.stderr)
        return (self.folder / "report.html").read_text()

    def refused(self, *folders):
        (self.folder / "report.html").unlink(missing_ok=True)
        report = self.report(*folders)
        self.assertEqual(report.returncode, 2, report.stdout)
        self.assertFalse((self.folder / "report.html").exists())
        return report.stderr

    def test_a_page_needs_nothing_else(self):
        self.small_run("out")
        page = self.page("out")
        outside = re.findall(r'(?:src|href)="(?!#|data:,")[^"]*"', page)
        self.assertEqual(outside, [])
        self.assertEqual(re.findall(r"@import|url\((?!#|data:)", page), [])
        self.assertTrue("Copyright (c) 2022 Leon Sorokin" in page)
        self.assertTrue("default-src 'none'" in page)

    def test_data_are_those_of_the_folder(self):
        stats = self.small_run("out")
        data = data_of(self.page("out"))
        run, = data["runs"]
        self.assertEqual(run["name"], "out")
        self.assertEqual(run["stats"]["digest"], stats["digest"])
        self.assertEqual([r["name"] for r in run["stats"]["results"]], ["sends", "writes", "reads"])
        self.assertEqual(run["stats"]["config"]["a"]["rnic"]["tcp"]["seed"], str(stats["config"]["a"]["rnic"]["tcp"]["seed"]),
                         "a number that a script cannot hold is text")
        default = {s["key"]: s["default"] for s in data["settings"]}
        self.assertEqual(default["rnic.datapath.beat_bytes"], 64)
        self.assertNotIn("series", run)

    def test_the_diagram_has_the_blocks_of_the_readme(self):
        readme = (ROOT / "README.md").read_text().split("## What is modelled")[1].split("```")[1]
        script = (ROOT / "model/report/page/diagram.js").read_text()
        blocks = set(re.findall(r'^  \["(\w+)", \d, \d, ', script, re.M))
        chip = set(re.findall(r"\b[a-z]+_[a-z_]+\b", readme)) | {"irrq", "fwcpu"}
        # From the PCIe block the page shows links, tags and credits; the other two only join messages.
        self.assertEqual(chip - blocks, {"dma_read", "dma_write", "qp_events", "stream_errors"})
        self.assertEqual(blocks - chip, set())
        arrows = re.findall(r'\["(\w+)", "(\w+)"\]', script.split("kArrows")[1].split("];")[0])
        self.assertTrue({name for arrow in arrows for name in arrow} <= blocks)

    def test_text_of_a_run_is_no_markup(self):
        stats = self.small_run("out")
        stats["scenario"] = "</script><script>alert(1)</script><!--"
        self.write("out/stats.json", stats)
        page = self.page("out")
        self.assertFalse("<script>alert" in page)
        self.assertEqual(data_of(page)["runs"][0]["stats"]["scenario"], stats["scenario"])

    def test_retransmissions_are_those_that_tcp_counts(self):
        stats = self.small_run("out", "--set", "link.forward.loss.frames=100,200,201")
        connection, = data_of(self.page("out"))["runs"][0]["sequences"]["connections"]
        there, back = connection["directions"]
        for node, direction, lost in (("a", there, 3), ("b", back, 0)):
            tx = {name: record["value"] for name, record in stats["stats"][node]["rnic"]["tcp_tx"].items()}
            self.assertEqual(direction["retransmissions"], tx["retransmissions"])
            self.assertEqual(direction["segments"], tx["segments"] - tx["pure_acks"] - 2 - lost, "all but SYN, FIN and what was lost")
            self.assertEqual(sum(line[4] for line in rows_of(direction["data"])), direction["retransmissions"])
            times = [line[0] for line in rows_of(direction["data"])]
            self.assertEqual(times, sorted(times))
            self.assertLessEqual(max(times), stats["sim_time_ps"] / 1000)
        self.assertGreaterEqual(there["retransmissions"], 3)

    def test_retransmissions_are_those_that_sctp_counts(self):
        file = self.folder / self.small_scenario()
        file.write_text(json.dumps(over_sctp(json.loads(file.read_text()))))
        stats = self.run_scenario(file.name, "--set", "link.forward.loss.frames=100,200,201")
        connection, = data_of(self.page("out"))["runs"][0]["sequences"]["connections"]
        there, back = connection["directions"]
        self.assertEqual((there["unit"], back["unit"]), ("TSN", "TSN"))
        for node, direction in ("a", there), ("b", back):
            tx = {name: record["value"] for name, record in stats["stats"][node]["rnic"]["sctp_tx"].items()}
            engine = {name: record["value"] for name, record in stats["stats"][node]["rnic"]["sctp_association"].items() if "value" in record}
            self.assertEqual(direction["retransmissions"], tx["retransmissions"])
            last = rows_of(direction["acks"])[-1]
            self.assertEqual((last[1], len(last)), (engine["messages"], 2), "each message is one chunk, and acknowledged")
            self.assertEqual(max(line[3] for line in rows_of(direction["data"])), engine["messages"])
        self.assertGreaterEqual(there["retransmissions"], 3)

    def test_distribution_of_the_latency(self):
        self.small_run("out")
        for result in data_of(self.page("out"))["runs"][0]["stats"]["results"]:
            share, ns = result["latency_cdf"]["share"], result["latency_cdf"]["ns"]
            self.assertEqual(ns, sorted(ns))
            at = dict(zip(share, ns))
            self.assertEqual((at[0.5], at[0.99], at[0.999], at[1]),
                             tuple(result["latency_ns"][p] for p in ("p50", "p99", "p99.9", "max")))

    def test_several_runs(self):
        self.small_run("one/out")
        self.small_run("two/out", "--set", "rnic.tcp.mtu=9000")
        self.small_run("three")
        self.assertEqual([r["name"] for r in data_of(self.page("one/out", "three"))["runs"]], ["out", "three"])
        self.assertEqual([r["name"] for r in data_of(self.page("one/out", "two/out/"))["runs"]], ["one/out", "two/out/"])

    def test_a_sweep(self):
        self.small_sweep("swept")
        sweep = data_of(self.page("swept"))["sweep"]
        self.assertEqual(len(sweep["points"]), 6)
        goodput = sweep["measures"].index("writes: goodput Gb/s")
        for n, point in enumerate(sweep["points"]):
            stats = json.loads((self.folder / f"swept/{n}/stats.json").read_text())
            self.assertEqual(point["values"][goodput], stats["results"][0]["goodput_gbps"])
        self.small_run("swept")
        self.assertIn("runs", data_of(self.page("swept")), "the newer of the two")

    def test_requests_of_a_database(self):
        stats = self.small_run("out", "--db", "out/run.sqlite")
        with contextlib.closing(sqlite3.connect(self.folder / "out/run.sqlite")) as database:
            text, events = database.execute("SELECT text, events FROM requests ORDER BY events LIMIT 1").fetchone()
        report = self.report("out", "--request", text)
        self.assertEqual(report.returncode, 0, report.stderr)
        run, = data_of((self.folder / "report.html").read_text())["runs"]
        self.assertEqual(run["requests"][0]["id"], text)
        self.assertEqual(len(run["requests"][0]["events"]), events)
        self.assertIn("the slowest", [r["why"] for r in run["requests"]])
        self.assertEqual(len(run["commands"]), sum(record["count"] for n in "ab" for record in
                                                   stats["stats"][n]["rnic"]["fwcpu"]["commands"].values()))
        self.assertIn("has no request 'a.9.9'", self.refused("out", "--request", "a.9.9"))
        self.assertIn("--request: the page of a single run", self.refused("out", "out", "--request", text))
        (self.folder / "out/run.sqlite").unlink()
        self.assertIn("--request: there is no out/run.sqlite", self.refused("out", "--request", text))
        (self.folder / "out/run.sqlite").write_text("no database")
        self.assertIn("out/run.sqlite: ", self.refused("out"))

    def test_a_long_request_shows_some_of_its_fpdus(self):
        """Of 46 FPDUs of a Write, those that the cable lost, the first ones and the last one."""
        self.write("long.json", {"name": "long", "nodes": [{"name": "a"}, {"name": "b"}], "connections": [{"name": "c0", "from": "a", "to": "b"}],
                                 "work": [{"name": "writes", "op": "write", "size": 65536, "count": 1}]})
        self.run_scenario("long.json", "--set", "link.forward.loss.frames=30", "--db", "out/run.sqlite")
        request = data_of(self.page("out"))["runs"][0]["requests"][0]
        self.assertEqual((request["parts"], request["drawn_parts"]), (46, 12))
        parts = {e["part"] for e in request["events"] if "part" in e}
        lost, = {e["part"] for e in request["events"] if e["kind"] == "lost"}
        self.assertEqual(parts, {*range(10), lost, 45})
        kinds = [e["kind"] for e in request["events"] if e.get("part") == lost]
        self.assertEqual((kinds.count("frame_sent"), kinds.count("retransmitted"), kinds.count("frame_received")), (1, 1, 1), "each of the two frames has one event")
        self.assertEqual(len(request["events"]) + sum(e.get("left_out", 0) for e in request["events"]), request["all"])

    def test_causes_are_those_of_explain(self):
        self.small_run("out", "--set", "link.forward.loss.every=100", "--db", "out/run.sqlite")
        why = data_of(self.page("out"))["runs"][0]["why"]
        told = self.run_program("explain", "out", "--why", "--json")
        self.assertEqual(told.returncode, 0, told.stderr)
        objects = [json.loads(line) for line in told.stdout.splitlines()]
        all_ = [o for o in objects if "symptom" in o]
        self.assertEqual([why["cable"]], [o["cable"] for o in objects if "cable" in o])
        self.assertGreater(len(all_), 8)
        self.assertEqual(len(why["answers"]), 8)
        self.assertEqual([a for a in all_ if a in why["answers"]], why["answers"], "some of them, in their order")
        kinds = [a["symptom"]["kind"] for a in all_]
        self.assertEqual({kind: kinds.count(kind) for kind in kinds},
                         {kind: count + [a["symptom"]["kind"] for a in why["answers"]].count(kind) for kind, count in why["left_out"].items()})
        self.assertEqual({kind for kind in kinds if kind != "resent"}, {kind for kind, count in why["left_out"].items() if count == 0}, "one of many hides none of the others")
        self.small_run("other", "--db", "other/run.sqlite")
        self.assertEqual(set(data_of(self.page("out", "other"))["runs"][0]), {"name", "folder", "stats"}, "the page of several runs has no cards, requests or graphs")

    def test_a_read_and_its_response_have_fpdus_of_their_own(self):
        self.write("read.json", {"name": "read", "nodes": [{"name": "a"}, {"name": "b"}], "connections": [{"name": "c0", "from": "a", "to": "b"}],
                                 "work": [{"name": "reads", "op": "read", "size": 2000, "count": 1}]})
        self.run_scenario("read.json", "--db", "out/run.sqlite")
        request = data_of(self.page("out"))["runs"][0]["requests"][0]
        self.assertEqual(request["parts"], 3)
        ends = [{(e["node"], e["kind"]) for e in request["events"] if e.get("part") == part} for part in range(3)]
        for part, (sender, receiver) in enumerate(("ab", "ba", "ba")):
            self.assertLessEqual({(sender, "segmented"), (sender, "frame_sent"), (receiver, "frame_received"), (receiver, "crc_checked")}, ends[part])
            self.assertNotIn((receiver, "segmented"), ends[part])

    def test_series_by_column(self):
        self.small_run("out")
        rows = [[i / 3, 7, None if i < 100 else 1000.26] for i in range(1000)]
        self.write("out/series.json", {"interval_ps": 10, "time_ps": list(range(1000)), "rows": rows,
                                       "columns": [{"name": name, "unit": "Gb/s", "kind": "rate"} for name in "xyz"]})
        series = data_of(self.page("out"))["runs"][0]["series"]
        self.assertEqual((series["rows"], series["every"], len(series["time_ps"]), series["time_ps"][-1]), (1000, 3, 334, 999))
        x, y, z = (column["values"] for column in series["columns"])
        self.assertEqual((x[0], x[1], x[-1]), (0.3333, 1.333, 333), "means of three, the last of one, with four digits")
        self.assertEqual(y, 7, "what never changes is one number")
        self.assertEqual((z[0], z[32], z[-1]), (None, None, 1000))

    def test_a_page_of_10_000_requests_is_small(self):
        scenario = json.loads(QUICKSTART.read_text())
        size = {"law": "log_uniform", "min": 1, "max": 65536}
        scenario["work"] = [{"name": f"{op}s", "op": op, "size": size, "count": 5000, "depth": 16} for op in ("write", "send")]
        self.write("many.json", scenario)
        everything = ("--set", "rnic.fwcpu.log_level=4", "--stats-every", "10us", "--breakdown", "--db", "out/run.sqlite")
        for scenario, *options in ("many.json", "--set", "link.forward.loss.ppm=200"), (TRACES / "atomics.json",):
            with self.subTest(scenario):
                self.run_scenario(scenario, *options, *everything)
                self.assertLessEqual(len(self.page("out").encode()), 400_000)

    def test_mistakes(self):
        self.assertIn("which folder?", self.refused())
        self.assertIn("none: no folder of that name", self.refused("none"))
        (self.folder / "empty").mkdir()
        self.assertIn("empty: neither stats.json of a run nor sweep.json of a sweep", self.refused("empty"))
        self.write("empty/stats.json", [])
        self.assertIn("empty/stats.json: line 1: must be an object, not []", self.refused("empty"))
        (self.folder / "empty/stats.json").write_text('{"a": ')
        self.assertIn("empty/stats.json:", self.refused("empty"))
        self.small_run("out")
        self.write("out/series.json", {"columns": [], "time_ps": [1], "rows": []})
        self.assertIn("out/series.json: line 1: rows: has 0 elements, 'time_ps' has 1", self.refused("out"))
        self.write("swept/sweep.json", {"points": []})
        self.write("out/series.json", {"columns": [], "time_ps": [], "rows": []})
        self.assertIn("swept: a sweep has a report of its own", self.refused("out", "swept"))

    def test_a_page_that_cannot_be_written(self):
        self.small_run("out")
        report = self.run_program("report", "out", "-o", "no/such/folder/r.html")
        self.assertNotEqual(report.returncode, 0)
        self.assertIn("no/such/folder/r.html", report.stderr)


if __name__ == "__main__":
    unittest.main()
