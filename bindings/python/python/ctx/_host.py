"""Anchors, macros and processors of your own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Optional


@dataclass(frozen=True)
class Anchor:
    """An anchor of your own: an entry of this ``type`` says where it is, and others are placed at it."""

    id: str
    name: str = ""
    description: str = ""
    has_template: bool = False
    """Whether the entry's own content is sent; otherwise it only marks a place."""
    default_template: Optional[str] = None
    """The content that a new entry of this type begins with."""


@dataclass(frozen=True)
class Macro:
    """A macro of your own."""

    name: str
    expand: Callable[..., str]
    """Makes the text that stands in its place, of its arguments. What it raises is a finding."""
    description: str = ""
    min: int = 0
    """How many arguments it takes at least."""
    max: int = 0
    """How many arguments it takes at most."""
    volatile: bool = False
    """Whether equal texts can give another value in the next turn: a provider's cache ends there."""


@dataclass(frozen=True)
class Processor:
    """A processor of your own."""

    id: str
    execute: Callable[[list[dict[str, Any]]], Optional[list[dict[str, Any]]]]
    """Changes messages: returns nothing, or the list that takes their place.

    Those that were given are known by their ``number``, and may have another text as ``content``; others are new. What
    it raises is a finding, and then nothing is changed.
    """
    name: str = ""
    description: str = ""
    priority: Optional[int] = None
    """Where it stands among the built-in ones; behind all that change texts if absent."""


def host_parts(
    anchors: Sequence[Anchor], macros: Sequence[Macro], processors: Sequence[Processor]
) -> tuple[dict[str, Any], Callable[[dict[str, Any]], Any]]:
    """Take functions and what is said of them apart: the engine has the words, and asks for the rest."""
    expands = {macro.name: macro.expand for macro in macros}
    executes = {processor.id: processor.execute for processor in processors}

    def answer(question: dict[str, Any]) -> Any:
        if "macro" in question:
            return expands[question["macro"]](*question["arguments"])
        return executes[question["processor"]](question["messages"])

    parts = {
        "anchors": [
            {
                "id": anchor.id,
                "name": anchor.name,
                "description": anchor.description,
                "hasTemplate": anchor.has_template,
                "defaultTemplate": anchor.default_template,
            }
            for anchor in anchors
        ],
        "macros": [
            {
                "name": macro.name,
                "description": macro.description,
                "min": macro.min,
                "max": macro.max,
                "volatile": macro.volatile,
            }
            for macro in macros
        ],
        "processors": [
            {
                "id": processor.id,
                "name": processor.name,
                "description": processor.description,
                "priority": processor.priority,
            }
            for processor in processors
        ],
    }
    return (parts if anchors or macros or processors else {}), answer
