"""LiteLLM: a callback that plans the messages of chat completions, in the proxy and in ``acompletion``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Optional, cast

from litellm.exceptions import ContextWindowExceededError
from litellm.integrations.custom_logger import CustomLogger

from .. import CtxError
from ._cache_marks import move_cache_marks
from ._plan_states import PlanStates, conversation_key
from ._planning import Converted, Settings, plan_messages

if TYPE_CHECKING:
    from litellm.caching.dual_cache import DualCache
    from litellm.proxy._types import UserAPIKeyAuth
    from litellm.types.utils import CallTypes, CallTypesLiteral

__all__ = ["CtxLogger"]

_CALL_TYPES = ("completion", "acompletion")


class CtxLogger(CustomLogger):
    """Plans the messages of chat completions. Pass it to ``litellm.callbacks``, or name it in the proxy's ``callbacks``.

    ``budget`` (default: the window of the model) includes tools, the response format, ``reserve`` and recalled lines.
    ``model`` names the model whose tokens are counted (default: the model of the request). ``low`` is the share of the
    budget that remains after a cut, and ``recall`` the maximum number of tokens for lines of removed messages, in a last
    user message. ``keep`` returns whether a message is never removed. ``on_report`` receives the report of each request.
    A request raises ``ContextWindowExceededError`` if the messages that cannot be removed exceed the budget; its cause is
    the ``CtxError``. LiteLLM does not call it in the function ``completion``.
    """

    def __init__(
        self,
        budget: Optional[int] = None,
        *,
        model: Optional[str] = None,
        low: float = Settings.low,
        reserve: int = 0,
        recall: int = 0,
        keep: Optional[Callable[[dict[str, Any]], bool]] = None,
        on_report: Optional[Callable[[dict[str, Any]], None]] = None,
    ) -> None:
        """Set the options."""
        # LiteLLM does not declare the types of its own arguments.
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        self._settings = Settings(budget, model, low, reserve, recall, keep, on_report)
        self._states = PlanStates()
        self._planned = PlanStates()

    async def async_pre_call_hook(
        self,
        user_api_key_dict: UserAPIKeyAuth,
        cache: DualCache,
        data: dict[str, Any],
        call_type: CallTypesLiteral,
    ) -> dict[str, Any]:
        """Plan a request of the proxy. Plans of different API keys are separate."""
        if call_type not in _CALL_TYPES:
            return data
        return self._plan(data, user_api_key_dict.api_key or "")

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Optional[CallTypes]
    ) -> dict[str, Any]:
        """Plan a request of ``acompletion``. The proxy calls it too: a planned request remains as it is."""
        if call_type is None or call_type.value not in _CALL_TYPES:
            return kwargs
        return self._plan(kwargs, "")

    def _plan(self, data: dict[str, Any], owner: str) -> dict[str, Any]:
        messages = data.get("messages")
        if not isinstance(messages, list) or not messages:
            return data
        given = cast("list[dict[str, Any]]", messages)
        if self._planned.get(_hash(given)) is not None:
            return data
        model = str(data.get("model") or "")
        key = conversation_key(f"{owner} {_session(data)}", given)
        try:
            planned = plan_messages(
                given,
                [Converted((at,), message) for at, message in enumerate(given)],
                replace(self._settings, model=self._settings.model or model.rsplit("/", 1)[-1] or None),
                tools=_tools(data),
                state=self._states.get(key),
            )
        except CtxError as error:
            if error.code != "infeasible":
                raise
            provider = str(data.get("custom_llm_provider") or "")
            raise ContextWindowExceededError(str(error), model, provider) from error
        self._states.set(key, planned.state)
        note = [{"role": "user", "content": planned.note}] if planned.note else []
        sent = [*move_cache_marks(given, planned.kept, _mark, _add_mark), *note]
        self._planned.set(_hash(sent), {})
        if self._settings.on_report is not None:
            self._settings.on_report(planned.report)
        return {**data, "messages": sent}


def _session(data: Mapping[str, Any]) -> str:
    """Return the session id of a request, if it has one."""
    for name in ("metadata", "litellm_metadata"):
        metadata: Any = data.get(name)
        if isinstance(metadata, dict) and "session_id" in metadata:
            return str(cast("dict[str, Any]", metadata)["session_id"])
    return str(data.get("litellm_session_id") or "")


def _tools(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tools, functions and response format of a request as tools of chat completions."""
    tools: list[dict[str, Any]] = list(data.get("tools") or ())
    tools += [{"type": "function", "function": one} for one in data.get("functions") or ()]
    shape: Any = data.get("response_format")
    if shape is None:
        return tools
    if hasattr(shape, "model_json_schema"):
        shape = shape.model_json_schema()
    parameters = cast("dict[str, Any]", shape) if isinstance(shape, dict) else {"format": repr(shape)}
    function = {"name": "response_format", "description": "", "parameters": parameters}
    return [*tools, {"type": "function", "function": function}]


# Parts that may have a cache mark. Reasoning may not.
_MARKABLE = ("text", "image_url", "file", "document")


def _mark(message: Mapping[str, Any]) -> Optional[Any]:
    """Return the last cache mark of a message: one of its own, or of a part."""
    marks = [part.get("cache_control") for part in (message, *_parts(message))]
    return next((mark for mark in reversed(marks) if mark), None)


def _add_mark(message: dict[str, Any], mark: Any) -> Optional[dict[str, Any]]:
    parts = _parts(message)
    if not parts or parts[-1].get("type") not in _MARKABLE:
        return None
    return {**message, "content": [*parts[:-1], {**parts[-1], "cache_control": mark}]}


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content: Any = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list):
        return []
    return [cast("dict[str, Any]", part) for part in cast("list[object]", content) if isinstance(part, dict)]


def _hash(messages: Sequence[Mapping[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(messages, default=repr).encode()).hexdigest()
