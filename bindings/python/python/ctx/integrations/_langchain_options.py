"""Options of LangChain's own middleware as options of a plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, Optional, Union, cast

from langchain_core.messages import BaseMessage, ToolMessage

from ._langchain_messages import tool_names

ContextSize = tuple[Literal["tokens", "messages", "fraction"], Union[int, float]]
"""A size as LangChain writes it: a number of tokens, of messages, or a share of the model's window."""

Trigger = Union[ContextSize, Mapping[str, Union[int, float]]]
"""One threshold, or several that must all be met."""

Predicate = Callable[[BaseMessage], bool]

# Options of LangChain that have no meaning for a plan, each with the fix.
_REFUSED = {
    "summarizer": "no summary is written; delete it, and set `recall` to send lines of removed messages",
    "summary_prompt": "no summary is written; delete it, and set `recall` to send lines of removed messages",
    "trim_tokens_to_summarize": "no summary is written; delete it, and set `recall` to limit the recalled lines",
    "token_counter": "`model` selects the tokenizer; delete it, and pass the name of the model",
    "token_count_method": "`model` selects the tokenizer; delete it, and pass the name of the model",
    "max_tokens_before_summary": 'pass `trigger=("tokens", n)` or `budget=n`',
    "messages_to_keep": 'pass `keep=("messages", n)`',
}


def refuse(options: Mapping[str, object]) -> None:
    """Raise ``TypeError`` for options that cannot be honored."""
    for name in options:
        raise TypeError(f"`{name}`: {_REFUSED.get(name, 'no such option; delete it')}")


def budget_of(trigger: Union[Trigger, Sequence[Trigger]], window: Callable[[], int]) -> int:
    """Return the budget: the smallest trigger of a list, the largest threshold of a clause."""
    clauses = cast("Sequence[Trigger]", trigger if isinstance(trigger, list) else [trigger])
    if not clauses:
        raise ValueError("`trigger` is empty; pass `budget=n`")
    return min(max(_thresholds(clause, window)) for clause in clauses)


def _thresholds(clause: Trigger, window: Callable[[], int]) -> list[int]:
    pairs = clause.items() if isinstance(clause, Mapping) else [clause]
    return [_tokens("trigger", cast("ContextSize", pair), window) for pair in pairs]


def low_mark(keep: ContextSize, budget: Callable[[], int], window: Callable[[], int]) -> float:
    """Return the share of the budget that remains after a cut."""
    return max(0.3, min(1.0, _tokens("keep", keep, window) / budget()))


def _tokens(option: str, size: ContextSize, window: Callable[[], int]) -> int:
    kind, value = size
    if value <= 0:
        raise ValueError(f"`{option}`: {value} is not a size; pass a number above 0")
    if kind == "tokens":
        return int(value)
    if kind == "fraction":
        return max(1, int(window() * value))
    raise ValueError(f'`{option}`: a plan counts tokens, not {kind}; pass ("tokens", n)')


def newest(messages: Sequence[BaseMessage], count: int) -> Predicate:
    """Return a predicate for the newest messages."""
    kept = {id(message) for message in messages[-count:]} if count > 0 else set[int]()
    return lambda message: id(message) in kept


def newest_results(messages: Sequence[BaseMessage], count: int) -> Predicate:
    """Return a predicate for the newest tool results."""
    return newest([message for message in messages if isinstance(message, ToolMessage)], count)


def uses_tool(names: Collection[str]) -> Predicate:
    """Return a predicate for calls of tools, and their results."""
    return lambda message: not tool_names(message).isdisjoint(names)


def any_of(predicates: Sequence[Predicate]) -> Optional[Predicate]:
    """Return a predicate for messages that one of the predicates selects."""
    return (lambda message: any(selects(message) for selects in predicates)) if predicates else None


def read_edits(edits: Optional[Sequence[Any]]) -> dict[str, Any]:
    """Read ``edits`` of ``ContextEditingMiddleware`` as ``budget``, ``results``, ``exclude_tools`` and ``low``."""
    if edits is None:
        return {}
    if len(edits) != 1 or type(edits[0]).__name__ != "ClearToolUsesEdit":
        raise ValueError("`edits`: pass one `ClearToolUsesEdit`; other edits need `ContextEditingMiddleware`")
    edit = edits[0]
    if edit.placeholder != "[cleared]":
        raise ValueError("`placeholder`: a call is removed with its result; delete the option")
    read = {"budget": edit.trigger, "results": edit.keep, "exclude_tools": tuple(edit.exclude_tools)}
    cleared = edit.clear_at_least
    return read | ({"low": max(0.3, 1 - cleared / edit.trigger)} if cleared else {})
