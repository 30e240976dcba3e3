"""Fits conversations into a model's context, and says why each message is there.

``fit`` is where to begin. An ``Agent`` is compiled once and makes contexts of a ``Conversation``; the other functions
are operations of the ``ctx`` command: values in, values out.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Generic, Literal, Optional, TypedDict, TypeVar, Union, cast, overload

from . import _ctx
from ._ctx import CtxError, call, call_json
from ._error import usage
from ._host import Anchor, Macro, Processor, host_parts
from ._messages import as_dicts, listed

__all__ = [
    "Agent",
    "Anchor",
    "Conversation",
    "CtxError",
    "Dialect",
    "Macro",
    "Message",
    "Processor",
    "Stream",
    "call",
    "call_json",
    "check",
    "compress",
    "count",
    "decode",
    "diff",
    "encode",
    "expand_macros",
    "export",
    "fit",
    "import_files",
    "lint",
    "migrate",
    "plan",
    "recall",
    "scan_worldbooks",
    "schemas",
    "trim_messages",
]

M = TypeVar("M")

Dialect = Literal["openai", "openai-responses", "anthropic", "gemini", "completion"]
"""How a provider writes requests and replies."""

Document = Union[str, bytes, Mapping[str, Any], Sequence[Any]]
"""A document: its text in JSON or YAML, its bytes, or its content as dicts and lists."""


class _Role(TypedDict):
    role: str


class Message(_Role, total=False):
    """A message as chat completions have it."""

    content: Any
    name: str
    tool_calls: list[dict[str, Any]]
    tool_call_id: str


class Conversation(Generic[M]):
    """A conversation that grows: each message crosses to the engine once, and is counted once."""

    def __init__(self, messages: Iterable[M] = ()) -> None:
        """Begin with messages: dicts, or objects of openai, anthropic or langchain-core."""
        self._native = _ctx.Conversation()
        self._messages: list[M] = []
        self.extend(messages)

    @classmethod
    def read(cls, document: Document) -> Conversation[Any]:
        """Read a conversation's file: a session, a chat of SillyTavern, a list of messages.

        ``fit`` then returns the numbers of messages, from 0 along their branch.
        """
        conversation: Conversation[Any] = Conversation()
        conversation._native = _ctx.Conversation(_document(document, "session"))
        conversation._messages.extend(range(len(conversation._native)))
        return conversation

    def append(self, message: M) -> None:
        """Add one message."""
        self.extend((message,))

    def extend(self, messages: Iterable[M]) -> None:
        """Add messages behind the last one."""
        new = listed(messages)
        if not new:
            return
        count = self._native.extend(as_dicts(new))
        self._messages.extend(new)
        if count != len(self._messages):
            raise usage(f"{len(self._messages)} messages were read as {count}")

    def fit(
        self,
        budget: Optional[int] = None,
        *,
        model: Optional[str] = None,
        tools: Optional[Sequence[Mapping[str, Any]]] = None,
        reserve: int = 0,
        compress: bool = False,
        time_limit: Optional[float] = None,
    ) -> list[M]:
        """Return what of it fits; see ``fit``."""
        options = _options(budget=budget, model=model, reserve=reserve, compress=compress, tools=_list(tools))
        kept, _ = self._native.fit(options, (time_limit, None))
        own = self._messages
        # A note that was written in place of messages is a dict, whatever they are.
        return [cast("M", one) if isinstance(one, dict) else own[one] for one in kept]

    def apply(self, effects: Iterable[Mapping[str, Any]]) -> None:
        """Apply the ``effects`` of a turn whose request was sent.

        They contain variables, timed effects of worldbooks, and the texts that an append-only request inserted.
        """
        self._native.apply(list(effects))

    @property
    def native(self) -> _ctx.Conversation:
        """The conversation as the engine has it."""
        return self._native

    def to_dict(self) -> dict[str, Any]:
        """Return the conversation as its file holds it."""
        return cast("dict[str, Any]", self._native.describe()["session"])

    def __len__(self) -> int:
        return len(self._native)


@overload
def fit(
    messages: Conversation[M],
    budget: Optional[int] = ...,
    *,
    model: Optional[str] = ...,
    tools: Optional[Sequence[Mapping[str, Any]]] = ...,
    reserve: int = ...,
    compress: bool = ...,
    time_limit: Optional[float] = ...,
) -> list[M]: ...
@overload
def fit(
    messages: Iterable[M],
    budget: Optional[int] = ...,
    *,
    model: Optional[str] = ...,
    tools: Optional[Sequence[Mapping[str, Any]]] = ...,
    reserve: int = ...,
    compress: bool = ...,
    time_limit: Optional[float] = ...,
) -> list[M]: ...
def fit(
    messages: Union[Conversation[M], Iterable[M]],
    budget: Optional[int] = None,
    *,
    model: Optional[str] = None,
    tools: Optional[Sequence[Mapping[str, Any]]] = None,
    reserve: int = 0,
    compress: bool = False,
    time_limit: Optional[float] = None,
) -> list[M]:
    """Return the messages that fit into a budget of tokens, those that were given and in their order.

    Leading instructions and what is being answered stay, and of the rest the newest messages; a call of a tool and
    its results stay or go together. With ``compress``, notes stand in place of what does not fit, as dicts.

    ``budget`` is what messages and tools may cost together, the model's window if it is absent. ``model`` names
    whose tokens are counted; without it they are estimated. ``reserve`` tokens are kept free for the answer.
    Raises ``CtxError`` with the code ``infeasible`` if what must stay is more than the budget, and with ``cancelled``
    after ``time_limit`` seconds.

    A list crosses to the engine anew each time; a ``Conversation`` that grows does not.
    """
    conversation: Conversation[M] = messages if isinstance(messages, Conversation) else Conversation(messages)
    return conversation.fit(
        budget, model=model, tools=tools, reserve=reserve, compress=compress, time_limit=time_limit
    )


def trim_messages(
    messages: Iterable[M],
    *,
    max_tokens: int,
    token_counter: Optional[str] = None,
    strategy: Literal["last"] = "last",
    include_system: bool = True,
    allow_partial: bool = False,
) -> list[M]:
    """Trim as langchain's function of this name does, where its arguments mean the same here.

    ``token_counter`` is the name of a model, whose tokens are counted. What is not done (another strategy, messages
    cut in the middle, leading instructions left out) is refused with a ``CtxError``.
    """
    if strategy != "last" or not include_system or allow_partial:
        raise usage("only `strategy=\"last\"` with whole messages and leading instructions is done")
    return fit(messages, max_tokens, model=token_counter)


class Agent:
    """An agent or preset that is compiled once and makes any number of contexts."""

    def __init__(
        self,
        agent: Optional[Document] = None,
        *,
        profile: Optional[Document] = None,
        worldbooks: Sequence[Document] = (),
        models: Optional[Document] = None,
        user_settings: Optional[Mapping[str, Any]] = None,
        model_settings: Optional[Mapping[str, Any]] = None,
        enable: Sequence[str] = (),
        disable: Sequence[str] = (),
        anchors: Sequence[Anchor] = (),
        macros: Sequence[Macro] = (),
        processors: Sequence[Processor] = (),
    ) -> None:
        """Compile; ``enable`` and ``disable`` are ids of processors.

        ``anchors``, ``macros`` and ``processors`` are your own; their functions cannot use agents and conversations.
        """
        parts, answer = host_parts(anchors, macros, processors)
        self._native = _ctx.Agent(
            _agent(agent, profile, worldbooks, models)
            | _options(
                userSettings=user_settings,
                modelSettings=model_settings,
                enable=list(enable) or None,
                disable=list(disable) or None,
                host=parts or None,
            ),
            answer,
        )

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What is wrong with its documents, each with its place."""
        return cast("list[dict[str, Any]]", self._native.describe()["findings"])

    def assemble(
        self,
        conversation: Optional[Conversation[Any]] = None,
        input: Optional[str] = None,
        *,
        time_limit: Optional[float] = None,
        **turn: Any,
    ) -> dict[str, Any]:
        """Make the context of a turn: ``messages``, ``report``, ``effects``, and with a dialect as ``format`` the ``body``.

        ``turn`` may have ``model``, ``context_tokens``, ``reserve``, ``kind``, ``prefix``, ``at`` (now if absent), ``tz``,
        ``seed``, ``tools``, ``cache_marks``, ``preview``, ``parameters``, ``template``, ``files``, ``format``. After
        ``time_limit`` seconds it ends with the code ``cancelled``.
        """
        given = conversation if conversation is not None else Conversation[Any]()
        return self._native.assemble(given.native, _turn(input, turn), (time_limit, None))

    async def assemble_async(
        self,
        conversation: Optional[Conversation[Any]] = None,
        input: Optional[str] = None,
        *,
        time_limit: Optional[float] = None,
        **turn: Any,
    ) -> dict[str, Any]:
        """Do what ``assemble`` does in a thread, so that others go on meanwhile; it ends where its task is cancelled."""
        given = conversation if conversation is not None else Conversation[Any]()
        stop = _ctx.Stop()
        try:
            return await asyncio.to_thread(
                self._native.assemble, given.native, _turn(input, turn), (time_limit, stop)
            )
        finally:
            stop.set()

    def explain(
        self,
        conversation: Optional[Conversation[Any]] = None,
        input: Optional[str] = None,
        message: Union[int, str, None] = None,
        **turn: Any,
    ) -> dict[str, Any]:
        """Explain a context: its report, or the life of a message, named by its number or source."""
        given = conversation if conversation is not None else Conversation[Any]()
        wanted = None if message is None else str(message)
        return cast(
            "dict[str, Any]", self._native.explain(given.native, _turn(input, turn) | _options(message=wanted))
        )


class Stream:
    """A streamed reply that is read piece by piece."""

    def __init__(self, dialect: Dialect) -> None:
        """Begin with nothing."""
        self._native = _ctx.Stream(dialect)

    def push(self, data: str) -> list[dict[str, Any]]:
        """Take the data of the next server-sent event; return what it brought."""
        return self._native.push(data)

    def partial(self) -> dict[str, Any]:
        """Return what came so far."""
        return self._native.partial()

    def finish(self) -> dict[str, Any]:
        """Return the whole reply; ``message`` is what to add to the conversation."""
        return self._native.finish()


def check(document: Document, name: Optional[str] = None) -> dict[str, Any]:
    """Tell what a document is (``kind``) and what is wrong with it (``findings``, each with its ``position``)."""
    return cast("dict[str, Any]", call("check", {"document": _document(document, "document", name)}))


def import_files(files: Mapping[str, Union[bytes, str]], format: Optional[str] = None) -> dict[str, Any]:
    """Make an agent, worldbooks and conversations of files of other applications, by their names."""
    given = [_document(content, "file", name) for name, content in files.items()]
    return cast("dict[str, Any]", call("import", _options(files=given, format=format)))


def export(
    agent: Document, to: Literal["st-preset", "st-card", "st-regex", "aio"], worldbooks: Sequence[Document] = ()
) -> dict[str, Any]:
    """Write an agent as a file of another application: ``document``, and ``findings`` about what it cannot say."""
    books = [_document(book, "worldbook") for book in worldbooks]
    return cast("dict[str, Any]", call("export", {"agent": _document(agent, "agent"), "to": to, "worldbooks": books}))


def migrate(document: Document) -> dict[str, Any]:
    """Write old spellings of a document as today's: ``document``, ``yaml``, and the ``changes``."""
    return cast("dict[str, Any]", call("migrate", {"document": _document(document, "document")}))


def diff(first: Document, second: Document, **turn: Any) -> dict[str, Any]:
    """Compare two contexts, or two agents that are assembled alike."""
    return cast("dict[str, Any]", call("diff", {"first": first, "second": second} | (_turn(None, turn) if turn else {})))


def expand_macros(text: str, environment: Optional[Mapping[str, Any]] = None, **options: Any) -> dict[str, Any]:
    """Expand the macros of a text; ``options`` may have ``dialect``, ``at``, ``tz`` and ``seed``."""
    return cast("dict[str, Any]", call("macros.expand", _options(text=text, environment=environment, **options)))


def scan_worldbooks(
    worldbooks: Sequence[Document], messages: Iterable[object], agent: Optional[Document] = None, **turn: Any
) -> dict[str, Any]:
    """Tell which entries of worldbooks a conversation activates, and why."""
    given = _agent(agent, None, worldbooks, None) | {"conversation": as_dicts(listed(messages))}
    return cast("dict[str, Any]", call("worldbook.scan", given | _turn(None, turn)))


def compress(
    messages: Iterable[object],
    budget: int,
    *,
    strategy: Optional[str] = None,
    model: Optional[str] = None,
    loop_start: Optional[int] = None,
) -> dict[str, Any]:
    """Fit messages into a budget with notes in place of older ones: ``messages`` and ``report``."""
    given = as_dicts(listed(messages))
    options = _options(conversation=given, budget=budget, strategy=strategy, model=model, loopStart=loop_start)
    return cast("dict[str, Any]", call("compress", options))


class Plan(TypedDict):
    """The messages of a growing conversation to send and to remove, by position."""

    kept: list[int]
    """The positions of the messages to send, in order."""
    removed: list[int]
    orphans: list[int]
    """Those of ``removed`` that are calls without results, or results without calls."""
    notes: list[int]
    """Messages with recalled lines of earlier calls. They are ignored: ``recalled`` replaces them."""
    recalled: Optional[dict[str, Any]]
    """A message with lines of removed messages: the last one of the request."""
    tokens: int
    """The tokens of the messages and tools."""
    reset: bool
    """Whether this call removed messages, so that the prompt cache of the provider is lost after the instructions."""
    state: dict[str, Any]
    """What to pass to the next call, as JSON."""


def plan(
    messages: Iterable[object],
    budget: Optional[int] = None,
    *,
    model: Optional[str] = None,
    tools: Sequence[Mapping[str, Any]] = (),
    reserve: int = 0,
    low: float = 0.6,
    pinned: Iterable[int] = (),
    recall: int = 0,
    state: Optional[Mapping[str, Any]] = None,
) -> Plan:
    """Choose which messages of a growing conversation to send, and keep the prompt cache valid.

    Above the budget, the oldest messages are removed in one step, down to ``low`` of it (0.3 to 1, and less if messages
    are large). Later calls with the returned ``state`` repeat that choice until the next overflow. Tool calls and their
    results stay together. Leading instructions, the newest user message, ``pinned`` positions and the last group are
    never removed. ``recall`` is the maximum number of tokens for lines of removed messages. ``budget`` (default: the
    window of ``model``) includes ``tools``, ``reserve`` and recalled lines. Messages are identified by ``id`` or content.
    A message without content stays with the one before it.
    Raises ``CtxError`` with the code ``infeasible`` if the messages that cannot be removed exceed the budget.
    """
    given = as_dicts(listed(messages))
    options = _options(
        messages=given, budget=budget, model=model, tools=list(tools), reserve=reserve, low=low, pinned=list(pinned)
    )
    return cast("Plan", call("plan", options | _options(recall=recall, state=state)))


def recall(
    messages: Iterable[object], query: str, *, budget: int = 1_000, model: Optional[str] = None
) -> dict[str, Any]:
    """Find what messages say about a query: the ``text`` that a request would get, and its ``lines``.

    Without a text, ``nothing`` says why.
    """
    options = _options(conversation=as_dicts(listed(messages)), query=query, budget=budget, model=model)
    return cast("dict[str, Any]", call("recall", options))


def count(what: Union[str, Iterable[object]], model: Optional[str] = None) -> int:
    """Count the tokens of a text or of messages, as a model does; without one they are estimated."""
    given: dict[str, Any] = {"text": what} if isinstance(what, str) else {"conversation": as_dicts(listed(what))}
    return cast("int", call("count", given | _options(model=model))["tokens"])


def encode(
    messages: Iterable[object],
    dialect: Dialect,
    model: str,
    *,
    tools: Sequence[Mapping[str, Any]] = (),
    parameters: Optional[Mapping[str, Any]] = None,
    template: Union[str, Mapping[str, Any], None] = None,
) -> dict[str, Any]:
    """Write messages as a provider's request body."""
    given = as_dicts(listed(messages))
    options = _options(messages=given, dialect=dialect, model=model, parameters=parameters, template=template)
    return cast("dict[str, Any]", call("encode", options | {"tools": list(tools)})["body"])


def decode(dialect: Dialect, body: Mapping[str, Any]) -> dict[str, Any]:
    """Read a provider's whole reply; ``message`` is what to add to the conversation."""
    return cast("dict[str, Any]", call("decode", {"dialect": dialect, "body": body}))


def lint(body: Mapping[str, Any], dialect: Optional[Dialect] = None) -> list[dict[str, Any]]:
    """Tell what a provider would refuse in a request body."""
    return cast("list[dict[str, Any]]", call("lint", _options(body=body, dialect=dialect))["findings"])


def schemas(name: Optional[str] = None) -> Any:
    """Return the JSON Schema of a kind of file, or the list of kinds."""
    return call("schemas", _options(name=name))


def _agent(
    agent: Optional[Document],
    profile: Optional[Document],
    worldbooks: Sequence[Document],
    models: Optional[Document],
) -> dict[str, Any]:
    books = [
        _document(book, "worldbook" if number == 0 else f"worldbook_{number + 1}")
        for number, book in enumerate(worldbooks)
    ]
    documents = {"agent": agent, "profile": profile, "models": models}
    given = {name: _document(document, name) for name, document in documents.items() if document is not None}
    return given | ({"worldbooks": books} if books else {})


def _document(document: Document, kind: str, name: Optional[str] = None) -> Any:
    if isinstance(document, bytes):
        return {"file": name or kind, "base64": base64.b64encode(document).decode()}
    if name is not None:
        text = document if isinstance(document, str) else None
        return {"file": name, "text": text} if text is not None else document
    return document


def _turn(input: Optional[str], turn: Mapping[str, Any]) -> dict[str, Any]:
    options = _options(input=input, **{_camel(name): value for name, value in turn.items()})
    at = options.get("at")
    if at is None:
        at = datetime.now(timezone.utc)
    options["at"] = at.isoformat() if isinstance(at, datetime) else at
    return options


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _list(values: Optional[Sequence[Mapping[str, Any]]]) -> Optional[list[Mapping[str, Any]]]:
    return None if values is None else list(values)


def _options(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
