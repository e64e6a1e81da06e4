"""Files that the program has written and reads back, damaged in every member: the message names file, line and path."""
import contextlib
import copy
import json
import os
import re
import shutil
import sqlite3
import unittest
import zlib

from rnicsim import QUICKSTART, ProgramTest

EVERYTHING = "RNIC_DAMAGE" in os.environ  # each member in each way, which takes minutes; otherwise in one way
HUGE = 123456789.125  # stands for a number outside a double's range, which Python does not write
# The scenario determines the types of these values; a folder may be a name or null.
ANYTHING = (r"^config\.\w+\.", r"assigned\.", r"settings\.", r"axes\[\]\.values", r"axes\[\]\.baseline", r"points\[\]\.folder", r"means\[\]\.(columns|results)")
# Each of these has many members of the same kind.
MANY = {"stats", "config", "utilization", "occupancy"}


def paths_of(value, path=()):
    """Paths of all values within; a list's first and last elements stand for all."""
    if path:
        yield path
    if isinstance(value, dict):
        names = list(value)
        for name in names[:1] if len(path) > 1 and path[0] in MANY and isinstance(value[names[0]], dict) else names:
            yield from paths_of(value[name], (*path, name))
    elif isinstance(value, list):
        for i in sorted({0, len(value) - 1} if value else ()):
            yield from paths_of(value[i], (*path, i))


def text_of(path, index="[{}]"):
    return "".join(index.format(step) if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def other_types(value):
    """Values of other types, and the value itself, nested."""
    return [[1] if isinstance(value, dict) else {"x": 1}, True if isinstance(value, str) else "text", HUGE, [value]]


def changed(value, path, new):
    """A copy with another value at the path, or without the member if `new` is None."""
    root = copy.deepcopy(value)
    at = root
    for step in path[:-1]:
        at = at[step]
    if new is None:
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return root


def dump(value, **how):
    return json.dumps(value, **how).replace(str(HUGE), "1e999")


class ReadBack(ProgramTest):
    def check_damage(self, name, text, command, begin=1):
        """Damages each member of `text`, the JSON in the file from line `begin` on, and runs the command."""
        file = self.folder / name
        whole = file.read_text()
        value = json.loads(text)
        tried = 0
        for path in paths_of(value):
            is_anything = any(re.search(pattern, text_of(path, "[]")) for pattern in ANYTHING)
            at = value
            for step in path:
                at = at[step]
            ways = [None, ..., *other_types(at)]
            if not EVERYTHING:
                ways = [ways[zlib.crc32(text_of(path).encode()) % len(ways)]]
            for new in ways:
                damaged = dump(changed(value, path, "<null>" if new is ... else new), indent=None if begin > 1 else 1)
                damaged = damaged.replace('"<null>"', "null")
                file.write_text(whole.replace(text, damaged) if begin > 1 else damaged)
                run = self.run_program(*command)
                tried += 1
                with self.subTest(file=name, path=text_of(path), new="null" if new is ... else new):
                    self.assertIn(run.returncode, (0, 1, 2), run.stderr)
                    if new is not None and new is not ... and not is_anything or new is HUGE:
                        self.assertEqual(run.returncode, 2, run.stderr)
                    if run.returncode == 2 and new is not None:  # the rest of a list may be no valid command line
                        self.assertRegex(run.stderr, rf"^rnicsim: {re.escape(name)}: line [0-9]+: ")
                        line = int(re.search(r": line ([0-9]+): ", run.stderr)[1])
                        if begin > 1:
                            self.assertEqual(line, begin)
                        if new is not HUGE and not is_anything:
                            begins = text_of(path[:-1] if isinstance(path[-1], int) else path)
                            self.assertIn(f" {begins}", run.stderr)
                    if new is HUGE:
                        self.assertIn("number overflow parsing '1e999'", run.stderr)
        file.write_text(whole)
        self.assertGreater(tried, 20 if EVERYTHING else 3)

    def run_of_everything(self):
        self.run_scenario(self.small_scenario(), "--breakdown", "--stats-every", "10us", "--db", "out/run.sqlite", "--no-capture",
                          "--set", "connections.c0.ord=4")

    def test_the_statistics_of_a_run(self):
        self.run_of_everything()
        for name in ("run.sqlite", "fw_log.txt", "series.json"):
            (self.folder / "out" / name).unlink()
        self.check_damage("out/stats.json", (self.folder / "out/stats.json").read_text(), ("report", "out"))

    def test_the_series_of_a_run(self):
        self.run_of_everything()
        (self.folder / "out/run.sqlite").unlink()
        series = json.loads((self.folder / "out/series.json").read_text())
        series["columns"], series["rows"] = series["columns"][:2], [row[:2] for row in series["rows"]]
        (self.folder / "out/series.json").write_text(json.dumps(series))
        self.check_damage("out/series.json", json.dumps(series), ("report", "out"))
        for change, message in (({"rows": series["rows"][1:]}, "line 1: rows: has 1 elements"),
                                ({"columns": series["columns"][1:]}, r"line 1: rows\[0\]: has 2 elements, 'columns' has 1")):
            short = {**series, "time_ps": series["time_ps"][:2], "rows": series["rows"][:2], **change}
            if "rows" in change:
                short["rows"] = short["rows"][:1]
            (self.folder / "out/series.json").write_text(json.dumps(short))
            report = self.run_program("report", "out")
            self.assertEqual(report.returncode, 2)
            self.assertRegex(report.stderr, f"^rnicsim: out/series.json: {message}")

    def test_the_parts_of_the_latency(self):
        self.run_of_everything()
        file = self.folder / "out/breakdown.tsv"
        lines = file.read_text().splitlines()
        for change in (lambda fields: fields[:3], lambda fields: [*fields, "x"],
                       lambda fields: [*fields[:3], "-5", fields[4]], lambda fields: [*fields[:3], fields[3] + "0", fields[4]],
                       lambda fields: [*fields[:4], fields[4].replace("=", ":", 1)],
                       lambda fields: [*fields[:4], fields[4].replace("=", "=9", 1)],
                       lambda fields: [*fields[:4], fields[4].replace(";", "", 1)]):
            damaged = list(lines)
            damaged[2] = "\t".join(change(lines[2].split("\t")))
            file.write_text("\n".join(damaged) + "\n")
            for option in (("--slowest", "3"), ("--request", lines[1].split("\t")[0])):
                run = self.run_program("explain", "out", *option)
                self.assertEqual(run.returncode, 2, damaged[2])
                self.assertRegex(run.stderr, "^rnicsim: out/breakdown.tsv: line 3: ")
        file.write_text("\n".join(lines[1:]) + "\n")
        self.assertEqual(self.run_program("explain", "out", "--slowest", "1").stderr,
                         "rnicsim: out/breakdown.tsv: line 1: is not the head of a breakdown\n")

    def test_the_database_of_a_run(self):
        self.run_of_everything()
        whole = self.folder / "whole.sqlite"
        shutil.copy(self.folder / "out/run.sqlite", whole)
        with contextlib.closing(sqlite3.connect(whole)) as database:
            request, = database.execute("SELECT text FROM requests WHERE polled_ps IS NOT NULL ORDER BY id LIMIT 1").fetchone()
            columns = [(table, name, of) for table in ("sources", "words", "event", "requests")
                       for _, name, of, *_ in database.execute(f"PRAGMA table_info({table})") if name != "id"]
        for table, column, of in columns:
            for new in ("text", b"octets", 5.5, -1, 2**62):
                shutil.copy(whole, self.folder / "out/run.sqlite")
                with contextlib.closing(sqlite3.connect(self.folder / "out/run.sqlite")) as database:
                    database.execute(f"UPDATE {table} SET {column} = ?", (new,))
                    database.commit()
                for command in (("explain", "out", "--request", request), ("explain", "out", "--slowest", "3"), ("explain", "out", "--why"),
                                ("report", "out")):
                    run = self.run_program(*command)
                    with self.subTest(table=table, column=column, new=new, command=command[0]):
                        self.assertIn(run.returncode, (0, 2), run.stderr)
                        if run.returncode == 2:
                            self.assertRegex(run.stderr, "^rnicsim: out/run.sqlite: ")
                        is_read = command[0] == "report" and column not in ("first_ps", "last_ps", "receive", "source", "words", "qpn", "flow")
                        if of == "INTEGER" and isinstance(new, (str, bytes, float)) and is_read:
                            self.assertEqual(run.returncode, 2, run.stdout)

    def swept(self):
        scenario = json.loads(QUICKSTART.read_text())
        scenario["work"] = [{"name": "writes", "op": "write", "size": 4096, "count": 20}]
        scenario["sweep"] = {"mode": "one_at_a_time", "axes": [{"key": "link.delay_ns", "baseline": 50, "values": [100, 1000]},
                                                               {"key": "seed", "values": [1, 2]}]}
        scenario["checks"] = [{"check": "min_goodput_gbps", "value": 0.1}]
        scenario["columns"] = [{"title": "frames", "value": "frames"}]
        (self.folder / "swept.json").write_text(json.dumps(scenario))
        run = self.run_program("run", "swept.json", "--out", "out", "--keep-points", "none")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_the_summary_of_a_sweep(self):
        self.swept()
        self.check_damage("out/sweep.json", (self.folder / "out/sweep.json").read_text(), ("report", "out"))
        summary = json.loads((self.folder / "out/sweep.json").read_text())
        for path, new, message in ((("knees", 0, "axis"), 7, "knees[0].axis: is 7, and there are 2 axes"),
                                   (("axes", 0, "labels"), [], "axes[0].labels: has 0 elements, 'values' has 2")):
            (self.folder / "out/sweep.json").write_text(json.dumps(changed(summary, path, new)))
            self.assertEqual(self.run_program("report", "out").stderr, f"rnicsim: out/sweep.json: line 1: {message}\n")

    def test_the_records_of_a_sweep(self):
        self.swept()
        file = self.folder / "out/points.jsonl"
        lines = file.read_text().splitlines()
        collect = ("run", "swept.json", "--out", "out", "--collect")
        self.check_damage("out/points.jsonl", lines[1], collect, begin=2)
        record = json.loads(lines[1])
        for code in (256, 128, 4294967296, -1, 0.5, "0", True):
            file.write_text("\n".join([lines[0], json.dumps({**record, "exit_code": code}), *lines[2:]]) + "\n")
            for command in (collect, (*collect[:-1], "--resume")):
                run = self.run_program(*command)
                self.assertEqual((run.returncode, run.stderr),
                                 (2, f"rnicsim: out/points.jsonl: line 2: exit_code: must be an integer from 0 to 127, not {json.dumps(code)}\n"))
        for line in ("garbage", "[]", "7", '{"id": "a"}', "{" * 1000, lines[1] + lines[2], lines[1][:40] + lines[2]):
            file.write_text("\n".join([lines[0], line, *lines[2:]]) + "\n")
            run = self.run_program(*collect[:-1], "--resume")
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertRegex(run.stderr, "^rnicsim: out/points.jsonl: (line 2: |nested more than 64 deep)")

    def test_a_record_that_was_cut_off_is_run_again(self):
        self.swept()
        file = self.folder / "out/points.jsonl"
        lines = file.read_text().splitlines()
        for length in (0, 1, 30, len(lines[1]) // 2, len(lines[1]) - 1):
            file.write_text("\n".join([lines[0], lines[1][:length], *lines[2:]]) + "\n")
            run = self.run_program("run", "swept.json", "--out", "out", "--collect")
            self.assertEqual((run.returncode, run.stderr), (1, "rnicsim: 5 of 6 points are finished\n"))
        run = self.run_program("run", "swept.json", "--out", "out", "--resume", "--keep-points", "none")
        self.assertEqual((run.returncode, run.stdout.splitlines()[0]), (0, "5 of 6 points were finished before"))

    def test_the_task_list_of_a_cluster(self):
        self.swept()
        run = self.run_program("sweep", "submit", "swept.json", "--slurm", "--dry-run", "--resume", "--out", "out", "--keep-points", "none")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.check_damage("out/submit.json", (self.folder / "out/submit.json").read_text(), ("sweep", "collect", "out"))
        self.assertEqual(self.run_program("sweep", "collect", "out").returncode, 0)


if __name__ == "__main__":
    unittest.main()
