"""The trace for Perfetto, as Google's protoc reads it."""
import collections
import csv
import pathlib
import re
import subprocess
import unittest

from rnicsim import ProgramTest

FORMAT = pathlib.Path(__file__).parent / "perfetto.proto"


def tree(text):
    """protoc's output as {name: [values]}; a field unknown to the format appears with its number."""
    stack = [collections.defaultdict(list)]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            stack[-1][line[:-2]].append(collections.defaultdict(list))
            stack.append(stack[-1][line[:-2]][-1])
        elif line == "}":
            stack.pop()
        else:
            name, value = line.split(": ", 1)
            stack[-1][name].append(value.strip('"'))
    return stack[0]


class Perfetto(ProgramTest):
    def setUp(self):
        super().setUp()
        self.stats = self.run_scenario(self.small_scenario(), "--perfetto", "out/run.pftrace", "--trace", "log.tsv")
        with open(self.folder / "out/run.pftrace", "rb") as trace:
            run = subprocess.run(["protoc", f"-I{FORMAT.parent}", "--decode=Trace", FORMAT], stdin=trace, capture_output=True,
                                 text=True, check=True)
        self.assertNotRegex(run.stdout, re.compile(r"^\s*\d+[:{ ]", re.MULTILINE))  # a field unknown to the format
        self.packets = tree(run.stdout)["packet"]
        names = self.packets[0]["interned_data"][0]
        self.kinds = {n["iid"][0]: n["name"][0] for n in names["event_names"]}
        self.annotations = {n["iid"][0]: n["name"][0] for n in names["debug_annotation_names"]}
        self.tracks = {t["uuid"][0]: t for p in self.packets for t in p["track_descriptor"]}
        with open(self.folder / "log.tsv", newline="", encoding="utf-8") as log:
            self.log = list(csv.DictReader(log, delimiter="\t", quoting=csv.QUOTE_NONE))

    def of_type(self, *types):
        return [(int(p["timestamp"][0]), e) for p in self.packets for e in p["track_event"] if e["type"][0] in types]

    def track(self, event):
        """Node and name of the event's track."""
        track = self.tracks[event["track_uuid"][0]]
        return self.tracks[track["parent_uuid"][0]]["process"][0]["process_name"][0], track["name"][0]

    def test_every_packet_belongs_to_the_sequence_and_every_track_is_declared_before(self):
        known = set()
        self.assertEqual(self.packets[0]["sequence_flags"], ["1"])
        for packet in self.packets:
            self.assertEqual(packet["trusted_packet_sequence_id"], ["1"])
            known.update(t["uuid"][0] for t in packet["track_descriptor"])
            for event in packet["track_event"]:
                self.assertIn(event["track_uuid"][0], known)

    def test_the_events_are_those_of_the_log(self):
        shown = []
        for ns, event in self.of_type("TYPE_INSTANT"):
            said = {self.annotations[a["name_iid"][0]]: (a["uint_value"] or a["string_value"])[0] for a in event["debug_annotations"]}
            ps = int(said.get("ps", ns * 1000))
            self.assertEqual(ps // 1000, ns)
            self.assertEqual(len(event["flow_ids"]), "request" in said)
            shown.append((ps, *self.track(event), self.kinds[event["name_iid"][0]], str(said.get("bytes", "")), said.get("request", "")))
        logged = [(int(line["time_ps"]), line["node"], line["where"], line["kind"], line["bytes"], line["request"]) for line in self.log]
        self.assertEqual(shown, logged)

    def test_a_request_is_a_flow_and_a_slice_from_its_first_event_to_its_last(self):
        times = collections.defaultdict(list)
        for line in self.log:
            if line["request"]:
                times[line["request"]].append(int(line["time_ps"]) // 1000)
        begun, slices = {}, []
        for ns, event in self.of_type("TYPE_SLICE_BEGIN", "TYPE_SLICE_END"):
            track = event["track_uuid"][0]
            self.assertRegex(self.track(event)[1], r"^requests \d+$")
            if event["type"][0] == "TYPE_SLICE_BEGIN":
                self.assertNotIn(track, begun)  # slices of a track follow each other
                begun[track] = ns, event["name"][0]
            else:
                slices.append((*begun.pop(track), ns))
        self.assertEqual(begun, {})
        self.assertEqual(sorted((t[0], t[-1]) for t in times.values()), sorted((first, last) for first, _, last in slices))
        self.assertEqual(len({name for _, name, _ in slices}), len(slices))

    def test_counters(self):
        under_way, sent = collections.defaultdict(list), collections.defaultdict(float)
        for ns, event in self.of_type("TYPE_COUNTER"):
            node, name = self.track(event)
            if name == "requests under way":
                under_way[node].append(int(event["counter_value"][0]))
            else:
                self.assertEqual((name, ns % 1000), ("frames sent", 0))
                sent[node] += float(event["double_counter_value"][0]) * 1000 / 8
        for node, counts in under_way.items():
            self.assertEqual((counts[-1], min(counts)), (0, 0), node)
            self.assertGreater(max(counts), 0)
        for node in "ab":
            octets = sum(int(line["bytes"]) for line in self.log if line["node"] == node and line["kind"] in ("frame_sent", "retransmitted"))
            self.assertAlmostEqual(sent[node], octets, delta=octets / 1e6)


if __name__ == "__main__":
    unittest.main()
