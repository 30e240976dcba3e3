"""The providers' own Python clients against `ctx serve`, unchanged but for the base URL.

python check.py ADDRESS: the gateway, whose provider is the one of `check.mjs`. Ends with 1 at the first difference.
"""

import json
import sys

import anthropic
import openai

ADDRESS = sys.argv[1]
WORDS = ["Grass ", "is ", "green."]
ARGUMENTS = ['{"at":', '"here"}']
SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}


def expect(found, expected):
    if found != expected:
        raise SystemExit(f"{found!r} is not {expected!r}")


def refused(kind, ask):
    try:
        ask()
    except kind as error:
        return str(error)
    raise SystemExit(f"{kind} was expected")


def with_openai():
    client = openai.OpenAI(base_url=f"{ADDRESS}/v1", api_key="any", max_retries=0)
    user = [{"role": "user", "content": "Which colour?"}]
    expect([model.id for model in client.models.list()], ["ada"])
    reply = client.chat.completions.create(model="ada", messages=user)
    expect(reply.choices[0].message.content, "".join(WORDS))
    stream = client.chat.completions.create(model="ada", messages=user, stream=True)
    pieces = [chunk.choices[0].delta.content for chunk in stream if chunk.choices]
    expect([piece for piece in pieces if piece], WORDS)
    tools = [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}]
    messages = [{"role": "user", "content": "Look."}]
    first = client.chat.completions.create(model="ada", messages=messages, tools=tools).choices[0].message
    expect(json.loads(first.tool_calls[0].function.arguments), {"at": "here"})
    messages += [first, {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "grass"}]
    second = client.chat.completions.create(model="ada", messages=messages, tools=tools)
    expect(second.choices[0].message.content, "".join(WORDS))
    with client.chat.completions.stream(model="ada", messages=[messages[0]], tools=tools) as events:
        pieces = [event.arguments_delta for event in events if event.type == "tool_calls.function.arguments.delta"]
        call = events.get_final_completion().choices[0].message.tool_calls[0]
    expect([piece for piece in pieces if piece], ARGUMENTS)
    expect((call.id, call.function.arguments), ("c1", "".join(ARGUMENTS)))
    response = client.responses.create(model="ada", input="Which colour?")
    expect(response.output_text, "".join(WORDS))
    with client.responses.stream(model="ada", input="Which colour?") as events:
        expect([event.delta for event in events if event.type == "response.output_text.delta"], WORDS)
    own = [{"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}]
    with client.responses.stream(model="ada", input="Look.", tools=own) as events:
        pieces = [event.delta for event in events if event.type == "response.function_call_arguments.delta"]
        call = next(item for item in events.get_final_response().output if item.type == "function_call")
    expect([piece for piece in pieces if piece], ARGUMENTS)
    expect((call.call_id, call.arguments), ("c1", "".join(ARGUMENTS)))
    odd = [{"role": "user", "content": "refuse"}]
    words = refused(openai.BadRequestError, lambda: client.chat.completions.create(model="ada", messages=odd))
    expect("not like this" in words, True)


def with_anthropic():
    client = anthropic.Anthropic(base_url=ADDRESS, api_key="any", max_retries=0)
    body = {"model": "ada", "max_tokens": 50, "messages": [{"role": "user", "content": "Which colour?"}]}
    expect(client.messages.create(**body).content[0].text, "".join(WORDS))
    with client.messages.stream(**body) as stream:
        expect(list(stream.text_stream), WORDS)
    tools = [{"name": "look", "input_schema": SCHEMA}]
    messages = [{"role": "user", "content": "Look."}]
    asks = {"model": "ada", "max_tokens": 50, "tools": tools}
    first = client.messages.create(messages=messages, **asks)
    call = next(block for block in first.content if block.type == "tool_use")
    expect(call.input, {"at": "here"})
    with client.messages.stream(messages=messages, **asks) as stream:
        pieces = [event.partial_json for event in stream if event.type == "input_json"]
        call = next(block for block in stream.get_final_message().content if block.type == "tool_use")
    expect([piece for piece in pieces if piece], ARGUMENTS)
    expect((call.id, call.input), ("c1", {"at": "here"}))
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "grass"}
    messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    expect(client.messages.create(messages=messages, **asks).content[0].text, "".join(WORDS))
    odd = {**body, "messages": [{"role": "user", "content": "refuse"}]}
    refused(anthropic.BadRequestError, lambda: client.messages.create(**odd))


with_openai()
with_anthropic()
