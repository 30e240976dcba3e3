# pyright: basic
"""The LangGraph hook with the real framework and a scripted model."""

import asyncio
import warnings
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import create_react_agent

import ctx
from ctx.integrations._langchain_messages import as_tools
from ctx.integrations.langgraph import CtxState, pre_model_hook

from .test_langchain import CONFIG, SYSTEM, ScriptedModel, look_up
from .tool_loop import ASKING_STEP, BUDGET, FACT, STEPS, TASK


def make_agent(model: ScriptedModel, saver: InMemorySaver, **options: Any) -> Any:
    """Make the prebuilt agent, which LangGraph has deprecated, with the hook."""
    hook = pre_model_hook(BUDGET, prompt=SYSTEM, tools=[look_up], **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return create_react_agent(
            model, [look_up], prompt=SYSTEM, pre_model_hook=hook, state_schema=CtxState, checkpointer=saver
        )


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream"])
def test_keeps_a_loop_below_the_budget_with_a_stable_prefix(how: str) -> None:
    model, reports = ScriptedModel(), list[dict[str, Any]]()
    agent = make_agent(model, InMemorySaver(), on_report=reports.append)
    given = {"messages": [HumanMessage(TASK)]}
    if how == "invoke":
        state = agent.invoke(given, CONFIG)
    elif how == "ainvoke":
        state = asyncio.run(agent.ainvoke(given, CONFIG))
    else:
        state = list(agent.stream(given, CONFIG, stream_mode="values"))[-1]
    requests = model.seen
    assert len(requests.requests) == STEPS + 1
    assert requests.broken_pairs() == []
    tools = as_tools([look_up])
    counted = [ctx.plan(request, 10**9, tools=tools)["tokens"] for request in requests.requests]
    assert counted == [report["tokens"] for report in reports]
    assert max(counted) <= BUDGET
    shares = requests.shared()
    assert sum(shares) / len(shares) >= 0.90
    assert sum(report["reset"] for report in reports) <= 3
    assert len(state["messages"]) == 2 * STEPS + 2
    assert state["ctx_report"] == reports[-1]


def test_recalls_a_fact_of_a_removed_message() -> None:
    model = ScriptedModel()
    make_agent(model, InMemorySaver(), recall=400).invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
    asking = model.seen.requests[ASKING_STEP]
    assert not any(FACT in str(one) for one in asking if one["role"] == "tool")
    assert FACT in asking[-1]["content"]


def test_continues_the_plan_of_a_checkpoint() -> None:
    saver, first, second = InMemorySaver(), ScriptedModel(), ScriptedModel()
    for model in (first, second):
        agent = make_agent(model, saver)
        agent.invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
    # The message ids of the last request, and of the first one after it.
    last, following = (
        [one.get("id") for one in request if one["role"] != "system"]
        for request in (first.seen.requests[-1], second.seen.requests[0])
    )
    assert following[: len(last)] == last
    stored = agent.get_state(CONFIG).values["ctx_plan"]
    assert stored["removed"]
    serializer = JsonPlusSerializer()
    assert serializer.loads_typed(serializer.dumps_typed(stored)) == stored


def test_plans_in_a_graph_without_the_prebuilt_agent() -> None:
    model = ScriptedModel()

    class State(CtxState):
        llm_input_messages: list[Any]

    def call_model(state: State) -> dict[str, Any]:
        return {"messages": [model.invoke(state["llm_input_messages"])]}

    graph = StateGraph(State)
    graph.add_node("plan", pre_model_hook(100))
    graph.add_node("model", call_model)
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "model")
    graph.add_edge("model", END)
    messages = [HumanMessage(f"Question {number} about the rain over the pier?") for number in range(30)]
    given: Any = {"messages": messages}
    state = graph.compile().invoke(given)
    assert len(model.seen.requests[0]) < 15 and len(state["messages"]) == 31


def test_raises_if_nothing_can_be_removed() -> None:
    hook = pre_model_hook(30, prompt=SystemMessage(SYSTEM * 10))
    with pytest.raises(ctx.CtxError) as caught:
        hook({"messages": [HumanMessage("Hello")]})
    assert caught.value.code == "infeasible"


def test_never_removes_pinned_messages_and_excluded_tools() -> None:
    first = HumanMessage("My name is Ada.")
    messages = [first, *(HumanMessage(f"Question {number} about the rain?") for number in range(30))]
    sent = pre_model_hook(100, keep=lambda message: message is first)({"messages": list(messages)})
    assert sent["llm_input_messages"][0] is first and len(sent["llm_input_messages"]) < 15
