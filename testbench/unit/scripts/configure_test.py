#!/usr/bin/env python3
"""Configures the tree on machines that lack a package of the tests and benchmarks, or have an incomplete or an old one: the program can
always be built, and a build of the tests reports what is missing."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
HALF_GTEST = "add_library(GTest::gtest INTERFACE IMPORTED)\nadd_library(GTest::gtest_main INTERFACE IMPORTED)\n"
OLD = 'set(PACKAGE_VERSION 1.8)\nif(NOT PACKAGE_FIND_VERSION VERSION_GREATER 1.8)\n  set(PACKAGE_VERSION_COMPATIBLE TRUE)\nendif()\n'
NEW = "set(PACKAGE_VERSION 1.99)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"


class ConfigureTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.build = self.folder / "build"

    def run_in(self, *command):
        return subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def configure(self, *options):
        # The compiler's abilities are the same each time, and take longest to check.
        known = [f"-D{name}=1" for name in ("CMAKE_C_COMPILER_WORKS", "CMAKE_CXX_COMPILER_WORKS", "RNIC_SYSTEMC_LINKS")]
        done = self.run_in("cmake", "--preset", "release", "-B", self.build, *known, *options)
        self.assertEqual(done.returncode, 0, done.stdout)
        planned = self.run_in("ninja", "-C", self.build, "-n", "rnicsim")
        self.assertEqual(planned.returncode, 0, planned.stdout[-2000:])
        return done.stdout

    def asked_for_tests(self):
        return self.run_in("ninja", "-C", self.build, "released_tests")

    def package(self, name, version, targets):
        """A prefix with a package that takes precedence over Debian's."""
        config = self.folder / "prefix/lib/cmake" / name
        config.mkdir(parents=True)
        (config / f"{name}Config.cmake").write_text(targets, encoding="utf-8")
        (config / f"{name}ConfigVersion.cmake").write_text(version, encoding="utf-8")
        return f"-DCMAKE_PREFIX_PATH={self.folder}/prefix"

    def test_all_is_there(self):
        self.assertNotIn("No tests", self.configure())
        self.assertEqual(self.run_in("ninja", "-C", self.build, "-n", "released_tests").returncode, 0)

    def test_no_google_test(self):
        self.assertIn("No tests: there is no GTest", self.configure("-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"))
        asked = self.asked_for_tests()
        self.assertNotEqual(asked.returncode, 0)
        self.assertIn("No tests: there is no GTest", asked.stdout)

    def test_google_test_without_google_mock(self):
        prefix = self.package("GTest", NEW, HALF_GTEST)
        self.assertIn("has no GTest::gmock", self.configure(prefix))
        self.assertIn("has no GTest::gmock", self.asked_for_tests().stdout)

    def test_an_old_google_test_before_debians(self):
        self.assertNotIn("No tests", self.configure(self.package("GTest", OLD, HALF_GTEST)))

    def test_no_python(self):
        self.assertIn("No tests: there is no Python3", self.configure("-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON"))

    def test_no_benchmark(self):
        self.assertIn("No benchmarks: there is no benchmark", self.configure("-DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON"))

    def test_tools_that_are_not_there(self):
        missing = [f"-D{name}=OFF" for name in ("RNIC_USRSCTP", "RV32_CXX", "CCACHE_PROGRAM")]
        text = self.configure(*missing)
        self.assertIn("No riscv64-unknown-elf-g++", text)
        self.assertIn("libusrsctp-dev is missing", text)

    def test_where_there_is_no_debian(self):
        """scripts/setup.sh installs nothing, and lists CMake's requirements with their names and versions."""
        programs = self.folder / "bin"
        programs.mkdir()
        for name in ("bash", "env", "sed", "dirname"):
            (programs / name).symlink_to(shutil.which(name))
        done = subprocess.run([ROOT / "scripts/setup.sh", "--tests"], env={"PATH": str(programs)}, text=True, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        asked = (ROOT / "scripts/cmake/dependencies.cmake").read_text(encoding="utf-8")
        names = re.findall(r"(?m)^rnic_require_pkg\(\S+ (\S+)|^find_package\((\w+)|^rnic_optional\(\S+ \S+ \S+ (\w+)", asked)
        self.assertGreater(len(names), 10)
        for name in ("".join(n) for n in names):
            self.assertIn(f"\n  {name}", done.stdout)
        self.assertIn("\n  fmt 9\n", done.stdout)
        self.assertEqual(done.stderr, "setup: missing here: c++ cmake ninja pkg-config npm verilator\n")


if __name__ == "__main__":
    unittest.main()
