"""Which twins a scenario can have in its stages' places."""
import json

IRRQ_QPS = 1024  # that the twin of irrq is built for


def twins_of(scenario):
    """The words for --rtl: all but those that are not built for its chips. That of ddp_placement has all queue pairs on the chip."""
    left_out = ["-ddp_placement"] if "cache.qp" in json.dumps(scenario) else []
    if scenario.get("config", {}).get("rnic", {}).get("context", {}).get("qps", 0) > IRRQ_QPS:
        left_out.append("-irrq")
    return ",".join(["all", *left_out])
