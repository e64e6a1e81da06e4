"""What a script outside of the tree does with the installed package: use.py SCENARIO [rv32 | native]."""
import sys

import rnicsim

with rnicsim.Stage("mpa_transmit") as stage:
    stage.push("in", octets=b"rnic!", crc=1)
    print(stage.take("out").octets.hex())
with rnicsim.run(sys.argv[1], {"rnic.fwcpu.target": target for target in sys.argv[2:]}) as run:
    print("digest", run.digest, "of version", rnicsim.version())
    print(run.report)
