"""tshark's TCP analysis of a capture, against the retransmissions that the sender counts."""
import json
import subprocess
import unittest

from rnicsim import ProgramTest

# tshark's names for a segment whose octets, or later ones, it has seen before.
AGAIN = ("tcp.analysis.retransmission", "tcp.analysis.fast_retransmission", "tcp.analysis.spurious_retransmission",
         "tcp.analysis.out_of_order")


class Retransmissions(ProgramTest):
    def run_with(self, *options):
        scenario = json.loads((self.folder / self.small_scenario()).read_text())
        scenario["work"] = [{"op": "write", "size": 65536, "count": 100}]
        (self.folder / "writes.json").write_text(json.dumps(scenario))
        stats = self.run_scenario("writes.json", *(word for o in options for word in ("--set", o)))
        self.assertTrue(all(r["data_ok"] for r in stats["results"]))
        link = stats["stats"].get("link", {}).get("forward", {"lost": {"value": 0}})
        sender = stats["stats"]["a"]["rnic"]["tcp_tx"]
        return (*(int(sender[c]["value"]) for c in ("retransmissions", "retransmitted_bytes")), int(link["lost"]["value"]))

    def tshark(self, *options):
        run = subprocess.run(["tshark", "-n", "-r", self.folder / "out/wire.pcapng", *options],
                             capture_output=True, text=True, timeout=1200)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.splitlines()

    def found(self):
        """Segments that tshark sees as sent again by a, and their octets."""
        lengths = self.tshark("-Y", f"ip.src == 10.0.0.1 && tcp.len > 0 && ({' || '.join(AGAIN)})", "-T", "fields",
                              "-e", "tcp.len")
        return len(lengths), sum(map(int, lengths))

    def test_none_on_a_clean_wire(self):
        self.assertEqual(self.run_with(), (0, 0, 0))
        self.assertEqual(self.found(), (0, 0))

    def test_each_one_of_what_was_lost_once(self):
        for sack in "true", "false":
            with self.subTest(sack=sack):
                segments, octets, lost = self.run_with("link.forward.loss.frames=300,900,901,905,2000-2003",
                                                       f"rnic.tcp.sack={sack}")
                self.assertEqual(lost, 8)
                self.assertGreaterEqual(segments, 8)
                self.assertEqual(self.found(), (segments, octets))

    def test_all_that_arrived_of_what_is_lost_by_chance(self):
        for sack in "true", "false":
            with self.subTest(sack=sack):
                segments, octets, lost = self.run_with("link.symmetric=true", "link.forward.loss.ppm=10000",
                                                       f"rnic.tcp.sack={sack}")
                found, found_octets = self.found()
                self.assertGreater(lost, 10)
                # The capture is taken after the fault: it lacks retransmissions that were lost again, and the retransmission of a lost last
                # segment looks new to it.
                self.assertLessEqual(found, segments)
                self.assertGreaterEqual(found, segments - lost // 10)
                self.assertLessEqual(found_octets, octets)
                self.assertEqual(self.tshark("-Y", "_ws.malformed && !iwarp_mpa"), [])


if __name__ == "__main__":
    unittest.main()
