"""Settings of a chip that has few rows of a table on it."""


def few_rows(cache, entries, ways, policy, misses, home):
    """Words for the command line; `cache`: cq, flow, page, qp or stag."""
    values = {f"rnic.context.cache.{cache}.entries": entries, f"rnic.context.cache.{cache}.ways": ways,
              f"rnic.context.cache.{cache}.policy": policy, f"rnic.context.cache.{cache}.misses_in_flight": misses,
              "rnic.context.home.kind": home}
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


# Small caches of any kind, and scenarios that have every kind of work.
SIZES = ((1, 1, "lru", 1, "host"), (2, 2, "plru", 4, "host"), (4, 2, "random", 2, "board"), (2, 1, "lru", 64, "host"))
SCENARIOS = ("qps16", "sctp_qps16", "atomics", "churn", "page_lists")
