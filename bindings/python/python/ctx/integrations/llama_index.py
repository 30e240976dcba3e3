"""LlamaIndex: a memory that returns planned messages, and a memory block that recalls archived messages.

Neither limits the steps within one run of a ``FunctionAgent``: it keeps these steps outside of the memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Optional, cast

from llama_index.core.base.llms.types import CachePoint, ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus

from .. import count, recall
from ._cache_marks import move_cache_marks
from ._plan_states import PlanStates
from ._planning import Converted, Settings, plan_messages

__all__ = ["CtxMemory", "CtxMemoryBlock"]

_STATES = PlanStates()
"""The states of the plans of sessions. A web server creates a memory object for each request."""


class CtxMemory(Memory):
    """Keeps all messages in its store, and returns the planned ones.

    ``token_limit`` is the budget. It includes ``reserve`` (set it to the tokens of tools and the system prompt) and recalled
    lines. ``ctx_model`` names the model whose tokens are counted. ``low`` is the share of the budget that remains after a
    cut, and ``recall`` the maximum number of tokens for lines of removed messages, in a last user message. ``keep`` returns
    whether a message is never removed. ``on_report`` receives the report of each read. A read raises ``CtxError`` with the
    code ``infeasible`` if the messages that cannot be removed exceed the budget. Memory blocks are not supported.
    """

    ctx_model: Optional[str] = None
    low: float = Settings.low
    reserve: int = 0
    recall: int = 0
    keep: Optional[Callable[[ChatMessage], bool]] = Field(default=None, exclude=True)
    on_report: Optional[Callable[[dict[str, Any]], None]] = Field(default=None, exclude=True)

    def model_post_init(self, context: Any) -> None:
        """Check the options."""
        super().model_post_init(context)
        if cast("list[Any]", self.memory_blocks):  # pyright: ignore[reportUnknownMemberType]
            raise ValueError("`memory_blocks` are not supported; use `recall`, or `Memory` with `CtxMemoryBlock`")

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class."""
        return "CtxMemory"

    async def aget(self, input: Any = None, **block_kwargs: Any) -> list[ChatMessage]:
        """Return the messages to send."""
        messages = await self.sql_store.get_messages(self.session_id, status=None)
        if not messages:
            return []
        settings = Settings(self.token_limit, self.ctx_model, self.low, self.reserve, self.recall, self.keep)
        converted = [Converted((at,), convert_message(message)) for at, message in enumerate(messages)]
        planned = plan_messages(messages, converted, settings, state=_STATES.get(self.session_id))
        _STATES.set(self.session_id, planned.state)
        if self.on_report is not None:
            self.on_report(planned.report)
        note = [ChatMessage(planned.note, role=MessageRole.USER)] if planned.note else []
        return [*move_cache_marks(messages, planned.kept, _cache_point, _add_cache_point), *note]

    async def _manage_queue(self) -> None:
        """Archive nothing: a read plans all messages."""


class CtxMemoryBlock(BaseMemoryBlock[str]):
    """Returns lines of archived messages that are about the newest user message.

    Use it in a ``Memory`` with the same ``chat_store``. Choose ``insert_method="user"`` there: in the system message the
    lines invalidate the prompt cache. ``budget`` is the maximum number of tokens of the lines, and ``model`` names the model
    whose tokens are counted.
    """

    name: str = "recalled"
    chat_store: AsyncDBChatStore = Field(exclude=True)
    budget: int = 300
    model: Optional[str] = None

    async def _aget(self, messages: Optional[list[ChatMessage]] = None, **block_kwargs: Any) -> str:
        asked = (message.content for message in reversed(messages or []) if message.role == MessageRole.USER)
        query = next((text for text in asked if text), None)
        archived = await self.chat_store.get_messages(str(block_kwargs.get("session_id")), MessageStatus.ARCHIVED)
        if not query or not archived:
            return ""
        found = recall([convert_message(message) for message in archived], query, budget=self.budget, model=self.model)
        return str(found.get("text") or "")

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store nothing: the chat store keeps archived messages."""

    async def atruncate(self, content: str, tokens_to_truncate: int) -> Optional[str]:
        """Remove the last lines."""
        lines = content.splitlines()
        limit = count(content, self.model) - tokens_to_truncate
        while lines and count("\n".join(lines), self.model) > limit:
            lines.pop()
        return "\n".join(lines) or None


def _cache_point(message: ChatMessage) -> Optional[CachePoint]:
    return next((block for block in reversed(message.blocks) if isinstance(block, CachePoint)), None)


def _add_cache_point(message: ChatMessage, mark: CachePoint) -> Optional[ChatMessage]:
    return message.model_copy(update={"blocks": [*message.blocks, mark]}) if message.blocks else None


def convert_message(message: ChatMessage) -> dict[str, Any]:
    """Convert a message to the form of chat completions, for counting and search only."""
    # An agent stores a call in a block and in the older form.
    calls: dict[str, dict[str, Any]] = {}
    content: list[dict[str, Any]] = []
    for block in message.blocks:
        if block.block_type == "tool_call":
            arguments: Any = block.tool_kwargs
            text = arguments if isinstance(arguments, str) else _json(arguments)
            _add_call(calls, block.tool_call_id, block.tool_name, text)
        else:
            content.append(_content(block))
    for call in _older_calls(message.additional_kwargs.get("tool_calls")):
        function = cast("dict[str, Any]", call.get("function") or {})
        _add_call(calls, call.get("id"), function.get("name"), function.get("arguments"))
    role = message.role.value
    if role in ("tool", "function"):
        identifier = message.additional_kwargs.get("tool_call_id") or ""
        return {"role": "tool", "tool_call_id": identifier, "content": content}
    role = {"chatbot": "assistant", "model": "assistant"}.get(role, role)
    converted: dict[str, Any] = {"role": role, "content": content}
    return converted | ({"tool_calls": list(calls.values())} if calls else {})


def _older_calls(calls: Any) -> Iterable[dict[str, Any]]:
    for call in calls or ():
        yield cast("dict[str, Any]", call) if isinstance(call, dict) else call.model_dump()


def _add_call(calls: dict[str, dict[str, Any]], identifier: Optional[str], name: Any, arguments: Any) -> None:
    key = identifier or ""
    function = {"name": name or "", "arguments": arguments or ""}
    calls.setdefault(key, {"id": key, "type": "function", "function": function})


def _content(block: Any) -> dict[str, Any]:
    kind: str = block.block_type
    if kind == "text":
        return {"type": "text", "text": block.text}
    data = getattr(block, kind, None) if kind in ("image", "audio", "video") else getattr(block, "data", None)
    if kind not in ("image", "audio", "video", "document"):
        return {"type": "text", "text": getattr(block, "content", None) or block.model_dump_json(exclude_none=True)}
    url = str(getattr(block, "url", None) or getattr(block, "path", None) or "")
    text = data.decode("ascii", "replace") if isinstance(data, bytes) else url
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{text}" if data else url}}
    if kind == "audio":
        return {"type": "input_audio", "input_audio": {"data": text, "format": "wav"}}
    return {"type": "file", "file": {"file_data": text}}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)
