"""Messages of other packages as dicts, by what they have and not by their classes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from ._ctx import CtxError, call
from ._error import usage

M = TypeVar("M")

# The types of messages in langchain-core, and the roles that they stand for.
_ROLES = {
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "system": "system",
    "SystemMessageChunk": "system",
    "tool": "tool",
    "ToolMessageChunk": "tool",
}


def listed(messages: Iterable[M]) -> list[M]:
    """Return the messages of a list, or of what gives one after the other."""
    try:
        given = iter(messages)
    except TypeError as error:
        raise usage("messages are a list, or what gives one after the other") from error
    return list(given)


def as_dicts(messages: list[Any]) -> list[dict[str, Any]]:
    """Return messages as chat completions have them."""
    # Mostly all are, which is seen here without a call for each.
    if set(map(type, messages)) == {dict}:
        return cast("list[dict[str, Any]]", messages)
    return [_in_place(place, message) for place, message in enumerate(messages)]


def _in_place(place: int, message: object) -> dict[str, Any]:
    try:
        return _as_dict(message)
    except CtxError as error:
        error.pointer = f"/{place}"
        raise
    except Exception as error:
        raise usage(str(error), f"/{place}") from error


def _as_dict(message: object) -> dict[str, Any]:
    """Return a message as chat completions have it: a dict as it is, else what an object of another package says."""
    if isinstance(message, dict):
        return cast("dict[str, Any]", message)
    if isinstance(message, Mapping):
        return dict(cast("Mapping[str, Any]", message))
    if isinstance(message, tuple):
        role, content = cast("tuple[str, Any]", message)
        return {"role": _ROLES.get(role, role), "content": content}
    kind = getattr(message, "type", None)
    if isinstance(kind, str) and hasattr(message, "content"):
        if kind in _ROLES:
            return _of_langchain(message, _ROLES[kind])
        if kind == "message" and hasattr(message, "model_dump"):
            reply = call("decode", {"dialect": "anthropic", "body": cast("Any", message).model_dump(mode="json")})
            return cast("dict[str, Any]", reply["message"])
    if hasattr(message, "model_dump") and hasattr(message, "role"):
        return cast("dict[str, Any]", cast("Any", message).model_dump(mode="json", exclude_none=True))
    if hasattr(message, "role") and hasattr(message, "content"):
        given = cast("Any", message)
        return {"role": given.role, "content": given.content}
    raise TypeError(f"{type(message).__name__} is no message: neither a dict, nor an object with a role and content")


def _of_langchain(message: object, role: str) -> dict[str, Any]:
    given = cast("Any", message)
    written: dict[str, Any] = {"role": role, "content": given.content}
    if name := getattr(given, "name", None):
        written["name"] = name
    if call_id := getattr(given, "tool_call_id", None):
        written["tool_call_id"] = call_id
    if calls := getattr(given, "tool_calls", None):
        written["tool_calls"] = [
            {
                "id": one["id"],
                "type": "function",
                "function": {"name": one["name"], "arguments": json.dumps(one["args"], ensure_ascii=False)},
            }
            for one in calls
        ]
    return written
