"""Which twins a scenario can have in its stages' places."""

BUILT_QPS = 1024  # that the twin of terminate_generator has room for


def settings_of(tree, path=""):
    """(dotted key, value) of each setting in a scenario, also of those that a sweep changes."""
    if isinstance(tree, dict):
        for key in [tree["key"]] if isinstance(tree.get("key"), str) else tree.get("key", []):
            for value in tree["values"] if isinstance(tree.get("values"), list) else [None]:
                yield key, value
        for key, value in tree.items():
            yield from settings_of(value, f"{path}.{key}")
    elif isinstance(tree, list):
        for value in tree:
            yield from settings_of(value, path)
    else:
        yield path, tree


def twins_of(scenario):
    """The words for --rtl: all but those that are not built for its chips. Those with rows of queue pairs have all of them on the chip."""
    settings = list(settings_of(scenario))
    left_out = ["-ddp_placement", "-irrq", "-response_queue"] if any(".cache.qp." in key for key, _ in settings) else []
    if any(key.endswith("context.qps") and value is not None and value > BUILT_QPS for key, value in settings):
        left_out.append("-terminate_generator")
    return ",".join(["all", *left_out])
