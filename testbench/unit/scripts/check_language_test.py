"""check_language.py finds the words of its list in pages, comments and messages, in new lines only, and nothing else."""
import contextlib
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import check_language  # noqa: E402


def words(name, text):
    return [(line, word) for line, word, _ in check_language.faults(pathlib.Path(name), text)]


class Rules(unittest.TestCase):
    def test_each_word(self):
        for text, word in (("asks whoever sent it", "whoever"), ("it begins anew", "anew"), ("amid a packet", "amid"),
                           ("the host is told", "is told"), ("it was never told of", "was never told"),
                           ("they have been told", "been told"), ("it is sent behind the FIN", "sent behind"),
                           ("right behind it", "right behind"), ("what comes behind", "comes behind"),
                           ("two octets behind the pad", "octets behind"), ("one behind the other", "one behind the other"),
                           ("lost behind a gap", "behind a gap"), ("all is well. Behind that", "Behind"),
                           ("a word in the place of the CRC", "in the place of"), ("it ends by itself", "by itself"),
                           ("for want of room", "for want of"), ("it is not to be had", "is not to be had"),
                           ("with the own tag", "the own"), ("TCP does otherwise", "does otherwise"),
                           ("it waits for ever", "for ever"), ("it is dropped in silence", "in silence"),
                           ("the request whose it is", "whose it is")):
            self.assertEqual(words("page.md", text + "\n"), [(1, word)], text)

    def test_what_is_english(self):
        for text in ("a host behind a router", "memory behind the PCIe link", "octets behind the DMA engines", "it falls behind",
                     "leaves nothing behind", "it stays behind", "the two are told apart", "told", "its own tag", "in place of",
                     "behind a pointer", "renewed", "amidst"):
            self.assertEqual(words("page.md", text + "\n"), [], text)

    def test_a_phrase_over_two_lines(self):
        self.assertEqual(words("page.md", "one\nin the\nplace of two\n"), [(2, "in the place of")])
        self.assertEqual(words("a.h", "// in the\n// place of\n"), [(1, "in the place of")])
        self.assertEqual(words("a.h", "// in the\nint place;\n// place of\n"), [])
        self.assertEqual(words("page.md", "in the\n\nplace of\n"), [])

    def test_replacements(self):
        self.assertEqual(check_language.faults(pathlib.Path("a.md"), "anew"), [(1, "anew", "again / from the start")])


class Files(unittest.TestCase):
    def test_pages_without_code(self):
        self.assertEqual(words("a.md", "`anew`\n\n```\nanew\n```\n\n    anew\n\n[x](anew.md) anew\n"), [(9, "anew")])

    def test_generated_tables(self):
        table = "<!-- keys: work -->\n| a | anew |\n<!-- end -->\n"
        self.assertEqual(words("a.md", f"{table}anew\n{table}| anew |\n"), [(4, "anew"), (8, "anew")])

    def test_comments_of_c(self):
        text = 'int anew = 1;  // anew\n/* amid\n   anew */\nf("anew // anew", \'"\', R"(anew)");\n// `anew`\n'
        self.assertEqual(words("testbench/a.cpp", text), [(1, "anew"), (2, "amid"), (3, "anew")])
        self.assertEqual(words("rtl-stubs/rtl/a.sv", "logic anew; // anew\n"), [(1, "anew")])

    def test_messages_of_the_program(self):
        text = '#include "anew.h"\nf("anew",\n  "is told");\n'
        self.assertEqual(words("model/a.cpp", text), [(2, "anew"), (3, "is told")])
        self.assertEqual(words("testbench/a.cpp", text), [])

    def test_comments_and_docstrings_of_python(self):
        text = '"""anew\n\namid"""\nx = "anew"  # anew\n\n\ndef anew():\n    """anew"""\n    return """anew"""\n'
        self.assertEqual(words("a.py", text), [(1, "anew"), (3, "amid"), (4, "anew"), (8, "anew")])

    def test_comments_of_scripts(self):
        self.assertEqual(words("a.sh", 'x="${y#anew}"  # anew\n'), [(1, "anew")])
        self.assertEqual(words("CMakeLists.txt", "set(anew 1)\n# anew\n"), [(2, "anew")])

    def test_others(self):
        self.assertEqual(words("a.json", '{"anew": "anew"}  // anew\n'), [])
        self.assertEqual(words("scripts/check_language.py", "# anew\n"), [])


@unittest.skipUnless(shutil.which("git"), "there is no git")
class Changes(unittest.TestCase):
    """In a separate clone."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, before = pathlib.Path(folder.name), check_language.ROOT
        self.addCleanup(setattr, check_language, "ROOT", before)
        check_language.ROOT = self.root
        self.git("init", "-q")
        self.git("checkout", "-q", "-b", "main")

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", *arguments], cwd=self.root,
                       check=True, capture_output=True)

    def write(self, text, name="page.md", commit=True):
        (self.root / name).write_text(text, encoding="utf-8")
        if commit:
            self.git("add", "-A")
            self.git("commit", "-q", "-m", "text")

    def check(self, *arguments):
        """The exit status and the output."""
        before, sys.argv = sys.argv, ["check_language.py", *arguments]
        try:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                status = check_language.main()
        finally:
            sys.argv = before
        return int(status), printed.getvalue().splitlines()

    def test_nothing_to_compare(self):
        self.write("anew\n")
        self.assertEqual(self.check(), (0, ["check_language.py: there is no commit to compare with, nothing was looked at"]))

    def test_the_lines_of_a_branch(self):
        self.write("anew\nold\n")
        self.git("checkout", "-q", "-b", "work")
        self.write("anew\nold\namid\n")
        self.write("anew\nold\namid\nwhoever\n")
        self.assertEqual(self.check(), (1, ['page.md:3: "amid": say "during / in the middle of"',
                                            'page.md:4: "whoever": say "who / any ... that"']))

    def test_the_last_commit_of_main(self):
        self.write("anew\n")
        self.write("anew\namid\n")
        self.assertEqual(self.check(), (1, ['page.md:2: "amid": say "during / in the middle of"']))

    def test_what_is_not_committed(self):
        self.write("anew\n")
        self.write("anew\ngood\n")
        self.write("anew\namid\n", commit=False)
        self.write("whoever\n", "new.md", commit=False)
        self.assertEqual([line.split(":")[0] for line in self.check()[1]], ["new.md", "page.md"])

    def test_a_phrase_of_which_one_line_is_new(self):
        self.write("in the\nhouse of\n")
        self.write("in the\nplace of\n")
        self.assertEqual(self.check()[1], ['page.md:1: "in the place of": say "in place of / instead of"'])

    def test_clean(self):
        self.write("anew\n")
        self.write("anew\ngood\n")
        self.assertEqual(self.check(), (0, ["1 changed files: no word of the list"]))

    def test_whole_files(self):
        self.write("anew\n")
        self.assertEqual(self.check("--all"), (1, ['page.md:1: "anew": say "again / from the start"']))
        self.write("good\n", "good.md")
        self.assertEqual(self.check("--all", str(self.root / "good.md"))[0], 0)


if __name__ == "__main__":
    unittest.main()
