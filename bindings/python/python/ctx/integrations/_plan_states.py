"""States of plans, for frameworks without a place to store them."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any, Optional

MAX_STATES = 1_024


class PlanStates:
    """The states of the most recently used conversations. Threads can share it.

    A conversation without a state is planned again, and loses the prompt cache once.
    """

    def __init__(self, limit: int = MAX_STATES) -> None:
        """Create without states. ``limit`` is the maximum number of conversations."""
        self._limit = limit
        self._lock = Lock()
        self._states: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def get(self, key: str) -> Optional[Mapping[str, Any]]:
        """Return the state of a conversation."""
        with self._lock:
            if key in self._states:
                self._states.move_to_end(key)
            return self._states.get(key)

    def set(self, key: str, state: Mapping[str, Any]) -> None:
        """Store the state of a conversation."""
        with self._lock:
            self._states[key] = state
            self._states.move_to_end(key)
            if len(self._states) > self._limit:
                self._states.popitem(last=False)


def conversation_key(owner: str, messages: Iterable[Mapping[str, Any]]) -> str:
    """Return a key of a conversation: a hash of its messages up to the first one of the assistant.

    The ids of the first tool calls separate conversations that begin with the same text.
    """
    digest = hashlib.sha256(owner.encode())
    for message in messages:
        parts = [message.get(name) for name in ("role", "content", "tool_calls")]
        digest.update(json.dumps(parts, sort_keys=True, default=repr).encode())
        if message.get("role") == "assistant":
            break
    return digest.hexdigest()
