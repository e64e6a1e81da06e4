"""Netlists as linear algebra over GF(2).

An exclusive-or of inputs and a constant is an integer: bit 0 is the constant, bit i the input number i. Two functions
of that form are equal where the integers are, so that comparing them is a proof for every input.
"""
import json


class Refuted(Exception):
    """Functions that differ, or are not of that form."""


class Unsupported(Exception):
    """A netlist of other things than simple gates."""


def times(a, b):
    """The product, which has that form if a factor is a constant."""
    if a in (0, 1):
        return b if a else 0
    if b in (0, 1):
        return a if b else 0
    raise Refuted("not linear")


CELLS = {  # inputs, and the output's function of them
    "$_BUF_": ("A", lambda a: a),
    "$_NOT_": ("A", lambda a: a ^ 1),
    "$_XOR_": ("AB", lambda a, b: a ^ b),
    "$_XNOR_": ("AB", lambda a, b: a ^ b ^ 1),
    "$_AND_": ("AB", times),
    "$_OR_": ("AB", lambda a, b: a ^ b ^ times(a, b)),
    "$_MUX_": ("SAB", lambda s, a, b: a ^ times(s, a ^ b)),
}


class Netlist:
    """A module of Yosys' write_json, of simple gates. Registers are cut: `registers` names the inputs that stand for them."""

    def __init__(self, path, top, registers):
        module = json.loads(path.read_text(encoding="utf-8"))["modules"][top]
        self._ports = {name: port["bits"] for name, port in module["ports"].items()}
        nets = {name: net["bits"] for name, net in module["netnames"].items()}
        self._drivers = {}
        for name, cell in module["cells"].items():
            if cell["type"] in CELLS:
                pins, function = CELLS[cell["type"]]
                self._drivers[cell["connections"]["Y"][0]] = ([cell["connections"][p][0] for p in pins], function)
            elif "DFF" not in cell["type"]:
                raise Unsupported(f"{name} is a {cell['type']}")
        self._inputs = {"0": 0, "1": 1}
        self._names = ["1"]
        for name, port in module["ports"].items():
            if port["direction"] == "input":
                for i, bit in enumerate(port["bits"]):
                    self._inputs[bit] = 1 << len(self._names)
                    self._names.append(f"{name}[{i}]")
        for name, register in registers.items():
            for port, bit in zip(self._ports[name], nets[register], strict=True):
                self._inputs[bit] = self._inputs[port]

    def compare(self, one, other, case):
        """Two outputs, with the inputs in `case` at those values. Refuted where they differ, with an input that shows it."""
        values = dict(self._inputs)
        for name, number in case.items():
            values.update((bit, number >> i & 1) for i, bit in enumerate(self._ports[name]))
        where = ", ".join(f"{name}={number}" for name, number in case.items())
        for i, (a, b) in enumerate(zip(self._ports[one], self._ports[other], strict=True)):
            try:
                difference = self._value(a, values) ^ self._value(b, values)
            except Refuted as refuted:
                raise Refuted(f"{where}: {one}[{i}] or {other}[{i}] is {refuted}") from refuted
            if difference:
                all_zero = difference & 1
                bits = "all else 0" if all_zero else f"{self._names[difference.bit_length() - 1]}=1, all else 0"
                raise Refuted(f"{one}[{i}] and {other}[{i}] differ for {where}, {bits}")

    def _value(self, bit, values):
        """The function at a net. Nets are many and deep: a stack instead of recursion."""
        stack = [bit]
        while stack:
            net = stack[-1]
            if net in values:
                stack.pop()
                continue
            if net not in self._drivers:
                raise Unsupported("an undriven net")
            pins, function = self._drivers[net]
            missing = [p for p in pins if p not in values]
            if missing:
                stack.extend(missing)
                continue
            values[net] = function(*(values[p] for p in pins))
            stack.pop()
        return values[bit]
