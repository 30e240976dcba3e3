"""Cache marks of removed messages."""

from collections.abc import Callable, Sequence
from typing import Any, Optional, TypeVar

T = TypeVar("T")


def move_cache_marks(
    messages: Sequence[T],
    kept: Sequence[T],
    mark_of: Callable[[T], Optional[Any]],
    add_mark: Callable[[T, Any], Optional[T]],
) -> list[T]:
    """Move each mark of a removed message to the last kept message before it that can have a mark.

    Without this, a cut also ends the caching of the messages before it. ``add_mark`` returns a copy, or ``None`` if the
    message cannot have a mark. Kept messages are in order, and the same objects as in ``messages``.
    """
    sent: list[T] = []
    # The messages before this position are marked, or none of them can be.
    settled = 0
    following = iter(kept)
    expected = next(following, None)
    for message in messages:
        if message is expected:
            sent.append(message)
            expected = next(following, None)
        elif (mark := mark_of(message)) is not None:
            for at in reversed(range(settled, len(sent))):
                if mark_of(sent[at]) is not None:
                    break
                if (marked := add_mark(sent[at], mark)) is not None:
                    sent[at] = marked
                    break
            settled = len(sent)
    return sent
