"""Errors on demand: traces/errors has each Terminate that a peer can be made to send."""
import json
import re
import unittest

from rnicsim import ROOT, TRACES, ProgramTest

SCENARIOS = sorted((TRACES / "errors").glob("*.json"))
LAYERS = {"kRdma": 0, "kDdp": 1, "kLlp": 2}
# No scenario causes these: our chips do not send them, or only when their own firmware fails during a setup.
UNREACHABLE = {"0/1/ff", "0/2/08", "2/0/05"}
WRITES = {"nodes": [{"name": "a"}, {"name": "b"}], "connections": [{"from": "a", "to": "b"}],
          "work": [{"op": "write", "size": 4096, "count": 10}]}


def defined_codes():
    """The documents' codes in model/wire/terminate.h."""
    text = (ROOT / "model/wire/terminate.h").read_text()
    types = {k: int(v) for line in re.findall(r"constexpr std::uint8_t (k\w+Type = [^;]*);", text)
             for k, v in re.findall(r"(k\w+Type) = (\d)", line)}
    types_of = {}
    layer = None
    codes = set()
    for line in text.splitlines():
        if match := re.match(r"namespace (\w+) \{", line):
            layer = match[1]
        types_of.setdefault(layer, {}).update(
            {k: int(v) for k, v in re.findall(r"(k\w+Type) = (\d)", line)})
        if match := re.search(r"TerminateCause k\w+\{Layer::(\w+), (k\w+Type), (0x\w\w)\}", line):
            codes.add(f"{LAYERS[match[1]]}/{types_of[layer][match[2]]}/{int(match[3], 16):02x}")
    assert types and len(codes) > 25, codes
    return codes


def check_of(scenario):
    return json.loads(scenario.read_text())["checks"][0]


class Inject(ProgramTest):
    def run_with(self, *options, **keys):
        """A scenario of 10 Writes of 4096 octets, with other keys."""
        (self.folder / "s.json").write_text(json.dumps({"name": "s", **WRITES, **keys}))
        return self.run_program("run", "s.json", *options)

    def stats(self):
        return json.loads((self.folder / "out/stats.json").read_text())

    def wrong(self, **keys):
        """The error message for an invalid scenario."""
        run = self.run_with(**keys)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        return run.stderr

    def terminates(self):
        """The capture's Terminates: sending node and code."""
        found = json.loads(self.run_program("decode", "out/wire.pcapng", "--json").stdout)
        return [("ab"[n], f"{t['layer']}/{t['etype']}/{t['code']:02x}") for c in found["connections"]
                for n, d in enumerate(c["directions"]) for t in d["terminates"]]


class Scenarios(Inject):
    def test_each_reachable_code_has_one(self):
        covered = [check_of(s)["code"] for s in SCENARIOS]
        self.assertEqual(len(covered), len(set(covered)))
        self.assertEqual(set(covered), defined_codes() - UNREACHABLE)

    def test_they_are_short(self):
        for scenario in SCENARIOS:
            self.assertLessEqual(len(scenario.read_text().splitlines()), 20, scenario)

    def test_both_sides_see_it_and_so_does_the_wire(self):
        for scenario in SCENARIOS:
            with self.subTest(scenario.stem):
                self.run_scenario(scenario)
                check = check_of(scenario)
                sent = [(check["sender"], check["code"])] if check.get("told", True) else []
                self.assertEqual(self.terminates(), sent)

    def test_without_its_cause_there_is_none(self):
        """The checks can fail: runs each scenario without its injection."""
        for scenario in SCENARIOS:
            with self.subTest(scenario.stem):
                keys = json.loads(scenario.read_text())
                if keys.pop("inject", None) is None:
                    continue
                (self.folder / "s.json").write_text(json.dumps(keys))
                run = self.run_program("run", "s.json")
                self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
                self.assertIn("its connection has not ended", run.stdout)
                self.assertEqual(self.stats()["end"], "done")

    def test_another_code_is_not_the_one(self):
        for scenario in SCENARIOS:
            other = "1/1/01" if check_of(scenario)["code"] == "1/1/00" else "1/1/00"
            run = self.run_program("run", scenario, "--set", f"checks.terminate {check_of(scenario)['code']} on c0.code={other}")
            self.assertEqual((scenario.stem, run.returncode), (scenario.stem, 1))


STAG = {"sender": "a", "message": "write", "number": 3, "field": "stag", "add": 1}
TERMINATED = {"check": "terminate", "sender": "b", "code": "1/1/00"}


class OnTheWay(Inject):
    def test_what_is_not_changed_passes_as_it_is(self):
        """An injection that leaves its field as it was changes no octet and no picosecond."""
        self.assertEqual(self.run_with().returncode, 0)
        plain, frames = self.stats(), (self.folder / "out/wire.pcapng").read_bytes()
        for message, field in (("mpa_request", "ird"), ("send", "msn"), ("write", "stag"), ("write", "crc")):
            with self.subTest(message=message, field=field):
                run = self.run_with(inject=[{"sender": "a", "message": message, "field": field, "add": 0}])
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(self.stats()["digest"], plain["digest"])
                self.assertEqual((self.folder / "out/wire.pcapng").read_bytes(), frames)

    def test_a_segment_that_is_sent_again_is_changed_again(self):
        lost = 0
        for frame in range(8, 16):
            link = {"forward": {"loss": {"frames": str(frame)}}}
            run = self.run_with(inject=[STAG], link=link, checks=[TERMINATED])
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertEqual(self.stats()["stats"]["link"]["forward"]["lost"]["value"], 1)
            tcp = self.stats()["stats"]["a"]["rnic"]["tcp_tx"]
            lost += any(c["value"] for name, c in tcp.items() if "retransmi" in name)
        self.assertGreater(lost, 0)

    def test_small_segments(self):
        run = self.run_with("--set", "rnic.tcp.mtu=576", inject=[STAG], checks=[TERMINATED])
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_without_markers(self):
        for scenario in SCENARIOS:
            if scenario.stem == "mpa_marker":
                continue
            with self.subTest(scenario.stem):
                run = self.run_program("run", scenario, "--set", "connections.c0.markers=false")
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_other_connections_go_on(self):
        run = self.run_with(
            connections=[{"name": "bad", "from": "a", "to": "b", "qps": 2}, {"name": "good", "from": "b", "to": "a"}],
            work=[{"name": "w", "op": "write", "size": 4096, "count": 10, "connections": "bad"},
                  [{"name": "x", "op": "send", "size": 900, "count": 500, "connections": "good"},
                   {"name": "y", "op": "read", "size": 900, "count": 500, "connections": "good"}]],
            inject=[{"connection": "bad", "qp": 1, **STAG}],
            checks=[{"connection": "bad", "qp": 1, **TERMINATED}, {"check": "data", "work": "x"},
                    {"check": "data", "work": "y"}])
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, r"(?m)^w .* cut off$")
        self.assertEqual([r["data_ok"] for r in self.stats()["results"]], [False, True, True])
        self.assertEqual([c["name"] for c in self.stats()["checks"]][0], "terminate 1/1/00 on bad[1]")

    def test_an_end_that_nobody_expects_fails_the_run(self):
        run = self.run_with(inject=[STAG])
        self.assertEqual(run.returncode, 1)
        self.assertIn("sent Terminate 1/1/00", run.stderr)

    def test_wrong_payload_is_no_end(self):
        """A connection that may end does not hide octets that differ."""
        octet = {"sender": "a", "message": "send", "number": 3, "octet": 30, "add": 1}
        run = self.run_with(work=[{"op": "send", "size": 64, "count": 10}], inject=[octet], checks=[TERMINATED])
        self.assertEqual(run.returncode, 1)
        self.assertIn("message 2 of 64 octets differs first at octet 12", run.stderr)

    def test_a_message_that_is_not_sent(self):
        run = self.run_with(inject=[{**STAG, "number": 10}, {**STAG, "name": "far", "segment": 3}])
        self.assertEqual(run.returncode, 1)
        self.assertIn("inject0: its message was not sent\n", run.stderr)
        self.assertIn("far: its message was not sent\n", run.stderr)
        self.assertEqual(self.stats()["end"], "failed")

    def test_an_octet_that_the_message_does_not_have(self):
        run = self.run_with(inject=[{"sender": "a", "message": "write", "octet": 5000, "add": 1}])
        self.assertEqual(run.returncode, 1)
        self.assertIn("inject0: the message has fewer octets\n", run.stderr)

    def test_the_second_of_two_changes(self):
        """Two changes to one message: a Send becomes a Send with Invalidate of a chosen STag."""
        both = [{"sender": "a", "message": "send", "number": 3, "field": "opcode", "value": 4},
                {"sender": "a", "message": "send", "number": 3, "field": "invalidate_stag", "value": "0xffffff00"}]
        run = self.run_with(work=[{"op": "send", "size": 64, "count": 10}], inject=both,
                            checks=[{**TERMINATED, "code": "0/2/09"}])
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_swept(self):
        run = self.run_with(inject=[{**STAG, "name": "i"}], checks=[TERMINATED],
                            sweep=[{"key": "inject.i.number", "values": [0, 5, 9]}],
                            columns=[{"title": "done", "value": "results.0.count"}])
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


class Mistakes(Inject):
    def test_names(self):
        def one(**keys):
            return self.wrong(inject=[{**STAG, **keys}])
        self.assertIn("inject[0].field: unknown field of write 'stak'; did you mean 'stag'?", one(field="stak"))
        self.assertIn("inject[0].message: must be one of mpa_request, ", one(message="wirte"))
        self.assertIn("inject[0].sender: unknown node 'c'", one(sender="c"))
        self.assertIn("inject[0].connection: unknown connection 'd0'; did you mean 'c0'?", one(connection="d0"))
        self.assertIn("inject[0]: unknown key 'feild'; did you mean 'field'?", one(feild="stag"))
        self.assertIn("inject[0].qp: must be an integer from 0 to 0", one(qp=1))
        self.assertIn("inject[0]: needs either 'value' or 'add'", one(value=3))
        self.assertIn("inject[0]: needs one of 'field', 'octet' and 'close_after'", one(octet=3))

    def test_values(self):
        def value(v, field="ddp_version"):
            return self.wrong(inject=[{"sender": "a", "message": "write", "field": field, "value": v}])
        self.assertIn("inject[0].value: must be an integer from 0 to 3, not 4", value(4))
        self.assertIn("inject[0].value: must be a number from 0 to 0x3, not \"0x4\"", value("0x4"))
        self.assertIn("inject[0].value: must be a number from 0 to 0xffffffff, not \"0x10z\"", value("0x10z", "stag"))
        self.assertIn("inject[0].value: must be a number from 0 to 0xffffffff, not \"-1\"", value("-1", "stag"))

    def test_who_sends_a_startup_frame(self):
        frame = {"sender": "a", "message": "mpa_reply", "field": "ird", "value": 1}
        self.assertIn("inject[0].message: is not sent by 'a'", self.wrong(inject=[frame]))
        frame["message"] = "mpa_request"
        self.assertIn("inject[0].number: is not for a startup frame", self.wrong(inject=[{**frame, "number": 0}]))

    def test_requests(self):
        def one(**keys):
            return self.wrong(inject=[{"work": "write0", "request": 3, **keys}])
        self.assertIn("inject[0]: needs one of 'right', 'length', 'lkey' and 'posted'", one())
        self.assertIn("inject[0].right: must be one of none, remote_read, remote_write, other_domain, ended", one(right="write"))
        self.assertIn("inject[0].request: must be an integer from 0 to 9", one(request=10, length=1))
        self.assertIn("inject[0]: needs either 'request' or 'receive'", one(receive=1, length=1))
        self.assertIn("inject[0].posted: is for a receive", one(posted=False))
        receive = {"work": [{"op": "send", "size": 64, "count": 10}], "inject": [{"work": "send0", "receive": 3, "posted": True}]}
        self.assertIn("inject[0].posted: must be false", self.wrong(**receive))
        self.assertIn("inject[0].work: unknown work 'w'; did you mean 'write0'?", one(work="w", length=1))

    def test_checks(self):
        def one(**keys):
            return self.wrong(checks=[{**TERMINATED, **keys}])
        self.assertIn("checks[0].code: '1/1/09' is no code that a document defines, such as 1/1/00", one(code="1/1/09"))
        self.assertIn("checks[0].code: '1/1' is no code", one(code="1/1"))
        self.assertIn("checks[0].value: is not for check 'terminate'", one(value=1))
        self.assertIn("checks[0].sender: is for check 'terminate'", one(check="data"))

    def test_not_with_an_external_peer(self):
        keys = {"nodes": [{"name": "a"}, {"name": "b", "peer": "external"}], "programs": [], "inject": []}
        (self.folder / "s.json").write_text(json.dumps({"name": "s", **keys}))
        run = self.run_program("run", "s.json")
        self.assertEqual(run.returncode, 2)
        self.assertIn("inject", run.stderr)


if __name__ == "__main__":
    unittest.main()
