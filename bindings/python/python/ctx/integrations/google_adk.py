"""Google ADK: a plugin that plans the contents of each model call. The session keeps all events."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Optional, cast

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from ._planning import Converted, Settings, plan_messages

__all__ = ["CtxPlugin"]

STATE_PREFIX = "ctx_plan_"
"""Begins the keys of plans in the state of a session. The name of the agent follows."""


class CtxPlugin(BasePlugin):
    """Plans the contents of each model call. Pass it to ``App(plugins=[...])``.

    ``budget`` (default: the window of the model) includes the system instruction, tools, the response schema, ``reserve``
    and recalled lines. ``model`` names the model whose tokens are counted (default: the model of the request). ``low`` is
    the share of the budget that remains after a cut, and ``recall`` the maximum number of tokens for lines of removed
    contents, in a last content of the user. ``keep`` returns whether a content is never removed. ``on_report`` receives the
    report of each call. A model call raises ``RuntimeError`` if the contents that cannot be removed exceed the budget: ADK
    wraps the ``CtxError`` with the code ``infeasible``, and keeps it as the cause.
    """

    def __init__(
        self,
        budget: Optional[int] = None,
        *,
        model: Optional[str] = None,
        low: float = Settings.low,
        reserve: int = 0,
        recall: int = 0,
        keep: Optional[Callable[[types.Content], bool]] = None,
        on_report: Optional[Callable[[dict[str, Any]], None]] = None,
        name: str = "ctx",
    ) -> None:
        """Set the options."""
        super().__init__(name)
        self._settings = Settings(budget, model, low, reserve, recall, keep, on_report)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> Optional[LlmResponse]:
        """Plan a call."""
        key = STATE_PREFIX + callback_context.agent_name
        planned = plan_messages(
            llm_request.contents,
            convert_contents(llm_request.contents),
            replace(self._settings, model=self._settings.model or llm_request.model),
            leading=_leading(llm_request.config),
            tools=_tools(llm_request.config),
            state=cast("Optional[Mapping[str, Any]]", callback_context.state.get(key)),
        )
        callback_context.state[key] = planned.state
        note = [types.Content(role="user", parts=[types.Part(text=planned.note)])] if planned.note else []
        llm_request.contents = [*planned.kept, *note]
        if self._settings.on_report is not None:
            self._settings.on_report(planned.report)
        return None


def convert_contents(contents: Sequence[types.Content]) -> list[Converted]:
    """Convert contents to messages of chat completions. A content with function responses is a message for each."""
    converted: list[Converted] = []
    answers = Counter[str]()
    for at, content in enumerate(contents):
        parts = content.parts or []
        responses = [part.function_response for part in parts if part.function_response]
        others = _contents(part for part in parts if not part.function_response and not part.function_call)
        if responses:
            for number, response in enumerate(responses):
                identifier = _identify(response.id, response.name, answers)
                # Other parts belong to the first response: a content is sent as a whole.
                said = [_text(_json(response.response)), *map(_part, _files(response)), *(() if number else others)]
                converted.append(Converted((at,), {"role": "tool", "tool_call_id": identifier, "content": said}))
            continue
        answers.clear()
        calls = [_call(part.function_call, answers) for part in parts if part.function_call]
        answers.clear()
        role = "assistant" if content.role == "model" or calls else "user"
        message: dict[str, Any] = {"role": role, "content": others}
        if calls:
            message["tool_calls"] = calls
        converted.append(Converted((at,), message))
    return converted


def _call(call: types.FunctionCall, seen: Counter[str]) -> dict[str, Any]:
    function = {"name": call.name or "", "arguments": _json(call.args or {})}
    return {"id": _identify(call.id, call.name, seen), "type": "function", "function": function}


def _identify(identifier: Optional[str], name: Optional[str], seen: Counter[str]) -> str:
    """Return an id, or one from the name and the number of its calls before. ADK removes the ids that it made."""
    if identifier:
        return identifier
    key = name or ""
    seen[key] += 1
    return f"{key}#{seen[key]}"


def _files(response: types.FunctionResponse) -> Iterable[types.Part]:
    for part in response.parts or ():
        if part.inline_data is not None:
            yield types.Part(inline_data=types.Blob(data=part.inline_data.data, mime_type=part.inline_data.mime_type))
        elif part.file_data is not None:
            uri, kind = part.file_data.file_uri, part.file_data.mime_type
            yield types.Part(file_data=types.FileData(file_uri=uri, mime_type=kind))


def _contents(parts: Iterable[types.Part]) -> list[dict[str, Any]]:
    return [_part(part) for part in parts if part.text or not _is_text(part)]


def _is_text(part: types.Part) -> bool:
    return part.text is not None or not part.model_dump(exclude_none=True)


def _part(part: types.Part) -> dict[str, Any]:
    if part.text:
        return _text(part.text)
    data, file = part.inline_data, part.file_data
    kind = (data.mime_type if data else file.mime_type if file else None) or ""
    if data is not None:
        uri = f"data:{kind};base64,{base64.b64encode(data.data or b'').decode()}"
    elif file is not None:
        uri = file.file_uri or ""
    else:
        return _text(part.model_dump_json(exclude_none=True))
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": uri}}
    if kind.startswith("audio/"):
        return {"type": "input_audio", "input_audio": {"data": uri, "format": kind}}
    return {"type": "file", "file": {"file_data": uri}}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)


def _leading(config: types.GenerateContentConfig) -> list[dict[str, Any]]:
    instruction = config.system_instruction
    if not instruction:
        return []
    if isinstance(instruction, str):
        return [{"role": "system", "content": instruction}]
    dumped = config.model_dump(mode="json", include={"system_instruction"}, exclude_none=True)
    return [{"role": "system", "content": _json(dumped["system_instruction"])}]


def _tools(config: types.GenerateContentConfig) -> list[dict[str, Any]]:
    """Return the tools and the response schema as tools of chat completions."""
    tools: list[dict[str, Any]] = []
    for tool in config.tools or ():
        declarations = (tool.function_declarations if isinstance(tool, types.Tool) else None) or ()
        tools += [_tool(one.name or "", "", one.model_dump(mode="json", exclude_none=True)) for one in declarations]
        if not declarations:
            tools.append(_tool(type(tool).__name__, "", {"tool": repr(tool)}))
    schema: Any = config.response_schema or config.response_json_schema
    if schema is not None:
        if hasattr(schema, "model_json_schema"):
            schema = schema.model_json_schema()
        shape = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {"schema": repr(schema)}
        tools.append(_tool("response", "", shape))
    return tools


def _tool(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}
