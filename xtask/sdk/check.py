"""Lets the official packages read recorded replies, and prints what they read as JSON.

Usage: python check.py FOLDER, with files `CASE.json` that hold `dialect`, `reply` and `events`. A server on the
loopback device plays them: the whole reply, or its events as a stream. The result is
`{"CASE": {"whole": {...}, "streamed": {...}}}`; a package that fails gives `{"error": "..."}` in place of a reply.
"""

import json
import pathlib
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai

SECONDS = 20
MESSAGES = [{"role": "user", "content": "Hi"}]
ADDRESSES = {
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "completion": "/v1/completions",
}


def server(cases):
    """Plays the case that the first part of the address names."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            _, name, address = self.path.split("/", 2)
            case = cases[name]
            if "/" + address != ADDRESSES[case["dialect"]]:
                self.send_error(404)
            elif request.get("stream"):
                self.answer("text/event-stream", stream(case))
            else:
                self.answer("application/json", json.dumps(case["reply"]))

        def answer(self, kind, text):
            data = text.encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def stream(case):
    """Writes events as the provider does: with their names, or with a mark at the end."""
    is_named = case["dialect"] in ("openai-responses", "anthropic")
    events = []
    for event in case["events"]:
        name = f"event: {event['type']}\n" if is_named else ""
        events.append(f"{name}data: {json.dumps(event)}\n\n")
    return "".join(events) + ("" if is_named else "data: [DONE]\n\n")


def reply(message, **fields):
    """One shape for all dialects: that of `expected` in the cases."""
    empty = {"text": "", "reasoning": None, "signatures": [], "calls": [], "finish": None, "usage": None}
    return {"id": message.id, "model": message.model, **empty, **fields}


def counts(sent, cached, answered):
    return {"input": sent, "cached": cached, "output": answered}


def call(identifier, name, arguments):
    return {"id": identifier, "name": name, "arguments": arguments}


FINISH = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool calls",
    "content_filter": "refused",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool calls",
    "refusal": "refused",
    "max_output_tokens": "length",
}


def of_chat(completion):
    choice, usage = completion.choices[0], completion.usage
    message = choice.message
    return reply(
        completion,
        text=message.content or message.refusal or "",
        # Not OpenAI's own: other servers send it, and the package keeps it beside its fields.
        reasoning=(message.model_extra or {}).get("reasoning_content"),
        calls=[
            call(each.id, each.function.name, json.loads(each.function.arguments))
            for each in message.tool_calls or []
        ],
        finish=FINISH[choice.finish_reason],
        usage=counts(
            usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens, usage.completion_tokens
        ),
    )


def of_response(response):
    output, usage = response.output, response.usage
    words = [part for item in output if item.type == "message" for part in item.content]
    thoughts = [item for item in output if item.type == "reasoning"]
    calls = [item for item in output if item.type == "function_call"]
    why = response.incomplete_details.reason if response.incomplete_details else "stop"
    return reply(
        response,
        text="".join(part.text if part.type == "output_text" else part.refusal for part in words),
        reasoning="".join(part.text for item in thoughts for part in item.summary) or None,
        signatures=[item.encrypted_content for item in thoughts],
        calls=[call(each.call_id, each.name, json.loads(each.arguments)) for each in calls],
        finish="tool calls" if calls else FINISH[why],
        usage=counts(usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens),
    )


def of_message(message):
    blocks, usage = message.content, message.usage
    thoughts = [block for block in blocks if block.type in ("thinking", "redacted_thinking")]
    is_shown = [block.type == "thinking" for block in thoughts]
    sent = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    return reply(
        message,
        text="".join(block.text for block in blocks if block.type == "text"),
        reasoning="".join(block.thinking for block, shown in zip(thoughts, is_shown) if shown) or None,
        signatures=[
            block.signature if shown else block.data for block, shown in zip(thoughts, is_shown)
        ],
        calls=[call(block.id, block.name, block.input) for block in blocks if block.type == "tool_use"],
        finish=FINISH[message.stop_reason],
        usage=counts(sent, usage.cache_read_input_tokens, usage.output_tokens),
    )


def of_completion(completion, text, why, usage):
    sent = counts(usage.prompt_tokens, None, usage.completion_tokens)
    return reply(completion, text=text, finish=FINISH[why], usage=sent)


def read_chat(client, is_streamed):
    asked = {"model": "m", "messages": MESSAGES}
    if not is_streamed:
        return of_chat(client.chat.completions.create(**asked))
    with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as events:
        events.until_done()
        # What it calls final is an exception for answers that were cut off.
        return of_chat(events.current_completion_snapshot)


def read_response(client, is_streamed):
    asked = {"model": "m", "input": MESSAGES}
    if not is_streamed:
        return of_response(client.responses.create(**asked))
    final = None
    with client.responses.stream(**asked) as events:
        for event in events:
            if event.type in ("response.completed", "response.incomplete"):
                final = event.response
    return of_response(final)


def read_message(client, is_streamed):
    asked = {"model": "m", "messages": MESSAGES, "max_tokens": 9}
    if not is_streamed:
        return of_message(client.messages.create(**asked))
    with client.messages.stream(**asked) as events:
        return of_message(events.get_final_message())


def read_completion(client, is_streamed):
    asked = {"model": "m", "prompt": "Hi"}
    if not is_streamed:
        whole = client.completions.create(**asked)
        choice = whole.choices[0]
        return of_completion(whole, choice.text, choice.finish_reason, whole.usage)
    chunks = list(client.completions.create(**asked, stream=True))
    choices = [choice for chunk in chunks for choice in chunk.choices]
    whys = [choice.finish_reason for choice in choices if choice.finish_reason]
    return of_completion(chunks[0], "".join(choice.text for choice in choices), whys[-1], chunks[-1].usage)


READERS = {
    "openai": read_chat,
    "openai-responses": read_response,
    "anthropic": read_message,
    "completion": read_completion,
}


def client(dialect, address):
    options = {"api_key": "none", "max_retries": 0, "timeout": SECONDS}
    if dialect == "anthropic":
        return anthropic.Anthropic(base_url=address, **options)
    return openai.OpenAI(base_url=f"{address}/v1", **options)


def attempt(dialect, address, is_streamed):
    try:
        return READERS[dialect](client(dialect, address), is_streamed)
    except Exception as error:  # whatever a package refuses is a result
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
    cases = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}
    playing = server(cases)
    threading.Thread(target=playing.serve_forever, daemon=True).start()
    found = {}
    for name, case in cases.items():
        address = f"http://127.0.0.1:{playing.server_address[1]}/{name}"
        ways = {"whole": False, "streamed": True}
        found[name] = {way: attempt(case["dialect"], address, flag) for way, flag in ways.items()}
    json.dump(found, sys.stdout)
    playing.shutdown()


main()
