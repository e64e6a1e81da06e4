#!/usr/bin/env python3
"""Checks the pages (*.md): links and paths lead to something, and headings are headings.

check_pages.py [PAGE…]    all pages of the tree unless some are given

A link is relative to its page, and its anchor is a heading of the page that it leads to. A path in backquotes that begins with a
folder of the tree's top exists; `*`, `<…>` and `NAME` stand for anything. A page in backquotes (`stage.md`) is beside the page or
the only one of its name. A heading has a blank behind its signs and a blank line on both sides. The changelog may name what was, and
the templates of a new stage what will be.
Prints page:line: what is wrong. Exit status 0; 1 where something is.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOPS = ("firmware", "model", "rtl-stubs", "scripts", "testbench", "traces")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([^`]+)`")
PATH = re.compile(rf"(?:{'|'.join(TOPS)})/[\w./*<>…-]+")
OTHER_TIMES = {pathlib.Path("CHANGELOG.md"), pathlib.Path("scripts/templates/pass_through.md")}
PAGE = re.compile(r"[\w-]+\.md")


def tracked():
    """The files of the tree: git's, or all where it is no clone."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                            text=True, check=False)
    if listed.returncode != 0:
        return [file.relative_to(ROOT) for file in ROOT.rglob("*") if file.is_file()]
    return [pathlib.Path(name) for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def anchors(page):
    """The names that headings get: lower case, without punctuation, blanks as hyphens."""
    names = set()
    for line in prose(page):
        if line.startswith("#"):
            title = re.sub(r"[^\w\s-]", "", line.lstrip("#").strip().lower())
            names.add(title.replace(" ", "-"))
    return names


def prose(page):
    """The lines, without those that are code."""
    fenced = False
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            fenced = not fenced
        yield "" if fenced or line.startswith(("```", "    ")) else line


class Check:
    def __init__(self, files):
        self.files = set(files)
        self.folders = {folder for file in files for folder in file.parents}
        self.names = {}
        for file in files:
            self.names.setdefault(file.name, []).append(file)
        self.faults = []

    def page(self, page):
        lines = list(prose(page))
        for number, line in enumerate(lines, 1):
            at = f"{page}:{number}"
            self.heading(at, lines, number)
            for target in LINK.findall(line):
                self.link(at, page, target)
            for text in QUOTED.findall(line) if page not in OTHER_TIMES else ():
                self.quoted(at, page, text)

    def heading(self, at, lines, number):
        line = lines[number - 1]
        if re.match(r"#{1,6}[^#\s]", line):
            self.faults.append(f"{at}: a heading without a blank: {line}")
        if re.match(r"#{1,6}\s", line):
            around = lines[number - 2:number - 1] + lines[number:number + 1]
            if any(around):
                self.faults.append(f"{at}: a heading without blank lines around it: {line}")

    def link(self, at, page, target):
        path, _, anchor = target.partition("#")
        if "://" in path or path.startswith("mailto:"):
            return
        there = pathlib.Path(page)
        if path:
            absolute = (ROOT / page).parent.joinpath(path).resolve()
            if not absolute.exists():
                self.faults.append(f"{at}: there is no {target}")
                return
            there = absolute.relative_to(ROOT)
        if anchor and there.suffix == ".md" and anchor not in anchors(there):
            self.faults.append(f"{at}: {there} has no heading for #{anchor}")

    def quoted(self, at, page, text):
        for path in PATH.findall(text):
            pattern = re.sub(r"<[^>]*>|…|NAME", "*", path.rstrip("./"))
            if not ((ROOT / pattern).exists() or any(ROOT.glob(pattern)) or self.is_stem(pattern)):
                self.faults.append(f"{at}: there is no {path}")
        if PAGE.fullmatch(text) and page.parent / text not in self.files and len(self.names.get(text, ())) != 1:
            self.faults.append(f"{at}: no page is {text}, or several are")

    def is_stem(self, path):
        """A file without its ending, as `model/rnic/rx/crc_check`."""
        return any(ROOT.glob(path + ".*"))


def main():
    files = tracked()
    pages = [pathlib.Path(name).resolve().relative_to(ROOT) for name in sys.argv[1:]] or [f for f in files if f.suffix == ".md"]
    check = Check(files)
    for page in pages:
        check.page(page)
    print("\n".join(check.faults) or f"{len(pages)} pages: all links, paths and headings are right")
    return bool(check.faults)


if __name__ == "__main__":
    sys.exit(main())
