"""check_pages.py finds the errors of a page, and nothing else."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import check_pages  # noqa: E402

GOOD = """# Title

See [other](model/other.md#the-other-one), [here](#title), `model/stage.h`, `model/stage`, `model/<name>.h`, `other.md` and
[elsewhere](https://example.org/x.md).

    # no heading, and `model/none.h` is code
"""


class CheckPages(unittest.TestCase):
    def faults(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "model").mkdir()
            (root / "model/other.md").write_text("# The other one!\n", encoding="utf-8")
            (root / "model/stage.h").write_text("", encoding="utf-8")
            (root / "page.md").write_text(text, encoding="utf-8")
            before, check_pages.ROOT = check_pages.ROOT, root
            try:
                check = check_pages.Check(check_pages.tracked())
                check.page(pathlib.Path("page.md"))
            finally:
                check_pages.ROOT = before
        return check.faults

    def test_a_good_page(self):
        self.assertEqual(self.faults(GOOD), [])

    def test_each_fault(self):
        for line, fault in (("[x](model/none.md)", "there is no model/none.md"),
                            ("[x](model/other.md#none)", "model/other.md has no heading for #none"),
                            ("`model/none.h`", "there is no model/none.h"),
                            ("`none.md`", "no page is none.md, or several are"),
                            ("#Title", "a heading without a blank: #Title"),
                            ("text\n## Two", "a heading without blank lines around it: ## Two")):
            number = 1 + line.count("\n")
            self.assertEqual(self.faults(line + "\n"), [f"page.md:{number}: {fault}"])


if __name__ == "__main__":
    unittest.main()
