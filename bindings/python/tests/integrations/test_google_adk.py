# pyright: basic
"""Tests of the integration with Google ADK: real runs with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import PrivateAttr

import ctx
from ctx.integrations.google_adk import STATE_PREFIX, CtxPlugin, convert_contents

from . import agent_loop


def read_report(place: str) -> str:
    """Read the report of a place."""
    return agent_loop.result(agent_loop.STEPS if "code" in place else int(place.split()[-1]))


class ScriptedModel(BaseLlm):
    """Calls the tool in each step, and records its requests by session."""

    _recorded: dict[str, agent_loop.Requests] = PrivateAttr(default_factory=dict[str, agent_loop.Requests])
    _tools: list[dict[str, Any]] = PrivateAttr(default_factory=list[dict[str, Any]])

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        name = str((llm_request.contents[0].parts or [])[0].text).rsplit(" ", 1)[-1]
        recorded = self._recorded.setdefault(name, agent_loop.Requests())
        self._tools = [
            one.model_dump(mode="json", exclude_none=True)
            for tool in llm_request.config.tools or ()
            for one in (tool.function_declarations if isinstance(tool, types.Tool) else None) or ()
        ]
        instruction = {"role": "system", "content": str(llm_request.config.system_instruction)}
        step = recorded.add([instruction, *map(as_chat, llm_request.contents)])
        await asyncio.sleep(0)
        if step > agent_loop.STEPS:
            parts = [types.Part(text="done")]
        else:
            call = types.FunctionCall(id=f"call_{step}", name="read_report", args={"place": agent_loop.argument(step)})
            parts = [types.Part(text="Next.", thought=True), types.Part(function_call=call, thought_signature=b"s")]
        yield LlmResponse(content=types.Content(role="model", parts=parts))

    def recorded(self, name: str) -> agent_loop.Requests:
        """Return the requests of a session."""
        return self._recorded[name]

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools of the last request."""
        return self._tools


def as_chat(content: types.Content) -> dict[str, Any]:
    """Convert a content that occurs in these tests."""
    parts = content.parts or []
    for response in (part.function_response for part in parts if part.function_response):
        return {"role": "tool", "tool_call_id": response.id, "content": str((response.response or {})["result"])}
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.args)}}
        for call in (part.function_call for part in parts)
        if call
    ]
    text = "".join(part.text or "" for part in parts)
    return {"role": "assistant" if content.role == "model" else "user", "content": text, "tool_calls": calls}


def make_runner(model: BaseLlm, *plugins: CtxPlugin) -> InMemoryRunner:
    agent = LlmAgent(name="auditor", model=model, instruction="You audit warehouses.", tools=[read_report])
    return InMemoryRunner(app=App(name="audit", root_agent=agent, plugins=list(plugins)))


async def run_loop(runner: InMemoryRunner, name: str, text: str = agent_loop.TASK) -> Any:
    """Run a turn in a session; return the session."""
    await runner.session_service.create_session(app_name="audit", user_id="u", session_id=name)
    message = types.Content(role="user", parts=[types.Part(text=f"{text} {name}")])
    async for _ in runner.run_async(user_id="u", session_id=name, new_message=message):
        pass
    return await runner.session_service.get_session(app_name="audit", user_id="u", session_id=name)


def test_plans_each_call_of_a_tool_loop() -> None:
    reports: list[dict[str, Any]] = []
    model = ScriptedModel(model="scripted")
    plugin = CtxPlugin(agent_loop.BUDGET, recall=agent_loop.RECALL, on_report=reports.append)
    session = asyncio.run(run_loop(make_runner(model, plugin), "a"))
    model.recorded("a").check(tools=model.tools())
    # The session keeps all events: the task, two for each step, and the answer.
    assert len(session.events) == 2 + 2 * agent_loop.STEPS
    assert len(reports) == agent_loop.STEPS + 1
    state = session.state[f"{STATE_PREFIX}auditor"]
    assert state["removed"] and json.loads(json.dumps(state)) == state


def test_concurrent_sessions_share_a_plugin() -> None:
    model = ScriptedModel(model="scripted")
    runner = make_runner(model, CtxPlugin(agent_loop.BUDGET, recall=agent_loop.RECALL))

    async def run_all() -> None:
        await asyncio.gather(*(run_loop(runner, name) for name in "abcd"))

    asyncio.run(run_all())
    for name in "abcd":
        model.recorded(name).check(tools=model.tools())
        assert model.recorded(name).requests[-1][2:] == model.recorded("a").requests[-1][2:]


def test_raises_if_infeasible() -> None:
    model = ScriptedModel(model="scripted")
    with pytest.raises(RuntimeError) as raised:
        asyncio.run(run_loop(make_runner(model, CtxPlugin(300)), "a", "Audit. " * 300))
    assert isinstance(raised.value.__cause__, ctx.CtxError)
    assert raised.value.__cause__.code == "infeasible"


def test_counts_tools_and_schema() -> None:
    tokens: list[int] = []
    plugin = CtxPlugin(8_000, on_report=lambda report: tokens.append(report["tokens"]))
    declaration = types.FunctionDeclaration(name="f", description="Reads.", parameters_json_schema={"type": "object"})
    tools: list[Any] = [types.Tool(function_declarations=[declaration])]
    for config in (
        types.GenerateContentConfig(),
        types.GenerateContentConfig(system_instruction="Be brief."),
        types.GenerateContentConfig(system_instruction="Be brief.", tools=tools),
        types.GenerateContentConfig(system_instruction="Be brief.", tools=tools, response_schema={"type": "OBJECT"}),
    ):
        request = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text="Hi")])], config=config)
        _plan(plugin, request)
    assert tokens == sorted(set(tokens))


def _plan(plugin: CtxPlugin, request: LlmRequest) -> None:
    context = cast("Any", SimpleNamespace(state={}, agent_name="a"))
    assert asyncio.run(plugin.before_model_callback(callback_context=context, llm_request=request)) is None


_TEXT = st.text(alphabet="ab \n✓", max_size=20)
_PART = st.one_of(
    _TEXT.map(lambda text: types.Part(text=text)),
    _TEXT.map(lambda text: types.Part(text=text, thought=True, thought_signature=b"s")),
    st.sampled_from(["image/png", "audio/wav", "application/pdf"]).flatmap(
        lambda kind: st.sampled_from(
            [
                types.Part(inline_data=types.Blob(data=b"\x00", mime_type=kind)),
                types.Part(file_data=types.FileData(file_uri="gs://a", mime_type=kind)),
            ]
        )
    ),
    st.just(types.Part(executable_code=types.ExecutableCode(code="1", language=types.Language.PYTHON))),
    st.just(types.Part(code_execution_result=types.CodeExecutionResult(output="1", outcome=types.Outcome.OUTCOME_OK))),
    st.just(types.Part(part_metadata={"x": 1})),
    st.just(types.Part(thought_signature=b"only")),
    st.just(types.Part(text="")),
)


@st.composite
def _contents(draw: st.DrawFn) -> list[types.Content]:
    contents: list[types.Content] = []
    for number in range(draw(st.integers(1, 7))):
        kind = draw(st.sampled_from(["user", "model", "calls"]))
        parts = draw(st.lists(_PART, max_size=2))
        if kind != "calls":
            contents.append(types.Content(role=kind, parts=parts))
            continue
        has_ids = draw(st.booleans())
        ids = [f"{number}_{at}" if has_ids else None for at in range(draw(st.integers(1, 3)))]
        calls = [types.Part(function_call=types.FunctionCall(id=one, name="f", args={"a": 1})) for one in ids]
        contents.append(types.Content(role="model", parts=[*parts, *calls]))
        results = [
            types.Part(function_response=types.FunctionResponse(id=one, name="f", response={"result": draw(_TEXT)}))
            for one in ids
        ]
        contents.append(types.Content(role="user", parts=[*results, *draw(st.lists(_PART, max_size=1))]))
    return contents


@settings(max_examples=150)
@given(contents=_contents(), budget=st.integers(20, 3_000))
def test_keeps_contents_as_they_are(contents: list[types.Content], budget: int) -> None:
    before = [content.model_dump_json() for content in contents]
    assert {at for one in convert_contents(contents) for at in one.positions} == set(range(len(contents)))
    request = LlmRequest(contents=list(contents))
    _plan(CtxPlugin(1_000_000), request)
    assert len(request.contents) == len(contents)
    assert all(one is other for one, other in zip(request.contents, contents))
    request = LlmRequest(contents=list(contents))
    try:
        _plan(CtxPlugin(budget), request)
    except ctx.CtxError as error:
        assert error.code == "infeasible"
        return
    assert [content.model_dump_json() for content in contents] == before
    identities = [id(content) for content in contents]
    places = [identities.index(id(content)) for content in request.contents]
    assert places == sorted(places)
    # Calls and their results stay together.
    for at, content in enumerate(contents):
        if any(part.function_call for part in content.parts or ()):
            assert (at in places) == (at + 1 in places)
