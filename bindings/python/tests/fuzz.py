"""Calls every operation with changed documents and values of wrong types: fuzz.py COUNT FIXTURES [SEED].

Each call gives a value or a ``CtxError`` with a code, none ends the process, and the same calls again need no more
memory.
"""

import random
import resource
import sys
from pathlib import Path
from typing import Any, Callable

import ctx

FLAT = 10_000
# A conversation that grows; it is none of the operations, since it stays in the engine.
GROWTH = "Conversation"
LARGEST = 20_000
ENDINGS = {".yaml", ".json", ".jsonl", ".png", ".charx"}
KEYS = (
    "agent profile worldbooks models conversation document files text messages body dialect budget model tools input "
    "first second events environment to format at tz seed template parameters enable message name strategy plan "
    "loopStart userSettings kind"
).split()
WORDS = ["openai", "anthropic", "gemini", "completion", "aio", "st-card", "gpt-4o", "agent", "{{char}}", "", "5"]
ODD: list[Any] = [
    None, True, -1, 0, 2**53, 2**70, 1e300, float("nan"), "\ud800", b"\xff", [], [[]], {}, {"a": {}}, {1: 2}, object(),
    {"file": 5}, (1, 2),
]  # fmt: skip
DIALECTS = WORDS[:4]


class Calls:
    """Calls that depend on a seed alone."""

    def __init__(self, seed: int, documents: list[tuple[str, bytes]]) -> None:
        self.random = random.Random(seed)
        self.documents = documents
        self.needed: dict[str, Callable[[], dict[str, Any]]] = {
            "assemble": lambda: {"agent": self.document(), "conversation": self.value()},
            "check": lambda: {"document": self.document()},
            "compile": lambda: {"agent": self.document()},
            "compress": lambda: {"conversation": self.document(), "budget": self.random.randrange(500)},
            "count": lambda: {"conversation": self.document()},
            "decode": lambda: {"dialect": self.random.choice(DIALECTS), "body": self.value()},
            "diff": lambda: {"first": self.document(), "second": self.document()},
            "encode": lambda: {"messages": self.document(), "dialect": self.random.choice(DIALECTS), "model": "m"},
            "explain": lambda: {"agent": self.document(), "conversation": self.value()},
            "export": lambda: {"agent": self.document(), "to": self.random.choice(["aio", "st-card", "st-regex"])},
            "fit": lambda: {"conversation": self.document(), "budget": self.random.randrange(500)},
            "import": lambda: {"files": [self.document()]},
            "lint": lambda: {"body": self.value()},
            "macros.expand": lambda: {"text": self.text()},
            "migrate": lambda: {"document": self.document()},
            "plan": lambda: {"messages": self.messages(), "budget": self.random.randrange(500), "recall": 50},
            "recall": lambda: {"conversation": self.document(), "query": self.text(), "budget": self.random.randrange(500)},
            "stream.read": lambda: {"dialect": "openai", "events": [self.value()]},
            "worldbook.scan": lambda: {"worldbooks": [self.document()], "conversation": self.value()},
            GROWTH: lambda: {"given": self.messages(), "added": [self.message()], "budget": self.random.randrange(500)},
        }

    def bytes(self) -> tuple[str, bytes]:
        """Return a document of a stranger: one that there is, with bytes changed, left out or doubled."""
        name, content = self.random.choice(self.documents)
        made = bytearray(content)
        for _ in range(self.random.randrange(4)):
            if made:
                made[self.random.randrange(len(made))] = self.random.randrange(256)
        start, end = sorted(self.random.randrange(len(made) + 1) for _ in range(2))
        return name, bytes(made[:end] + made[start:] if self.random.random() < 0.3 else made)

    def document(self) -> dict[str, Any]:
        name, content = self.bytes()
        return {"file": name, "base64": content}

    def text(self) -> str:
        return self.bytes()[1].decode(errors="replace")

    def value(self) -> Any:
        kind = self.random.randrange(8)
        if kind < 3:
            return self.document()
        if kind < 5:
            return self.random.choice(WORDS)
        if kind == 5:
            return self.text()
        if kind == 6:
            role, content = self.random.choice(["user", "tool", 5]), self.random.choice([*WORDS, *ODD])
            return [{"role": role, "content": content}]
        return self.random.choice(ODD)

    def message(self) -> Any:
        choice = self.random.choice
        if self.random.randrange(16) == 0:
            return choice([self.value(), {"role": choice([5, "tool"]), "content": choice(ODD)}])
        content = choice([choice(WORDS), f"{choice(WORDS)}\0{choice(WORDS)}", "\0", "\ud800", "é😀"])
        return {"role": choice(["user", "assistant", "system", "developer"]), "content": content}

    def messages(self) -> Any:
        return self.value() if self.random.randrange(8) == 0 else [self.message() for _ in range(self.random.randrange(5))]

    def options(self, name: str, is_sensible: bool) -> dict[str, Any]:
        if name == GROWTH and not is_sensible:
            document = self.document() if self.random.randrange(2) else None
            budget, compress = self.random.choice(ODD), self.random.choice([True, self.value()])
            added = [self.message()]
            return {"document": document, "given": self.messages(), "added": added, "budget": budget, "compress": compress}
        if is_sensible and name in self.needed:
            return self.needed[name]()
        return {self.random.choice(KEYS): self.value() for _ in range(1 + self.random.randrange(4))}


def attempt(name: str, options: Any) -> bool:
    """Call an operation; tell whether it gave a value."""
    try:
        if name == GROWTH:
            grow(**options)
        else:
            ctx.call(name, options)
    except ctx.CtxError as error:
        if not isinstance(error.code, str):
            raise AssertionError(f"{name} {options!r}: no code") from error
        return False
    except BaseException:
        print(f"{name} {options!r}", file=sys.stderr)
        raise
    return True


def grow(given: Any, added: list[Any], budget: Any, document: Any = None, compress: Any = False) -> None:
    """Make a conversation, add to it, and fit it."""
    conversation = ctx.Conversation(given) if document is None else ctx.Conversation.read(document)
    for message in added:
        conversation.append(message)
    conversation.fit(budget, compress=compress)
    conversation.to_dict()


def main() -> None:
    count, folder, seed = int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 7
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in ENDINGS and path.stat().st_size < LARGEST]
    documents = [(path.name, path.read_bytes()) for path in paths]
    names = [*(one["name"] for one in ctx.call("operations", {})), GROWTH]
    calls = Calls(seed, documents)
    given = sum(attempt(name, calls.options(name, number % 2 == 0)) for name in names for number in range(count))
    print(f"python: {count * len(names)} calls of {len(names)} operations: {given} gave a value, all others a CtxError")

    # The same calls again: what the first round did not give back, the next ones need again.
    peaks = []
    for _ in range(3):
        calls = Calls(seed, documents)
        for _ in range(FLAT):
            name = calls.random.choice(names)
            attempt(name, calls.options(name, True))
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(f"python: {FLAT} calls, made again twice, need {peaks[2] - peaks[0]} KiB more")
    if peaks[2] > peaks[0] * 1.02:
        sys.exit(1)


if __name__ == "__main__":
    main()
