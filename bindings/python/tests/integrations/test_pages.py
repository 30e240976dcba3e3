# pyright: basic
"""The pages of the integrations in `docs/guide`: their code, and their measurements."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agents
import litellm
import pytest
from llama_index.core.memory import Memory
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.models.function import FunctionModel

from ctx.integrations.google_adk import CtxPlugin
from ctx.integrations.litellm import CtxLogger
from ctx.integrations.llama_index import CtxMemory
from ctx.integrations.openai_agents import CtxInputFilter
from ctx.integrations.pydantic_ai import CtxCapability, CtxHistoryProcessor

from . import agent_loop, test_google_adk, test_litellm, test_llama_index, test_openai_agents, test_pydantic_ai
from .agent_loop import BUDGET, RECALL

GUIDE = Path(__file__).parents[4] / "docs/guide"


def read_page(name: str) -> str:
    return (GUIDE / f"{name}.md").read_text(encoding="utf-8")


def read_blocks(name: str) -> list[str]:
    return re.findall(r"```python run\n(.*?)```", read_page(name), flags=re.DOTALL)


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    agents.set_tracing_disabled(True)
    providers = litellm.custom_provider_map
    yield
    litellm.callbacks, litellm.custom_provider_map = [], providers


def read_report(place: str) -> str:
    """Read the report of a place."""
    return agent_loop.result(agent_loop.STEPS if "code" in place else int(place.split()[-1]))


def names(page: str) -> dict[str, Any]:
    """Return the names that the code of a page uses."""
    if page == "openai-agents":
        return {"model": test_openai_agents.ScriptedModel(), "read_report": test_openai_agents.read_report}
    if page == "pydantic-ai":
        return {"model": FunctionModel(test_pydantic_ai.Script().reply), "read_report": read_report}
    if page == "google-adk":
        return {"model": test_google_adk.ScriptedModel(model="scripted"), "read_report": read_report}
    if page == "litellm":
        provider = test_litellm.ScriptedProvider()
        litellm.custom_provider_map = [{"provider": "scripted", "custom_handler": provider}]
        return {"messages": [{"role": "user", "content": agent_loop.TASK}], "tools": test_litellm.TOOLS}
    return {}


PAGES = {"openai-agents": 2, "pydantic-ai": 2, "google-adk": 1, "litellm": 1, "llama-index": 2}


@pytest.mark.parametrize(("page", "number"), [(page, at) for page, count in PAGES.items() for at in range(count)])
def test_runs_code(page: str, number: int) -> None:
    blocks = read_blocks(page)
    assert len(blocks) == PAGES[page]
    exec(compile(blocks[number], f"{page}.md, block {number + 1}", "exec"), names(page))


def check_table(page: str, rows: dict[str, agent_loop.Measures]) -> None:
    table = "\n".join(f"| {name} | {measures.cells()} |" for name, measures in rows.items())
    assert table in read_page(page), f"docs/guide/{page}.md does not contain:\n{table}"


def test_measures_openai_agents() -> None:
    def measure(plan: Any) -> agent_loop.Measures:
        model = test_openai_agents.ScriptedModel()
        asyncio.run(test_openai_agents.run_loop(model, plan))
        return model.recorded.measure(test_openai_agents.tools())

    rows = {
        "no filter": measure(None),
        "`CtxInputFilter(8_000)`": measure(CtxInputFilter(BUDGET)),
        "`CtxInputFilter(8_000, recall=300)`": measure(CtxInputFilter(BUDGET, recall=RECALL)),
    }
    check_table("openai-agents", rows)


def test_measures_pydantic_ai() -> None:
    def measure(*capabilities: Any) -> agent_loop.Measures:
        script = test_pydantic_ai.Script()
        asyncio.run(test_pydantic_ai.run_loop(script, *capabilities))
        return script.recorded.measure(script.tools)

    processor = CtxHistoryProcessor(BUDGET, archive=lambda _: None, reserve=100)
    rows = {
        "no capability": measure(),
        "`CtxCapability(8_000)`": measure(CtxCapability(BUDGET)),
        "`CtxCapability(8_000, recall=300)`": measure(CtxCapability(BUDGET, recall=RECALL)),
        "`CtxHistoryProcessor(8_000, reserve=100, ...)`": measure(ProcessHistory(processor)),
    }
    check_table("pydantic-ai", rows)


def test_measures_google_adk() -> None:
    def measure(*plugins: CtxPlugin) -> agent_loop.Measures:
        model = test_google_adk.ScriptedModel(model="scripted")
        asyncio.run(test_google_adk.run_loop(test_google_adk.make_runner(model, *plugins), "a"))
        return model.recorded("a").measure(model.tools())

    rows = {
        "no plugin": measure(),
        "`CtxPlugin(8_000)`": measure(CtxPlugin(BUDGET)),
        "`CtxPlugin(8_000, recall=300)`": measure(CtxPlugin(BUDGET, recall=RECALL)),
    }
    check_table("google-adk", rows)


def test_measures_litellm() -> None:
    def measure(*callbacks: Any) -> agent_loop.Measures:
        provider = test_litellm.ScriptedProvider()
        litellm.custom_provider_map = [{"provider": "scripted", "custom_handler": provider}]
        litellm.callbacks = list(callbacks)
        asyncio.run(test_litellm.run_loop())
        return agent_loop.Requests(provider.requests).measure(test_litellm.TOOLS)

    rows = {
        "no callback": measure(),
        "`CtxLogger(8_000)`": measure(CtxLogger(BUDGET)),
        "`CtxLogger(8_000, recall=300)`": measure(CtxLogger(BUDGET, recall=RECALL)),
    }
    check_table("litellm", rows)


def test_measures_llama_index() -> None:
    def measure(memory: Memory) -> agent_loop.Measures:
        return asyncio.run(test_llama_index.run_loop(memory, "a")).measure()

    rows = {
        "`Memory`, `token_limit=8_000`": measure(Memory.from_defaults(token_limit=BUDGET)),
        "`CtxMemory(token_limit=8_000)`": measure(CtxMemory(token_limit=BUDGET)),
        "`CtxMemory(token_limit=8_000, recall=300)`": measure(CtxMemory(token_limit=BUDGET, recall=RECALL)),
    }
    check_table("llama-index", rows)
