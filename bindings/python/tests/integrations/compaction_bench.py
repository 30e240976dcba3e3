# pyright: basic
"""Replays tool conversations through ways to shorten them: ``python -m integrations.compaction_bench [--data DIR]``.

Before each recorded reply, the agent of LangChain sends the messages so far. The model returns the recorded replies, and
tools return the recorded results. No model and no network is used. Prints one table for each set of conversations.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    SummarizationMiddleware,
)
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, trim_messages
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import PrivateAttr

import ctx
from ctx.integrations._langchain_messages import as_chat_message
from ctx.integrations.langchain import CtxMiddleware

from .tool_loop import Requests

MAX_TURNS = 200
"""Maximum replies of a conversation."""
FACT = re.compile(r"(?=[A-Za-z_./@:#-]*[0-9])[A-Za-z0-9][A-Za-z0-9_./@:#-]{7,}")
"""Values of at least 8 characters with a digit, such as ids, paths and addresses."""


@dataclass
class Conversation:
    """A recorded conversation in the form of chat completions: user messages, replies with calls, and results."""

    system: str
    messages: list[dict[str, Any]]

    def turns(self) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        """Return each user message with the replies and results after it."""
        turn: list[dict[str, Any]] = []
        user: Optional[dict[str, Any]] = None
        for message in self.messages:
            if message["role"] == "user":
                if user is not None and turn:
                    yield user, turn
                user, turn = message, []
            elif user is not None:
                turn.append(message)
        if user is not None and turn:
            yield user, turn


@dataclass
class Facts:
    """Values that were first seen in a result, and the later requests whose calls use them."""

    uses: list[tuple[str, int]] = field(default_factory=list)

    @classmethod
    def of(cls, conversation: Conversation) -> "Facts":
        """Find the values. A request is known by the number of its reply."""
        facts, seen, said, reply = cls(), set[str](), conversation.system, 0
        for message in conversation.messages:
            if message["role"] == "assistant":
                reply += 1
                for call in message.get("tool_calls") or ():
                    found = set(FACT.findall(str(call["function"]["arguments"])))
                    facts.uses.extend((fact, reply) for fact in sorted(found & seen))
            if message["role"] == "tool":
                seen |= {fact for fact in FACT.findall(str(message["content"])) if fact not in said}
            else:
                said += str(message.get("content") or "")
        return facts


class RecordedModel(GenericFakeChatModel):
    """Returns recorded replies, and keeps the requests."""

    messages: Iterator[AIMessage | str] = iter(())
    _seen: Requests = PrivateAttr(default_factory=Requests)

    def bind_tools(self, *_: Any, **__: Any) -> "RecordedModel":
        """Ignore the tools: the replies are recorded."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> Any:
        self._seen.add(as_chat_message(message) for message in messages)
        return super()._generate(messages, *args, **options)


class RecordedTools(AgentMiddleware[Any, Any]):
    """Returns recorded results."""

    def __init__(self, results: dict[str, Any]) -> None:
        """Set the results by the id of their calls."""
        super().__init__()
        self._results = results

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> ToolMessage:
        """Return the result of a call."""
        call = request.tool_call
        return ToolMessage(self._results.get(call["id"], ""), tool_call_id=call["id"], name=call["name"])


class Trim(AgentMiddleware[Any, Any]):
    """Calls ``trim_messages`` of LangChain before each model call, as its documentation does."""

    def __init__(self, budget: int, count: Callable[[Iterable[Any]], int]) -> None:
        """Set the budget."""
        super().__init__()
        self._budget, self._count = budget, count

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Trim the messages of a call."""
        reserved = self._count([request.system_message]) if request.system_message else 0
        kept = trim_messages(
            request.messages, max_tokens=self._budget - reserved, token_counter=self._count, strategy="last"
        )
        return handler(request.override(messages=kept))


def replay(conversation: Conversation, middleware: Callable[[Callable[[Iterable[Any]], int]], Any]) -> list[float]:
    """Replay a conversation; return the sums of the table."""
    names = {call["function"]["name"] for one in conversation.messages for call in one.get("tool_calls") or ()}
    schema = {"type": "object", "properties": {}}
    tools = [StructuredTool(name=name, description="", args_schema=schema, func=str) for name in sorted(names)]
    results = {one["tool_call_id"]: one["content"] or " " for one in conversation.messages if one["role"] == "tool"}
    replies = [_reply(one) for one in conversation.messages if one["role"] == "assistant"]
    model = RecordedModel()
    model.messages = iter(replies)

    def count(messages: Iterable[Any]) -> int:
        return ctx.count([as_chat_message(one) for one in messages])

    chosen = middleware(count)
    agent = create_agent(
        model,
        tools=tools,
        system_prompt=conversation.system or None,
        middleware=[*([chosen] if chosen else []), RecordedTools(results)],
        checkpointer=InMemorySaver(),
    )
    thread: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 10 * MAX_TURNS}
    for user, _ in conversation.turns():
        agent.invoke({"messages": [HumanMessage(user["content"])]}, thread)
    seen = model._seen
    tokens = [ctx.count(one) for one in seen.requests]
    shares = seen.shared()
    uses = Facts.of(conversation).uses
    lost = sum(fact not in str(seen.requests[reply - 1]) for fact, reply in uses if reply <= len(seen.requests))
    resets = sum(share < 0.8 for share in shares)
    broken = len(seen.broken_pairs())
    return [sum(tokens), max(tokens), sum(shares), len(shares), resets, broken, lost, len(uses)]


def _reply(message: dict[str, Any]) -> AIMessage:
    calls = message.get("tool_calls") or ()
    given = [{"id": one["id"], "name": one["function"]["name"], "args": _arguments(one)} for one in calls]
    return AIMessage(message.get("content") or "", tool_calls=given)


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    try:
        found = json.loads(call["function"]["arguments"])
    except ValueError:
        found = call["function"]["arguments"]
    return found if isinstance(found, dict) else {"input": found}


def variants(budget: int) -> dict[str, Callable[[Callable[[Iterable[Any]], int]], Any]]:
    """Return the rows: middlewares with their documented options, and the same budget."""
    summary = "The user asked for several things, and the assistant looked them up one after the other. " * 20
    trigger: Any = ("tokens", budget)
    kept: Any = ("tokens", budget * 6 // 10)

    def summarize(count: Callable[[Iterable[Any]], int]) -> Any:
        model = GenericFakeChatModel(messages=iter([summary] * MAX_TURNS))
        return SummarizationMiddleware(model, trigger=trigger, keep=kept, token_counter=count)

    return {
        "nothing": lambda _: None,
        "`trim_messages`": lambda count: Trim(budget, count),
        "`ClearToolUsesEdit(keep=3)`": lambda _: ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=budget)]),
        "`SummarizationMiddleware`, keeps 60%": summarize,
        "`CtxMiddleware`": lambda _: CtxMiddleware(budget=budget),
        "`CtxMiddleware(recall=…)`, 5%": lambda _: CtxMiddleware(budget=budget, recall=budget // 20),
    }


def own_conversations() -> list[Conversation]:
    """Return tool conversations of 40 calls.

    Each result has the id of a ship's shipment. Every third call uses the id of the result 2, 9 or 24 calls before. The
    result before the call names the ship.
    """
    conversations: list[Conversation] = []
    for number, distance in enumerate((2, 9, 24)):
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Check the orders of the harbor one after the other."}]
        for step in range(40):
            known = f" for shipment SHP-{number}{step - distance:04}-KESTREL" if step >= distance and step % 3 == 0 else ""
            arguments = json.dumps({"query": f"order of row {step}{known}"})
            function = {"name": "look_up", "arguments": arguments}
            call = {"id": f"call_{number}_{step}", "type": "function", "function": function}
            lines = [f"{step:02}:{line:02} lamp {line * 31 + step} burned {line * 7 % 60} minutes" for line in range(28)]
            lines[step % 28] = f"The ship {_ship(step)} carries the shipment SHP-{number}{step:04}-KESTREL"
            if step + 1 >= distance and (step + 1) % 3 == 0:
                lines.append(f"The next row continues the shipment of the ship {_ship(step + 1 - distance)}")
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "\n".join(lines)})
        messages.append({"role": "assistant", "content": "All orders are checked."})
        conversations.append(Conversation("You keep the books of a harbor.", messages))
    return conversations


def _ship(step: int) -> str:
    first = ("Heron", "Marigold", "Walrus", "Tamarind", "Quartz", "Juniper", "Falcon", "Osprey")
    return f"{first[step % 8]} {('North', 'Amber', 'Silver', 'Winter', 'Cobalt')[step // 8]}"


def read_conversations(folder: Path) -> list[Conversation]:
    """Read trajectories of tau-bench (``*.json``, lists of runs) and mini-swe-agent (``*.traj.json``)."""
    conversations: list[Conversation] = []
    for path in sorted(folder.rglob("*.json")):
        read = json.loads(path.read_text(encoding="utf-8"))
        for run in read if isinstance(read, list) else [read]:
            messages = run.get("traj") or run.get("messages") or []
            system = "".join(one["content"] for one in messages if one["role"] == "system")
            rest = [one for one in messages if one["role"] in ("user", "assistant", "tool")]
            if sum(one["role"] == "tool" for one in rest) >= 5:
                conversations.append(Conversation(system, rest[: 2 * MAX_TURNS]))
    return conversations


def table(title: str, conversations: list[Conversation], budget: int) -> str:
    """Replay all conversations through all variants; return the table."""
    lines = [
        f"{title}: {len(conversations)} conversations, budget {budget:,} tokens",
        "",
        "| | tokens sent | largest request | mean shared prefix | resets | broken pairs | facts lost |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, middleware in variants(budget).items():
        rows = [replay(one, middleware) for one in conversations]
        sent, _, shared, count, resets, broken, lost, uses = (sum(column) for column in zip(*rows))
        largest = max(row[1] for row in rows)
        cells = [f"{sent:,}", f"{largest:,}", f"{shared / max(count, 1):.2f}", resets, broken, f"{lost} of {uses}"]
        lines.append(f"| {name} | " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with trajectories of tau-bench or mini-swe-agent")
    parser.add_argument("--budget", type=int, default=2_000, help="tokens for these trajectories [default: 2000]")
    given = parser.parse_args()
    print(table("Own tool conversations", own_conversations(), 8_000))
    if given.data is not None:
        print("\n" + table(given.data.name, read_conversations(given.data), given.budget))


if __name__ == "__main__":
    main()
