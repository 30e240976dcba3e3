"""Planning shared by the integrations: from a framework's messages to those to send."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Optional, TypeVar

from .. import Plan, plan

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """The options that all integrations have. Read ``ctx.plan`` for their meaning."""

    budget: Optional[int] = None
    model: Optional[str] = None
    low: float = 0.6
    reserve: int = 0
    recall: int = 0
    keep: Optional[Callable[[Any], bool]] = None
    """Returns whether a message is never removed. It receives a message of the framework."""
    on_report: Optional[Callable[[dict[str, Any]], None]] = None
    """Receives the report of each call."""


@dataclass(frozen=True)
class Converted:
    """A message of chat completions, and the positions of the framework's messages that it was made from."""

    positions: Sequence[int]
    message: Mapping[str, Any]


@dataclass(frozen=True)
class Planned(Generic[T]):
    """The messages of one request."""

    kept: list[T]
    """The given objects, in order."""
    removed: list[T]
    note: Optional[str]
    """Recalled lines of removed messages: the text of a last user message."""
    report: dict[str, Any]
    """As JSON: ``tokens``, ``kept``, ``removed``, ``orphans``, ``recalled`` and ``reset``; numbers of messages."""
    state: dict[str, Any]
    """What to pass to the next call of the same conversation, as JSON."""


def plan_messages(
    messages: Sequence[T],
    converted: Iterable[Converted],
    settings: Settings,
    *,
    leading: Sequence[Mapping[str, Any]] = (),
    tools: Sequence[Mapping[str, Any]] = (),
    state: Optional[Mapping[str, Any]] = None,
) -> Planned[T]:
    """Choose the messages to send. ``leading`` are instructions that the framework keeps apart from the messages.

    A message is sent if nothing that it was converted to is removed. Notes of earlier calls are removed.
    Raises ``CtxError`` with the code ``infeasible`` if the messages that cannot be removed exceed the budget.
    """
    listed = list(converted)
    is_pinned = settings.keep
    pinned = [
        len(leading) + at
        for at, one in enumerate(listed)
        if is_pinned is not None and any(is_pinned(messages[position]) for position in one.positions)
    ]
    planned = plan(
        [*leading, *(one.message for one in listed)],
        settings.budget,
        model=settings.model,
        tools=tools,
        reserve=settings.reserve,
        low=settings.low,
        pinned=pinned,
        recall=settings.recall,
        state=state,
    )
    left_out = {
        position
        for at in (*planned["removed"], *planned["notes"])
        if at >= len(leading)
        for position in listed[at - len(leading)].positions
    }
    recalled = planned["recalled"]
    return Planned(
        kept=[message for at, message in enumerate(messages) if at not in left_out],
        removed=[message for at, message in enumerate(messages) if at in left_out],
        note=recalled["content"] if recalled else None,
        report=_report(planned),
        state=planned["state"],
    )


def _report(planned: Plan) -> dict[str, Any]:
    recalled = planned["recalled"]
    return {
        "tokens": planned["tokens"],
        "kept": len(planned["kept"]),
        "removed": len(planned["removed"]),
        "orphans": len(planned["orphans"]),
        "recalled": recalled["content"] if recalled else None,
        "reset": planned["reset"],
    }
