#!/usr/bin/env python3
"""Checks the English of pages, comments and messages against a list of words that a native engineer would not use.

check_language.py                  the lines that this branch adds, and uncommitted ones
check_language.py --all [PATH…]    whole files: the given ones, those below the given folders, or all of the tree
check_language.py --list           the words, with their replacements

It reads the prose of pages (*.md, without code and text in backquotes), comments of C++, SystemVerilog, Python, CMake, shell and TOML,
docstrings, and string literals of C++ in model/ and firmware/. A phrase may continue on the next line. Generated tables of pages are
skipped: their words are in the code.
Added lines are those that differ from the merge base with origin/main, or main; on main itself, or without either, from the commit
before. A clone without such a commit has nothing to compare: the script says so and exits with 0.
"Behind" is for places: behind a router, a link, a pointer. For time and order say "after", in a stream or in memory "after" or
"beyond". So "behind" is reported after a verb of VERBS or a noun of MEMBERS, before a phrase of AFTER (behind the last segment, behind a
gap), and at the start of a sentence. It is not reported before a noun of PLACES, and not in "fall behind", "stay behind" and "leave
behind". The rule is incomplete on purpose: it has few false positives.
Prints path:line: "word": say "replacement". Exit status 0; 1 if there is such a word; 2 on bad usage.
"""
import argparse
import io
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
# These name the words themselves.
EXEMPT = {pathlib.Path("scripts/check_language.py"), pathlib.Path("testbench/unit/scripts/check_language_test.py")}
MESSAGES = ("model", "firmware")  # folders whose string literals users see

PLACES = ("router|switch|link|links|nat|firewall|bridge|cable|bus|port|ports|interface|pointer|mailbox|register|registers|memory|"
          "engine|engines|stage|block|device|window")
PLACE = rf"(?! (?:(?:an?|the|this|that|its|their|each|one|our|another) )?(?:[\w-]+ )??(?:{PLACES})\b)"
VERBS = ("come|comes|came|coming|go|goes|going|went|gone|send|sends|sent|follow|follows|followed|arrive|arrives|arrived|queued|"
         "deliver|delivered|end|ends|ended|begin|begins|start|starts|post|posted|place|placed|put|written|declared|told|reported|"
         "kept|raised|immediately|right|directly|straight")
MEMBERS = ("octets?|bytes?|words?|bits?|beats?|fields?|segments?|fpdus?|frames?|packets?|entry|entries|cycles?|messages?|those")
AFTER = ("which|whom|all|everything|each other|it all|them all|another one|"
         "(?:the|its|their|each) (?:last|first|newest|highest|next|previous|end|answer|reply|rejection|headers?|payload|fin|rst|gap|hole)|"
         "(?:an?|the) (?:end of|hole|gap|fin|rst|syn|rejection|set-?up|terminate|send|write|read|fpdu|segment|message|reset)|"
         "holes|gaps|fpdus|segments|octets")

# A pattern, and what to say instead. A blank stands for any white space, a line's end included.
WORDS = (
    (r"whoever", "who / any ... that"),
    (r"anew", "again / from the start"),
    (r"amid", "during / in the middle of"),
    (r"(?:is|are|was|were|be|been|being|gets?) (?:not |never |only |then |also )?told(?! apart)", "hears / is informed / gets"),
    (rf"(?:{VERBS}|{MEMBERS}) behind{PLACE}", "after / beyond"),
    (rf"behind (?:{AFTER})", "after / beyond"),
    (r"one behind the other", "one after the other / in a row"),
    (rf"(?:(?-i:Behind)|[;:] behind){PLACE}", "after / beyond"),
    (r"in the places? of", "in place of / instead of"),
    (r"by (?:itself|themselves|himself)", "itself / on its own"),
    (r"(?:for|from) want of", "for lack of / without"),
    (r"(?:is|are|was|were) not to be had|can(?:not|'t)? be had", "is not available"),
    (r"(?:the|an) own", "its own / a separate"),
    (r"(?:do|does|did|done|named|works?|behaves?|decides?) otherwise", "differently"),
    (r"for ever", "forever"),
    (r"in silence", "silently"),
    (r"in turns", "in turn"),
    (r"dearer", "more expensive"),
    (r"whose (?:it|that|this) is", "to which it belongs"),
    (r"of nobody", "no one's / that belongs to none"),
    (r"thereof|whereof|whence|thence|hither|thither|lest|unto", "of it / from which / so that ... not / to"),
)
C_LIKE = {".h", ".cpp", ".cc", ".c", ".sv", ".svh", ".v", ".S", ".ld", ".js"}
HASH = {".cmake", ".sh", ".toml", ".yml", ".yaml"}
GENERATED = re.compile(r"^<!-- (?!end )[\w:]+ \S+ -->\n.*?^<!-- end -->", re.M | re.S)
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.S)


GAP = r"(?:[ \t]*\n[ \t]*|[ \t]+)"


def compiled(pattern):
    return re.compile(r"\b(?:" + re.sub(r"\(\?<[^)]*\)| ", lambda at: GAP if at[0] == " " else at[0], pattern) + r")\b", re.I)


PATTERNS = [(compiled(pattern), instead) for pattern, instead in WORDS]


class Mask:
    """A text with all but its prose struck out, of the same length and lines."""

    def __init__(self, text):
        self.text, self.kept = text, ["\n" if c == "\n" else c if c in " \t" else "\0" for c in text]

    def keep(self, start, end):
        self.kept[start:end] = self.text[start:end]

    def blank(self, start, end):
        self.kept[start:end] = " " * (end - start)

    def strike(self, start, end):
        self.kept[start:end] = re.sub(r"[^\n]", "\0", self.text[start:end])

    def prose(self):
        return re.sub(r"`[^`\n]+`", lambda quoted: "\0" * len(quoted[0]), "".join(self.kept))


def page_prose(text):
    mask, at, fenced = Mask(text), 0, False
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            mask.keep(at, at + len(line))
        at += len(line)
    for made in GENERATED.finditer(text):
        mask.strike(*made.span())
    return re.sub(r"\]\([^)\s]+\)", lambda link: "\0" * len(link[0]), mask.prose())


def c_prose(text, messages):
    mask = Mask(text)
    for token in TOKEN.finditer(text):
        if token[0].startswith("//"):
            mask.keep(*token.span())
            mask.blank(token.start(), token.start() + 2)
        elif token[0].startswith("/*"):
            mask.keep(*token.span())
        elif messages and token[0][0] in 'R"' and not text[:token.start()].endswith("#include "):
            mask.keep(token.start() + 1, token.end() - 1)
    return mask.prose()


def hash_prose(text):
    mask = Mask(text)
    for comment in re.finditer(r"(?:^|(?<=\s))#.*", text, re.M):
        mask.keep(*comment.span())
        mask.blank(comment.start(), comment.start() + 1)
    return mask.prose()


def python_prose(text):
    mask = Mask(text)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(token):
        return tuple(starts[line - 1] + column for line, column in (token.start, token.end))

    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            mask.keep(*span(token))
            mask.blank(span(token)[0], span(token)[0] + 1)
        elif token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            mask.keep(*span(token))
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type
    return mask.prose()


def prose(path, text):
    """The text with all struck out that is not prose; None if the file has none."""
    if path.suffix == ".md":
        return page_prose(text)
    if path.suffix in C_LIKE:
        return c_prose(text, path.parts[0] in MESSAGES and path.suffix in (".h", ".cpp"))
    if path.suffix == ".py":
        try:
            return python_prose(text)
        except (tokenize.TokenError, SyntaxError):
            return hash_prose(text)
    if path.suffix in HASH or path.name == "CMakeLists.txt":
        return hash_prose(text)
    return None


def git(*arguments):
    """What git prints; None where it fails or is missing."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def tracked():
    """The files of the tree: git's, or all where it is no clone."""
    listed = git("ls-files", "--cached", "--others", "--exclude-standard")
    if listed is None:
        return [file.relative_to(ROOT) for file in ROOT.rglob("*") if file.is_file()]
    return [pathlib.Path(name) for name in listed.splitlines() if (ROOT / name).is_file()]


def base():
    """The commit that changes are counted from; None where there is none."""
    head = git("rev-parse", "--verify", "-q", "HEAD")
    for main in "origin/main", "main":
        left = git("merge-base", "HEAD", main)
        if left and left != head:
            return left.strip()
    before = git("rev-parse", "--verify", "-q", "HEAD~1")
    return before.strip() if before else None


def added(since):
    """The numbers of the lines that are new, by file."""
    lines, path = {}, None
    for line in git("diff", "-U0", "--no-color", "--no-ext-diff", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/",
                    since, "--").splitlines():
        if line.startswith("+++ "):
            path = pathlib.Path(line[6:]) if line.startswith("+++ b/") else None
        elif path and (hunk := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line)):
            first = int(hunk[1])
            lines.setdefault(path, set()).update(range(first, first + int(hunk[2] or 1)))
    for name in git("ls-files", "--others", "--exclude-standard").splitlines():
        lines[pathlib.Path(name)] = None
    return lines


def faults(path, text, only=None):
    """Of a file's text: (line, word, what to say instead), of the lines `only` if these are given."""
    clean = None if path in EXEMPT else prose(path, text)
    if clean is None:
        return []
    found, last = [], 0
    for (start, end), instead in sorted((match.span(), instead) for pattern, instead in PATTERNS for match in pattern.finditer(clean)):
        if start < last:  # another pattern has it
            continue
        last = end
        first = clean.count("\n", 0, start) + 1
        if only is None or not only.isdisjoint(range(first, first + clean.count("\n", start, end) + 1)):
            found.append((first, " ".join(clean[start:end].split()), instead))
    return found


def below(path, folder):
    return path == folder or folder in path.parents


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.paths and not options.all:
        parser.error("paths go with --all")
    if options.list:
        print("\n".join(f"{pattern}: {instead}" for pattern, instead in WORDS))
        return 0
    if options.all:
        folders = [path.resolve().relative_to(ROOT) for path in options.paths]
        for folder in folders:
            if not (ROOT / folder).exists():
                parser.error(f"there is no {folder}")
        lines = dict.fromkeys(path for path in tracked() if not folders or any(below(path, folder) for folder in folders))
    else:
        since = base()
        if since is None:
            print("check_language.py: there is no commit to compare with, nothing was looked at")
            return 0
        lines = added(since)
    count = 0
    for path in sorted(lines):
        if not (ROOT / path).is_file() or path in EXEMPT:
            continue
        text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
        for line, word, instead in faults(path, text, lines[path]):
            print(f'{path}:{line}: "{word}": say "{instead}"')
            count += 1
    if not count:
        print(f"{len(lines)} {'files' if options.all else 'changed files'}: no word of the list")
    return bool(count)


if __name__ == "__main__":
    sys.exit(main())
