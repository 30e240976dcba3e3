# pyright: basic
"""The benchmark of ways to shorten tool conversations."""

from .compaction_bench import Conversation, Facts, own_conversations, replay, variants


def test_replays_within_the_budget() -> None:
    conversation = own_conversations()[1]
    short = Conversation(conversation.system, [*conversation.messages[:31], conversation.messages[-1]])
    for name in ("`CtxMiddleware`", "`CtxMiddleware(recall=…)`, 5%"):
        _, largest, _, requests, resets, broken, _, _ = replay(short, variants(4_000)[name])
        assert largest <= 4_000 and requests == 15 and 1 <= resets <= 5 and broken == 0, name
    sent = replay(short, variants(4_000)["nothing"])
    assert sent[1] > 4_000 and sent[4] == 0


def test_finds_facts_that_calls_use() -> None:
    uses = Facts.of(own_conversations()[0]).uses
    assert ("SHP-00001-KESTREL", 4) in uses and all(fact.startswith("SHP-") for fact, _ in uses)
