"""OpenAI Agents SDK: a filter that plans the input of each model call, and a session that plans the input of each run.

``CtxInputFilter`` limits tool loops: the SDK calls it before each model call. ``CtxSession`` limits only the stored items
that a run begins with. Both keep all items in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Optional, cast

from agents import Agent, AgentOutputSchema, AgentOutputSchemaBase, FunctionTool, Handoff, RunContextWrapper, handoff
from agents.items import TResponseInputItem
from agents.memory import Session, SessionSettings
from agents.run_config import CallModelData, ModelInputData

from ._openai_items import convert_items
from ._plan_states import PlanStates, conversation_key
from ._planning import Planned, Settings, plan_messages

__all__ = ["CtxInputFilter", "CtxSession"]

_SESSIONS = PlanStates()
"""The states of the plans of sessions. A web server creates a session object for each request."""


class CtxInputFilter:
    """Plans the input of each model call. Pass it to ``RunConfig(call_model_input_filter=...)``.

    ``budget`` (default: the window of the model) includes instructions, tools, handoffs, the output schema, ``reserve`` and
    recalled lines. ``model`` names the model whose tokens are counted (default: the model of the agent). ``low`` is the share
    of the budget that remains after a cut, and ``recall`` the maximum number of tokens for lines of removed items, in a last
    user item. ``keep`` returns whether an item is never removed. ``on_report`` receives the report of each call.
    A model call raises ``CtxError`` with the code ``infeasible`` if the items that cannot be removed exceed the budget.
    Runs can share a filter.
    """

    def __init__(
        self,
        budget: Optional[int] = None,
        *,
        model: Optional[str] = None,
        low: float = Settings.low,
        reserve: int = 0,
        recall: int = 0,
        keep: Optional[Callable[[TResponseInputItem], bool]] = None,
        on_report: Optional[Callable[[dict[str, Any]], None]] = None,
    ) -> None:
        """Set the options."""
        self._settings = Settings(budget, model, low, reserve, recall, keep, on_report)
        self._states = PlanStates()

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Plan a call."""
        instructions = data.model_data.instructions
        planned = _plan(
            data.model_data.input,
            self._settings_of(data.agent),
            self._states,
            data.agent.name,
            leading=[{"role": "system", "content": instructions}] if instructions else [],
            tools=await _tools(data.agent, RunContextWrapper(data.context)),
        )
        note = cast("list[TResponseInputItem]", [{"role": "user", "content": planned.note}] if planned.note else [])
        return ModelInputData([*planned.kept, *note], instructions)

    def _settings_of(self, agent: Agent[Any]) -> Settings:
        if self._settings.model is not None or not isinstance(agent.model, str):
            return self._settings
        return replace(self._settings, model=agent.model.rsplit("/", 1)[-1])


class CtxSession(Session):
    """Stores all items in another session, and returns those to send.

    The options are those of ``CtxInputFilter``, except ``recall``: a session does not know the next question. ``reserve``
    must contain the instructions and tools of the agent. ``get_items`` with a ``limit`` returns the newest stored items
    without a plan: the SDK uses it to read back its own writes.
    """

    def __init__(
        self,
        session: Session,
        budget: Optional[int] = None,
        *,
        model: Optional[str] = None,
        low: float = Settings.low,
        reserve: int = 0,
        keep: Optional[Callable[[TResponseInputItem], bool]] = None,
        on_report: Optional[Callable[[dict[str, Any]], None]] = None,
    ) -> None:
        """Wrap a session."""
        self._session = session
        self._settings = Settings(budget, model, low, reserve, 0, keep, on_report)
        self.session_id = session.session_id
        self.session_settings: Optional[SessionSettings] = session.session_settings

    async def get_items(self, limit: Optional[int] = None) -> list[TResponseInputItem]:
        """Return the stored items to send, or with a limit the newest stored items."""
        items = await self._session.get_items(limit)
        if limit is not None or not items:
            return items
        return _plan(items, self._settings, _SESSIONS, f"session {self.session_id}").kept

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items."""
        await self._session.add_items(items)

    async def pop_item(self) -> Optional[TResponseInputItem]:
        """Delete and return the newest stored item."""
        return await self._session.pop_item()

    async def clear_session(self) -> None:
        """Delete all stored items."""
        await self._session.clear_session()


def _plan(
    items: Sequence[TResponseInputItem],
    settings: Settings,
    states: PlanStates,
    owner: str,
    *,
    leading: Sequence[Mapping[str, Any]] = (),
    tools: Sequence[Mapping[str, Any]] = (),
) -> Planned[TResponseInputItem]:
    converted = convert_items(items)
    key = conversation_key(owner, [one.message for one in converted])
    planned = plan_messages(items, converted, settings, leading=leading, tools=tools, state=states.get(key))
    states.set(key, planned.state)
    if settings.on_report is not None:
        settings.on_report(planned.report)
    return planned


async def _tools(agent: Agent[Any], context: RunContextWrapper[Any]) -> list[dict[str, Any]]:
    """Return the tools, handoffs and output schema of an agent as tools of chat completions."""
    tools = [
        _tool(tool.name, tool.description, tool.params_json_schema) if isinstance(tool, FunctionTool) else _tool(tool.name)
        for tool in await agent.get_all_tools(context)
    ]
    handoffs = [one if isinstance(one, Handoff) else handoff(one) for one in agent.handoffs]
    tools += [_tool(one.tool_name, one.tool_description, one.input_json_schema) for one in handoffs]
    kind = agent.output_type
    if kind is not None and kind is not str:
        schema = kind if isinstance(kind, AgentOutputSchemaBase) else AgentOutputSchema(kind, strict_json_schema=False)
        tools.append(_tool(schema.name(), "", schema.json_schema()))
    return tools


def _tool(name: str, description: str = "", parameters: Optional[Mapping[str, Any]] = None) -> dict[str, Any]:
    function = {"name": name, "description": description, "parameters": dict(parameters or {})}
    return {"type": "function", "function": function}
