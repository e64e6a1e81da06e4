#!/usr/bin/env python3
"""Each property of rtl-stubs/checkers fails for its own case of checkers_bench.sv, alone, and none fails for good traffic.

The program is the bench, Verilated: CHECKERS_BENCH in the environment.
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECKERS = ROOT / "rtl-stubs/checkers"
BENCH = os.environ["CHECKERS_BENCH"]
HERE = pathlib.Path(__file__).resolve().parent


def properties(module):
    """The names of a checker's level 1."""
    text = (CHECKERS / f"{module}.sv").read_text(encoding="utf-8")
    text = re.sub(r"`ifdef RNIC_SVA_FULL.*?`endif", "", text, flags=re.DOTALL)
    return re.findall(r"^ *(\w+_A) *: assert property", text, flags=re.MULTILINE)


def instances(file):
    """Module by instance name, of the checkers in a file."""
    text = file.read_text(encoding="utf-8")
    return {name: module for module, name in re.findall(r"\b(\w+_checker)\s*(?:#\(.*?\)\)?\s*)?(u_\w+)\s*\(", text)}


def cases():
    text = "".join(f.read_text(encoding="utf-8") for f in (HERE / "checkers_bench.sv", HERE / "blocks_cases.svh"))
    return re.findall(r'"(u_[\w.]+_A)"', text)


def failures(case):
    """Which properties fail, by their place in the bench."""
    done = subprocess.run([BENCH, f"+case={case}", "+verilator+error+limit+1000"], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode or "done" not in done.stdout:
        raise RuntimeError(f"{case}: the bench does not end: {done.stdout[-400:]}{done.stderr[-400:]}")
    found = re.findall(r"Assertion failed in (?:TOP\.)?checkers_bench\.([\w.]+):", done.stdout)
    return {re.sub(r"\bgen_\w+\.", "", name) for name in found}


class Checkers(unittest.TestCase):
    def test_good_traffic_breaks_no_property(self):
        self.assertEqual(failures("good"), set())

    def test_each_case_breaks_its_property_alone(self):
        for case in cases():
            with self.subTest(case):
                self.assertEqual(failures(case), {case})

    def test_each_property_has_a_case(self):
        module_of = {**instances(HERE / "checkers_bench.sv"), **instances(HERE / "blocks_cases.svh"), **{
            f"u_tlp.{name}": module for name, module in instances(CHECKERS / "tlp_checker.sv").items()}}
        seen = set()
        for case in cases():
            place, name = case.rsplit(".", 1)
            seen.add((module_of[place], name))
        for file in sorted(CHECKERS.glob("*_checker.sv")):
            for name in properties(file.stem):
                with self.subTest(f"{file.stem}.{name}"):
                    self.assertIn((file.stem, name), seen)


if __name__ == "__main__":
    sys.exit(unittest.main())
