"""LangGraph: a hook that plans before each model call.

Pass ``CtxState`` as the state schema of the graph, or inherit it: its keys carry the plan from call to call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional, Protocol, Union

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.tools import BaseTool
from langgraph.graph import MessagesState
from langgraph.managed import RemainingSteps
from typing_extensions import NotRequired

from ._langchain_messages import agent_messages, as_tools, model_name, plan_langchain, profile_window, tool_names
from ._planning import Settings

__all__ = ["CtxState", "PlanNode", "agent_messages", "pre_model_hook"]


class CtxState(MessagesState):
    """The state of a graph with plans. Checkpointers store it as JSON."""

    remaining_steps: NotRequired[RemainingSteps]
    ctx_plan: NotRequired[dict[str, Any]]
    """The plan of the last call, without positions."""
    ctx_report: NotRequired[dict[str, Any]]
    """The report of the last call."""


class PlanNode(Protocol):
    """A node that plans the next model call."""

    def __call__(self, state: CtxState) -> dict[str, Any]:
        """Return ``llm_input_messages``, ``ctx_plan`` and ``ctx_report``."""
        ...


def pre_model_hook(
    budget: Optional[int] = None,
    *,
    model: Union[str, BaseChatModel, None] = None,
    prompt: Union[str, SystemMessage, None] = None,
    tools: Iterable[Union[BaseTool, dict[str, Any]]] = (),
    low: float = Settings.low,
    reserve: int = 0,
    recall: int = 0,
    keep: Optional[Callable[[BaseMessage], bool]] = None,
    exclude_tools: Sequence[str] = (),
    on_report: Optional[Callable[[dict[str, Any]], None]] = None,
) -> PlanNode:
    """Return a hook for ``create_react_agent``, or a node for a graph of your own.

    It returns ``llm_input_messages``, and leaves ``messages`` as they are. Pass the ``prompt`` and ``tools`` of the
    agent: a hook does not receive them, and they are part of the budget. The other options are those of
    ``CtxMiddleware``.
    """
    excluded = frozenset(exclude_tools)

    def is_kept(message: BaseMessage) -> bool:
        return bool(keep and keep(message)) or not excluded.isdisjoint(tool_names(message))

    settings = Settings(
        budget=budget if budget is not None or model is None else profile_window(model),
        model=None if model is None else model_name(model),
        low=low,
        reserve=reserve,
        recall=recall,
        keep=is_kept,
        on_report=on_report,
    )
    system = SystemMessage(prompt) if isinstance(prompt, str) else prompt
    schemas = as_tools(tools)

    def plan_call(state: CtxState) -> dict[str, Any]:
        messages, planned = plan_langchain(
            state["messages"], settings, system=system, tools=schemas, state=state.get("ctx_plan")
        )
        return {"llm_input_messages": messages, "ctx_plan": planned.state, "ctx_report": planned.report}

    return plan_call
