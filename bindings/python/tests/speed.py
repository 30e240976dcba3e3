"""What fitting takes beside the function of langchain-core that it can stand for; prints figures.

They are processor time, which says more than a clock on a machine that others use too.

Usage: speed.py [FILE], where FILE is the vocabulary `o200k_base.tiktoken`, which tiktoken else fetches from the web.
"""

import hashlib
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import ctx
from ctx._ctx import Crossed

COUNT, BUDGET, MODEL = 10_000, 128_000, "gpt-4o"
VOCABULARY = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
WORDS = "The lamp at the end of the pier was lit by Ada at half past nine and burned until the storm came in. "


def text(number: int) -> str:
    return f"Message {number}. " + WORDS * (2 + number % 4)


def main() -> None:
    plain = [{"role": "user" if n % 2 == 0 else "assistant", "content": text(n)} for n in range(COUNT)]
    firsts, nexts = [], []
    for _ in range(7):
        start = time.process_time()
        conversation = ctx.Conversation(plain)
        kept = ctx.fit(conversation, BUDGET, model=MODEL)
        firsts.append(time.process_time() - start)
        for number in range(10):
            conversation.append({"role": "user" if number % 2 else "assistant", "content": text(number)})
            start = time.process_time()
            conversation.fit(BUDGET, model=MODEL)
            nexts.append(time.process_time() - start)
        # The next first call does not let go of this one.
        del conversation
    first, following = statistics.median(firsts), statistics.median(nexts)
    reading = statistics.median(taken(ctx.Conversation, plain) for _ in range(5))
    crossing = statistics.median(taken(Crossed, plain) for _ in range(9))
    print(f"ctx: first call {first * 1e3:.1f} ms ({len(kept)} messages kept), next {following * 1e3:.2f} ms")
    share = f"{crossing * 1e3:.1f} ms ({100 * crossing / first:.0f} %) the former"
    print(f"ctx: {reading * 1e3:.1f} ms of the first call bring the messages over and read them, {share}")
    langchain(first, following)


def taken(make: Callable[[list[dict[str, str]]], object], messages: list[dict[str, str]]) -> float:
    start = time.process_time()
    made = make(messages)
    taken = time.process_time() - start
    del made
    return taken


def langchain(first: float, following: float) -> None:
    try:
        import tiktoken
        from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, trim_messages
    except ImportError:
        print("langchain-core is not installed: NOT COMPARED", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as cache:
        if len(sys.argv) > 1:
            os.environ["TIKTOKEN_CACHE_DIR"] = cache
            shutil.copy(sys.argv[1], os.path.join(cache, hashlib.sha1(VOCABULARY.encode()).hexdigest()))
        try:
            encode: Any = tiktoken.encoding_for_model(MODEL).encode_ordinary
        except Exception as error:  # noqa: BLE001 - whatever keeps it from being fetched
            print(f"tiktoken has no vocabulary: NOT COMPARED ({error})", file=sys.stderr)
            return

    def tokens(messages: list[BaseMessage]) -> int:
        return sum(3 + len(encode(message.content)) for message in messages)

    own: list[BaseMessage] = [(HumanMessage if n % 2 == 0 else AIMessage)(text(n)) for n in range(COUNT)]
    start = time.process_time()
    trim_messages(own, max_tokens=BUDGET, token_counter=tokens, strategy="last")
    taken = time.process_time() - start
    print(f"langchain-core trim_messages with tiktoken: {taken * 1e3:.0f} ms, on every call")
    print(f"ctx is {taken / first:.0f} times as fast on the first call, {taken / following:.0f} times on the next")


if __name__ == "__main__":
    main()
