# pyright: basic
"""Tests of the integration with LlamaIndex: real memories and stores."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import (
    AudioBlock,
    CachePoint,
    CacheControl,
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)
from llama_index.core.memory import InsertMethod, Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

import ctx
from ctx.integrations.llama_index import CtxMemory, CtxMemoryBlock, convert_message

from . import agent_loop


def as_chat(message: ChatMessage) -> dict[str, Any]:
    """Convert a message that occurs in these tests."""
    text = "".join(block.text for block in message.blocks if isinstance(block, TextBlock))
    if message.role == MessageRole.TOOL:
        return {"role": "tool", "tool_call_id": message.additional_kwargs["tool_call_id"], "content": text}
    calls = [
        {"id": block.tool_call_id, "type": "function", "function": {"name": block.tool_name, "arguments": json.dumps(block.tool_kwargs)}}
        for block in message.blocks
        if isinstance(block, ToolCallBlock)
    ]
    return {"role": message.role.value, "content": text, "tool_calls": calls}


async def run_loop(memory: Memory, name: str) -> agent_loop.Requests:
    """Run a loop that stores each step in the memory, and reads the memory before each step."""
    recorded = agent_loop.Requests()
    await memory.aput(ChatMessage("You audit warehouses.", role="system"))
    await memory.aput(ChatMessage(agent_loop.TASK, role="user"))
    for step in range(1, agent_loop.STEPS + 2):
        recorded.add([as_chat(message) for message in await memory.aget()])
        identifier = f"call_{name}_{step}"
        call = ToolCallBlock(tool_call_id=identifier, tool_name="read_report", tool_kwargs={"place": agent_loop.argument(step)})
        await memory.aput(ChatMessage(role="assistant", blocks=[call]))
        kwargs = {"tool_call_id": identifier}
        await memory.aput(ChatMessage(agent_loop.result(step), role="tool", additional_kwargs=kwargs))
    return recorded


def _memory(session: str, **options: Any) -> CtxMemory:
    return CtxMemory(token_limit=agent_loop.BUDGET, recall=agent_loop.RECALL, session_id=session, **options)


def test_plans_each_read_of_a_tool_loop() -> None:
    reports: list[dict[str, Any]] = []

    async def run() -> None:
        memory = _memory("loop", on_report=reports.append)
        (await run_loop(memory, "a")).check()
        stored = await memory.sql_store.get_messages("loop", status=MessageStatus.ACTIVE)
        assert len(stored) == 2 + 2 * (agent_loop.STEPS + 1)
        assert len(reports) == agent_loop.STEPS + 1
        # A web server creates the object again for each request.
        first = [as_chat(message) for message in await memory.aget()]
        other = _memory("loop", sql_store=memory.sql_store)
        assert [as_chat(message) for message in await other.aget()] == first

    asyncio.run(run())


def test_concurrent_sessions_share_the_states() -> None:
    async def run() -> None:
        # Each session has a store: an SQLite store in memory loses messages of concurrent writers.
        loops = [run_loop(_memory(f"session {name}"), name) for name in "abcd"]
        for recorded in await asyncio.gather(*loops):
            recorded.check()

    asyncio.run(run())


def test_moves_cache_points_of_removed_messages() -> None:
    point = CachePoint(cache_control=CacheControl(type="ephemeral"))
    messages = [
        ChatMessage("You audit warehouses.", role="system"),
        ChatMessage(role="user", blocks=[TextBlock(text="Marked. " * 400), point]),
        ChatMessage("lorem " * 400, role="assistant"),
        ChatMessage("Go on.", role="user"),
    ]
    store = _Store(table_name="given")
    store.given = list(messages)
    sent = asyncio.run(CtxMemory(token_limit=600, session_id="marks", sql_store=store).aget())
    assert [len(message.blocks) for message in sent] == [2, 1] and sent[0].blocks[1] is point
    assert sent[1] is messages[3] and len(messages[0].blocks) == 1


def test_raises_if_infeasible() -> None:
    async def run() -> None:
        memory = CtxMemory(token_limit=300, session_id="infeasible")
        await memory.aput(ChatMessage("Audit. " * 300, role="user"))
        with pytest.raises(ctx.CtxError) as raised:
            await memory.aget()
        assert raised.value.code == "infeasible"

    asyncio.run(run())
    with pytest.raises(ValueError, match="memory_blocks"):
        CtxMemory(token_limit=300, memory_blocks=[CtxMemoryBlock(chat_store=SQLAlchemyChatStore(table_name="t"))])


def test_block_recalls_archived_messages() -> None:
    async def run() -> None:
        store = SQLAlchemyChatStore(table_name="block", async_database_uri="sqlite+aiosqlite:///:memory:")
        block = CtxMemoryBlock(chat_store=store, budget=agent_loop.RECALL, priority=1)
        memory = Memory.from_defaults(
            session_id="s", token_limit=4_000, token_flush_size=1_000, chat_store=store, memory_blocks=[block],
            insert_method=InsertMethod.USER,
        )
        for step in range(1, 21):
            await memory.aput(ChatMessage(f"Read {agent_loop.argument(step)}.", role="user"))
            await memory.aput(ChatMessage(agent_loop.result(step), role="assistant"))
        await memory.aput(ChatMessage("Tell me the door code of the northern depot.", role="user"))
        sent = await memory.aget()
        texts = [str(message.content) for message in sent]
        assert not any(text.startswith("Report 2\n") for text in texts)
        assert agent_loop.FACT in texts[-1] and agent_loop.FACT not in "".join(texts[:-1])
        other = Memory.from_defaults(session_id="t", token_limit=4_000, chat_store=store, memory_blocks=[block])
        await other.aput(ChatMessage("Tell me the door code of the northern depot.", role="user"))
        assert agent_loop.FACT not in str(await other.aget())
        lines = "\n".join(f"line {number} lorem ipsum" for number in range(20))
        cut = await block.atruncate(lines, ctx.count(lines) // 2)
        assert cut and lines.startswith(cut) and ctx.count(cut) <= ctx.count(lines) - ctx.count(lines) // 2
        assert await block.atruncate(lines, 10_000) is None

    asyncio.run(run())


_TEXT = st.text(alphabet="ab \n✓", max_size=20)
_BLOCK: st.SearchStrategy[Any] = st.one_of(
    _TEXT.map(lambda text: TextBlock(text=text)),
    _TEXT.map(lambda text: ThinkingBlock(content=text, additional_information={"signature": "s"})),
    st.just(ImageBlock(image=b"AAAA", image_mimetype="image/png")),
    st.just(ImageBlock(url="https://example.com/a.png")),
    st.just(AudioBlock(audio=b"AAAA", format="wav")),
    st.just(VideoBlock(url="https://example.com/a.mp4")),
    st.just(DocumentBlock(data=b"AAAA", title="a", document_mimetype="application/pdf")),
    st.just(CachePoint(cache_control=CacheControl(type="ephemeral"))),
)


@st.composite
def _messages(draw: st.DrawFn) -> list[ChatMessage]:
    messages: list[ChatMessage] = []
    for number in range(draw(st.integers(1, 7))):
        role = draw(st.sampled_from(["system", "user", "assistant", "calls"]))
        extra = draw(st.dictionaries(st.sampled_from(["session_id", "x_field"]), _TEXT, max_size=2))
        blocks = draw(st.lists(_BLOCK, max_size=3))
        if role != "calls":
            messages.append(ChatMessage(role=role, blocks=blocks, additional_kwargs=extra))
            continue
        ids = [f"{number}_{at}" for at in range(draw(st.integers(1, 3)))]
        if draw(st.booleans()):
            arguments: Any = draw(st.sampled_from(["{ }", {"a": 1}]))
            calls = [ToolCallBlock(tool_call_id=one, tool_name="f", tool_kwargs=arguments) for one in ids]
            messages.append(ChatMessage(role="assistant", blocks=[*blocks, *calls], additional_kwargs=extra))
        else:
            older = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{ }"}} for one in ids]
            messages.append(ChatMessage(role="assistant", blocks=blocks, additional_kwargs={**extra, "tool_calls": older}))
        messages.extend(
            ChatMessage(draw(_TEXT), role="tool", additional_kwargs={**extra, "tool_call_id": one}) for one in ids
        )
    return messages


class _Store(SQLAlchemyChatStore):
    """Returns the given objects."""

    given: list[Any] = []

    async def get_messages(self, key: str, status: Any = None, limit: Any = None, offset: Any = None) -> list[ChatMessage]:
        return list(self.given)


@settings(max_examples=100)
@given(messages=_messages(), budget=st.integers(20, 3_000))
def test_keeps_messages_as_they_are(messages: list[ChatMessage], budget: int) -> None:
    before = copy.deepcopy(messages)

    def run(limit: int) -> list[ChatMessage]:
        store = _Store(table_name="given")
        store.given = list(messages)
        return asyncio.run(CtxMemory(token_limit=limit, session_id=f"given {limit}", sql_store=store).aget())

    everything = run(1_000_000)
    assert len(everything) == len(messages) and all(one is other for one, other in zip(everything, messages))
    try:
        kept = run(budget)
    except ctx.CtxError as error:
        assert error.code == "infeasible"
        return
    assert messages == before
    # A copy differs in a cache point at the end only.
    remaining = iter(messages)
    for message in kept:
        is_copy = bool(message.blocks) and isinstance(message.blocks[-1], CachePoint)
        assert any(message is one or (is_copy and message.blocks[:-1] == one.blocks) for one in remaining)
    assert not agent_loop.broken_pairs([convert_message(message) for message in kept])
