# pyright: basic
"""Tests of the integration with LiteLLM: ``acompletion`` with a custom provider, and the hook of the proxy."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import litellm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from litellm import ModelResponse
from litellm.exceptions import ContextWindowExceededError
from litellm.llms.custom_llm import CustomLLM
from litellm.types.utils import CallTypes

import ctx
from ctx.integrations.litellm import CtxLogger

from . import agent_loop

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "read_report",
            "description": "Read the report of a place.",
            "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
        },
    }
]


class ScriptedProvider(CustomLLM):
    """Records its requests."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[list[dict[str, Any]]] = []

    async def acompletion(self, *args: Any, **kwargs: Any) -> ModelResponse:
        messages = kwargs["messages"] if "messages" in kwargs else args[1]
        self.requests.append(copy.deepcopy(messages))
        await asyncio.sleep(0)
        return ModelResponse(choices=[{"message": {"role": "assistant", "content": "ok"}}])


@pytest.fixture(name="provider")
def register_provider() -> Iterator[ScriptedProvider]:
    """Register a provider, and remove it and all callbacks afterwards."""
    scripted = ScriptedProvider()
    before = litellm.custom_provider_map
    litellm.custom_provider_map = [{"provider": "scripted", "custom_handler": scripted}]
    yield scripted
    litellm.custom_provider_map = before
    litellm.callbacks = []


async def run_loop(name: str = "a") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Run a loop as an application does: it appends to its own list. Return the list and a copy."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You audit warehouses."},
        {"role": "user", "content": agent_loop.TASK},
    ]
    appended = copy.deepcopy(messages)
    for step in range(1, agent_loop.STEPS + 2):
        await litellm.acompletion("scripted/model", messages=messages, tools=TOOLS)
        function = {"name": "read_report", "arguments": json.dumps({"place": agent_loop.argument(step)})}
        call = {"id": f"call_{name}_{step}", "type": "function", "function": function}
        new: list[dict[str, Any]] = [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": agent_loop.result(step)},
        ]
        messages += new
        appended += copy.deepcopy(new)
    return messages, appended


def _recorded(requests: list[list[dict[str, Any]]]) -> agent_loop.Requests:
    return agent_loop.Requests(requests)


def test_plans_each_call_of_a_tool_loop(provider: ScriptedProvider) -> None:
    reports: list[dict[str, Any]] = []
    litellm.callbacks = [CtxLogger(agent_loop.BUDGET, recall=agent_loop.RECALL, on_report=reports.append)]
    messages, appended = asyncio.run(run_loop())
    _recorded(provider.requests).check(tools=TOOLS)
    assert messages == appended
    assert len(reports) == agent_loop.STEPS + 1


def test_concurrent_conversations_share_a_callback(provider: ScriptedProvider) -> None:
    litellm.callbacks = [CtxLogger(agent_loop.BUDGET, recall=agent_loop.RECALL)]

    async def run_all() -> None:
        await asyncio.gather(*(run_loop(name) for name in "abcd"))

    asyncio.run(run_all())
    for name in "abcd":
        own = [one for one in provider.requests if len(one) > 2 and one[2]["tool_calls"][0]["id"].startswith(f"call_{name}_")]
        _recorded([provider.requests[0], *own]).check(tools=TOOLS)


def test_raises_if_infeasible(provider: ScriptedProvider) -> None:
    litellm.callbacks = [CtxLogger(300)]
    with pytest.raises(ContextWindowExceededError) as raised:
        asyncio.run(litellm.acompletion("scripted/model", messages=[{"role": "user", "content": "Audit. " * 300}]))
    assert isinstance(raised.value.__cause__, ctx.CtxError)
    assert provider.requests == []


def test_proxy_hook_plans_once() -> None:
    reports: list[dict[str, Any]] = []
    logger = CtxLogger(1_500, recall=400, on_report=reports.append)
    messages = [
        {"role": "user", "content": "Where is the door code of the northern depot?"},
        *({"role": "assistant", "content": agent_loop.result(step)} for step in range(1, 7)),
        {"role": "user", "content": "Tell me the door code of the northern depot."},
    ]
    user: Any = SimpleNamespace(api_key="key")
    cache: Any = None
    data = {"model": "m", "messages": messages, "metadata": {"session_id": "s"}}
    planned = asyncio.run(logger.async_pre_call_hook(user, cache, data, "acompletion"))
    assert data["messages"] is messages and len(messages) == 8
    assert len(planned["messages"]) < 8 and agent_loop.FACT in planned["messages"][-1]["content"]
    again = asyncio.run(logger.async_pre_call_deployment_hook(copy.deepcopy(planned), CallTypes.acompletion))
    assert again == planned and len(reports) == 1
    embedding = {"model": "m", "input": ["x"]}
    assert asyncio.run(logger.async_pre_call_hook(user, cache, embedding, "aembedding")) is embedding


def test_moves_cache_marks_of_removed_messages() -> None:
    mark = {"type": "ephemeral"}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You audit warehouses."},
        {"role": "user", "content": "Begin."},
        *({"role": "assistant", "content": agent_loop.result(step)} for step in range(1, 5)),
        {"role": "user", "content": "Go on."},
    ]
    messages[3] = {"role": "assistant", "content": [{"type": "text", "text": "Marked. " * 400, "cache_control": mark}]}
    before = copy.deepcopy(messages)
    data = {"model": "m", "messages": messages}
    sent = asyncio.run(CtxLogger(1_500).async_pre_call_deployment_hook(data, CallTypes.acompletion))["messages"]
    assert messages == before and messages[3] not in sent
    marked = [{"type": "text", "text": "You audit warehouses.", "cache_control": mark}]
    assert sent[0] == {"role": "system", "content": marked}
    assert all(any(one is message for message in messages) for one in sent[1:])


def test_counts_tools_and_response_format() -> None:
    tokens: list[int] = []
    logger = CtxLogger(8_000, on_report=lambda report: tokens.append(report["tokens"]))
    for more in ({}, {"tools": TOOLS}, {"tools": TOOLS, "response_format": {"type": "json_object"}}):
        data = {"model": "m", "messages": [{"role": "user", "content": f"Hi {len(more)}"}], **more}
        asyncio.run(logger.async_pre_call_deployment_hook(data, CallTypes.acompletion))
    assert tokens == sorted(set(tokens))


_TEXT = st.text(alphabet="ab \n✓", max_size=20)
_CONTENT = st.one_of(
    _TEXT,
    st.lists(
        st.sampled_from(
            [
                {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "file", "file": {"file_id": "f"}},
                {"type": "a_type_of_the_future", "x": 1},
            ]
        ),
        min_size=1,
        max_size=3,
    ),
)


@st.composite
def _messages(draw: st.DrawFn) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 7))):
        role = draw(st.sampled_from(["system", "user", "assistant", "calls"]))
        extra = draw(st.dictionaries(st.sampled_from(["name", "x_field", "provider_specific_fields"]), _TEXT, max_size=2))
        if role != "calls":
            messages.append({"role": role, "content": draw(_CONTENT), **extra})
            continue
        ids = [f"{number}_{at}" for at in range(draw(st.integers(1, 3)))]
        calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{ }"}} for one in ids]
        thinking = [{"type": "thinking", "thinking": draw(_TEXT), "signature": "s"}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls, "thinking_blocks": thinking, **extra})
        messages.extend({"role": "tool", "tool_call_id": one, "content": draw(_CONTENT), **extra} for one in ids)
    return messages


def _without_marks(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    if isinstance(content, list):
        content = [{key: part[key] for key in part if key != "cache_control"} for part in content]
    elif content:
        content = [{"type": "text", "text": content}]
    return {**message, "content": content}


@settings(max_examples=150)
@given(messages=_messages(), budget=st.integers(20, 3_000))
def test_keeps_messages_as_they_are(messages: list[dict[str, Any]], budget: int) -> None:
    before = copy.deepcopy(messages)

    def run(limit: int) -> list[dict[str, Any]]:
        data = {"model": "m", "messages": messages}
        planned = asyncio.run(CtxLogger(limit).async_pre_call_deployment_hook(data, CallTypes.acompletion))
        return list(planned["messages"])

    everything = run(1_000_000)
    assert len(everything) == len(messages) and all(one is other for one, other in zip(everything, messages))
    try:
        kept = run(budget)
    except ContextWindowExceededError:
        return
    assert messages == before
    # A copy differs in a cache mark only.
    remaining = iter(messages)
    for message in kept:
        is_copy = "cache_control" in str(message) and not any(message is one for one in messages)
        assert any(message is one or (is_copy and _without_marks(message) == _without_marks(one)) for one in remaining)
    assert not agent_loop.broken_pairs(kept)
