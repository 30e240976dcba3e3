# pyright: basic
"""Tests of the integration with Pydantic AI: real runs with a function as the model."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    CompactionPart,
    DocumentUrl,
    FilePart,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

import ctx
from ctx.integrations._pydantic_messages import convert_units, join_units, removed_messages, split_messages
from ctx.integrations.pydantic_ai import CtxCapability, CtxHistoryProcessor

from . import agent_loop


class Script:
    """Calls the tool in each step, and records its requests."""

    def __init__(self, name: str = "a") -> None:
        self.name = name
        self.recorded = agent_loop.Requests()
        self.tools: list[dict[str, Any]] = []

    async def reply(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.tools = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters_json_schema}
            for tool in info.function_tools
        ]
        instructions = {"role": "system", "content": info.instructions or ""}
        step = self.recorded.add([instructions, *(one for message in messages for one in as_chat(message))])
        await asyncio.sleep(0)
        if step > agent_loop.STEPS:
            return ModelResponse([TextPart("done")])
        call = ToolCallPart("read_report", {"place": agent_loop.argument(step)}, f"call_{self.name}_{step}")
        return ModelResponse([ThinkingPart("Next."), call])


def as_chat(message: ModelMessage) -> list[dict[str, Any]]:
    """Convert a message that occurs in these tests."""
    if isinstance(message, ModelResponse):
        calls = [
            {"id": part.tool_call_id, "type": "function", "function": {"name": part.tool_name, "arguments": json.dumps(part.args)}}
            for part in message.parts
            if isinstance(part, ToolCallPart)
        ]
        text = "".join(part.content for part in message.parts if isinstance(part, (TextPart, ThinkingPart)))
        return [{"role": "assistant", "content": text, "tool_calls": calls}]
    converted: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            converted.append({"role": "tool", "tool_call_id": part.tool_call_id, "content": part.content})
        else:
            assert isinstance(part, UserPromptPart)
            converted.append({"role": "user", "content": part.content})
    return converted


def make_agent(script: Script, *capabilities: Any) -> Agent[None, str]:
    agent = Agent(
        FunctionModel(script.reply), instructions="You audit warehouses.", capabilities=capabilities, name="auditor"
    )

    @agent.tool_plain
    def read_report(place: str) -> str:
        """Read the report of a place."""
        return agent_loop.result(agent_loop.STEPS if "code" in place else int(place.split()[-1]))

    del read_report
    return agent


async def run_loop(script: Script, *capabilities: Any) -> list[ModelMessage]:
    result = await make_agent(script, *capabilities).run(agent_loop.TASK, usage_limits=UsageLimits(request_limit=60))
    assert result.output == "done"
    return result.all_messages()


def test_plans_each_request_of_a_tool_loop() -> None:
    reports: list[dict[str, Any]] = []
    script = Script()
    capability = CtxCapability(agent_loop.BUDGET, recall=agent_loop.RECALL, on_report=reports.append)
    messages = asyncio.run(run_loop(script, capability))
    script.recorded.check(tools=script.tools)
    assert len(messages) == 2 * (agent_loop.STEPS + 1)
    assert len(reports) == agent_loop.STEPS + 1
    assert "[Recalled" not in str(messages)


def test_processor_archives_removed_messages() -> None:
    archived: list[ModelMessage] = []
    script = Script()
    processor = CtxHistoryProcessor(agent_loop.BUDGET, archive=archived.extend, reserve=100)
    messages = asyncio.run(run_loop(script, ProcessHistory(processor)))
    script.recorded.check(tools=script.tools, is_recalled=False)
    assert len(messages) < 40
    # Nothing is lost: the task, then the archived messages, then the others.
    calls = [part.tool_call_id for one in (*archived, *messages) for part in one.parts if isinstance(part, ToolCallPart)]
    assert calls == [f"call_a_{step}" for step in range(1, agent_loop.STEPS + 1)]


def test_concurrent_runs_share_a_capability() -> None:
    alone = Script("0")
    asyncio.run(run_loop(alone, CtxCapability(agent_loop.BUDGET, recall=agent_loop.RECALL)))
    scripts = [Script(str(number)) for number in range(4)]

    async def run_all() -> None:
        capability = CtxCapability(agent_loop.BUDGET, recall=agent_loop.RECALL)
        await asyncio.gather(*(run_loop(script, capability) for script in scripts))

    asyncio.run(run_all())
    for script in scripts:
        script.recorded.check(tools=script.tools)
    assert scripts[0].recorded.requests == alone.recorded.requests


@pytest.mark.parametrize(
    "capability",
    [CtxCapability(300), ProcessHistory[None](CtxHistoryProcessor(300, archive=lambda _: None))],
    ids=["capability", "processor"],
)
def test_raises_if_infeasible(capability: Any) -> None:
    script = Script()
    with pytest.raises(ctx.CtxError) as raised:
        asyncio.run(make_agent(script, capability).run("Audit. " * 300))
    assert raised.value.code == "infeasible"
    assert script.recorded.requests == []


def test_moves_cache_points_of_removed_messages() -> None:
    point = CachePoint(ttl="1h")
    seen: list[list[ModelMessage]] = []

    async def reply(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        seen.append(messages)
        return ModelResponse([TextPart("ok")])

    history: list[ModelMessage] = [
        ModelRequest([UserPromptPart("Begin.")]),
        ModelResponse([TextPart("ok")]),
        ModelRequest([UserPromptPart(["Marked. " * 400, point])]),
        ModelResponse([TextPart("lorem " * 400)]),
    ]
    capability = CtxCapability(600, keep=lambda message: message is history[0])
    agent = Agent(FunctionModel(reply), capabilities=[capability])
    result = asyncio.run(agent.run("Go on.", message_history=history))
    first = seen[0][0].parts[0]
    assert isinstance(first, UserPromptPart) and first.content == ["Begin.", point]
    assert "Marked" not in str(seen[0]) and "Marked" in str(result.all_messages())
    assert history[0].parts[0].content == "Begin."  # type: ignore[union-attr]


def test_rebuilds_a_request_with_its_remaining_parts() -> None:
    long = "lorem ipsum " * 60
    answered = ModelRequest(
        [ToolReturnPart("f", long, tool_call_id="1"), UserPromptPart("And now?")], run_id="r", metadata={"x": 1}
    )
    messages: list[ModelMessage] = [
        ModelRequest([UserPromptPart("Begin.")]),
        ModelResponse([ToolCallPart("f", "{}", "1")]),
        answered,
        ModelResponse([TextPart("ok")]),
    ]
    archived: list[ModelMessage] = []
    kept = asyncio.run(CtxHistoryProcessor(100, archive=archived.extend)(messages))
    assert kept[-1] is messages[-1] and len(answered.parts) == 2
    rebuilt = kept[-2]
    assert isinstance(rebuilt, ModelRequest) and rebuilt.parts == [answered.parts[1]]
    assert rebuilt.parts[0] is answered.parts[1]
    assert (rebuilt.run_id, rebuilt.metadata) == ("r", {"x": 1})
    assert [part for one in archived for part in one.parts if isinstance(part, ToolReturnPart)] == [answered.parts[0]]


_TEXT = st.text(alphabet="ab \n✓", max_size=20)
_BYTES = st.sampled_from(["image/png", "application/pdf", "audio/wav"]).map(lambda kind: BinaryContent(b"\x00\x01", media_type=kind))
_CONTENT = st.one_of(
    _TEXT,
    _TEXT.map(TextContent),
    st.just(ImageUrl("https://example.com/a.png")),
    st.just(DocumentUrl("https://example.com/a.pdf")),
    st.builds(CachePoint),
    _BYTES,
)
_REQUEST_PART = st.one_of(
    st.builds(UserPromptPart, st.one_of(_TEXT, st.lists(_CONTENT, max_size=3))),
    st.builds(SystemPromptPart, _TEXT),
    st.builds(lambda text: RetryFeedbackPart(text, retry=RetryInfo("no_output")), _TEXT),
    st.builds(lambda text: CompactionPart(text), _TEXT),
)
_RESPONSE_PART = st.one_of(
    st.builds(TextPart, _TEXT),
    st.builds(lambda text: ThinkingPart(text, id="t", signature="s", provider_name="p", provider_details={"x": 1}), _TEXT),
    st.builds(lambda text: NativeToolCallPart("web_search", {"q": text}, tool_call_id="n"), _TEXT),
    st.builds(lambda text: NativeToolReturnPart("web_search", {"r": text}, tool_call_id="n"), _TEXT),
    st.builds(lambda text: CompactionPart(text, id="c", provider_name="p", provider_details={"encrypted_content": "e"}), _TEXT),
    st.builds(FilePart, _BYTES),
)


@st.composite
def _messages(draw: st.DrawFn) -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for number in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["request", "response", "calls"]))
        if kind == "request":
            parts: list[Any] = draw(st.lists(_REQUEST_PART, max_size=3))
            messages.append(ModelRequest(parts, run_id="r", metadata={"number": number}))
            continue
        said: list[Any] = draw(st.lists(_RESPONSE_PART, max_size=3))
        if kind == "response":
            messages.append(ModelResponse(said, run_id="r", provider_details={"x": 1}))
            continue
        ids = [f"{number}_{at}" for at in range(draw(st.integers(1, 3)))]
        arguments: Any = draw(st.sampled_from(["{ }", {"a": 1}]))
        messages.append(ModelResponse([*said, *(ToolCallPart("f", arguments, one) for one in ids)]))
        results: list[Any] = [ToolReturnPart("f", draw(_TEXT), tool_call_id=one, metadata={"m": 1}) for one in ids]
        more: list[Any] = draw(st.lists(_REQUEST_PART, max_size=2))
        messages.append(ModelRequest(draw(st.permutations([*results, *more]))))
    return messages


@settings(max_examples=150)
@given(messages=_messages(), budget=st.integers(20, 400))
def test_keeps_messages_as_they_are(messages: list[ModelMessage], budget: int) -> None:
    before = copy.deepcopy(messages)
    units = split_messages(messages)
    assert sorted(at for one in convert_units(units) for at in one.positions) == list(range(len(units)))
    joined = join_units(messages, units)
    assert len(joined) == len(messages) and all(one is other for one, other in zip(joined, messages))
    archived: list[ModelMessage] = []
    try:
        kept = asyncio.run(CtxHistoryProcessor(budget, archive=archived.extend)(messages))
    except ctx.CtxError as error:
        assert error.code == "infeasible"
        return
    assert messages == before
    # Each part is in the history or in the archive, once, as the same object.
    parts = sorted(id(part) for message in messages for part in message.parts)
    assert sorted(id(part) for message in (*kept, *archived) for part in message.parts) == parts
    whole = {id(message) for message in messages}
    for message in kept:
        assert id(message) in whole or isinstance(message, ModelRequest)
    assert removed_messages(messages, []) == []
    calls = {part.tool_call_id for one in kept for part in one.parts if isinstance(part, ToolCallPart)}
    results = {part.tool_call_id for one in kept for part in one.parts if isinstance(part, ToolReturnPart)}
    assert results <= calls
