"""The package as its users see it."""

import asyncio
import gc
import json
import re
import resource
import threading
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import ctx

HERE = Path(__file__).parent
MESSAGES = [{"role": "system", "content": "Be brief."}] + [
    {"role": "user" if number % 2 == 0 else "assistant", "content": f"Lamp {number} of the pier was lit at {number}:30."}
    for number in range(41)
]


class Fitting(unittest.TestCase):
    def test_what_fits_are_the_very_messages_that_were_given(self) -> None:
        fitted = ctx.fit(MESSAGES, 200, model="gpt-4o")
        self.assertIs(fitted[0], MESSAGES[0])
        self.assertTrue(all(one is own for one, own in zip(fitted[1:], MESSAGES[1 - len(fitted) :])))
        self.assertLess(len(fitted), len(MESSAGES))

    def test_a_conversation_that_grew_fits_as_one_that_was_given_at_once(self) -> None:
        grown = ctx.Conversation(MESSAGES[:10])
        for message in MESSAGES[10:]:
            grown.append(message)
        self.assertEqual(grown.to_dict(), ctx.Conversation(MESSAGES).to_dict())
        self.assertEqual(grown.fit(300, model="gpt-4o"), ctx.fit(MESSAGES, 300, model="gpt-4o"))

    def test_notes_stand_in_place_of_what_does_not_fit(self) -> None:
        fitted = ctx.fit(MESSAGES, 300, model="gpt-4o", compress=True)
        self.assertTrue(any(one not in MESSAGES for one in fitted))

    def test_calls_and_results_stay_or_go_together(self) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        tools = [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "Rain. " * 40},
        ]
        for budget in range(40, 400, 20):
            fitted = ctx.fit([*tools, *MESSAGES[1:]], budget)
            self.assertEqual(tools[1] in fitted, tools[2] in fitted)

    def test_too_small_a_budget_says_so(self) -> None:
        with self.assertRaises(ctx.CtxError) as caught:
            ctx.fit(MESSAGES, 10)
        self.assertEqual(caught.exception.code, "infeasible")

    def test_what_langchain_calls_the_same_is_the_same(self) -> None:
        self.assertEqual(ctx.trim_messages(MESSAGES, max_tokens=200), ctx.fit(MESSAGES, 200))
        with self.assertRaises(ctx.CtxError):
            ctx.trim_messages(MESSAGES, max_tokens=200, allow_partial=True)

    def test_objects_of_other_packages_are_read_by_what_they_have(self) -> None:
        objects = [
            SimpleNamespace(type="human", content="Hi"),
            SimpleNamespace(type="ai", content="", tool_calls=[{"id": "c1", "name": "look", "args": {"at": "é"}}]),
            SimpleNamespace(type="tool", content="Rain.", tool_call_id="c1"),
            SimpleNamespace(role="user", content="Thanks"),
        ]
        self.assertEqual(ctx.fit(objects, 500), objects)

    def test_what_is_no_message_is_refused_with_its_place(self) -> None:
        no_calls = SimpleNamespace(type="ai", content="", tool_calls=[None])
        unwritten = {"role": "user", "content": object()}
        odd: list[Any] = [None, 5, "text", (), ("user",), object(), no_calls, unwritten]
        for one in odd:
            with self.subTest(one=one), self.assertRaises(ctx.CtxError) as caught:
                ctx.fit([MESSAGES[0], one], 500)
            self.assertEqual(caught.exception.code, "usage")
            self.assertEqual(caught.exception.pointer, "/1")
        for nothing in [None, 5, {"role": "user"}]:
            given = cast("Any", nothing)
            calls = [lambda: ctx.fit(given, 500), lambda: ctx.count(given), lambda: ctx.compress(given, 500)]
            for call in calls:
                with self.subTest(nothing=nothing), self.assertRaises(ctx.CtxError):
                    call()

    def test_messages_of_langchain_core_come_back(self) -> None:
        try:
            from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
        except ImportError:
            self.skipTest("langchain-core is not installed")
        messages = [SystemMessage("Be brief."), HumanMessage("Hi"), AIMessage("Hello"), HumanMessage("Bye")]
        self.assertEqual(ctx.fit(messages, 500), messages)


class Operations(unittest.TestCase):
    def test_findings_have_places(self) -> None:
        found = ctx.check("presetMessages:\n  - {role: system, content: '{{nope}}'}\n")["findings"]
        self.assertEqual((found[0]["code"], found[0]["position"]["line"]), ("CTX0300", 2))

    def test_a_document_that_cannot_be_read_says_where(self) -> None:
        with self.assertRaises(ctx.CtxError) as caught:
            ctx.Agent("presetMessages:\n  - {role: system\n")
        self.assertEqual(caught.exception.position, ("agent.yaml", 2, 5))

    def test_a_card_comes_in_and_goes_out(self) -> None:
        card = {"spec": "chara_card_v2", "data": {"name": "Ada", "description": "Counts.", "first_mes": "Hi."}}
        made = ctx.import_files({"ada.json": json.dumps(card)})
        self.assertEqual(made["agent"]["name"], "Ada")
        self.assertEqual(ctx.export(made["agent"], "st-card")["document"]["data"]["name"], "Ada")

    def test_each_dialect_is_written_and_read(self) -> None:
        for dialect in ("openai", "openai-responses", "anthropic", "gemini", "completion"):
            body = ctx.encode([{"role": "user", "content": "Hi"}], dialect, "m")
            self.assertIn("Hi", json.dumps(body))
        reply = {"choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}]}
        self.assertEqual(ctx.decode("openai", reply)["message"], {"role": "assistant", "content": "Hello"})
        self.assertEqual(ctx.lint({"model": "m", "messages": []}, "openai"), ctx.lint({"model": "m", "messages": []}))

    def test_a_stream_is_read_piece_by_piece(self) -> None:
        stream = ctx.Stream("openai")
        self.assertEqual(stream.push('{"choices":[{"delta":{"content":"Hi"}}]}'), [{"kind": "text", "text": "Hi"}])
        with self.assertRaises(ctx.CtxError):
            stream.finish()
        stream.push('{"choices":[{"delta":{},"finish_reason":"stop"}]}')
        self.assertEqual(stream.finish()["text"], "Hi")

    def test_others_of_the_list(self) -> None:
        self.assertEqual(ctx.count("hello world", "gpt-4o"), 2)
        self.assertEqual(ctx.expand_macros("{{char}}", {"char": "Ada"})["text"], "Ada")
        self.assertIn("agent", [one["name"] for one in ctx.schemas()])
        book = {"entries": {"0": {"uid": 0, "key": ["lamp"], "content": "Lamps are red."}}}
        scan = ctx.scan_worldbooks([book], MESSAGES[1:])
        self.assertEqual([one["state"] for one in scan["entries"]], ["active"])
        self.assertLess(len(ctx.compress(MESSAGES, 300)["messages"]), len(MESSAGES))
        said = [{"role": "user", "content": "My daughter must not eat nuts."}, {"role": "assistant", "content": "Noted."}]
        lines = ctx.recall(said, "May she eat nuts?")["lines"]
        self.assertEqual([(line["ago"], line["words"]) for line in lines], [(1, ["eat", "nuts"]), (0, [])])
        first_plan = ctx.plan(MESSAGES, 300)
        next_plan = ctx.plan([*MESSAGES, said[1]], 300, state=first_plan["state"])
        self.assertEqual((first_plan["reset"], next_plan["reset"]), (True, False))
        self.assertEqual(next_plan["kept"], [*first_plan["kept"], len(MESSAGES)])
        first = ctx.Agent("presetMessages: [{role: system, content: A}]").assemble()
        second = ctx.Agent("presetMessages: [{role: system, content: B}]").assemble()
        self.assertEqual(ctx.diff(first, second)["sharedMessages"], 0)

    def test_a_context_is_assembled_beside_others_and_explained(self) -> None:
        agent = ctx.Agent("presetMessages:\n- {role: system, content: 'It is {{date}}.'}\n- {type: chat_history}\n")
        chat = ctx.Conversation(MESSAGES[1:])
        at = "2026-01-31T12:00:00Z"

        async def several() -> list[dict[str, Any]]:
            return list(await asyncio.gather(*(agent.assemble_async(chat, "Hi", at=at) for _ in range(4))))

        made = asyncio.run(several())
        self.assertTrue(all(one == made[0] for one in made))
        self.assertEqual(agent.explain(chat, "Hi", message=0, at=at)["subject"], "preset#0")

    def test_applied_effects_keep_inserted_text_in_place(self) -> None:
        entries = [{"type": "chat_history"}, {"role": "user", "content": "Be brief.", "insertionPoint": -1}]
        agent = ctx.Agent({"prefix": "append-only", "presetMessages": entries})
        chat = ctx.Conversation([{"role": "user", "content": "Hello"}])
        first = agent.assemble(chat)
        chat.apply(first["effects"])
        chat.extend([{"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Is it late?"}])
        texts = [[message["content"] for message in made["messages"]] for made in (first, agent.assemble(chat))]
        self.assertEqual(texts[1][: len(texts[0])], texts[0])
        with self.assertRaises(ctx.CtxError):
            chat.apply([{"op": "nothing"}])


class Border(unittest.TestCase):
    """Nothing that is given crashes, and nothing is kept."""

    ODD: list[Any] = [None, True, -1, 2**63, 2**64, 1.5, float("nan"), "", "{{", b"\xff", [], [[]], {}, {"a": {}}, object()]

    def test_odd_values_are_exceptions_with_a_code(self) -> None:
        for operation in ctx.call("operations", {}):
            name = operation["name"]
            for key in ["agent", "conversation", "document", "files", "text", "messages", "body", "dialect", "budget"]:
                for odd in self.ODD:
                    try:
                        ctx.call(name, {key: odd})
                    except ctx.CtxError as error:
                        self.assertIsInstance(error.code, str)
        for odd in self.ODD:
            with self.assertRaises((ctx.CtxError, TypeError)):
                ctx.call("nothing", odd)

    def test_what_is_nested_too_deep_is_refused(self) -> None:
        deep: Any = []
        for _ in range(100_000):
            deep = [deep]
        with self.assertRaises(ctx.CtxError):
            ctx.call("check", {"document": deep})
        while deep:
            deep = deep[0]

    def test_memory_stays_flat(self) -> None:
        def work() -> None:
            for _ in range(2_000):
                ctx.fit(MESSAGES[:6], 500)
                ctx.call("check", {"document": "presetMessages: [{role: system, content: '{{nope}}'}]"})

        work()
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown, 4_096, f"{grown} KiB more than before")

    def test_other_threads_run_meanwhile(self) -> None:
        messages = MESSAGES * 200
        done = threading.Event()
        counted = 0

        def work() -> None:
            try:
                ctx.compress(messages, 20_000)
            finally:
                done.set()

        thread = threading.Thread(target=work)
        thread.start()
        while not done.is_set():
            counted += 1
        thread.join()
        self.assertGreater(counted, 100)


class Own(unittest.TestCase):
    """What is the host's own."""

    AGENT = {"presetMessages": [{"role": "system", "content": "Tide: {{tide::high}}"}, {"type": "chat_history"}]}

    def assemble(self, **parts: Any) -> dict[str, Any]:
        agent = ctx.Agent(self.AGENT, **parts)
        return agent.assemble(ctx.Conversation([{"role": "user", "content": "Hello"}]))

    def test_a_macro_of_the_host_is_expanded(self) -> None:
        tide = ctx.Macro("tide", lambda kind: f"{kind} at noon", max=1)
        self.assertIn("Tide: high at noon", str(self.assemble(macros=[tide])["messages"]))

    def test_what_a_macro_raises_is_a_finding(self) -> None:
        def fail(kind: str) -> str:
            raise ValueError("no tide")

        context = self.assemble(macros=[ctx.Macro("tide", fail, max=1)])
        self.assertIn("no tide", json.dumps(context["report"]))

    def test_a_processor_of_the_host_changes_messages(self) -> None:
        def shout(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
            louder = [{**one, "content": one["content"].upper()} for one in messages]
            return [*louder, {"role": "user", "content": "And now?"}]

        context = self.assemble(processors=[ctx.Processor("shout", shout)])
        self.assertEqual([one["content"] for one in context["messages"]][-2:], ["HELLO", "And now?"])

    def test_an_anchor_of_the_host_is_known(self) -> None:
        agent = {"presetMessages": [{"role": "system", "type": "pier", "content": "The pier."}]}
        unknown = ctx.Agent(agent).findings
        known = ctx.Agent(agent, anchors=[ctx.Anchor("pier", has_template=True)]).findings
        self.assertGreater(len(unknown), len(known))

    def test_a_function_that_is_called_cannot_wait_for_its_caller(self) -> None:
        conversation = ctx.Conversation(MESSAGES)

        def ask(messages: list[dict[str, Any]]) -> None:
            conversation.fit(100)

        agent = ctx.Agent(self.AGENT, processors=[ctx.Processor("ask", ask)])
        context = agent.assemble(conversation)
        self.assertIn("cannot use agents", json.dumps(context["report"]))

    def test_a_limit_of_time_ends_a_call(self) -> None:
        with self.assertRaises(ctx.CtxError) as caught:
            ctx.fit(MESSAGES, 200, time_limit=0)
        self.assertEqual(caught.exception.code, "cancelled")
        with self.assertRaises(ctx.CtxError) as caught:
            ctx.Agent(self.AGENT).assemble(ctx.Conversation(MESSAGES), time_limit=-1)
        self.assertEqual(caught.exception.code, "usage")

    def test_a_task_that_is_cancelled_ends_its_call(self) -> None:
        began, left = threading.Event(), threading.Event()
        seen: list[int] = []

        def wait(messages: list[dict[str, Any]]) -> None:
            began.set()
            left.wait(30)

        def note(messages: list[dict[str, Any]]) -> None:
            seen.append(len(messages))

        own = [ctx.Processor("wait", wait, priority=901), ctx.Processor("note", note, priority=902)]
        agent = ctx.Agent(self.AGENT, processors=own)

        async def cancel() -> None:
            task = asyncio.create_task(agent.assemble_async(ctx.Conversation(MESSAGES)))
            await asyncio.to_thread(began.wait, 30)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            left.set()

        asyncio.run(cancel())
        self.assertEqual(seen, [])


class Readme(unittest.TestCase):
    def test_runs_readme(self) -> None:
        self.run_blocks(HERE.parent / "README.md")

    def test_runs_guide(self) -> None:
        self.run_blocks(HERE.parents[2] / "docs/guide/python.md")

    def run_blocks(self, page: Path) -> None:
        blocks = re.findall(r"```python(?: run)?\n(.*?)```", page.read_text(), flags=re.DOTALL)
        self.assertGreater(len(blocks), 1)
        for block in blocks:
            exec(compile(block, str(page), "exec"), {})


if __name__ == "__main__":
    unittest.main()
