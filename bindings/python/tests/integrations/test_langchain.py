# pyright: basic
"""The LangChain integration with the real framework and a scripted model."""

import asyncio
import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware, SummarizationMiddleware
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel, PrivateAttr

import ctx
from ctx.integrations._langchain_messages import as_chat_message, plan_langchain
from ctx.integrations._planning import Settings
from ctx.integrations.langchain import CtxMiddleware, agent_messages, trim_messages

from . import tool_loop
from .tool_loop import ASKING_STEP, BUDGET, FACT, STEPS, TASK, Requests

SYSTEM = "You keep the books of a lighthouse. Use one tool at a time."
CONFIG: Any = {"recursion_limit": 200, "configurable": {"thread_id": "t"}}


@tool
def look_up(question: str, step: int) -> str:
    """Read the log of the lighthouse."""
    return tool_loop.result(step)


class ScriptedModel(BaseChatModel):
    """Calls the tool once per step, and then answers."""

    _seen: Requests = PrivateAttr(default_factory=Requests)

    @property
    def seen(self) -> Requests:
        """The requests."""
        return self._seen

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> Iterator[ChatGenerationChunk]:
        reply = self._reply(messages)
        chunks = [
            tool_call_chunk(name=one["name"], args=json.dumps(one["args"]), id=one["id"], index=0)
            for one in reply.tool_calls
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(content=reply.content, tool_call_chunks=chunks))

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        step = self._seen.add(as_chat_message(one) for one in messages)
        if step > STEPS:
            return AIMessage("Done.")
        arguments = {"question": tool_loop.question(step), "step": step}
        return AIMessage("", tool_calls=[{"name": "look_up", "args": arguments, "id": f"call-{step}"}])


def run(
    middleware: CtxMiddleware[Any, Any], how: str = "invoke", **options: Any
) -> tuple[Requests, dict[str, Any], Any]:
    """Run the loop; return its requests, the last state and the agent."""
    model = ScriptedModel()
    saver = InMemorySaver()
    agent = create_agent(
        model, tools=[look_up], system_prompt=SYSTEM, middleware=[middleware], checkpointer=saver, **options
    )
    given: Any = {"messages": [HumanMessage(TASK)]}
    if how == "invoke":
        state = agent.invoke(given, CONFIG)
    elif how == "ainvoke":
        state = asyncio.run(agent.ainvoke(given, CONFIG))
    elif how == "stream":
        events: list[Any] = list(agent.stream(given, CONFIG, stream_mode=["values", "messages"]))
        state = [one for kind, one in events if kind == "values"][-1]
    else:
        state = asyncio.run(_stream(agent, given))
    return model.seen, state, agent


async def _stream(agent: Any, given: Any) -> Any:
    return [one async for one in agent.astream(given, CONFIG, stream_mode="values")][-1]


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream", "astream"])
def test_keeps_a_loop_below_the_budget_with_a_stable_prefix(how: str) -> None:
    reports: list[dict[str, Any]] = []
    requests, state, _ = run(CtxMiddleware(budget=BUDGET, on_report=reports.append), how)
    assert len(requests.requests) == len(reports) == STEPS + 1
    assert requests.broken_pairs() == []
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
    for request, report in zip(requests.requests, reports):
        counted = ctx.plan(request, 10**9, tools=tools)["tokens"]
        assert counted <= report["tokens"] <= BUDGET
    shares = requests.shared()
    assert sum(shares) / len(shares) >= 0.90
    assert sum(report["reset"] for report in reports) <= 3
    assert sum(share < 0.8 for share in shares) <= 3
    assert len(state["messages"]) == 2 * STEPS + 2
    assert state["ctx_report"] == reports[-1]
    if how in ("invoke", "ainvoke"):
        assert "ctx_plan" not in state


def test_recalls_a_fact_of_a_removed_message() -> None:
    requests, state, _ = run(CtxMiddleware(budget=BUDGET, recall=400))
    asking = requests.requests[ASKING_STEP]
    assert not any(FACT in str(one) for one in asking if one["role"] == "tool")
    assert asking[-1]["role"] == "user" and FACT in asking[-1]["content"]
    assert not any(isinstance(one, HumanMessage) for one in state["messages"][1:])
    assert requests.broken_pairs() == []
    shares = requests.shared()
    assert sum(shares) / len(shares) >= 0.90


def test_continues_the_plan_of_a_checkpoint() -> None:
    saver = InMemorySaver()
    sent: list[list[str]] = []
    for _ in range(2):
        # A new process has a new agent, and only the checkpoint.
        model = ScriptedModel()
        agent = create_agent(model, tools=[look_up], middleware=[CtxMiddleware(budget=BUDGET)], checkpointer=saver)
        state = agent.invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
        sent.append([str(one["id"]) for one in model.seen.requests[0]])
        last = [str(one["id"]) for one in model.seen.requests[-1]]
        sent.append(last)
    assert sent[2][: len(sent[1])] == sent[1]
    stored = agent.get_state(CONFIG).values["ctx_plan"]
    serializer = JsonPlusSerializer()
    assert serializer.loads_typed(serializer.dumps_typed(stored)) == stored
    assert "ctx_plan" not in state
    # Keys of messages, and no positions.
    assert set(stored) == {"removed", "prefix", "model"} and all(isinstance(one, str) for one in stored["removed"])


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_raises_if_nothing_can_be_removed(how: str) -> None:
    model = ScriptedModel()
    agent = create_agent(model, tools=[look_up], system_prompt=SYSTEM * 100, middleware=[CtxMiddleware(budget=500)])
    given: Any = {"messages": [HumanMessage(TASK)]}
    with pytest.raises(ctx.CtxError) as caught:
        agent.invoke(given) if how == "invoke" else asyncio.run(agent.ainvoke(given))
    assert caught.value.code == "infeasible"
    assert model.seen.requests == []


def test_sends_the_message_objects_of_the_state() -> None:
    message = HumanMessage(TASK, id="h", additional_kwargs={"mine": [1]})
    reply = AIMessage("", id="a", tool_calls=[{"name": "look_up", "args": {}, "id": "c"}], response_metadata={"x": 1})
    answered = ToolMessage("Rain.", id="t", tool_call_id="c", artifact=object())
    messages, planned = plan_langchain([message, reply, answered], Settings(budget=1_000))
    assert [id(one) for one in messages] == [id(message), id(reply), id(answered)]
    assert planned.removed == []


class Answer(BaseModel):
    """The answer of the lighthouse keeper, with many words of explanation for the model."""

    order: str
    lamps: list[int]


@pytest.mark.parametrize("response_format", [Answer, ToolStrategy(Answer), ProviderStrategy(Answer)])
def test_counts_the_system_message_tools_and_response_schema(response_format: Any) -> None:
    def tokens(**options: Any) -> int:
        reports: list[dict[str, Any]] = []
        middleware: CtxMiddleware[Any, Any] = CtxMiddleware(budget=BUDGET, on_report=reports.append)
        agent = create_agent(AnsweringModel(), middleware=[middleware], **options)
        agent.invoke({"messages": [HumanMessage("Hello")]})
        return int(reports[0]["tokens"])

    alone = tokens()
    assert tokens(system_prompt=SYSTEM) >= alone + 10
    assert tokens(tools=[look_up]) >= alone + 20
    assert tokens(response_format=response_format) >= alone + 20


class AnsweringModel(ScriptedModel):
    """Answers at once, in the form that is asked for."""

    _has_answer_tool: bool = PrivateAttr(default=False)

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        self._has_answer_tool = any(getattr(one, "name", None) == "Answer" for one in tools)
        return self

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        self._seen.add(as_chat_message(one) for one in messages)
        text = '{"order": "1", "lamps": []}'
        calls = [{"name": "Answer", "args": {"order": "1", "lamps": []}, "id": "x"}] if self._has_answer_tool else []
        return AIMessage(text, tool_calls=calls)


def test_takes_the_options_of_the_summarization_middleware() -> None:
    options: Any = {"trigger": ("tokens", BUDGET), "keep": ("tokens", 4_800)}
    SummarizationMiddleware(ScriptedModel(), **options)
    requests, _, _ = run(CtxMiddleware(ScriptedModel(), **options))
    expected, _, _ = run(CtxMiddleware(budget=BUDGET, low=0.6))
    assert [len(one) for one in requests.requests] == [len(one) for one in expected.requests]


def test_keeps_the_newest_messages() -> None:
    requests, _, _ = run(CtxMiddleware(ScriptedModel(), trigger=("tokens", BUDGET), keep=("messages", 16)))
    assert all(len(one) >= 16 for one in requests.requests[8:])


def test_converts_sizes() -> None:
    model = ScriptedModel(profile={"max_input_tokens": 10_000})
    trigger: Any = [("fraction", 0.8), {"tokens": 9_000}]
    fraction: CtxMiddleware[Any, Any] = CtxMiddleware(model, trigger=trigger, keep=("fraction", 0.4))
    settings = fraction._sizes([], lambda: 10_000)
    assert (settings.budget, settings.low) == (8_000, 0.5)
    both: CtxMiddleware[Any, Any] = CtxMiddleware(trigger={"tokens": 100, "fraction": 0.5})
    assert both._sizes([], lambda: 1_000).budget == 500
    agent = create_agent(ScriptedModel(), middleware=[CtxMiddleware(trigger=("fraction", 0.5))])
    with pytest.raises(ValueError, match="window of the model is unknown"):
        agent.invoke({"messages": [HumanMessage("Hello")]})


def test_fits_the_window_of_the_model_without_a_budget() -> None:
    messages: Any = {"messages": [HumanMessage(f"Question {number} about the rain?") for number in range(100)]}
    model = AnsweringModel(profile={"max_input_tokens": 300})
    create_agent(model, middleware=[CtxMiddleware()]).invoke(messages)
    assert ctx.plan(model.seen.requests[0], 10**6)["tokens"] <= 300
    known: CtxMiddleware[Any, Any] = CtxMiddleware("openai:gpt-5")
    agent = create_agent(AnsweringModel(), middleware=[known])
    assert agent.invoke(messages)["ctx_report"]["kept"] == 100
    with pytest.raises(ctx.CtxError, match="set `budget` or `model`"):
        create_agent(AnsweringModel(), middleware=[CtxMiddleware()]).invoke(messages)


def test_takes_the_edits_of_the_context_editing_middleware() -> None:
    edit = ClearToolUsesEdit(trigger=BUDGET, keep=3, clear_at_least=3_200)
    ContextEditingMiddleware(edits=[edit])
    requests, _, _ = run(CtxMiddleware(edits=[edit]))
    expected, _, _ = run(CtxMiddleware(budget=BUDGET, low=0.6))
    assert [len(one) for one in requests.requests] == [len(one) for one in expected.requests]


def test_never_removes_calls_of_excluded_tools() -> None:
    messages = [
        HumanMessage("Look."),
        AIMessage("", tool_calls=[{"name": "plan", "args": {}, "id": "p"}]),
        ToolMessage("The plan.", name="plan", tool_call_id="p"),
    ]
    for number in range(20):
        messages.append(AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": str(number)}]))
        messages.append(ToolMessage("Rain. " * 50, tool_call_id=str(number)))
    middleware: CtxMiddleware[Any, Any] = CtxMiddleware(budget=700, exclude_tools=["plan"])
    kept, planned = plan_langchain(messages, middleware._sizes(messages, lambda: 0))
    assert kept[:3] == messages[:3] and len(planned.removed) > 20


@pytest.mark.parametrize(
    ("options", "fix"),
    [
        ({"summarizer": str}, "set `recall`"),
        ({"summary_prompt": "Sum up"}, "set `recall`"),
        ({"token_counter": count_tokens_approximately}, "name of the model"),
        ({"messages_to_keep": 3}, "keep="),
        ({"nonsense": 3}, "no such option"),
        ({"trigger": ("messages", 50)}, '"tokens", n'),
        ({"trigger": []}, "budget=n"),
        ({"trigger": ("tokens", 0)}, "above 0"),
        ({"trigger": ("tokens", 5), "budget": 5}, "one of them"),
        ({"keep": ("tokens", 5), "low": 0.5}, "one of them"),
        ({"edits": []}, "one `ClearToolUsesEdit`"),
        ({"edits": [ClearToolUsesEdit(placeholder="gone")]}, "removed with its result"),
    ],
)
def test_refuses_options_that_cannot_be_honored(options: dict[str, Any], fix: str) -> None:
    with pytest.raises((TypeError, ValueError), match=fix.replace("(", r"\(")):
        CtxMiddleware(**options)


def test_trims_like_the_function_of_langchain() -> None:
    messages: list[BaseMessage] = [SystemMessage("Be brief.")]
    for number in range(20):
        messages += [HumanMessage(f"Question {number}?"), AIMessage(f"Answer {number}. " * 10)]
    messages.append(HumanMessage("And now?"))
    kept = trim_messages(messages, max_tokens=200, token_counter="approximate", start_on="human", include_system=True)
    assert kept[0] is messages[0] and isinstance(kept[1], HumanMessage) and kept[-1] is messages[-1]
    assert all(any(one is own for own in messages) for one in kept)
    assert 3 < len(kept) < 30
    assert trim_messages(messages, max_tokens=200, end_on=AIMessage)[-1] is not messages[-1]
    options: Any
    for options in ({"strategy": "first"}, {"allow_partial": True}, {"include_system": False}, {"token_counter": len}):
        with pytest.raises((ValueError, TypeError)):
            trim_messages(messages, max_tokens=200, **options)


def test_converts_the_context_of_an_agent() -> None:
    preset = "[{role: system, content: 'You are {{char}}.'}, {type: chat_history}]"
    agent = ctx.Agent(f"name: Ada\npresetMessages: {preset}")
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at": "sea"}'}}
    conversation = ctx.Conversation[Any](
        [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "Rain."},
        ]
    )
    messages = agent_messages(agent.assemble(conversation))
    assert [one.type for one in messages] == ["system", "human", "ai", "tool"]
    assert messages[0].content == "You are Ada."
    assert isinstance(messages[2], AIMessage) and messages[2].tool_calls[0]["args"] == {"at": "sea"}


# Each class of messages, each kind of content, and fields that planning does not know.
TEXTS = st.text(max_size=20)
VALUES = st.one_of(TEXTS, st.integers(-(2**63), 2**63 - 1), st.lists(TEXTS))
EXTRA = st.dictionaries(st.sampled_from(["cache", "refusal", "mine"]), VALUES)
BLOCKS = st.one_of(
    TEXTS,
    st.builds(lambda text: {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}, TEXTS),
    st.builds(lambda text: {"type": "reasoning", "reasoning": text, "extras": {"signature": "c2ln"}}, TEXTS),
    st.builds(lambda text: {"type": "thinking", "thinking": text, "signature": "c2ln"}, TEXTS),
    st.just({"type": "image", "base64": "aGk=", "mime_type": "image/png"}),
    st.just({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}),
    st.just({"type": "file", "base64": "aGk=", "mime_type": "application/pdf"}),
    st.just({"type": "server_tool_call", "id": "s", "name": "web_search", "args": {}}),
    st.builds(lambda value: {"type": "non_standard", "value": value}, EXTRA),
)
CONTENT = st.one_of(TEXTS, st.lists(BLOCKS, max_size=3))
CALLS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True)


def call(identifier: str) -> dict[str, Any]:
    return {"name": "look", "args": {"at": identifier}, "id": identifier, "type": "tool_call"}


def invalid(identifier: str) -> dict[str, Any]:
    return {"name": "look", "args": "{bad", "id": identifier, "error": None, "type": "invalid_tool_call"}


IDS = st.one_of(st.none(), st.uuids().map(str))
MESSAGES = st.lists(
    st.one_of(
        st.builds(HumanMessage, content=CONTENT, id=IDS, additional_kwargs=EXTRA, name=st.none() | st.just("Ada")),
        st.builds(SystemMessage, content=CONTENT, id=IDS, additional_kwargs=EXTRA),
        st.builds(ChatMessage, role=st.sampled_from(["user", "developer", "critic"]), content=CONTENT, id=IDS),
        st.builds(FunctionMessage, name=st.just("look"), content=TEXTS, id=IDS),
        st.builds(HumanMessageChunk, content=CONTENT, id=IDS),
        st.builds(AIMessageChunk, content=CONTENT, id=IDS),
        st.builds(
            AIMessage,
            content=CONTENT,
            id=IDS,
            additional_kwargs=st.one_of(EXTRA, st.just({"function_call": {"name": "look", "arguments": "{}"}})),
            response_metadata=EXTRA,
            tool_calls=CALLS.map(lambda ids: [call(one) for one in ids]),
            invalid_tool_calls=CALLS.map(lambda ids: [invalid(one + "!") for one in ids]),
        ),
        st.builds(
            ToolMessage,
            content=CONTENT,
            id=IDS,
            tool_call_id=st.sampled_from(["a", "b", "c", "a!"]),
            status=st.sampled_from(["success", "error"]),
            artifact=EXTRA,
        ),
    ),
    max_size=12,
)


@given(MESSAGES, st.sampled_from([60, 1_200, 100_000]), st.sampled_from([0, 50]))
def test_returns_messages_as_they_are(messages: list[BaseMessage], budget: int, recall: int) -> None:
    before = copy.deepcopy(messages)
    try:
        sent, planned = plan_langchain(messages, Settings(budget=budget, recall=recall))
    except ctx.CtxError as error:
        assert error.code == "infeasible"
        return
    assert messages == before
    by_identity = {id(one): at for at, one in enumerate(messages)}
    kept, removed = ([by_identity[id(one)] for one in part] for part in (planned.kept, planned.removed))
    assert sorted(kept + removed) == list(range(len(messages)))
    assert kept == sorted(kept)
    copied = [at for one, at in zip(sent, kept) if one is not messages[at]]
    assert bool(copied) <= any("cache_control" in str(one.content) for one in planned.removed)
    assert all(at < max(map(by_identity.__getitem__, map(id, planned.removed))) for at in copied)
    assert len(sent) - len(kept) == (1 if planned.note else 0)
    # Planning what was planned changes nothing.
    again, _ = plan_langchain(planned.kept, Settings(budget=budget), state=planned.state)
    assert [id(one) for one in again] == [id(one) for one in planned.kept]


def test_moves_the_cache_mark_of_a_removed_message() -> None:
    mark = {"type": "ephemeral"}
    messages: list[BaseMessage] = [SystemMessage("Be brief.")]
    for number in range(20):
        text = f"Lamp {number} of the pier burned all night."
        messages.append(HumanMessage([{"type": "text", "text": text, "cache_control": mark}] if number == 5 else text))
    sent, planned = plan_langchain(messages, Settings(budget=120))
    assert messages[6] in planned.removed
    assert sent[0].content == [{"type": "text", "text": "Be brief.", "cache_control": mark}]
    assert messages[0].content == "Be brief."
    assert all(one is own for one, own in zip(sent[1:], planned.kept[1:]))


def test_plans_messages_without_content() -> None:
    empty: list[Optional[Any]] = ["", [], [{"type": "text", "text": ""}]]
    messages: list[BaseMessage] = [HumanMessage("Hello"), *(AIMessage(one) for one in empty), HumanMessage("Bye")]
    assert plan_langchain(messages, Settings(budget=1_000))[0] == messages


def test_shares_one_middleware_between_conversations() -> None:
    middleware: CtxMiddleware[Any, Any] = CtxMiddleware(budget=BUDGET, recall=400)
    alone, _, _ = run(middleware)
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: run(middleware), range(4)))

    def shape(requests: Requests) -> list[list[Any]]:
        return [[one["content"] for one in request] for request in requests.requests]

    assert all(shape(requests) == shape(alone) for requests, _, _ in runs)


def test_imports_no_framework_without_an_integration() -> None:
    code = "import sys, ctx, ctx.integrations._planning; print([one for one in sys.modules if 'lang' in one])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_keeps_invalid_and_legacy_calls_with_their_results() -> None:
    legacy = {"function_call": {"name": "look", "arguments": "{}"}}
    messages: list[BaseMessage] = [
        HumanMessage("Look."),
        AIMessage("", invalid_tool_calls=[invalid("x")]),
        ToolMessage("The arguments are not JSON.", tool_call_id="x", status="error"),
        AIMessage("", additional_kwargs=legacy),
        FunctionMessage(name="look", content="Rain."),
        AIMessage("", tool_calls=[call("a")]),
        ToolMessage("Wind.", tool_call_id="a"),
        AIMessage("", invalid_tool_calls=[invalid("lost")]),
        HumanMessage("And now?"),
    ]
    planned = plan_langchain(messages, Settings(budget=10_000))[1]
    assert planned.removed == [messages[7]]
    assert planned.report["orphans"] == 1
    middle = plan_langchain(messages, Settings(budget=50))[1]
    assert len(middle.removed) > 2
    for first in (1, 3, 5):
        assert (messages[first] in middle.kept) == (messages[first + 1] in middle.kept)
