"""The program's report of a run, and its messages and files when its input is wrong or the run does not end."""
import json
import os
import re
import unittest

from rnicsim import QUICKSTART, TRACES, ProgramTest


class UsageErrors(ProgramTest):
    def refuse(self, *arguments):
        """The message of a run that must end with exit code 2 and without a new file."""
        before = self.files()
        run = self.run_program("run", *arguments)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertEqual(self.files(), before)
        return run.stderr

    def test_malformed_json(self):
        (self.folder / "bad.json").write_text('{"name": ')
        self.assertRegex(self.refuse("bad.json"), r"^rnicsim: bad\.json: .*line 1, column 10")

    def test_a_folder_as_scenario(self):
        (self.folder / "scenario").mkdir()
        self.assertEqual(self.refuse("scenario"), "rnicsim: scenario: is a folder\n")

    def test_deep_nesting(self):
        for depth in (65, 200_000):
            (self.folder / "deep.json").write_text("[" * depth + "]" * depth)
            self.assertEqual(self.refuse("deep.json"), "rnicsim: deep.json: nested more than 64 deep\n")

    def test_names(self):
        for node in ("../x", "a/b", "a.b", "a\tb", "a\nb", "", "1", "\u00e4"):
            with self.subTest(node):
                scenario = json.loads(QUICKSTART.read_text())
                scenario["nodes"][1]["name"] = node
                (self.folder / "named.json").write_text(json.dumps(scenario))
                self.assertRegex(self.refuse("named.json"), r"^rnicsim: named\.json: nodes\[1\]: (a node's|its) name ")
        for path in (("connections", 0), ("work", 0), ()):
            for name, reason in (("a\tb", "its name has a control character"), ("x" * 65, "its name is longer than 64 octets")):
                with self.subTest(path=path, name=name):
                    scenario = json.loads(QUICKSTART.read_text())
                    of = scenario
                    for key in path:
                        of = of[key]
                    of["name"] = name
                    (self.folder / "named.json").write_text(json.dumps(scenario))
                    self.assertIn(reason, self.refuse("named.json"))

    def test_a_setting_that_is_not_utf8(self):
        for setting, named in ((b"rnic.fwcpu.image=\xff\xfe", "rnic.fwcpu.image"), (b"\xc3=1", "\u2026")):
            self.assertEqual(self.refuse(QUICKSTART, "--set", os.fsdecode(setting)), f"rnicsim: --set {named}: is not UTF-8\n")

    def test_what_a_message_cites_is_cut(self):
        """A value, a key or a name of a megabyte: the message still gives the place and the mistake."""
        long = "x" * (1 << 20)
        whole = json.loads(QUICKSTART.read_text())
        for change, end in (
                ({"work": long}, "must be a list"), ({"name": [long]}, "must be a string"), ({long: 1}, "unknown key"),
                ({"config": {"rnic": {"tcp": {"mtu": long}}}}, "expected an unsigned integer"),
                ({"config": {long: 1}}, "unknown setting"), ({"config": {"sim.run_ahead": [0] * (1 << 18)}}, "expected true or false"),
                ({"config": {"rnic.fwcpu.target": long}}, "expected one of"), ({"nodes": [{"name": long}, {"name": "b"}]}, ""),
                ({"nodes": [{"name": [long]}, {"name": "b"}]}, ""), ({"connections": [{"from": long, "to": "b"}]}, "unknown"),
                ({"work": [{"op": long}]}, "must be one of"), ({"work": [{"op": "send", "size": long, "count": 1}]}, "work[0]"),
                ({"sweep": [{"key": long, "values": [1]}]}, "unknown"),
                ({"sweep": [{"key": "link.delay_ns", "values": [long]}]}, "expected an unsigned integer"),
                ({"sweep": [{"key": "seed", "values": [1]}], "columns": [{"value": long}]}, "has nothing at"),
                ({"checks": [{"check": long}]}, "checks[0]")):
            with self.subTest(str(change)[:60]):
                (self.folder / "long.json").write_text(json.dumps({**whole, **change}))
                message = self.refuse("long.json")
                self.assertLess(len(message), 5000)
                self.assertIn(end, message)
        (self.folder / "long.json").write_text('{"a": ' + "y" * (1 << 20) + "}")
        self.assertLess(len(self.refuse("long.json")), 5000)
        most = "x" * 130_000  # in one word of a command line
        for arguments in (("--set", f"rnic.tcp.mtu={most}"), ("--set", f"{most}=1"), ("--set", most), (f"--{most}",), ("--out", f"out/{most}"),
                          ("--point", most), ("--jobs", most), ("--wave-ring", most, "--wave", "w.fst"), ("--stats-every", most),
                          ("--share", most), ("--keep-points", most), ("--wave", f"out/{most}"), ("--trace", most)):
            with self.subTest(arguments[0][:20]):
                self.assertLess(len(self.refuse(QUICKSTART, *arguments)), 5000)
        self.assertLess(len(self.refuse(most)), 5000)
        for command in ((most,), ("report", most), ("explain", most, "--slowest", "1"), ("decode", most), ("sweep", "collect", most),
                        ("replay", most, "--as", "server"), ("report", "-o", most, "x"), ("vectors", most)):
            run = self.run_program(*command)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertLess(len(run.stderr), 5000)

    def test_unknown_key(self):
        (self.folder / "bad.json").write_text(QUICKSTART.read_text().replace('"depth"', '"deph"', 1))
        self.assertEqual(self.refuse("bad.json"),
                         "rnicsim: bad.json: work[0]: unknown key 'deph'; did you mean 'depth'?\n")

    def test_value_out_of_range(self):
        self.assertRegex(self.refuse(self.small_scenario(port=70000)), r"small\.json: connections\[0\]\.port: ")

    def test_what_the_device_does_not_have(self):
        many = {"work": [{"op": "write", "size": 64, "count": 2}]}
        for keys, settings, message in (
                ({"ord": 16}, ("rnic.fwcpu.max_ord=1",), "connection 'c0': ORD 16 of node 'a' exceeds rnic.fwcpu.max_ord 1"),
                ({"ird": 40}, (), "connection 'c0': IRD 40 of node 'a' exceeds rnic.fwcpu.max_ird 32"),
                ({"qps": 65537}, (), "connections[0].qps: must be an integer from 1 to 65536, not 65537"),
                ({"qps": 300}, (), "the connections of nodes 'a', 'b' have 300 queue pairs: rnic.context.qps is 256, at least 300; rnic.context.cqs is 256, at least 600; "
                 "rnic.tcp.max_flows is 256, at least 300"),
                ({"qps": 9}, ("rnic.context.qps=8",), "the connections of nodes 'a', 'b' have 9 queue pairs: rnic.context.qps is 8, at least 9"),
                ({"qps": 9}, ("rnic.tcp.max_flows=8",), "the connections of nodes 'a', 'b' have 9 queue pairs: rnic.tcp.max_flows is 8, at least 9"),
                ({"qps": 9}, ("rnic.fwcpu.max_connections=8",),
                 "the connections of nodes 'a', 'b' have 9 queue pairs: rnic.fwcpu.max_connections is 8, at least 9")):
            with self.subTest(message):
                scenario = {**json.loads(QUICKSTART.read_text()), **many}
                scenario["connections"][0].update(keys)
                (self.folder / "limits.json").write_text(json.dumps(scenario))
                options = [word for s in settings for word in ("--set", s)]
                self.assertEqual(self.refuse("limits.json", *options), f"rnicsim: limits.json: {message}\n")

    def test_all_settings_to_raise_are_named_at_once(self):
        """With those values the run has what it needs. What both nodes lack alike is said once."""
        scenario = json.loads((TRACES / "write_bw.json").read_text())
        scenario["connections"][0]["qps"] = 600
        scenario["work"] = [{"op": "write", "size": 65536, "count": 10, "depth": 4}, {"op": "send", "size": 64, "count": 40, "depth": 4}]
        scenario["checks"] = [{"check": "data"}]
        (self.folder / "many.json").write_text(json.dumps(scenario))
        small = ("--set", "host.memory.size_mib=64")
        message = self.refuse("many.json", *small)
        of = dict(re.findall(r"node '(.)' have 600 queue pairs: (.*?)(?:; the connections of |\n)", message))
        self.assertEqual(set(of), {"a", "b"}, message)
        wanted = {node: dict(re.findall(r"([a-z.]+[a-z_]+) is \d+, at least (\d+)", text)) for node, text in of.items()}
        for node in "ab":
            self.assertEqual(set(wanted[node]), {"rnic.context.qps", "rnic.context.cqs", "rnic.tcp.max_flows", "rnic.context.stags", "host.memory.size_mib"})
        enough = [word for node in wanted for key, value in wanted[node].items() for word in ("--set", f"nodes.{node}.{key}={value}")]
        for node in "ab":  # rings and the device's queues are beside what is counted
            enough += ["--set", f"nodes.{node}.host.memory.size_mib={int(wanted[node]['host.memory.size_mib']) + 16}"]
        self.run_scenario("many.json", *enough, "--no-capture")
        for node in "ab":
            self.assertIn(f"node '{node}' have 600 queue pairs: rnic.context.stags is ",
                          self.refuse("many.json", *enough, "--set", f"nodes.{node}.rnic.context.stags={int(wanted[node]['rnic.context.stags']) - 1}"))

    def test_the_regions_of_each_kind_of_work_are_counted(self):
        """To the STag: one less is refused before the run, and that many are enough."""
        for op, mode in (("write", "bandwidth"), ("send", "bandwidth"), ("read", "bandwidth"), ("write_imm", "bandwidth"), ("fetch_add", "bandwidth"), ("send", "pingpong"), ("write", "pingpong")):
            for direction in ("forward", "both") if mode == "bandwidth" else ("forward",):
                with self.subTest(op=op, mode=mode, direction=direction):
                    scenario = json.loads((TRACES / "write_bw.json").read_text())
                    size = {} if op == "fetch_add" else {"size": 64}
                    scenario["work"] = [{"op": op, "mode": mode, "direction": direction, **size, "count": count, "depth": 2 if mode == "bandwidth" else 1} for count in (4, 200)]
                    scenario["checks"] = [{"check": "data"}]
                    (self.folder / "work.json").write_text(json.dumps(scenario))
                    for node in "ab":
                        refused = self.refuse("work.json", "--set", f"nodes.{node}.rnic.context.stags=1")
                        wanted = int(re.fullmatch(rf"rnicsim: work.json.*: the connections of node '{node}' have 1 queue pairs: rnic.context.stags is 1, at least (\d+)\n", refused)[1])
                        self.run_scenario("work.json", "--no-capture", "--set", f"nodes.{node}.rnic.context.stags={wanted}")
                        short = self.run_program("run", "work.json", "--no-capture", "--set", f"nodes.{node}.rnic.context.stags={wanted - 1}")
                        self.assertEqual(short.returncode, 2)

    def test_unknown_setting(self):
        self.assertEqual(self.refuse(QUICKSTART, "--set", "sim.sed=3"),
                         "rnicsim: sim.sed (command line): unknown setting; the nearest is sim.seed\n")

    def test_settings_with_bad_values(self):
        for setting, reason in [("sim.seed=x", "unsigned integer"), ("rnic.datapath.beat_bytes=0", "16"),
                                ("rnic.datapath.beat_bytes=48", "power of two"), ("link.delay_ns=0", "1")]:
            with self.subTest(setting):
                message = self.refuse(QUICKSTART, "--set", setting)
                self.assertTrue(message.startswith(f"rnicsim: {setting.split('=')[0]} "), message)
                self.assertIn(reason, message)

    def test_setting_without_value(self):
        self.assertEqual(self.refuse(QUICKSTART, "--set", "sim.seed"),
                         "rnicsim: --set sim.seed: expected key=value\n")

    def test_missing_file(self):
        self.assertEqual(self.refuse("none.json"), "rnicsim: none.json: cannot be read\n")

    def test_folder_that_cannot_be_made(self):
        (self.folder / "file").write_text("")
        self.assertEqual(self.refuse(QUICKSTART, "--out", "file/out"), "rnicsim: file/out: Not a directory\n")

    def test_unknown_wave_scope(self):
        self.assertEqual(self.refuse(QUICKSTART, "--wave", "w.fst", "--wave-scope", "rnic_a.tz"),
                         "rnicsim: --wave-scope rnic_a.tz: unknown scope; the nearest is rnic_a.tx\n")

    def test_wave_files_that_cannot_be_made(self):
        self.assertIn("w.wav: ", self.refuse(QUICKSTART, "--wave", "w.wav"))
        self.assertIn("none/w.fst: ", self.refuse(QUICKSTART, "--wave", "none/w.fst"))
        self.refuse(QUICKSTART, "--wave", "none/w.fst", "--out", "a/b/c")
        self.assertEqual(list(self.folder.iterdir()), [])  # no folder, either

    def test_wave_window(self):
        self.assertIn("ends before it begins",
                      self.refuse(QUICKSTART, "--wave", "w.fst", "--wave-from", "2us", "--wave-to", "1us"))
        for time in "2 hours", "5000", "1.5", "us":
            self.assertIn(f"--wave-from: '{time}' is not a time with its unit", self.refuse(QUICKSTART, "--wave", "w.fst", "--wave-from", time))

    def test_an_external_peer_would_not_wait_for_a_debugger(self):
        self.assertEqual(self.refuse(TRACES / "interop/rping_server.json", "--gdb", "0"),
                         "rnicsim: --gdb does not go with an external peer\n")

    def test_an_external_peer_that_cannot_be_reached(self):
        self.assertEqual(self.refuse(TRACES / "interop/rping_server.json", "--trace", "t.tsv"),
                         "rnicsim: external.time_path: with owned time the guest's clock needs a socket\n")

    def test_options_are_not_abbreviated(self):
        for command, typed, nearest in [("run", "--wav", "--wave"), ("config", "--dum", "--dump"),
                                        ("decode", "--jso", "--json"), ("decode", "--ignore", "--ignore-checksums"),
                                        ("run", "--outt=x", "--out")]:
            with self.subTest(command):
                run = self.run_program(command, typed)
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertIn(f"unknown option '{typed.split('=')[0]}'; the nearest is '{nearest}'\n", run.stderr)


class Utilization(ProgramTest):
    def test_set_up_does_not_count(self):
        """A short work item keeps the wire as busy as a long one."""
        shares = []
        for count in (40, 400):
            scenario = {**json.loads(QUICKSTART.read_text()), "work": [{"op": "write", "size": 65536, "count": count}]}
            (self.folder / "work.json").write_text(json.dumps(scenario))
            shares.append(self.run_scenario("work.json", "--no-capture")["utilization"]["wire a to b"])
        self.assertGreater(shares[0], 0.95)
        self.assertAlmostEqual(shares[0], shares[1], delta=0.03)


class Terminates(ProgramTest):
    def test_the_cause_is_in_the_report(self):
        scenario = json.loads(QUICKSTART.read_text())
        scenario["link"] = {"forward": {"corrupt_repaired": {"frames": "40"}}}
        (self.folder / "corrupt.json").write_text(json.dumps(scenario))
        run = self.run_program("run", "corrupt.json", "--out", "out", "--no-capture")
        self.assertEqual(run.returncode, 1, run.stderr)
        errors = json.loads((self.folder / "out/stats.json").read_text())["errors"]
        self.assertEqual(run.stderr, "".join(f"rnicsim: {e}\n" for e in errors))
        self.assertTrue(any("Terminate 2/0/02" in e for e in errors), errors)
        text = (self.folder / "out/stats.txt").read_text()
        for error in errors:
            self.assertIn(f"\nerror: {error}\n", text)


class RunsThatDoNotEnd(ProgramTest):
    def test_time_limit_says_who_waits_for_whom(self):
        run = self.run_program("run", QUICKSTART, "--set", "sim.max_time_us=100", "--out", "out")
        self.assertEqual(run.returncode, 3, run.stderr)
        first, *waiting = run.stderr.splitlines()
        self.assertEqual(first, "rnicsim: time limit reached at 100.000 us; waiting programs and stages:")
        self.assertTrue(any(line.startswith("c0 connecting: sends on c0: completion of message") for line in waiting))
        self.assertTrue(any(line.startswith("a.rnic_a.") and " waits for " in line for line in waiting))
        stats = json.loads((self.folder / "out/stats.json").read_text())
        self.assertEqual(stats["end"], "time limit")
        self.assertEqual(stats["sim_time_ps"], 100_000_000)


if __name__ == "__main__":
    unittest.main()
