"""A tool loop of 30 steps, and measurements of its requests. Frameworks convert requests to chat completions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

STEPS = 30
BUDGET = 8_000
FACT = "ORD-2291-KESTREL"
TASK = "Compare the lamps of the pier one after the other, then tell the order number of the first invoice."
FACT_STEP = 2
ASKING_STEP = 29


def result(step: int) -> str:
    """Return the result of a step: about 600 tokens of log lines, with the fact in one of them."""
    lamps = ((line, step * 31 + line) for line in range(28))
    lines = [f"{step:02}:{line:02} lamp {lamp} burned {line * 7 % 60} minutes; oil level {line}" for line, lamp in lamps]
    if step == FACT_STEP:
        lines[9] = f"The invoice of the lighthouse keeper has the order number {FACT}"
    return "\n".join(lines)


def question(step: int) -> str:
    """Return the argument of the call of a step."""
    if step == ASKING_STEP:
        return "order number of the invoice of the lighthouse keeper"
    return f"lamps of row {step}"


@dataclass
class Requests:
    """The requests that a scripted model received, as chat completions."""

    budget: int = BUDGET
    requests: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])

    def add(self, messages: Iterable[dict[str, Any]]) -> int:
        """Record a request; return its number, from 1."""
        self.requests.append(list(messages))
        return len(self.requests)

    def broken_pairs(self) -> list[tuple[int, str]]:
        """Return the calls without results and results without calls, each with its request."""
        broken: list[tuple[int, str]] = []
        for number, messages in enumerate(self.requests, 1):
            calls = {call["id"] for one in messages for call in one.get("tool_calls", ())}
            results = {one["tool_call_id"] for one in messages if one["role"] == "tool"}
            broken.extend((number, identifier) for identifier in calls ^ results)
        return broken

    def shared(self) -> list[float]:
        """Return the share of each request, from the second, that the next one begins with."""
        texts = [[str(message) for message in request] for request in self.requests]
        return [_share(first, second) for first, second in zip(texts, texts[1:])]

    def holding(self, text: str) -> list[int]:
        """Return the numbers of the requests that contain a text."""
        return [number for number, request in enumerate(self.requests, 1) if text in str(request)]


def _share(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the equal leading characters as a share of the first request."""
    own, other = "".join(first), "".join(second)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(own, other))) / len(own)
