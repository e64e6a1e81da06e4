#!/usr/bin/env python3
"""Stages from Python: against published vectors and the plain sender of an example, and what callers may do wrong."""
import copy
import ctypes
import enum
import gc
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[4]
PACKAGE = ROOT / "model/golden/python"
EXAMPLE = PACKAGE / "examples/stream_oracle.py"
sys.path[:0] = [str(PACKAGE), str(EXAMPLE.parent), str(ROOT / "scripts")]

import gen_golden_abi  # noqa: E402
import rnicsim  # noqa: E402
from rnicsim import RnicError, Stage, errors  # noqa: E402
import stream_oracle  # noqa: E402


def segments_of(stream, rng):
    """The stream in pieces, with the place of each."""
    at = 0
    while at < len(stream):
        n = min(rng.choice((1, 64, 536, 1460)), len(stream) - at)
        yield at, stream[at:at + n]
        at += n


class Crc(unittest.TestCase):
    def test_published_vectors(self):
        """RFC 3720, appendix B.4; the last one is of RFC 3385."""
        for octets, crc in ((bytes(32), 0x8a9136aa), (b"\xff" * 32, 0x62a8ab43), (bytes(range(32)), 0x46dd794e),
                            (bytes(range(31, -1, -1)), 0x113fdb5c), (b"123456789", 0xe3069283)):
            self.assertEqual(rnicsim.crc32c(octets), crc)
            self.assertEqual(stream_oracle.crc_of(octets), crc)
            self.assertEqual(rnicsim.crc32c(octets[5:], rnicsim.crc32c(octets[:5])), crc)


class Layout(unittest.TestCase):
    """The classes against the record of the ABI, which C callers rely on."""
    record = json.loads((ROOT / "model/golden/abi/abi.json").read_text(encoding="utf-8"))

    def differences(self, classes):
        found = []
        for name, message in self.record["messages"].items():
            of = classes[name]
            found += [name] if ctypes.sizeof(of) != message["size"] else []
            for field, (offset, width, count) in message["members"].items():
                at = getattr(of, field, None)
                place = (at.offset, of.WIDTHS.get(field), of.COUNTS.get(field, 1)) if at else None
                found += [f"{name}.{field}"] if place != (offset, width, count) else []
        return found

    @property
    def classes(self):
        return {of.KIND: of for of in vars(rnicsim).values() if isinstance(of, type) and issubclass(of, rnicsim.Message) and of.__dict__.get("KIND")}

    def test_members_are_where_the_record_has_them(self):
        self.assertEqual(self.differences(self.classes), [])

    def test_a_member_elsewhere_is_found(self):
        class Moved(rnicsim.Message):
            KIND, WIDTHS = "rx_consumed", {"flow": 32, "bytes": 32}
            _fields_ = [("size", ctypes.c_uint32), ("bytes", ctypes.c_uint32), ("flow", ctypes.c_uint32), ("_reserved0", ctypes.c_uint32)]
        self.assertEqual(self.differences({**self.classes, "rx_consumed": Moved}), ["rx_consumed.flow", "rx_consumed.bytes"])

    def test_ports_and_tables_are_those_of_the_record(self):
        for name, kind in rnicsim.KINDS.items():
            self.assertEqual([f"{p.name} {p.direction} {p.message.KIND}" for p in kind.ports], self.record["ports"][name])
            self.assertEqual([f"{table} {row.KIND}" for table, row in kind.tables.items()], self.record["tables"][name])
            self.assertEqual(list(kind.counters), self.record["counters"][name])
        self.assertEqual(set(rnicsim.KINDS), set(self.record["ports"]))


def enumerators(text):
    """Of a header's text: {name: number} of an enumeration from its { on, names without k and in small letters."""
    found, number = {}, -1
    for item in re.sub(r"//[^\n]*", "", text[text.index("{") + 1:text.index("}")]).split(","):
        name, _, value = (part.strip() for part in item.partition("="))
        number = int(value, 0) if value else number + 1
        if name:
            found[name.removeprefix("k").lower()] = number
    return found


class Numbers(unittest.TestCase):
    """The classes of numbers against the headers of model and firmware, read as text."""
    HEADERS = {"QpEventKind": ("model/rnic/messages/qp_events.h", "struct QpEvent {"), "TxUnblockKind": ("model/rnic/messages/qp_events.h", "struct TxUnblock {"),
               "TerminateLayer": ("model/wire/terminate.h", "enum class Layer"), "QpState": ("model/abi/host_abi.h", "enum class QpState"),
               "Llp": ("model/abi/context_types.h", "enum class LlpId"), "StagKind": ("model/abi/context_types.h", "enum class StagKind"),
               "RdmapOpcode": ("model/wire/rdmap.h", "enum class Opcode"), "AtomicOpcode": ("model/wire/rdmap.h", "enum class AtomicOpcode"),
               "SrqEventKind": ("model/abi/srq_events.h", "struct SrqEvent {"), "WrOpcode": ("model/abi/host_abi.h", "enum class WrOpcode"),
               "TxInternalWorkKind": ("model/abi/tx_internal_work.h", "struct TxInternalWork {"), "WcStatus": ("model/abi/host_abi.h", "enum class WcStatus"),
               "WqeIssuedMarker": ("model/rnic/messages/completion.h", "struct WqeIssued {"), "CommandOp": ("model/abi/host_abi.h", "enum class CommandOp"),
               "StreamSignalKind": ("model/ends/firmware_end.h", "struct StreamSignal {"),
               "CommandStatus": ("model/abi/host_abi.h", "enum class CommandStatus"), "EventType": ("model/abi/host_abi.h", "enum class EventType"),
               "TerminateOrigin": ("model/abi/host_abi.h", "enum class TerminateOrigin"), "Personality": ("model/abi/host_abi.h", "enum class Personality"),
               "Markers": ("model/abi/host_abi.h", "enum class Markers"), "SessionCommandOp": ("model/golden/kinds_session.cpp", "struct SessionCommand "),
               "SctpCommandOp": ("model/golden/kinds_packet.cpp", "struct PacketCommand "), "Resend": ("model/common/trace_event.h", "enum class Resend"),
               "SctpDataChunkFate": ("model/rnic/llp/sctp/data_receiver.h", "enum class DataFate"),
               "SctpAssociationEventKind": ("model/rnic/llp/sctp/outcome.h", "struct SetupEvent {"),
               "SessionEventKind": ("firmware/conn/stream_session.h", "struct SessionAction {"),
               "SessionEventError": ("firmware/conn/enhanced_negotiation.h", "enum class SetupError"), "RtrKind": ("model/abi/host_abi.h", "enum class RtrKind"),
               "StreamEnd": ("model/rnic/messages/datapath.h", "enum class StreamEnd"), "ConnectStatus": ("model/abi/host_abi.h", "enum class ConnectStatus"),
               "WqeFlag": ("model/abi/host_abi.h", "enum WqeFlags"), "AccessFlag": ("model/abi/host_abi.h", "enum AccessFlags"),
               "CmFlag": ("model/abi/host_abi.h", "enum CmFlags"), "CmOption": ("model/abi/host_abi.h", "enum CmOptions")}
    OTHER_WORDS = {"WrOpcode": (("rdma", ""), ("with", "")), "WqeFlag": (("wqe", ""),), "CmFlag": (("cm", ""),), "CmOption": (("cm", ""),)}

    def test_they_are_the_models(self):
        classes = {name: of for name, of in vars(rnicsim).items() if isinstance(of, type) and issubclass(of, enum.IntEnum | enum.IntFlag)}
        self.assertEqual(set(classes), set(self.HEADERS))
        for name, (file, where) in self.HEADERS.items():
            text = (ROOT / file).read_text(encoding="utf-8")
            start = text.index(where)
            expected = enumerators(text[start if where.startswith("enum") else text.index("enum class", start):])
            for old, new in self.OTHER_WORDS.get(name, ()):
                expected = {word.replace(old, new): number for word, number in expected.items()}
            with self.subTest(name=name):
                self.assertEqual({value.name.replace("_", "").lower(): int(value) for value in classes[name]}, expected)

    def test_they_are_the_records(self):
        """And a message takes one where a number goes."""
        recorded = {"".join(map(str.capitalize, name.split("_"))): values for name, values in Layout.record["enumerations"].items()}
        self.assertEqual(recorded, {name: {value.name.lower(): int(value) for value in getattr(rnicsim, name)} for name in self.HEADERS})
        self.assertEqual(rnicsim.StagContext(kind=rnicsim.StagKind.WINDOW_2, access=rnicsim.AccessFlag.REMOTE_READ | rnicsim.AccessFlag.LOCAL_WRITE),
                         rnicsim.StagContext(kind=2, access=5))

    def test_another_number_breaks_the_abi(self):
        record = copy.deepcopy(Layout.record)
        self.assertEqual(gen_golden_abi.broken_promises(Layout.record, record), [])
        record["enumerations"]["llp"].update(sctp=2, dccp=1)
        self.assertEqual(gen_golden_abi.broken_promises(Layout.record, record), ["llp.sctp is 2, and was 1"])
        del record["enumerations"]["llp"]["sctp"]
        self.assertEqual(gen_golden_abi.broken_promises(Layout.record, record), ["llp.sctp is gone, and was 1"])
        record["abi"] = "0x00020000"
        self.assertEqual(gen_golden_abi.broken_promises(Layout.record, record), [])


class Streams(unittest.TestCase):
    """FPDUs of an example's sender, which shares no code with the model."""
    SIZES = (1, 2, 3, 18, 61, 62, 63, 500, 508, 1442, 8934, 65535)

    def test_there_and_back(self):
        for markers in (False, True):
            for beat_bytes in (16, 64, 128):
                with self.subTest(markers=markers, beat_bytes=beat_bytes):
                    self.there_and_back(markers, {"beat_bytes": beat_bytes})

    def there_and_back(self, markers, settings):
        rng, sender = random.Random(markers), stream_oracle.Sender(markers)
        ulpdus = [rng.randbytes(size) for size in self.SIZES]
        stream = b""
        with Stage("mpa_transmit", settings) as transmit:
            for ulpdu in ulpdus:
                transmit.push("in", flow=3, octets=ulpdu, markers=markers, crc=1, position=len(stream) % 512)
                fpdu, wire = transmit.take("out"), sender.send(ulpdu)
                self.assertEqual((fpdu.octets, fpdu.flow), (wire, 3))
                stream += wire
            self.assertIsNone(transmit.take("out"))
            self.assertEqual(transmit.counters()["mpa_framer.ulpdu_octets"], sum(self.SIZES))
        with Stage("mpa_receive", settings) as receive:
            for at, octets in segments_of(stream, rng):
                receive.push("in", flow=3, offset=at, octets=octets, markers=markers, crc=1)
            fpdus = list(receive.take_all("out"))
            self.assertEqual([fpdu.octets[2:2 + int.from_bytes(fpdu.octets[:2], "big")] for fpdu in fpdus], ulpdus)
            self.assertTrue(all(fpdu.crc_ok and fpdu.marker_ok for fpdu in fpdus))
            self.assertEqual(sum(message.bytes for message in receive.take_all("consumed")), len(stream))
            marks = [mark for fpdu in fpdus for mark in fpdu.marks]
            self.assertEqual(len(marks), (len(stream) + 511) // 512 if markers else 0)

    def test_one_wrong_bit_is_seen(self):
        wire = bytearray(stream_oracle.Sender(False).send(b"rnic!"))
        wire[4] ^= 1
        with Stage("mpa_receive") as receive:
            receive.push("in", octets=wire, crc=1)
            self.assertFalse(receive.take("out").crc_ok)
            self.assertEqual(receive.counter("crc_check.bad"), 1)

    def test_a_stream_taken_over_in_its_middle(self):
        sender = stream_oracle.Sender(True, position=1020)
        with Stage("mpa_receive") as receive:
            receive.row("stream", 7, position=1020)
            receive.push("in", flow=7, offset=1020, octets=sender.send(bytes(100)), markers=1, crc=1)
            fpdu = receive.take("out")
            self.assertEqual((fpdu.crc_ok, fpdu.marker_ok, [mark.word for mark in fpdu.marks]), (1, 1, [1]))

    def test_marks_travel_both_ways(self):
        """crc_check covers a marker beside the words at its place."""
        sender = stream_oracle.Sender(True)
        wire = sender.send(bytes(40))
        beside = rnicsim.Fpdu(octets=wire[4:], marks=[rnicsim.Mark(0, wire[:4])], crc_on=1, marker_ok=1)
        for message, good in ((beside, 1), (rnicsim.Fpdu(octets=wire[4:], marks=[rnicsim.Mark(1, wire[:4])], crc_on=1), 0)):
            with Stage("crc_check") as check:
                check.push("in", message)
                taken = check.take("out")
                self.assertEqual((taken.crc_ok, taken.marks, taken.octets), (good, message.marks, message.octets))


class Callers(unittest.TestCase):
    def refused(self, status, words, call):
        with self.assertRaises(RnicError) as caught:
            call()
        self.assertEqual(caught.exception.status, status)
        self.assertIn(words, str(caught.exception))

    def test_mistakes_have_a_status_and_the_nearest_name(self):
        with Stage("mpa_receive") as stage:
            self.refused(errors.E_NAME, 'the nearest is "crc_check"', lambda: Stage("crc_chec"))
            self.refused(errors.E_SETTINGS, "beat_bytes", lambda: Stage("crc_check", {"beat_byte": 64}))
            self.refused(errors.E_NAME, 'the nearest is "out"', lambda: stage.take("ou"))
            self.refused(errors.E_NAME, 'the nearest is "stream"', lambda: stage.row("streams", 0, position=4))
            self.refused(errors.E_NAME, "is an output", lambda: stage.push("consumed", flow=1))
            self.refused(errors.E_NAME, "is an input", lambda: stage.take("in"))
            self.refused(errors.E_NAME, "crc_check.bad", lambda: stage.counter("crc_check.bat"))
            self.refused(errors.E_VALUE, "multiple of 4", lambda: stage.row("stream", 0, position=3))
            self.refused(errors.E_VALUE, "next octet is 0", lambda: stage.push("in", offset=8, octets=bytes(8)))
            self.refused(errors.E_VALUE, "which does not fit its 32 bits", lambda: stage.push("in", flow=1 << 32, octets=b"x"))
            self.refused(errors.E_VALUE, "which does not fit its 1 bit", lambda: rnicsim.Ulpdu(crc=2))
            self.refused(errors.E_VALUE, "is -1", lambda: rnicsim.Ulpdu(flow=-1))
            self.refused(errors.E_VALUE, "4 octets", lambda: rnicsim.Mark(0, b"abc"))
            with self.assertRaisesRegex(TypeError, "the nearest is 'flow'"):
                stage.push("in", flo=1)
            with self.assertRaisesRegex(TypeError, "is for Segment, and not for Ulpdu"):
                stage.push("in", rnicsim.Ulpdu(octets=b"x"))
            stage.push("in", octets=bytes((0, 2, 7, 7, 0, 0, 0, 0)), crc=0)  # and it still works
            self.assertEqual(stage.take("out").octets, bytes((0, 2, 7, 7, 0, 0, 0, 0)))

    def test_a_closed_stage_says_so(self):
        stage = Stage("crc_check")
        stage.close()
        stage.close()
        self.refused(errors.E_NULL, "null", lambda: stage.take("out"))

    def test_reset_forgets(self):
        with Stage("crc_insert") as stage:
            stage.push("in", octets=bytes(8), crc_on=1)
            stage.reset()
            self.assertIsNone(stage.take("out"))
            self.assertEqual(stage.counter("inserted"), 0)

    def test_messages_do_not_share_memory(self):
        with Stage("crc_insert") as stage:
            for octet in (b"a", b"b"):
                stage.push("in", octets=octet * 8, crc_on=0)
            first, second = stage.take_all("out")
            gc.collect()
            self.assertEqual((first.octets[:4], second.octets[:4]), (b"aaaa", b"bbbb"))
            self.assertEqual(first, rnicsim.Fpdu(octets=b"aaaaaaaa"))
            self.assertNotEqual(first, second)

    def test_each_thread_its_stage(self):
        def work(seed, digests):
            rng = random.Random(seed)
            with Stage("mpa_transmit") as stage:
                for _ in range(100):
                    ulpdu = rng.randbytes(rng.randrange(1, 2000))
                    stage.push("in", octets=ulpdu, crc=1)
                    digests.append(stage.take("out").octets == stream_oracle.Sender(False).send(ulpdu))
        results = [[] for _ in range(4)]
        threads = [threading.Thread(target=work, args=(seed, results[seed])) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([len(result) for result in results], [100] * 4)
        self.assertTrue(all(all(result) for result in results))


class Boards(unittest.TestCase):
    """A device that is a list of what it accepts and gives; its octets are those of the example's sender."""
    def judge(self, change=lambda octets: octets, latency=5, settings=None, count=20):
        rng, sender = random.Random(1), stream_oracle.Sender(False)
        with rnicsim.Board("mpa_transmit", settings) as board:
            position = 0
            for i in range(count):
                ulpdu = rng.randbytes(rng.randrange(1, 600))
                board.accepted("in", 100 * i, octets=ulpdu, crc=1, position=position % 512)
                wire = sender.send(ulpdu)
                position += len(wire)
                board.given("out", 100 * i + latency, octets=change(wire), crc_on=1, marker_ok=1)
            board.end(100 * count + latency)
            return board.report()

    def test_right_in_any_cycle(self):
        for latency in (1, 5, 77):
            report = json.dumps(self.judge(latency=latency))
            self.assertIn(str(latency), report)

    def test_one_wrong_octet_is_a_mismatch_with_its_place(self):
        seen = []
        def change(octets):
            seen.append(octets)
            return octets if len(seen) != 7 else octets[:9] + bytes((octets[9] ^ 1,)) + octets[10:]
        Callers().refused(errors.E_MISMATCH, "octet 9", lambda: self.judge(change))

    def test_nothing_compared_and_late_are_failures(self):
        with self.assertRaises(RnicError):
            self.judge(count=0)
        Callers().refused(errors.E_MISMATCH, "", lambda: self.judge(latency=90, settings={"max_latency": 10}))

    def test_mistakes(self):
        Callers().refused(errors.E_NAME, "crc_check", lambda: rnicsim.Board("crc_chek"))
        with rnicsim.Board("sctp_crc_check") as board:
            Callers().refused(errors.E_NAME, 'the nearest is "in"', lambda: board.accepted("inn", 1))
            board.stalled("out", 5, 5)
            Callers().refused(errors.E_TIME, "", lambda: board.accepted("in", 1, octets=bytes(8)))


class Library(unittest.TestCase):
    def run_python(self, text, **environment):
        return subprocess.run([sys.executable, "-B", "-c", f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); import rnicsim; {text}"],
                              capture_output=True, text=True, check=False, env={**os.environ, **environment})

    def test_another_abi_is_refused(self):
        """A caller of a later minor number, and of another major one."""
        for abi in (0x00010001 + 0xff, 0x00020000):
            with mock.patch("rnicsim._library.ABI", abi):
                Callers().refused(errors.E_ABI, f"{abi:#010x}", lambda: rnicsim._library.load("librnic_golden.so.1", "rnic_abi"))

    def test_no_library_says_where_to_name_it(self):
        with mock.patch("rnicsim._library._folders", lambda: iter(())):
            with self.assertRaisesRegex(OSError, "librnic_golden.so.9.*RNICSIM_LIBRARY_PATH"):
                rnicsim._library.load("librnic_golden.so.9", "rnic_abi")

    @unittest.skipUnless(shutil.which("mypy"), "mypy is not installed")
    def test_types(self):
        done = subprocess.run(["mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull, PACKAGE / "rnicsim"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_import_needs_no_library(self):
        done = self.run_python("print(len(rnicsim.KINDS))", RNICSIM_LIBRARY_PATH="/nowhere")
        self.assertEqual((done.returncode, done.stdout.strip()), (0, str(len(rnicsim.KINDS))), done.stderr)


class Example(unittest.TestCase):
    def run_example(self, *arguments):
        return subprocess.run([sys.executable, "-B", EXAMPLE, "--fpdus", "60", *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE)})

    def test_a_right_sender_passes(self):
        done = self.run_example()
        self.assertEqual((done.returncode, done.stdout.count("octets are as they should be")), (0, 2), done.stdout + done.stderr)

    def test_a_planted_bug_is_found_at_its_octet(self):
        done = self.run_example("--bug")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"with markers: octet 51\d of the stream")

    def test_an_oracle_that_compared_nothing_fails(self):
        oracle = stream_oracle.Oracle(False)
        self.assertEqual(oracle.end(), "nothing was compared")

    def test_octets_too_few_and_too_many(self):
        oracle = stream_oracle.Oracle(False)
        oracle.taken(b"rnic!")
        self.assertIn("12 octets were not sent", oracle.end())
        oracle = stream_oracle.Oracle(False)
        oracle.sent(b"x")
        self.assertIn("octet 0 of the stream belongs to no ULPDU", oracle.end())


if __name__ == "__main__":
    unittest.main()
