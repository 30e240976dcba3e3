# pyright: basic
"""The page `docs/guide/langchain.md`: its code, and its measurements."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

import ctx
from ctx.integrations._langchain_messages import as_chat_message, as_tools
from ctx.integrations.langchain import CtxMiddleware

from .test_langchain import CONFIG, SYSTEM, ScriptedModel, look_up
from .tool_loop import ASKING_STEP, BUDGET, FACT, TASK

PAGE = (Path(__file__).parents[4] / "docs/guide/langchain.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python run\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(6))
def test_runs_code(number: int) -> None:
    assert len(BLOCKS) == 6
    code = compile(BLOCKS[number], f"langchain.md, block {number + 1}", "exec")
    exec(code, {"model": ScriptedModel(), "look_up": look_up})


class SummarizingModel(ScriptedModel):
    """Writes summaries of about 500 tokens."""

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        return AIMessage("The keeper compared the lamps of the pier in the order of their rows. " * 30)


def count(messages: Iterable[Any]) -> int:
    return int(ctx.plan([as_chat_message(one) for one in messages], 10**9, tools=as_tools([look_up]))["tokens"])


def measure(*middleware: AgentMiddleware[Any, Any]) -> str:
    """Run the loop, and return its cells."""
    model = ScriptedModel()
    agent = create_agent(model, tools=[look_up], system_prompt=SYSTEM, middleware=middleware)
    agent.invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
    requests = model.seen
    assert requests.broken_pairs() == []
    tokens = [ctx.plan(one, 10**9, tools=as_tools([look_up]))["tokens"] for one in requests.requests]
    shares = requests.shared()
    is_found = "yes" if FACT in str(requests.requests[ASKING_STEP]) else "no"
    over = sum(one > BUDGET for one in tokens)
    resets = sum(share < 0.8 for share in shares)
    return f"{sum(tokens):,} | {over} | {sum(shares) / len(shares):.2f} | {resets} | {is_found}"


def test_gives_measured_numbers() -> None:
    options: Any = {"trigger": ("tokens", BUDGET), "token_counter": count}
    rows = {
        "none": measure(),
        "`SummarizationMiddleware`, `keep` 4,800 tokens": measure(
            SummarizationMiddleware(SummarizingModel(), keep=("tokens", 4_800), **options)
        ),
        "`CtxMiddleware(budget=8_000)`": measure(CtxMiddleware(budget=BUDGET)),
        "`CtxMiddleware(budget=8_000, recall=400)`": measure(CtxMiddleware(budget=BUDGET, recall=400)),
    }
    table = "\n".join(f"| {name} | {cells} |" for name, cells in rows.items())
    assert table in PAGE, f"docs/guide/langchain.md does not contain:\n{table}"
