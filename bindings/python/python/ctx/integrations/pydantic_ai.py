"""Pydantic AI: a capability that plans each model request, and a processor of the stored history.

``CtxCapability`` changes only the messages that the model receives; the history keeps all of them.
``CtxHistoryProcessor`` removes messages from the history too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Optional

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters

from ._cache_marks import move_cache_marks
from ._plan_states import PlanStates
from ._planning import Planned, Settings, plan_messages
from ._pydantic_messages import (
    Unit,
    add_cache_mark,
    cache_mark,
    convert_units,
    join_units,
    removed_messages,
    split_messages,
)

__all__ = ["CtxCapability", "CtxHistoryProcessor"]


class CtxCapability(AbstractCapability[Any]):
    """Plans the messages of each model request. Pass it to ``Agent(capabilities=[...])``.

    ``budget`` (default: the window of the model) includes instructions, tools, the output schema, ``reserve`` and recalled
    lines. ``model`` names the model whose tokens are counted (default: the model of the request). ``low`` is the share of
    the budget that remains after a cut, and ``recall`` the maximum number of tokens for lines of removed messages, in a
    last user prompt. ``keep`` returns whether a message is never removed. ``on_report`` receives the report of each
    request. A request raises ``CtxError`` with the code ``infeasible`` if the messages that cannot be removed exceed the
    budget. Agents and runs can share a capability.
    """

    def __init__(
        self,
        budget: Optional[int] = None,
        *,
        model: Optional[str] = None,
        low: float = Settings.low,
        reserve: int = 0,
        recall: int = 0,
        keep: Optional[Callable[[ModelMessage], bool]] = None,
        on_report: Optional[Callable[[dict[str, Any]], None]] = None,
    ) -> None:
        """Set the options."""
        self._settings = Settings(budget, model, low, reserve, recall, keep, on_report)
        self._states = PlanStates()

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Plan a request."""
        messages = list(request_context.messages)
        model = self._settings.model or request_context.model.model_name
        key = f"{ctx.agent.name if ctx.agent else None} {ctx.conversation_id}"
        units = split_messages(messages)
        planned = _plan(
            units,
            replace(self._settings, model=model),
            leading=_leading(messages, request_context.model_request_parameters),
            tools=_tools(request_context.model_request_parameters),
            state=self._states.get(key),
        )
        self._states.set(key, planned.state)
        note = [ModelRequest([UserPromptPart(planned.note)])] if planned.note else []
        kept = move_cache_marks(units, planned.kept, cache_mark, add_cache_mark)
        return replace(request_context, messages=[*join_units(messages, kept), *note])

    @classmethod
    def get_serialization_name(cls) -> Optional[str]:
        """Return no name: functions are not serializable."""
        return None


class CtxHistoryProcessor:
    """Plans the stored history. Pass it to ``ProcessHistory(...)``.

    Pydantic AI replaces the history with the result. ``archive`` receives the removed messages, in order. If only
    some parts of a message are removed, the history contains the other parts. The history itself is the state of the
    plan. Instructions are counted; ``reserve`` must contain the tools. The other options are those of
    ``CtxCapability``, except ``recall``: use the capability to recall removed messages.
    """

    def __init__(
        self,
        budget: Optional[int] = None,
        *,
        archive: Callable[[list[ModelMessage]], None],
        model: Optional[str] = None,
        low: float = Settings.low,
        reserve: int = 0,
        keep: Optional[Callable[[ModelMessage], bool]] = None,
        on_report: Optional[Callable[[dict[str, Any]], None]] = None,
    ) -> None:
        """Set the options."""
        self._settings = Settings(budget, model, low, reserve, 0, keep, on_report)
        self._archive = archive

    async def __call__(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        """Return the history to keep."""
        planned = _plan(split_messages(messages), self._settings, leading=_leading(messages, None))
        if planned.removed:
            self._archive(removed_messages(messages, planned.removed))
        return join_units(messages, planned.kept)


def _plan(
    units: Sequence[Unit],
    settings: Settings,
    *,
    leading: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]] = (),
    state: Optional[Mapping[str, Any]] = None,
) -> Planned[Unit]:
    is_pinned = settings.keep

    def keep(unit: Unit) -> bool:
        return not unit.is_removable or (is_pinned is not None and is_pinned(unit.message))

    planned = plan_messages(
        units, convert_units(units), replace(settings, keep=keep), leading=leading, tools=tools, state=state
    )
    if settings.on_report is not None:
        settings.on_report(planned.report)
    return planned


def _leading(messages: Sequence[ModelMessage], parameters: Optional[ModelRequestParameters]) -> list[dict[str, Any]]:
    """Return the instructions of a request."""
    parts = parameters.instruction_parts if parameters else None
    if parts:
        text = "\n\n".join(part.content for part in parts)
    else:
        requests = (one.instructions for one in reversed(messages) if isinstance(one, ModelRequest))
        text = next((instructions for instructions in requests if instructions), "")
    return [{"role": "system", "content": text}] if text.strip() else []


def _tools(parameters: ModelRequestParameters) -> list[dict[str, Any]]:
    tools = [
        _tool(tool.name, tool.description, tool.parameters_json_schema)
        for tool in (*parameters.function_tools, *parameters.output_tools)
    ]
    tools += [_tool(tool.kind, None, {}) for tool in parameters.native_tools]
    output = parameters.output_object
    return tools + ([_tool(output.name or "", output.description, output.json_schema)] if output else [])


def _tool(name: str, description: Optional[str], parameters: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "description": description or "", "parameters": parameters}
    return {"type": "function", "function": function}
