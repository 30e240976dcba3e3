"""pytest plugin: snapshots of contexts. Run ``pytest --ctx-update`` to write them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Optional, cast

import pytest

# Values that differ in each run.
_RANDOM = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE), "uuid"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?"), "time"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--ctx-update``."""
    group = parser.getgroup("ctx")
    group.addoption("--ctx-update", action="store_true", help="write the snapshots of `ctx_snapshot`")


@pytest.fixture
def ctx_snapshot(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compare a value with the file ``__ctx__/<module>.<test>.json``, which ``--ctx-update`` writes.

    Call it with ``name`` for a second snapshot in a test. A value is JSON, or has messages of openai, pydantic, or
    LangChain. Random ids and times are replaced. A missing file fails.
    """
    is_updated = bool(request.config.getoption("--ctx-update"))
    used: set[Path] = set()

    def check(value: object, name: Optional[str] = None) -> None:
        parts = [request.path.stem, request.node.name, *([name] if name else [])]
        file = request.path.parent / "__ctx__" / (".".join(map(_file_name, parts)) + ".json")
        if file in used:
            pytest.fail("this test has two snapshots of this name; pass `name`", pytrace=False)
        used.add(file)
        text = write_snapshot(value)
        if is_updated:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(text.encode())
        elif not file.exists():
            pytest.fail(f"{file} is missing; run `pytest --ctx-update`", pytrace=False)
        else:
            expected = file.read_bytes().decode().replace("\r\n", "\n")
            assert text == expected, f"differs from {file}; to accept it, run `pytest --ctx-update`"

    return check


def write_snapshot(value: object) -> str:
    """Write a value as JSON with sorted keys, without random ids and times."""
    text = json.dumps(_as_json(value), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    for pattern, word in _RANDOM:
        names: dict[str, str] = {}

        def name(found: re.Match[str], names: dict[str, str] = names, word: str = word) -> str:
            # Equal values get equal names: a result stays joined to its call.
            return names.setdefault(found[0], f"<{word} {len(names) + 1}>")

        text = pattern.sub(name, text)
    return text


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _as_json(one) for key, one in cast("Mapping[object, object]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(one) for one in cast("list[object]", value)]
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"ctx_snapshot: {type(value).__name__} is not JSON; convert it to dicts and lists")


def _file_name(part: str) -> str:
    return re.sub(r"[^\w.-]", "_", part)
