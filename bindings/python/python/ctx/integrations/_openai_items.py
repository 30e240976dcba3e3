"""Conversion of items of the Responses API for planning."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Optional, cast

from ._planning import Converted

# Roles of the items of a request. The other items are parts of a response.
_INPUT_ROLES = ("user", "system", "developer")


def convert_items(items: Sequence[Any]) -> list[Converted]:
    """Convert items to messages of chat completions. Consecutive items of a response are one message."""
    given = [cast("Mapping[str, Any]", item) for item in items]
    answered = {identifier for item in given if (identifier := _result_id(item)) is not None}
    converted: list[Converted] = []
    response: list[int] = []
    for at, item in enumerate(given):
        identifier = _result_id(item)
        if identifier is None and item.get("role") not in _INPUT_ROLES:
            response.append(at)
            continue
        if response:
            converted.append(_convert_response(given, response, answered))
            response = []
        if identifier is None:
            message: dict[str, Any] = {"role": item.get("role"), "content": _parts(item.get("content"))}
        else:
            message = {"role": "tool", "tool_call_id": identifier, "content": _output(item)}
        converted.append(Converted((at,), message))
    if response:
        converted.append(_convert_response(given, response, answered))
    return converted


def _convert_response(items: Sequence[Mapping[str, Any]], positions: Sequence[int], answered: set[str]) -> Converted:
    content: list[Any] = []
    calls: list[dict[str, Any]] = []
    for item in (items[at] for at in positions):
        kind = item.get("type")
        if kind == "function_call":
            calls.append(_call(item.get("call_id"), item.get("name"), item.get("arguments")))
        elif (identifier := item.get("call_id")) or (identifier := item.get("id")) in answered:
            calls.append(_call(identifier, kind, _json(item)))
        elif kind == "image_generation_call" and item.get("result"):
            content.append({"type": "input_image", "image_url": f"data:image/png;base64,{item['result']}"})
        elif item.get("role") == "assistant":
            content.extend(_parts(item.get("content")))
        else:
            content.append({"type": "text", "text": _json(item)})
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = calls
    return Converted(tuple(positions), message)


def _result_id(item: Mapping[str, Any]) -> Optional[str]:
    """Return the id of the call that an item is the result of."""
    kind = item.get("type")
    if isinstance(kind, str) and kind.endswith("_output"):
        return item.get("call_id")
    return item.get("approval_request_id") if kind == "mcp_approval_response" else None


def _call(identifier: Any, name: Any, arguments: Any) -> dict[str, Any]:
    function = {"name": name or "", "arguments": arguments or ""}
    return {"id": identifier or "", "type": "function", "function": function}


def _output(item: Mapping[str, Any]) -> Any:
    output: Any = item.get("output")
    if isinstance(output, dict) and "image_url" in output:
        return [cast("dict[str, Any]", output)]
    return _parts(cast("Any", output)) if isinstance(output, (str, list)) else _json(item)


def _parts(content: Any) -> list[Any]:
    """Return the parts of a content. The types of texts are those of chat completions."""
    parts: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    return [_part(part) for part in parts]


def _part(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    given = cast("dict[str, Any]", part)
    return {**given, "type": "text"} if given.get("type") in ("input_text", "output_text") else given


def _json(item: Any) -> str:
    return json.dumps(item, ensure_ascii=False, default=repr)
