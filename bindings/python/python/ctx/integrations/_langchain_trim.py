"""A function with the name and options of LangChain's ``trim_messages``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import dropwhile
from typing import Any, Literal, Union

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, SystemMessage, convert_to_messages

from .. import fit
from ._langchain_messages import model_name

MessageType = Union[str, type[BaseMessage]]


def trim_messages(
    messages: Iterable[Any],
    *,
    max_tokens: int,
    token_counter: Union[str, BaseChatModel, Callable[..., int]] = "approximate",
    strategy: Literal["first", "last"] = "last",
    allow_partial: bool = False,
    end_on: Union[MessageType, Sequence[MessageType], None] = None,
    start_on: Union[MessageType, Sequence[MessageType], None] = None,
    include_system: bool = True,
    text_splitter: object = None,
) -> list[BaseMessage]:
    """Return the newest messages that fit, as LangChain's function of this name does.

    Tool calls and their results stay together without ``start_on``. ``token_counter`` is a model, its name, or
    ``"approximate"``. Leading system messages and the newest user message always stay. Raises ``ValueError`` or
    ``TypeError`` for options that cannot be honored, and ``CtxError`` with the code ``infeasible`` if the messages that
    always stay exceed ``max_tokens``.
    """
    if strategy != "last":
        raise ValueError('`strategy`: only "last" is supported; use the function of LangChain')
    if allow_partial or text_splitter is not None:
        raise ValueError("`allow_partial` and `text_splitter`: messages stay whole; delete these options")
    if not include_system:
        raise ValueError("`include_system`: leading system messages always stay; delete this option")
    model = None
    if token_counter != "approximate":
        if not isinstance(token_counter, (str, BaseChatModel)):
            raise TypeError('`token_counter`: functions are not called; pass a model, its name, or "approximate"')
        model = model_name(token_counter)
    given = convert_to_messages(list(messages))
    if end_on is not None:
        ends = _types(end_on)
        given = list(dropwhile(lambda message: not _has_type(message, ends), reversed(given)))[::-1]
    kept = fit(given, max_tokens, model=model)
    if start_on is None:
        return kept
    starts = _types(start_on)
    leading = next((at for at, message in enumerate(kept) if not isinstance(message, SystemMessage)), len(kept))
    return [*kept[:leading], *dropwhile(lambda message: not _has_type(message, starts), kept[leading:])]


def _types(given: Union[MessageType, Sequence[MessageType]]) -> tuple[MessageType, ...]:
    return (given,) if isinstance(given, (str, type)) else tuple(given)


def _has_type(message: BaseMessage, types: tuple[MessageType, ...]) -> bool:
    classes = tuple(one for one in types if isinstance(one, type))
    return message.type in types or isinstance(message, classes)
