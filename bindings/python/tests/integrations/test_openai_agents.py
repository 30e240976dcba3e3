# pyright: basic
"""Tests of the integration with the OpenAI Agents SDK: real runs with a scripted model."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any, Optional

import pytest
from agents import Agent, FunctionTool, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from agents.items import TResponseInputItem
from agents.models.interface import Model
from agents.run_config import CallModelData, ModelInputData
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_reasoning_item import Summary

import ctx
from ctx.integrations._openai_items import convert_items
from ctx.integrations.openai_agents import CtxInputFilter, CtxSession

from . import agent_loop


@function_tool
def read_report(place: str) -> str:
    """Read the report of a place."""
    return agent_loop.result(agent_loop.STEPS if "code" in place else int(place.split()[-1]))


class ScriptedModel(Model):
    """Calls the tool in each step, after a reasoning item, and records its requests."""

    def __init__(self, name: str = "a", steps: int = agent_loop.STEPS) -> None:
        self.name, self.steps = name, steps
        self.inputs: list[list[Any]] = []
        self.recorded = agent_loop.Requests()

    async def get_response(self, system_instructions: Optional[str], input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.inputs.append(copy.deepcopy(input))
        messages = [{"role": "system", "content": system_instructions or ""}, *map(as_chat, input)]
        step = self.recorded.add(messages)
        if step > self.steps:
            output: list[Any] = [_message(f"m{self.name}", "done")]
        else:
            call = ResponseFunctionToolCall(
                arguments=json.dumps({"place": agent_loop.argument(step)}),
                call_id=f"call_{self.name}_{step}",
                name="read_report",
                type="function_call",
            )
            thought = ResponseReasoningItem(
                id=f"rs_{self.name}_{step}", type="reasoning", summary=[Summary(text="Next.", type="summary_text")]
            )
            output = [thought, call]
        await asyncio.sleep(0)
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def _message(identifier: str, text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(text=text, annotations=[], type="output_text")
    return ResponseOutputMessage(id=identifier, content=[content], role="assistant", status="completed", type="message")


def as_chat(item: Any) -> dict[str, Any]:
    """Convert an item that occurs in these tests."""
    kind = item.get("type")
    if kind == "function_call":
        function = {"name": item["name"], "arguments": item["arguments"]}
        return {"role": "assistant", "content": "", "tool_calls": [{"id": item["call_id"], "type": "function", "function": function}]}
    if kind == "function_call_output":
        return {"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}
    if kind == "reasoning":
        return {"role": "assistant", "content": "".join(part["text"] for part in item["summary"])}
    return {"role": item["role"], "content": item["content"]}


def make_agent(model: Model) -> Agent[None]:
    return Agent(name="auditor", instructions="You audit warehouses.", model=model, tools=[read_report])


async def run_loop(model: ScriptedModel, plan: Any, input: str = agent_loop.TASK) -> Any:
    config = RunConfig(call_model_input_filter=plan, tracing_disabled=True)
    return await Runner.run(make_agent(model), input, run_config=config, max_turns=40)


def tools() -> list[dict[str, Any]]:
    assert isinstance(read_report, FunctionTool)
    return [{"name": read_report.name, "description": read_report.description, "parameters": read_report.params_json_schema}]


def test_plans_each_call_of_a_tool_loop() -> None:
    reports: list[dict[str, Any]] = []
    model = ScriptedModel()
    plan = CtxInputFilter(agent_loop.BUDGET, recall=agent_loop.RECALL, on_report=reports.append)
    result = asyncio.run(run_loop(model, plan))
    model.recorded.check(tools=tools())
    assert result.final_output == "done"
    # The store keeps all items: the task, three for each step, and the answer.
    assert len(result.to_input_list()) == 2 + 3 * agent_loop.STEPS
    assert len(reports) == agent_loop.STEPS + 1 and sum(one["reset"] for one in reports) <= 3
    # A reasoning item stays with its call.
    for items in model.inputs:
        thoughts = [item["id"].split("_")[2] for item in items if item.get("type") == "reasoning"]
        calls = [item["call_id"].split("_")[2] for item in items if item.get("type") == "function_call"]
        assert thoughts == calls


def test_concurrent_runs_share_a_filter() -> None:
    async def run_all(plan: CtxInputFilter, models: list[ScriptedModel]) -> None:
        await asyncio.gather(*(run_loop(model, plan) for model in models))

    alone = ScriptedModel("0")
    asyncio.run(run_loop(alone, CtxInputFilter(agent_loop.BUDGET, recall=agent_loop.RECALL)))
    models = [ScriptedModel(str(number)) for number in range(4)]
    asyncio.run(run_all(CtxInputFilter(agent_loop.BUDGET, recall=agent_loop.RECALL), models))
    for model in models:
        model.recorded.check(tools=tools())
    assert models[0].inputs == alone.inputs


def test_raises_if_infeasible() -> None:
    model = ScriptedModel()
    with pytest.raises(ctx.CtxError) as raised:
        asyncio.run(run_loop(model, CtxInputFilter(300), "Audit. " * 300))
    assert raised.value.code == "infeasible"
    assert model.inputs == []


def test_counts_tools_and_output_schema() -> None:
    tokens: list[int] = []

    def measure(agent: Agent[None]) -> None:
        plan = CtxInputFilter(8_000, on_report=lambda report: tokens.append(report["tokens"]))
        items: list[TResponseInputItem] = [{"role": "user", "content": "Hi"}]
        asyncio.run(plan(CallModelData(ModelInputData(items, "Be brief."), agent, None)))

    measure(Agent(name="a"))
    measure(Agent(name="a", tools=[read_report]))
    measure(Agent(name="a", tools=[read_report], handoffs=[Agent(name="b")]))
    measure(Agent(name="a", tools=[read_report], handoffs=[Agent(name="b")], output_type=dict[str, int]))
    assert tokens == sorted(set(tokens))


def test_session_keeps_all_items_and_returns_the_plan() -> None:
    async def run() -> None:
        store = SQLiteSession("s", ":memory:")
        items: list[Any] = []
        for step in range(1, 21):
            items.append({"role": "user", "content": f"Question {step}"})
            items.append({"role": "assistant", "content": agent_loop.result(step)})
        shown: list[list[dict[str, Any]]] = []
        for step in range(0, 40, 2):
            # A web server creates the objects again for each request.
            session = CtxSession(store, 4_000)
            await session.add_items(items[step : step + 2])
            got: list[Any] = list(await session.get_items())
            assert ctx.count(got) <= 4_000
            shown.append(got)
        assert await store.get_items() == items
        assert len(shown[-1]) < 40 and shown[-1][-1] == items[-1]
        assert await session.get_items(3) == items[-3:]
        shares = agent_loop.shared_prefixes(shown)
        assert sum(share < 0.8 for share in shares) <= 5
        model = ScriptedModel(steps=2)
        config = RunConfig(tracing_disabled=True)
        await Runner.run(make_agent(model), "Go on.", session=CtxSession(store, 4_000), run_config=config)
        assert len(model.inputs[0]) < 41
        assert len(await store.get_items()) == 40 + 1 + 3 * 2 + 1
        popped: Any = await session.pop_item()
        assert popped["role"] == "assistant"
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(run())


_TEXT = st.text(alphabet="ab \n✓", max_size=20)
_EXTRA = st.dictionaries(st.sampled_from(["id", "status", "x_field"]), _TEXT, max_size=2)
_PART = st.one_of(
    st.builds(lambda text: {"type": "input_text", "text": text}, _TEXT),
    st.just({"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"}),
    st.just({"type": "input_file", "file_data": "AAAA", "filename": "a.pdf"}),
)
_OPAQUE = st.sampled_from(
    ["web_search_call", "file_search_call", "code_interpreter_call", "mcp_list_tools", "mcp_call", "compaction",
     "image_generation_call", "item_reference", "mcp_approval_request", "a_type_of_the_future"]
)
_CALLS = ["function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call"]


@st.composite
def _items(draw: st.DrawFn) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 8))):
        role = draw(st.sampled_from(["user", "developer", "assistant", "opaque", "calls"]))
        extra = draw(_EXTRA)
        if role in ("user", "developer"):
            content = draw(st.one_of(_TEXT, st.lists(_PART, max_size=3)))
            items.append({"role": role, "content": content, **extra})
        elif role == "assistant":
            items.append({"type": "message", "role": role, "content": [{"type": "output_text", "text": draw(_TEXT)}], **extra})
        elif role == "opaque":
            items.append({**extra, "type": draw(_OPAQUE), "data": draw(_TEXT)})
        else:
            kinds = draw(st.lists(st.sampled_from(_CALLS), min_size=1, max_size=3))
            items.append({"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": draw(_TEXT)})
            items.extend(
                {**extra, "type": kind, "call_id": f"c{number}_{at}", "name": "f", "arguments": "{ }"}
                for at, kind in enumerate(kinds)
            )
            items.extend(
                {**extra, "type": f"{kind}_output", "call_id": f"c{number}_{at}", "output": draw(_TEXT)}
                for at, kind in enumerate(kinds)
            )
    return items


@settings(max_examples=150)
@given(items=_items(), budget=st.integers(20, 400))
def test_keeps_items_as_they_are(items: list[Any], budget: int) -> None:
    before = copy.deepcopy(items)
    positions = [at for one in convert_items(items) for at in one.positions]
    assert sorted(positions) == list(range(len(items)))

    def run(limit: int) -> list[Any]:
        data = CallModelData(ModelInputData(list(items), None), Agent[Any](name="a"), None)
        return list(asyncio.run(CtxInputFilter(limit)(data)).input)

    everything = run(100_000)
    assert all(kept is item for kept, item in zip(everything, items)) and len(everything) == len(items)
    try:
        kept = run(budget)
    except ctx.CtxError as error:
        assert error.code == "infeasible"
        return
    assert items == before
    identities = [id(item) for item in items]
    places = [identities.index(id(item)) for item in kept]
    assert places == sorted(places)
    # Reasoning, calls and results of one response stay together.
    for number in range(len(items)):
        own = [item for item in items if _belongs(item, number)]
        assert sum(any(item is one for one in kept) for item in own) in (0, len(own))


def _belongs(item: dict[str, Any], number: int) -> bool:
    return str(item.get("call_id", "")).startswith(f"c{number}_") or item.get("id") == f"rs_{number}"
