"""Cache marks (``cache_control``) of removed messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, cast

from langchain_core.messages import BaseMessage

# Blocks that may have a mark. Reasoning may not.
_MARKABLE = ("text", "image", "image_url", "document", "file")


def move_cache_marks(messages: Sequence[BaseMessage], kept: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Move each mark of a removed message to the last kept message before it; that message is copied.

    Without this, a cut would also end the caching of the messages before it.
    """
    sent: list[BaseMessage] = []
    following = iter(kept)
    expected = next(following, None)
    for message in messages:
        if message is expected:
            sent.append(message)
            expected = next(following, None)
        elif (mark := _mark(message)) is not None:
            _set_mark(sent, mark)
    return sent


def _mark(message: BaseMessage) -> Optional[Any]:
    marks = [one["cache_control"] for one in _blocks(message) if one.get("cache_control")]
    return marks[-1] if marks else None


def _set_mark(sent: list[BaseMessage], mark: Any) -> None:
    """Mark the last message that can have a mark, unless it has one."""
    for at in reversed(range(len(sent))):
        if _mark(sent[at]) is not None:
            return
        blocks = _blocks(sent[at])
        if blocks and blocks[-1].get("type") in _MARKABLE:
            marked: Any = [*blocks[:-1], blocks[-1] | {"cache_control": mark}]
            sent[at] = sent[at].model_copy(update={"content": marked})
            return


def _blocks(message: BaseMessage) -> list[dict[str, Any]]:
    content = cast("Any", message.content)
    parts = [content] if isinstance(content, str) else cast("list[Any]", content)
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts if part]
