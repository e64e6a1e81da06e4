"""The pins of SystemVerilog modules, as their text has them: names, directions and, where they can be computed, widths.

No parser of the language: it reads parameters and ports of both styles (in the header, or declared in the body). What it cannot
compute has no width, and the tool that compiles the module checks it.
"""
import ast
import dataclasses
import operator
import re


@dataclasses.dataclass
class Pin:
    name: str
    direction: str  # input, output or inout
    type: str       # of a package, or empty
    ranges: list    # texts of the packed dimensions

    def width(self, names, structures):
        """Bits, or None if that cannot be computed with these names' values."""
        bits = 1
        if self.type:
            bits = structures.get(self.type.split("::")[-1], {}).get("bits")
        for text in self.ranges:
            try:
                high, low = (value(part, names) for part in text.rsplit(":", 1))
            except ValueError:
                return None
            bits = bits and bits * (abs(high - low) + 1)
        return bits


@dataclasses.dataclass
class Module:
    name: str
    parameters: dict  # name: text of its default
    constants: dict   # the same of localparams
    pins: dict        # name: Pin
    header: str       # from the name's end to the semicolon

    def names(self, given):
        """Values of the parameters and constants that can be computed."""
        known = dict(given)
        for table in (self.parameters, self.constants):
            for name, text in table.items():
                try:
                    known.setdefault(name, value(text, known))
                except ValueError:
                    pass
        return known


OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
             ast.Pow: operator.pow, ast.LShift: operator.lshift, ast.RShift: operator.rshift}
COMPARISONS = {ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Eq: operator.eq, ast.NotEq: operator.ne}


def value(text, names):
    """The integer that an expression stands for. ValueError, with the reason, if it is none."""
    text = re.sub(r"\d*'[sS]?([bodhBODH])([0-9a-fA-F_]+)",
                  lambda m: str(int(m[2].replace("_", ""), {"b": 2, "o": 8, "d": 10, "h": 16}[m[1].lower()])), str(text))
    text = re.sub(r"\b\w+::", "", text).replace("$clog2", "clog2").replace("//", "/").replace("/", "//").strip()
    text = re.sub(r"^([^?]*)\?([^?:]*):(.*)$", r"(\2) if (\1) else (\3)", text, flags=re.S)
    try:
        return _value(ast.parse(text, mode="eval").body, names)
    except (SyntaxError, ZeroDivisionError, OverflowError, MemoryError) as error:
        raise ValueError(f"'{text}' is no expression of integers") from error


def _value(node, names):
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise ValueError(f"'{node.id}' is not known")
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "clog2" and len(node.args) == 1:
        return max(_value(node.args[0], names) - 1, 0).bit_length()
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, names) else node.orelse, names)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        return int(COMPARISONS[type(node.ops[0])](_value(node.left, names), _value(node.comparators[0], names)))
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = _value(node.left, names), _value(node.right, names)
        if isinstance(node.op, (ast.Pow, ast.LShift)) and not 0 <= right <= 64:
            raise ValueError("an exponent that large")
        return OPERATORS[type(node.op)](left, right)
    raise ValueError("not an expression of integers")


def without_comments(text):
    return re.sub(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', lambda m: m[0] if m[0][0] == '"' else " ", text, flags=re.S)


def closing(text, at):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0:
            return i
    return len(text)


def split(text):
    """The items of a list, divided by commas outside of brackets."""
    items, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "," and depth == 0:
            items.append(text[start:i])
            start = i + 1
    return [item.strip() for item in items + [text[start:]] if item.strip()]


DECLARED = re.compile(
    r"(?:(?P<direction>input|output|inout)\b\s*)?(?:(?:var|wire|tri|reg|logic|bit|signed|unsigned|integer)\b\s*)*"
    r"(?P<type>(?:[A-Za-z_]\w*\s*::\s*)?[A-Za-z_]\w*(?=\s+[A-Za-z_\[])\s*)?"
    r"(?P<ranges>(?:\[[^\]]*\]\s*)*)(?P<name>[A-Za-z_]\w*)\s*(?:=.*)?$", re.S)


def _ports(items):
    """Pins of a list; one that says nothing of itself is as the one before it."""
    last = None
    for item in items:
        item = re.sub(r"^(`\w+[^\n]*\n\s*)+|\n\s*`\w+[^\n]*", "", item).strip()
        match = DECLARED.match(item)
        if not match:
            continue
        ranges = re.findall(r"\[([^\]]*)\]", match["ranges"])
        if match["direction"] is None and last is not None and not match["type"] and not ranges:
            last = Pin(match["name"], last.direction, last.type, last.ranges)
        else:
            direction = match["direction"] or (last.direction if last else "")
            last = Pin(match["name"], direction, re.sub(r"\s", "", match["type"] or ""), ranges)
        yield last


def _defaults(items):
    for item in items:
        match = re.match(r"(?:.*?[\s\]])?([A-Za-z_]\w*)\s*=\s*(.*)$", item, re.S)
        if match:
            yield match[1], match[2].strip()


def modules(text):
    """The modules in a source text, by name."""
    found = {}
    text = without_comments(text)
    for match in re.finditer(r"\b(?:module|macromodule)\s+(?:automatic\s+|static\s+)?([A-Za-z_]\w*)", text):
        end = text.find("endmodule", match.end())
        text_of = text[match.end():end if end >= 0 else len(text)]
        at = re.match(r"\s*(?:import\b[^;]*;\s*)*", text_of).end()
        parameters, constants = {}, {}
        if text_of[at:at + 1] == "#":
            at = text_of.find("(", at)
            stop = closing(text_of, at)
            local = False
            for item in split(text_of[at + 1:stop]):
                local = "localparam" in item or (local and not re.match(r"parameter\b", item))
                (constants if local else parameters).update(_defaults([item]))
            at = stop + 1
        pins, at = {}, text_of.find("(", at)
        semicolon = text_of.find(";", at)
        stop = semicolon
        if at >= 0 and (semicolon < 0 or at < semicolon):
            stop = closing(text_of, at)
            pins = {pin.name: pin for pin in _ports(split(text_of[at + 1:stop]))}
        body = text_of[stop + 1:]
        for kind, names in re.findall(r"\b(localparam|parameter)\b([^;]*);", body):
            (constants if kind == "localparam" else parameters).update(_defaults(split(names)))
        for text_declared in re.findall(r"(?<![\w(,])\s*((?:input|output|inout)\b[^;()]*)(?=;)", body):
            for pin in _ports(split(text_declared)):
                if pin.name in pins and not pins[pin.name].direction:
                    pins[pin.name] = pin
        found[match[1]] = Module(match[1], parameters, constants, pins, text_of[:stop + 1])
    return found


def structures(text):
    """The packed structures of a package: {"bits", "fields": [(name, type or None, bits)]} by name."""
    found = {}
    for body, name in re.findall(r"typedef struct packed \{(.*?)\}\s*(\w+);", without_comments(text), re.S):
        fields = []
        for kind, high, field in re.findall(r"(\w+)\s*(?:\[(\d+):0\])?\s*(\w+);", body):
            inner = None if kind == "logic" else kind
            fields.append((field, inner, found[kind]["bits"] if inner else int(high or 0) + 1))
        found[name] = {"bits": sum(bits for _, _, bits in fields), "fields": fields}
    return found


def constants(text):
    """The integers that a package names."""
    known = {}
    for name, written in re.findall(r"\bparameter\b[^;=]*?(\w+)\s*=\s*([^;]*);", without_comments(text)):
        try:
            known[name] = value(written, known)
        except ValueError:
            pass
    return known


def leaves(name, known):
    """(dotted field, bits) of all fields of a structure."""
    for field, inner, bits in known[name]["fields"]:
        if inner:
            yield from ((f"{field}.{rest}", n) for rest, n in leaves(inner, known))
        else:
            yield field, bits
