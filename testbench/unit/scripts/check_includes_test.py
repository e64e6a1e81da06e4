"""An include that no LINK line allows is found and named by line, and so is a cycle between folders."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import check_includes  # noqa: E402

# wire <- chip <- tx; nothing links other. In folder wire, a second target has a source and its header.
TARGETS = """rnic_wire\tmodel/wire\tframe.cpp\t\t
rnic_text\tmodel/wire\ttext.cpp\trnic_wire\t
rnic_chip\tmodel/chip\tchip.cpp\trnic_wire;rnic_secret\trnic_wire
rnic_secret\tmodel/secret\tsecret.cpp\t\t
rnic_tx\tmodel/tx\ttx.cpp\trnic_chip\trnic_chip
rnic_other\tmodel/other\tother.cpp\t\t
"""
CLEAN = {
    "model/wire/frame.h": "",
    "model/wire/frame.cpp": '#include "model/wire/frame.h"\n#include <cstdint>\n',
    "model/wire/text.h": "",
    "model/wire/text.cpp": '#include "model/wire/text.h"\n#include "model/wire/frame.h"\n',
    "model/secret/secret.h": "",
    "model/chip/chip.cpp": '#include "model/secret/secret.h"\n',
    "model/tx/part/deep.h": '#include "model/wire/frame.h"\n#include "not/in/the/tree.h"\n',
    "model/tx/tx.cpp": '#include "model/tx/part/deep.h"\n',
    "model/other/other.h": "",
}


class Includes(unittest.TestCase):
    def run_with(self, files=None, targets=TARGETS):
        """Exit status and output, for the clean tree plus these files."""
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for file, text in {**CLEAN, **(files or {}), "build/x/targets.tsv": targets}.items():
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(text)
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = check_includes.main(["--root", name])
            return status, (out.getvalue() + err.getvalue()).replace(name + "/", "")

    def test_of_what_is_linked_are_allowed(self):
        self.assertEqual(self.run_with(), (0, ""))

    def test_of_what_is_not_linked_are_named(self):
        self.assertEqual(self.run_with({"model/tx/tx.cpp": '// one\n#  include "model/other/other.h"\n'}), (1,
            "model/tx/tx.cpp:2 includes model/other/other.h of target rnic_other, which rnic_tx does not link\n"))

    def test_of_what_another_links_privately_are_none_of_mine(self):
        status, text = self.run_with({"model/tx/tx.h": '#include "model/secret/secret.h"\n'})
        self.assertEqual(status, 1)
        self.assertIn("model/tx/tx.h:1 includes model/secret/secret.h of target rnic_secret", text)

    def test_rows_that_a_stage_has_not_asked_for_are_named(self):
        self.assertEqual(self.run_with({"model/tx/tx.cpp": "// one\nuse(contexts_.stag_table.peek(3));\n"}), (1,
            "model/tx/tx.cpp:2 reads a row of a table without a port\n"))
        self.assertEqual(self.run_with({"model/other/other.cpp": "use(contexts_.stag_table.peek(3));\n"}), (0, ""))

    def test_of_stages_only_the_firmwares_sees_its_side_of_the_contexts(self):
        more = TARGETS.replace("rnic_chip\tmodel/chip\tchip.cpp\trnic_wire;", "rnic_chip\tmodel/chip\tchip.cpp\trnic_wire;rnic_context;")
        more = more.replace("rnic_tx\tmodel/tx\ttx.cpp\trnic_chip\trnic_chip", "rnic_tx\tmodel/tx\ttx.cpp\trnic_chip;rnic_context\trnic_chip")
        more += "rnic_context\tmodel/rnic/context\tcontext.cpp\trnic_wire\t\nrnic_fwcpu\tmodel/fwcpu\tfwcpu.cpp\trnic_context\t\n"
        include = '#include "model/rnic/context/%s.h"\n'
        files = {"model/rnic/context/context.h": include % "tables", "model/rnic/context/tables.h": "",
                 "model/rnic/context/home.h": include % "context", "model/fwcpu/fwcpu.cpp": include % "context",
                 "model/chip/chip.cpp": include % "context"}
        self.assertEqual(self.run_with({**files, "model/tx/tx.cpp": include % "tables"}, targets=more), (0, ""))
        seen = "model/tx/tx.cpp sees the firmware's side of the contexts: model/tx/tx.cpp -> %smodel/rnic/context/context.h\n"
        self.assertEqual(self.run_with({**files, "model/tx/tx.cpp": include % "context"}, targets=more), (1, seen % ""))
        self.assertEqual(self.run_with({**files, "model/tx/tx.cpp": include % "home"}, targets=more),
                         (1, seen % "model/rnic/context/home.h -> "))

    def test_a_second_target_of_a_folder_has_its_own_link_line(self):
        status, text = self.run_with({"model/wire/frame.cpp": '#include "model/wire/text.h"\n'})
        self.assertEqual(status, 1)
        self.assertIn("of target rnic_text, which rnic_wire does not link", text)

    def test_of_a_file_of_no_target_are_not_passed_over(self):
        two = TARGETS + "rnic_more\tmodel/other\tmore.cpp\t\t\n"
        self.assertEqual(self.run_with({"model/other/stray.h": ""}, targets=two.replace("rnic_other", "rnic_another")),
                         (1, "model/other/stray.h belongs to no target: list it beside the sources of one\n"))

    def test_in_a_circle_are_reported_even_where_links_allow_them(self):
        both_ways = TARGETS.replace("model/chip\tchip.cpp\trnic_wire", "model/chip\tchip.cpp\trnic_tx;rnic_wire")
        files = {"model/chip/chip.h": '#include "model/tx/tx.h"\n', "model/tx/tx.h": '#include "model/chip/chip.h"\n'}
        self.assertEqual(self.run_with(files, targets=both_ways),
                         (1, "a circle: rnic_chip, rnic_tx include each other\n"))

    def test_what_may_never_be_linked_is_not_even_over_others(self):
        over = TARGETS + "rnic_rx\tmodel/rx\trx.cpp\trnic_other\t\n"
        over = over.replace("model/other\tother.cpp\t\t", "model/other\tother.cpp\trnic_tx\trnic_tx")
        self.assertEqual(self.run_with(targets=over), (1, "rnic_rx links rnic_tx, which it may not\n"))

    def test_stages_of_two_folders_stay_apart(self):
        near = TARGETS + "rnic_terminate\tmodel/terminate\tt.cpp\trnic_tx\t\n"
        self.assertEqual(self.run_with(targets=near), (1, "rnic_terminate links rnic_tx, which it may not\n"))

    def test_the_firmware_links_what_it_shares_alone(self):
        more = TARGETS + "rnic_firmware\tfirmware\tcm.cpp\trnic_wire;rnic_secret\t\n"
        self.assertEqual(self.run_with(targets=more), (1, "rnic_firmware links rnic_secret, which it may not\n"))

    def test_headers_of_stages_bring_in_no_json(self):
        more = TARGETS + "rnic_common\tmodel/common\tlink.cpp\t\t\n"
        files = {"model/common/link.h": '#include "model/common/text.h"\n', "model/common/link.cpp": "#include <nlohmann/json.hpp>\n"}
        self.assertEqual(self.run_with({**files, "model/common/text.h": "#include <string>\n"}, targets=more), (0, ""))
        status, text = self.run_with({**files, "model/common/text.h": "#include <nlohmann/json_fwd.hpp>\n"}, targets=more)
        self.assertEqual(status, 1)
        self.assertIn("model/common/link.h brings in the JSON library: model/common/link.h -> model/common/text.h\n", text)

    def test_without_targets_nothing_is_said(self):
        self.assertEqual(self.run_with(targets="rnic_wire\tmodel\n"),
                         (2, "check_includes.py: build/x/targets.tsv:1: 2 columns instead of 5\n"))
        with tempfile.TemporaryDirectory() as name, contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(check_includes.main(["--root", name]), 2)
            self.assertIn("run cmake --preset release", err.getvalue())


if __name__ == "__main__":
    unittest.main()
