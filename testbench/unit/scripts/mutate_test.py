"""Invalid mutants are named, and a mutant is killed only if each of its rules has a test that fails."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import mutate  # noqa: E402

SOURCE = """TEST(Place, One) {}
  TEST_F(Place,Two) {}
class Three : public testing::TestWithParam<int> {};
TEST_P(Three, Four) {}
INSTANTIATE_TEST_SUITE_P(Seeds, Three, testing::Values(1));
INSTANTIATE_TEST_SUITE_P(
    More, Three, testing::Values(2));
"""
PLAN = [{"requirements": "DDP-1 DDP-2", "tests": "Place.One Seeds/Three.*"}, {"requirements": "DDP-2", "tests": "Place.Two"},
        {"requirements": "MPA-1", "tests": "scenario Patterns/Cosim.*"}]
NAMES = {"unit_test": ["Place.One", "Place.Two", "Seeds/Three.Four/0", "More/Three.Four/0"], "system_test": ["Place.One"]}


def mutant(rules=("DDP-1",), find="right", put="wrong", file="model/a.cpp", names_tests=False):
    return mutate.Mutant(tuple(rules), file, find, put, "it is wrong", names_tests)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("model/a.cpp", "this is right, that is so, and so on\n")
        commands = []
        for place in ("unit/place/CMakeFiles/unit_test.dir", "system/CMakeFiles/system_test.dir", "cosim/CMakeFiles/cosim.dir"):
            source = self.write(f"testbench/{place.partition('CMake')[0]}place_test.cpp", SOURCE)
            commands.append({"file": str(source), "command": f"c++ -I. -o testbench/{place}/place_test.cpp.o -c {source}"})
        commands.append({"file": str(self.root / "model/a.cpp"), "command": "c++ -o model/CMakeFiles/a.dir/a.cpp.o -c a.cpp"})
        self.ties = mutate.Ties(PLAN, self.write("compile_commands.json", json.dumps(commands)))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class Tests(Folder):
    def test_are_found_in_their_programs(self):
        self.assertEqual(self.ties.programs(["DDP-1"]), ["system_test", "unit_test"])
        self.assertEqual(self.ties.programs(["DDP-1", "MPA-1"], "unit"), ["unit_test"])

    def test_co_simulations_and_scenarios_judge_nothing(self):
        self.assertEqual(self.ties.programs(["MPA-1"]), [])

    def test_that_are_chosen_are_those_of_the_plan(self):
        self.assertEqual(self.ties.chosen("DDP-1", NAMES["unit_test"]), ["Place.One", "Seeds/Three.Four/0"])
        self.assertEqual(self.ties.chosen("DDP-2", NAMES["unit_test"]), ["Place.One", "Place.Two", "Seeds/Three.Four/0"])

    def test_may_be_selected_by_suite_name_or_parameter(self):
        case = ("Seeds/Three", "Four", True)
        for pattern in ("Seeds/Three.Four/0", "*Three.*", "*/Three.Four/*", "*Three.*/last_one", "Seeds/Three.F*/[!p]*"):
            self.assertTrue(mutate.could_match(pattern, case), pattern)
        for pattern in ("Three.Four/0", "More/Three.Four/0", "Seeds/Three.Fo/0"):
            self.assertFalse(mutate.could_match(pattern, case), pattern)

    def test_need_a_configured_build(self):
        with self.assertRaisesRegex(mutate.Unusable, "cmake --preset release"):
            mutate.tests_by_program(self.root / "nowhere.json")


class Mutants(Folder):
    def mistakes(self, *mutants):
        ties = mutate.Ties(PLAN, self.root / "compile_commands.json", mutants)
        found = mutate.mistakes_in(mutants, ties, {"DDP-1", "MPA-1"}, self.root)
        return [m.partition("it is wrong: ")[2] or m for m in found]

    def test_as_they_have_to_be(self):
        self.assertEqual(self.mistakes(mutant(), mutant(["Place.Two"], put="other", names_tests=True)), [])

    def test_mistakes(self):
        for bad, complaint in (
            (mutant(find="left"), "what it replaces stands 0 times in model/a.cpp: left"),
            (mutant(find="so"), "what it replaces stands 2 times in model/a.cpp: so"),
            (mutant(file="model/b.cpp"), "no file model/b.cpp"),
            (mutant(put="right"), "replaces a text by itself"),
            (mutant(["DDP-9"]), "unknown requirement DDP-9"),
            (mutant(["MPA-1"]), "no test is tied to MPA-1, or only a program's or a co-simulation"),
            (mutant(["Place.Nine"], names_tests=True), "no test Place.Nine"),
        ):
            self.assertEqual(self.mistakes(bad), [complaint])
        self.assertEqual(self.mistakes(mutant(), mutant()), ["mutants.toml: 2 mutants are the same: model/a.cpp: right"])

    def test_are_read_from_their_file(self):
        text = ("[[mutant]]\nrequirements = ['DDP-1']\nbreaks = 'it is wrong'\n"
                "file = 'model/a.cpp'\nfind = 'right'\nput = 'wrong'\n")
        self.assertEqual(mutate.read_mutants(self.write("m.toml", text)), [mutant()])
        named = text.replace("requirements = ['DDP-1']", "tests = ['Place.One']")
        self.assertEqual(mutate.read_mutants(self.write("m.toml", named)), [mutant(["Place.One"], names_tests=True)])
        for old, new, complaint in (("find", "seek", "find is missing"), ("'model/a.cpp'", "''", "file is missing"),
                                    ("put =", "where = 'x'\nput =", "unknown key where"),
                                    ("requirements = ['DDP-1']\n", "", "it needs requirements or tests"),
                                    ("requirements", "tests = ['Place.One']\nrequirements", "it needs requirements or tests")):
            with self.assertRaisesRegex(mutate.Unusable, f"m.toml: mutant 1: {complaint}"):
                mutate.read_mutants(self.write("m.toml", text.replace(old, new)))


class FakeCopy:
    """Programs that fail as specified: None hangs, a text does not compile."""

    def __init__(self, **failed):
        self.results, self.ran = failed, []

    def tests(self, program):
        return NAMES[program]

    def build(self, programs):
        result = self.results.get(programs[0], [])
        return result if isinstance(result, str) else ""

    def failed(self, program, names):
        self.ran.append((program, names))
        failed = self.results.get(program, [])
        return failed if failed is None else dict.fromkeys(failed, " (so)")


class Verdicts(Folder):
    def verdict(self, mutant, copy):
        trial = mutate.Trial(mutant)
        for folder in mutate.JUDGES:
            if not trial.over:
                trial.judge(copy, self.ties, folder)
        return str(trial).partition(" ")[0], str(trial).partition("it is wrong: ")[2]

    def test_killed_by_the_first_program_that_has_a_tied_test_that_fails(self):
        copy = FakeCopy(unit_test=["Place.One"])
        self.assertEqual(self.verdict(mutant(), copy), ("killed", "Place.One (so)"))
        self.assertEqual(copy.ran, [("unit_test", ["Place.One", "Seeds/Three.Four/0"])])

    def test_each_rule_needs_its_own(self):
        both = mutant(["DDP-1", "DDP-2"])
        self.assertEqual(self.verdict(both, FakeCopy(unit_test=["Place.Two"])), ("SURVIVED", "no test of DDP-1 fails"))
        killed = FakeCopy(unit_test=["Place.Two"], system_test=["Place.One"])
        self.assertEqual(self.verdict(both, killed), ("killed", "Place.Two (so) Place.One (so)"))

    def test_each_named_test_has_to_fail(self):
        named = mutant(["Place.One", "Place.Two"], names_tests=True)
        self.ties = mutate.Ties(PLAN, self.root / "compile_commands.json", [named])
        self.assertEqual(self.verdict(named, FakeCopy(unit_test=["Place.Two"])), ("SURVIVED", "no test of Place.One fails"))
        both = FakeCopy(unit_test=["Place.One", "Place.Two"])
        self.assertEqual(self.verdict(named, both), ("killed", "Place.One (so) Place.Two (so)"))

    def test_what_does_not_compile_or_hangs_is_not_killed(self):
        wrong = FakeCopy(unit_test="[1/2] a.cpp\na.cpp:1: error: no such thing\nninja: stopped\n")
        self.assertEqual(self.verdict(mutant(), wrong), ("SURVIVED", "does not compile: a.cpp:1: error: no such thing"))
        self.assertEqual(self.verdict(mutant(), FakeCopy(unit_test=None)), ("SURVIVED", "unit_test hangs, and no test reports it"))

    def test_a_program_that_breaks_down_has_failed(self):
        self.assertEqual(self.verdict(mutant(), FakeCopy(unit_test=["unit_test"])), ("killed", "unit_test (so)"))

    def test_tests_that_fail_unbroken_are_told(self):
        copy = FakeCopy(unit_test=None, system_test=["Place.One"])
        self.assertEqual(list(mutate.fails_unbroken({"DDP-1"}, copy, self.ties, "unit")), ["unit_test, which hangs"])
        self.assertEqual(list(mutate.fails_unbroken({"DDP-1"}, copy, self.ties, "system")), ["Place.One"])


class Reports(Folder):
    def failed(self, script):
        program = self.write("bin/program", f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        copy = mutate.Copy(self.root, 1)
        copy.out = self.root
        return copy.failed("program", ["Place.One"])

    def test_of_forked_tests(self):
        self.assertEqual(self.failed("""cat <<'END'
killed after 60 s
FAILED    60.01 s  Seeds/Three.Four/0
passed     0.01 s  Place.Two
wrong
FAILED     0.01 s  Place.One
3 tests: 1 passed, 2 failed, 0 skipped
[  FAILED  ] Seeds/Three.Four/0
[  FAILED  ] Place.One
END
exit 1"""), {"Seeds/Three.Four/0": " (cut off)", "Place.One": ""})

    def test_of_one_process(self):
        self.assertEqual(self.failed("""cat <<'END'
[ RUN      ] Seeds/Three.Four/0
[  FAILED  ] Seeds/Three.Four/0, where GetParam() = 1 (0 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Seeds/Three.Four/0, where GetParam() = 1
END
exit 1"""), {"Seeds/Three.Four/0": ""})
        self.assertEqual(self.failed("echo '[ RUN      ] Place.One'; kill -SEGV $$"), {"Place.One": " (broke down)"})
        self.assertEqual(self.failed("echo '[       OK ] Place.One (0 ms)'"), {})


class Copies(Folder):
    def test_are_equal_and_keep_the_time_of_what_did_not_change(self):
        source, target = self.root / "from", self.root / "to"
        for name in ("from/a.cpp", "from/model/build/b.cpp", "from/build/c.o", "from/.git/d", "from/out-1/e", "to/old.cpp"):
            self.write(name, name)
        mutate.copy_tree(source, target)
        files = {str(p.relative_to(target)) for p in target.rglob("*") if p.is_file()}
        self.assertEqual(files, {"a.cpp", "model/build/b.cpp"})
        before = (target / "a.cpp").stat().st_mtime_ns
        self.write("from/model/build/b.cpp", "new")
        mutate.copy_tree(source, target)
        self.assertEqual((target / "a.cpp").stat().st_mtime_ns, before)
        self.assertEqual((target / "model/build/b.cpp").read_text(), "new")

    def test_are_whole_again_after_a_mutant(self):
        copy = mutate.Copy(self.root, 1)
        copy.tree = self.root
        with copy.broken(mutant()):
            self.assertIn("this is wrong", (self.root / "model/a.cpp").read_text())
        self.assertIn("this is right", (self.root / "model/a.cpp").read_text())


if __name__ == "__main__":
    unittest.main()
