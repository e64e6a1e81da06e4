"""What a script outside of the tree does with the installed package: a stage, and a run of the scenario that is named."""
import sys

import rnicsim

with rnicsim.Stage("mpa_transmit") as stage:
    stage.push("in", octets=b"rnic!", crc=1)
    print(stage.take("out").octets.hex())
run = rnicsim.run(sys.argv[1])
print("digest", run.digest, "goodput", round(run.results[0]["goodput_gbps"], 1), "of version", rnicsim.version())
