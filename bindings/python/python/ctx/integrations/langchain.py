"""LangChain: a middleware that plans each model call, and ``trim_messages``.

``CtxMiddleware`` replaces ``SummarizationMiddleware`` and ``ContextEditingMiddleware``. It changes only the list that the
model receives; the state of the graph keeps all messages.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Optional, Union, cast

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, ExtendedModelResponse, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ContextT, OmitFromSchema, PrivateStateAttr, ResponseT
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, BaseMessage
from langgraph.types import Command
from typing_extensions import NotRequired

from . import _langchain_options as options
from ._langchain_messages import agent_messages, as_tools, model_name, plan_langchain, profile_window
from ._langchain_options import ContextSize, Predicate, Trigger
from ._langchain_trim import trim_messages
from ._planning import Settings

__all__ = ["CtxMiddleware", "CtxState", "agent_messages", "trim_messages"]


class CtxState(AgentState[Any]):
    """The state of an agent with plans."""

    ctx_plan: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    """The plan of the last call, as JSON, without positions."""
    ctx_report: NotRequired[Annotated[dict[str, Any], OmitFromSchema(input=True, output=False)]]
    """The report of the last call."""


class CtxMiddleware(AgentMiddleware[CtxState, ContextT, ResponseT]):
    """Plans the messages of each model call, and keeps the prompt cache valid.

    ``budget`` (default: the window of the model) includes the system message, tools, the response schema, ``reserve`` and
    recalled lines. ``model`` names the model whose tokens are counted (default: the model of the request). ``low`` is
    the share of the budget that remains after a cut. ``recall`` is the maximum number of tokens for lines of removed
    messages, in a last ``HumanMessage``. ``keep`` returns whether a message is never removed. Calls of
    ``exclude_tools`` and their results are never removed. ``on_report`` receives the report of each call.

    Options of LangChain: ``trigger`` is the budget. ``keep=("tokens", n)`` or ``("fraction", f)`` sets the low mark;
    ``("messages", n)`` never removes the newest messages. ``edits`` is one ``ClearToolUsesEdit``: ``trigger`` is the
    budget, ``clear_at_least`` sets the low mark, and ``keep`` never removes the newest results. An option that cannot be
    honored raises ``TypeError`` or ``ValueError``. A model call raises ``CtxError`` with the code ``infeasible`` if the
    messages that cannot be removed exceed the budget.
    """

    state_schema = CtxState

    def __init__(
        self,
        model: Union[str, BaseChatModel, None] = None,
        *,
        budget: Optional[int] = None,
        low: Optional[float] = None,
        reserve: int = 0,
        recall: int = 0,
        keep: Union[Predicate, ContextSize, None] = None,
        exclude_tools: Sequence[str] = (),
        on_report: Optional[Callable[[dict[str, Any]], None]] = None,
        trigger: Union[Trigger, list[Trigger], None] = None,
        edits: Optional[Iterable[Any]] = None,
        **unsupported: Any,
    ) -> None:
        """Check the options."""
        super().__init__()
        options.refuse(unsupported)
        edit = options.read_edits(None if edits is None else list(edits))
        if sum(one is not None for one in (budget, trigger, edits)) > 1:
            raise ValueError("`budget`, `trigger` and `edits` set the same limit; pass one of them")
        self._budget: Optional[int] = edit.get("budget", budget)
        self._trigger = trigger
        self._model = model
        self._predicate = keep if callable(keep) else None
        self._size = None if callable(keep) else keep
        self._results: int = edit.get("results", 0)
        self._excluded = frozenset((*exclude_tools, *edit.get("exclude_tools", ())))
        self._low: Optional[float] = low if low is not None else edit.get("low")
        if low is not None and self._size is not None and self._size[0] != "messages":
            raise ValueError("`low` and `keep` set the same limit; pass one of them")
        self._settings = Settings(reserve=reserve, recall=recall, on_report=on_report)
        # Reports invalid sizes now, not in the first call.
        self._sizes([], lambda: 1_000_000)

    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ExtendedModelResponse[ResponseT]:
        """Plan a call."""
        planned, update = self._plan(request)
        return ExtendedModelResponse(handler(planned), update)

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ExtendedModelResponse[ResponseT]:
        """Plan a call."""
        planned, update = self._plan(request)
        return ExtendedModelResponse(await handler(planned), update)

    def _plan(self, request: ModelRequest[ContextT]) -> tuple[ModelRequest[ContextT], Command[Any]]:
        model = self._model if self._model is not None else request.model
        sizes = self._sizes(request.messages, lambda: _window(model))
        budget = sizes.budget if sizes.budget is not None else profile_window(model)
        settings = replace(sizes, budget=budget, model=model_name(model))
        messages, planned = plan_langchain(
            request.messages,
            settings,
            system=request.system_message,
            tools=[*as_tools(request.tools), *_response_schemas(request.response_format)],
            state=cast("CtxState", request.state).get("ctx_plan"),
        )
        update: Command[Any] = Command(update={"ctx_plan": planned.state, "ctx_report": planned.report})
        return request.override(messages=cast("list[AnyMessage]", messages)), update

    def _sizes(self, messages: Sequence[BaseMessage], window: Callable[[], int]) -> Settings:
        """Return the options that depend on the messages or the window."""
        budget = self._budget if self._trigger is None else options.budget_of(self._trigger, window)
        low, kept = self._low, list[Predicate]()
        if self._predicate is not None:
            kept.append(self._predicate)
        if self._size is not None and self._size[0] == "messages":
            kept.append(options.newest(messages, int(self._size[1])))
        elif self._size is not None:
            low = options.low_mark(self._size, lambda: budget or window(), window)
        if self._results:
            kept.append(options.newest_results(messages, self._results))
        if self._excluded:
            kept.append(options.uses_tool(self._excluded))
        low = Settings.low if low is None else low
        return replace(self._settings, budget=budget, low=low, keep=options.any_of(kept))


def _window(model: Union[str, BaseChatModel]) -> int:
    window = profile_window(model)
    if window is None:
        raise ValueError('the window of the model is unknown; pass `budget=n` or `trigger=("tokens", n)`')
    return window


def _response_schemas(response_format: Any) -> list[dict[str, Any]]:
    """Return the schemas of a response in the form of tools."""
    if response_format is None:
        return []
    if isinstance(response_format, AutoStrategy):
        response_format = cast("Any", response_format).schema
    if isinstance(response_format, ProviderStrategy):
        specs = [cast("Any", response_format).schema_spec]
    else:
        is_tool = isinstance(response_format, ToolStrategy)
        specs = cast("Any", response_format if is_tool else ToolStrategy(response_format)).schema_specs
    parts = [{"name": one.name, "description": one.description, "parameters": one.json_schema} for one in specs]
    return [{"type": "function", "function": part} for part in parts]
