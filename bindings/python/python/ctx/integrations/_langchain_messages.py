"""Conversion of LangChain messages for planning, and of the messages of an agent to LangChain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, ToolMessage, convert_to_messages
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from .._messages import as_dicts
from ._langchain_cache import move_cache_marks
from ._planning import Converted, Planned, Settings, plan_messages

# Joins a call of the API from before tools to its result; both are without an id.
_FUNCTION_CALL = "function_call"


def agent_messages(context: Mapping[str, Any]) -> list[BaseMessage]:
    """Convert the context of ``ctx.Agent.assemble`` to LangChain messages."""
    return convert_to_messages([_sent(message) for message in context["messages"]])


def _sent(message: Mapping[str, Any]) -> dict[str, Any]:
    names = ("role", "content", "name", "tool_call_id")
    sent = {name: message[name] for name in names if message.get(name) is not None}
    calls = [_call(call["id"], call["name"], call["arguments"]) for call in message.get("tool_calls", ())]
    return {"content": "", **sent} | ({"tool_calls": calls} if calls else {})


def as_chat_message(message: BaseMessage) -> dict[str, Any]:
    """Convert a message to the form of chat completions, for counting and search only."""
    if message.type in ("function", "FunctionMessageChunk"):
        written: dict[str, Any] = {"role": "tool", "content": message.content, "tool_call_id": _FUNCTION_CALL}
    elif isinstance(message, ChatMessage):
        written = {"role": message.role, "content": message.content}
    elif isinstance(message, AIMessage):
        written = as_dicts([message])[0]
        # A call with malformed arguments is sent too, and has a result that reports the error.
        invalid = [_call(one.get("id"), one.get("name"), one.get("args")) for one in message.invalid_tool_calls]
        legacy = message.additional_kwargs.get(_FUNCTION_CALL)
        if isinstance(legacy, dict) and not message.tool_calls:
            given = cast("dict[str, Any]", legacy)
            invalid.append(_call(_FUNCTION_CALL, given.get("name"), given.get("arguments")))
        if invalid:
            written["tool_calls"] = [*written.get("tool_calls", ()), *invalid]
    else:
        written = as_dicts([message])[0]
    return written | ({"id": message.id} if message.id else {})


def plan_langchain(
    messages: Sequence[BaseMessage],
    settings: Settings,
    *,
    system: Optional[BaseMessage] = None,
    tools: Sequence[Mapping[str, Any]] = (),
    state: Optional[Mapping[str, Any]] = None,
) -> tuple[list[BaseMessage], Planned[BaseMessage]]:
    """Return the messages to send, with the recalled note at the end, and the plan.

    They are the given objects, except a copy with the cache mark of a removed message.
    """
    planned = plan_messages(
        messages,
        [Converted((at,), as_chat_message(message)) for at, message in enumerate(messages)],
        settings,
        leading=[as_chat_message(system)] if system is not None else [],
        tools=tools,
        state=state,
    )
    if settings.on_report is not None:
        settings.on_report(planned.report)
    note = [HumanMessage(planned.note)] if planned.note else []
    return [*move_cache_marks(messages, planned.kept), *note], planned


def as_tools(tools: Iterable[Union[BaseTool, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return tools as they are sent: a dict is already in the form of its provider."""
    return [tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in tools]


def tool_names(message: BaseMessage) -> set[str]:
    """Return the names of the tools that a message calls, or that it is a result of."""
    if isinstance(message, AIMessage):
        return {call["name"] for call in message.tool_calls}
    return {message.name} if isinstance(message, ToolMessage) and message.name else set()


def model_name(model: Union[str, BaseChatModel]) -> Optional[str]:
    """Return the name of a model without its provider."""
    if isinstance(model, str):
        return model.rsplit(":", 1)[-1]
    names = (getattr(model, attribute, None) for attribute in ("model_name", "model"))
    return next((name for name in names if isinstance(name, str) and name), None)


def profile_window(model: Union[str, BaseChatModel]) -> Optional[int]:
    """Return the maximum input tokens in the profile of a model, or nothing if the engine has to know them."""
    profile = None if isinstance(model, str) else model.profile
    window = profile.get("max_input_tokens") if profile else None
    return window if isinstance(window, int) else None


def _call(identifier: Optional[str], name: Optional[str], arguments: Optional[str]) -> dict[str, Any]:
    function = {"name": name or "", "arguments": arguments or ""}
    return {"id": identifier or "", "type": "function", "function": function}
