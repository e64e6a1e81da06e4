"""The firmware as RV32 code: it acts on the wire and for the host as the native firmware does."""
import json
import os
import shutil
import struct
import unittest

from rnicsim import NEEDS_IMAGE, QUICKSTART, RV32, TRACES, ProgramTest, is_swept


SCTP = 132  # protocol of IP
LOST = b"\x88\xb5"  # the EtherType before a frame that never arrived


def frames(capture):
    """Every Ethernet frame of a capture."""
    at = 0
    while at < len(capture):
        kind, size = struct.unpack_from("<II", capture, at)
        if kind == 6:
            captured = struct.unpack_from("<I", capture, at + 20)[0]
            yield capture[at + 28:at + 28 + captured]
        at += size


def session_messages(chunks):
    """Function code and private data of the DATA chunks with PPID 17, except Terminates."""
    while len(chunks) >= 4:
        kind, _, length = struct.unpack_from(">BBH", chunks)
        if kind == 0 and struct.unpack_from(">I", chunks, 12)[0] == 17 and chunks[18:20] != b"\0\4":
            yield chunks[18:length]
        chunks = chunks[(length + 3) // 4 * 4:]


def startup_frames(capture):
    """(sender's address, MPA start-up frame or session control message) of all connections, not sorted by time."""
    found = []
    for frame in frames(capture):
        if frame[12:14] == LOST:
            continue
        ip = frame[14:14 + struct.unpack_from(">H", frame, 16)[0]]
        if ip[9] == SCTP:
            found += ((ip[12:16], message) for message in session_messages(ip[32:]))
            continue
        payload = ip[20 + (ip[32] >> 4) * 4:]
        if payload.startswith((b"MPA ID Req Frame", b"MPA ID Rep Frame")):
            found.append((ip[12:16], payload))
    return sorted(found)


class Images(ProgramTest):
    def refuse(self, *options):
        run = self.run_program("run", QUICKSTART, *RV32, *options)
        self.assertEqual((run.returncode, run.stdout, self.files()), (2, "", []), run.stderr)
        return run.stderr

    def test_an_image_that_is_not_there(self):
        self.assertEqual(self.refuse("--set", "rnic.fwcpu.image=none.elf"),
                         "rnicsim: rnic.fwcpu.image: none.elf: cannot be read\n")

    def test_a_file_that_is_no_image(self):
        self.assertEqual(self.refuse("--set", f"rnic.fwcpu.image={QUICKSTART}"),
                         f"rnicsim: rnic.fwcpu.image: {QUICKSTART}: is no RV32 program\n")

    def test_none_was_built(self):
        copy = shutil.copy(os.environ["RNICSIM"], self.folder)
        run = self.run_command(copy, "run", QUICKSTART, *RV32)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertRegex(run.stderr, r"^rnicsim: rnic\.fwcpu\.image: there is no RV32 image beside this program; `scripts/build.sh release rnic_fw_rv32` builds it")


# Scenarios that the image has no room for: contexts in its SRAM, or listeners.
TOO_LARGE = {"cq-scaling", "hot-qp", "qpc-cliff", "qpc-slope", "qp-scaling", "qp-scaling-65536", "qps1024", "qps65536"}


@NEEDS_IMAGE
class SameOnBothTargets(ProgramTest):
    def capture(self, scenario, *options):
        stats = self.run_scenario(scenario, *options)
        return stats, (self.folder / "out/wire.pcapng").read_bytes()

    def test_results_and_startup_frames_of_every_scenario(self):
        for scenario in sorted(TRACES.glob("*.json")):
            with self.subTest(scenario.stem):
                point = ("--point", 0) if is_swept(scenario) else ()
                if scenario.stem in TOO_LARGE:
                    run = self.run_program("run", scenario, *RV32, "--out", "refused")
                    self.assertEqual(run.returncode, 2, run.stderr)
                    self.assertRegex(run.stderr, "RV32 firmware (is built for 1024 QPs|has room for 256: fewer qps)")
                    continue
                native, native_wire = self.capture(scenario, *point)
                rv32, rv32_wire = self.capture(scenario, *point, *RV32)
                self.assertEqual([c for c in rv32["checks"] if not c["passed"]], [])
                for n, r in zip(native["results"], rv32["results"], strict=True):
                    for key in ("name", "op", "count", "bytes", "data_ok"):
                        self.assertEqual(n[key], r[key])
                frames = startup_frames(native_wire)
                self.assertGreaterEqual(len(frames), 2)
                self.assertEqual(frames, startup_frames(rv32_wire))

    def test_the_same_run_twice_in_any_order_of_calls(self):
        first, first_wire = self.capture(QUICKSTART, *RV32)
        figures = first["stats"]["b"]["rnic"]["fwcpu"]["rv32"]
        self.assertGreater(figures["instructions"]["value"], 1000)
        self.assertTrue(200 < figures["stack_high_water"]["value"] < 32768, figures["stack_high_water"])
        for options in [(), ("--set", "sim.shuffle_seed=7"), ("--set", "sim.run_ahead=false"),
                        ("--set", f"rnic.fwcpu.image={os.environ['RV32_IMAGE']}")]:
            with self.subTest(options):
                again, again_wire = self.capture(QUICKSTART, *RV32, *options)
                self.assertEqual(first["digest"], again["digest"])
                self.assertEqual(first_wire, again_wire)

    def test_one_node_of_each(self):
        _, native_wire = self.capture(QUICKSTART)
        mixed = json.loads(QUICKSTART.read_text())
        mixed["nodes"][1]["config"] = {"rnic": {"fwcpu": {"target": "rv32"}}}
        (self.folder / "mixed.json").write_text(json.dumps(mixed))
        stats, wire = self.capture("mixed.json")
        self.assertNotIn("rv32", stats["stats"]["a"]["rnic"]["fwcpu"])
        self.assertIn("rv32", stats["stats"]["b"]["rnic"]["fwcpu"])
        self.assertEqual(startup_frames(native_wire), startup_frames(wire))


if __name__ == "__main__":
    unittest.main()
