"""gen_regs.py checks the description of the registers, and every complaint names the register."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "scripts"))
import gen_regs  # noqa: E402

GOOD = """
bar_bytes = 0x100
[[reg]]
name = "A_B"
offset = 0x10
access = "rw"
desc = "First."
field.LOW = { bits = [19, 0], desc = "low" }
field.HIGH = { bits = [31, 20], reset = 5, desc = "high" }
[[reg]]
name = "TABLE"
offset = 0x20
count = 4
stride = 8
access = "ro"
desc = "An array."
"""


class Description(unittest.TestCase):
    def refused(self, old, new, reason):
        self.assertIn(old, GOOD)
        with self.assertRaises(gen_regs.DescriptionError) as caught:
            gen_regs.parse(GOOD.replace(old, new))
        self.assertEqual(str(caught.exception), reason)

    def test_good_description(self):
        bar_bytes, (first, table) = gen_regs.parse(GOOD)
        self.assertEqual((bar_bytes, first.reset, first.mask), (256, 0x00500000, 0xFFFFFFFF))
        self.assertEqual(table.offsets, [0x20, 0x28, 0x30, 0x38])
        self.assertEqual([f.name for f in table.fields], ["VALUE"])

    def test_fields_overlap(self):
        self.refused("[31, 20]", "[31, 19]", "A_B: fields LOW and HIGH overlap")

    def test_field_outside_the_word(self):
        self.refused("[31, 20]", "[32, 20]",
                     "A_B.HIGH: bits [32, 20] are not 31 >= most significant >= least significant >= 0")

    def test_reset_does_not_fit(self):
        self.refused("reset = 5", "reset = 4096", "A_B.HIGH: reset value 0x1000 does not fit 12 bits")

    def test_offsets_collide_inside_an_array(self):
        self.refused("offset = 0x10", "offset = 0x28", "A_B: offset 0x0028 belongs to TABLE")

    def test_misaligned(self):
        self.refused("offset = 0x10", "offset = 0x12", "A_B: offset 0x0012 is not a multiple of 4")

    def test_outside_the_bar(self):
        self.refused("count = 4", "count = 29", "TABLE: offset 0x0100 lies outside the BAR")

    def test_unknown_access(self):
        self.refused('"ro"', '"r"', "TABLE: access 'r' is none of rw, ro, wo, rc, w1c")

    def test_unknown_key(self):
        self.refused("count = 4", "cuont = 4", "TABLE: unknown key 'cuont'")

    def test_same_name_twice(self):
        self.refused('"TABLE"', '"A_B"', "A_B: is described twice")

    def test_missing_description(self):
        self.refused('desc = "First."', "", "A_B: 'desc' must be a text")

    def test_reserved_bits_appear_in_the_package(self):
        text = gen_regs.generate(GOOD.replace("[31, 20]", "[27, 22]"))["rtl-stubs/include/rnic_regs_pkg.sv"]
        self.assertIn("logic [3:0] reserved_31_28;\n    logic [5:0] high;\n    logic [1:0] reserved_21_20;\n"
                      "    logic [19:0] low;", text)


if __name__ == "__main__":
    unittest.main()
