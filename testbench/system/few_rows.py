"""Settings of a chip that has few rows of a table on it."""


def few_rows(cache, entries, ways, policy, misses, home):
    """Words for the command line; `cache`: cq, page, qp or stag."""
    values = {f"rnic.context.cache.{cache}.entries": entries, f"rnic.context.cache.{cache}.ways": ways,
              f"rnic.context.cache.{cache}.policy": policy, f"rnic.context.cache.{cache}.misses_in_flight": misses,
              "rnic.context.home.kind": home}
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
