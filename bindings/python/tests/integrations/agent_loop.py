"""A tool loop of 30 steps, and the checks of its requests."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ctx

STEPS = 30
BUDGET = 8_000
RECALL = 300
TASK = "Audit the warehouses one by one, and report at the end."
FACT = "ZEBRA-4471"
# The step whose result contains the fact, and the step whose call asks for it.
FACT_STEP, QUESTION_STEP = 2, 28

_WORDS = "amber basin cedar delta ember flint grove harbor island jetty kettle lantern meadow north orchard".split()


def argument(step: int) -> str:
    """Return the argument of the call of a step."""
    return "door code of the northern depot" if step == QUESTION_STEP else f"warehouse {step}"


def result(step: int) -> str:
    """Return the result of the call of a step: about 500 tokens."""
    words = random.Random(step)
    lines = [" ".join(words.choices(_WORDS, k=12)) for _ in range(25)]
    if step == FACT_STEP:
        lines[7] = f"The door code of the northern depot is {FACT}."
    return "\n".join([f"Report {step}", *lines])


@dataclass
class Measures:
    """The measured values of a loop."""

    tokens: list[int]
    """The tokens of each request."""
    shared: float
    """The mean share of a request that the next one begins with."""
    resets: int
    """The number of requests that share less than 80%."""
    is_recalled: bool
    """Whether the request after the question contains the fact."""

    def cells(self) -> str:
        """Return the cells of a table in a page."""
        over = sum(tokens > BUDGET for tokens in self.tokens)
        is_found = "yes" if self.is_recalled else "no"
        return f"{sum(self.tokens):,} | {over} | {self.shared:.2f} | {self.resets} | {is_found}"


@dataclass
class Requests:
    """The requests of a loop: messages of chat completions, converted by the test and not by the integration."""

    requests: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])

    def add(self, messages: list[dict[str, Any]]) -> int:
        """Record a request; return its step, from 1."""
        self.requests.append(messages)
        return len(self.requests)

    def measure(self, tools: Sequence[dict[str, Any]] = ()) -> Measures:
        """Measure the requests. None has a broken pair."""
        assert len(self.requests) == STEPS + 1
        assert all(not broken_pairs(request) for request in self.requests)
        shares = shared_prefixes(self.requests)
        return Measures(
            tokens=[count(request, tools) for request in self.requests],
            shared=sum(shares) / len(shares),
            resets=sum(share < 0.8 for share in shares),
            is_recalled=FACT in text(self.requests[QUESTION_STEP]),
        )

    def check(self, *, tools: Sequence[dict[str, Any]] = (), is_recalled: bool = True) -> None:
        """Check pairs, budget, prefix and recall."""
        measures = self.measure(tools)
        assert max(measures.tokens) <= BUDGET
        assert measures.shared >= 0.9
        assert 1 <= measures.resets <= 3
        # The request after the question has the fact, although its step was removed.
        last = self.requests[QUESTION_STEP]
        assert not [one for one in last if one["role"] == "tool" and f"Report {FACT_STEP}\n" in one["content"]]
        assert measures.is_recalled == is_recalled


def text(messages: Sequence[dict[str, Any]]) -> str:
    """Return a request as one text."""
    return "\n".join(json.dumps(message, ensure_ascii=False) for message in messages)


def count(messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] = ()) -> int:
    """Count the tokens of a request. Tools are counted as text."""
    return ctx.count(messages) + sum(ctx.count(json.dumps(tool)) for tool in tools)


def broken_pairs(messages: Sequence[dict[str, Any]]) -> set[str]:
    """Return the ids of calls without results and of results without calls."""
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert len(calls) == len(set(calls)) and len(results) == len(set(results))
    return set(calls) ^ set(results)


def shared_prefixes(requests: Sequence[Sequence[dict[str, Any]]]) -> list[float]:
    """Return for each request but the first the share of the previous request that it begins with."""
    shares: list[float] = []
    for before, after in zip(requests, requests[1:]):
        first, second = text(before).encode(), text(after).encode()
        equal = next((at for at, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))
        shares.append(equal / len(first))
    return shares
