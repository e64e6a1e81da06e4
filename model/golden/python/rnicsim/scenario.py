"""Scenarios as dicts: two nodes, a connection, and what goes over it. traces/README.md has every key."""
from collections.abc import Iterable, Mapping
from typing import Any


def work(op: str, size: int | Mapping[str, Any], count: int, depth: int = 16, **others: Any) -> dict[str, Any]:
    """An item of work: `count` operations ("send", "write", "read", …) of `size` octets, at most `depth` of them at a time."""
    return {"name": others.pop("name", f"{op}s"), "op": op, "size": size, "count": count, "depth": depth, **others}


def scenario(items: Iterable[Mapping[str, Any]], connection: Mapping[str, Any] | None = None, **others: Any) -> dict[str, Any]:
    """Nodes a and b with the connection c0 and these items, whose data are compared. `connection` has other values of its keys (ird, ord,
    crc, markers, qps, …), `others` further keys of a scenario (seed, link, config, checks, …)."""
    return {"name": "python", "seed": 1,
            "nodes": [{"name": "a", "ip": "10.0.0.1", "mac": "02:00:00:00:00:01"}, {"name": "b", "ip": "10.0.0.2", "mac": "02:00:00:00:00:02"}],
            "connections": [{"name": "c0", "from": "a", "to": "b", "port": 41000, "mpa_revision": 2, "markers": False, "crc": True,
                             "ird": 16, "ord": 16, **(connection or {})}],
            "work": [dict(item) for item in items], "checks": [{"check": "data"}], **others}
