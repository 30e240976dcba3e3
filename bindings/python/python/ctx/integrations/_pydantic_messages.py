"""Conversion of Pydantic AI messages for planning, and of a plan to messages."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union, cast

from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    ToolCallPart,
    UserPromptPart,
)

from ._planning import Converted

# Parts of a request that can be removed. The others record changes of instructions and tools, and are always kept.
_REMOVABLE = ("system-prompt", "user-prompt", "tool-return", "retry-prompt", "retry-feedback", "speech", "compaction")


@dataclass(frozen=True)
class Unit:
    """A response, or a part of a request: kept or removed as a whole."""

    at: int
    """The position of the message in the given list."""
    message: ModelMessage
    content: Union[ModelRequestPart, ModelResponse]

    @property
    def is_removable(self) -> bool:
        """Whether a plan can remove it."""
        return isinstance(self.content, ModelResponse) or self.content.part_kind in _REMOVABLE


def split_messages(messages: Iterable[ModelMessage]) -> list[Unit]:
    """Return the units of messages. A request without parts has none."""
    units: list[Unit] = []
    for at, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            units.append(Unit(at, message, message))
        else:
            units.extend(Unit(at, message, part) for part in message.parts)
    return units


def join_units(messages: Sequence[ModelMessage], units: Iterable[Unit]) -> list[ModelMessage]:
    """Return the messages of units: the given objects, or a new request if some of its parts are missing or copies."""
    contents: dict[int, list[Any]] = {}
    for unit in units:
        contents.setdefault(unit.at, []).append(unit.content)
    joined: list[ModelMessage] = []
    for at, message in enumerate(messages):
        kept = contents.get(at, [])
        if isinstance(message, ModelResponse):
            joined.extend(kept)
        elif len(kept) == len(message.parts) and all(one is part for one, part in zip(kept, message.parts)):
            joined.append(message)
        elif kept:
            joined.append(dataclasses.replace(message, parts=kept))
    return joined


def cache_mark(unit: Unit) -> Optional[CachePoint]:
    """Return the last cache point of a user prompt."""
    parts = _prompt_parts(unit) or ()
    return next((part for part in reversed(parts) if isinstance(part, CachePoint)), None)


def add_cache_mark(unit: Unit, mark: CachePoint) -> Optional[Unit]:
    """Return a copy of a user prompt with a cache point at the end."""
    parts = _prompt_parts(unit)
    if not parts:
        return None
    return dataclasses.replace(unit, content=dataclasses.replace(cast("Any", unit.content), content=[*parts, mark]))


def _prompt_parts(unit: Unit) -> Optional[list[Any]]:
    if not isinstance(unit.content, UserPromptPart):
        return None
    content = unit.content.content
    return [content] if isinstance(content, str) else list(content)


def removed_messages(messages: Sequence[ModelMessage], units: Iterable[Unit]) -> list[ModelMessage]:
    """Return the removed units as messages. They do not contain requests without parts: these are kept."""
    return [one for one in join_units(messages, units) if isinstance(one, ModelResponse) or one.parts]


def convert_units(units: Sequence[Unit]) -> list[Converted]:
    """Convert units to messages of chat completions. The tool results of a request come before its other parts."""
    order = sorted(range(len(units)), key=lambda number: (units[number].at, not _is_result(units[number].content)))
    return [Converted((number,), _convert(units[number].content)) for number in order]


def _is_result(content: Any) -> bool:
    kind = getattr(content, "part_kind", None)
    return kind == "tool-return" or (kind == "retry-prompt" and content.tool_name is not None)


def _convert(content: Any) -> dict[str, Any]:
    if isinstance(content, ModelResponse):
        return _convert_response(content)
    kind: str = content.part_kind
    if kind == "user-prompt":
        given = content.content
        parts = [given] if isinstance(given, str) else list(given)
        sent = [_content(part) for part in parts if getattr(part, "kind", None) != "cache-point"]
        return {"role": "user", "content": sent}
    if kind == "tool-return":
        files = [_content(file) for file in content.files]
        said = {"type": "text", "text": content.model_response_str()}
        return {"role": "tool", "tool_call_id": content.tool_call_id, "content": [said, *files]}
    if kind == "retry-prompt" and content.tool_name is not None:
        return {"role": "tool", "tool_call_id": content.tool_call_id, "content": content.model_response()}
    if kind in ("speech", "compaction"):
        return {"role": "user", "content": _text(content)}
    # Feedback of the framework is not a question of the user: it must not replace the task as the newest one.
    text = content.model_response() if kind in ("retry-prompt", "retry-feedback") else _text(content)
    return {"role": "system", "content": text}


def _convert_response(response: ModelResponse) -> dict[str, Any]:
    content: list[Any] = []
    calls: list[dict[str, Any]] = []
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
            calls.append({"id": part.tool_call_id, "type": "function", "function": function})
        elif part.part_kind == "file":
            content.append(_content(cast("Any", part).content))
        else:
            content.append({"type": "text", "text": _text(part)})
    return {"role": "assistant", "content": content} | ({"tool_calls": calls} if calls else {})


def _content(content: Any) -> dict[str, Any]:
    kind = getattr(content, "kind", None)
    if isinstance(content, str) or kind == "text-content":
        return {"type": "text", "text": content if isinstance(content, str) else content.content}
    if kind == "image-url":
        return {"type": "image_url", "image_url": {"url": content.url}}
    if isinstance(content, BinaryContent):
        if content.is_image:
            return {"type": "image_url", "image_url": {"url": content.data_uri}}
        if content.is_audio:
            return {"type": "input_audio", "input_audio": {"data": content.base64, "format": content.media_type}}
        return {"type": "file", "file": {"file_data": content.data_uri}}
    if kind in ("document-url", "video-url", "audio-url"):
        return {"type": "file", "file": {"file_data": content.url}}
    return {"type": "text", "text": _json(content)}


def _text(part: Any) -> str:
    """Return the text of a part, or all of it as JSON."""
    text = getattr(part, "content", None)
    return text if isinstance(text, str) and text else _json(part)


def _json(content: Any) -> str:
    value = dataclasses.asdict(content) if dataclasses.is_dataclass(content) and not isinstance(content, type) else content
    return json.dumps(value, ensure_ascii=False, default=repr)
