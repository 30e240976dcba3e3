"""Client libraries of PyPI. Each answers one scenario in its own way and returns the final text or object.

Reads one JSON object per line, and prints `{"found": …}` or `{"error": …}` for each. `{"version": NAME}` asks for a version.
"""

import asyncio
import base64
import json
import sys
import traceback
import warnings
from importlib import metadata

warnings.simplefilter("ignore")

KEY = "client-key"
DESCRIPTION = "Look at a place"
BRIEF = "Be brief."
SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"], "additionalProperties": False}
COLOR = {
    "type": "object",
    "properties": {"color": {"type": "string"}},
    "required": ["color"],
    "additionalProperties": False,
}
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE_URL = f"data:image/png;base64,{PICTURE}"


def look(at: str) -> str:
    """Look at a place"""
    return f"grass at {at}"


def parsed(text, ask):
    return json.loads(text) if ask.get("schema") else text


def color_type():
    from pydantic import BaseModel

    class Color(BaseModel):
        color: str

    return Color


def openai_client(ask, kind="OpenAI"):
    import openai

    return getattr(openai, kind)(base_url=f"{ask['base']}/v1", api_key=KEY, max_retries=0)


def openai_chat(ask):
    client = openai_client(ask)
    picture = [{"type": "text", "text": ask["prompt"]}, {"type": "image_url", "image_url": {"url": PICTURE_URL}}]
    messages = [
        {"role": "system", "content": BRIEF},
        {"role": "user", "content": picture if ask.get("image") else ask["prompt"]},
    ]
    body = {"model": ask["model"], "seed": 7, "stop": ["END"], "metadata": {"team": "garden"}, "store": False}
    if ask.get("tools"):
        function = {"name": "look", "description": DESCRIPTION, "parameters": SCHEMA, "strict": True}
        body |= {"tools": [{"type": "function", "function": function}], "parallel_tool_calls": True}
    if ask.get("schema"):
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "color", "schema": COLOR, "strict": True},
        }
    if ask.get("think"):
        body["reasoning_effort"] = "high"
    while True:
        with client.chat.completions.stream(messages=messages, **body) as events:
            events.until_done()
            message = events.get_final_completion().choices[0].message
        if not message.tool_calls:
            return parsed(message.content, ask)
        messages.append(message)
        for call in message.tool_calls:
            content = look(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


def openai_responses(ask):
    client = openai_client(ask)
    picture = [
        {"type": "input_text", "text": ask["prompt"]},
        {"type": "input_image", "image_url": PICTURE_URL, "detail": "low"},
    ]
    messages = [{"role": "user", "content": picture if ask.get("image") else ask["prompt"]}]
    body = {"model": ask["model"], "instructions": BRIEF, "store": False, "include": ["reasoning.encrypted_content"]}
    if ask.get("tools"):
        body["tools"] = [
            {"type": "function", "name": "look", "description": DESCRIPTION, "parameters": SCHEMA, "strict": True}
        ]
    if ask.get("schema"):
        body["text"] = {"format": {"type": "json_schema", "name": "color", "schema": COLOR, "strict": True}}
    if ask.get("think"):
        body["reasoning"] = {"effort": "high", "summary": "auto"}
    while True:
        with client.responses.stream(input=messages, **body) as events:
            events.until_done()
            response = events.get_final_response()
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return parsed(response.output_text, ask)
        messages += [item.model_dump(exclude={"parsed_arguments"}, exclude_unset=True) for item in response.output]
        for call in calls:
            output = look(**json.loads(call.arguments))
            messages.append({"type": "function_call_output", "call_id": call.call_id, "output": output})


def anthropic_messages(ask):
    import anthropic

    client = anthropic.Anthropic(base_url=ask["base"], api_key=KEY, max_retries=0)
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    picture = [{"type": "image", "source": source}, {"type": "text", "text": ask["prompt"]}]
    messages = [{"role": "user", "content": picture if ask.get("image") else ask["prompt"]}]
    system = [{"type": "text", "text": BRIEF, "cache_control": {"type": "ephemeral"}}]
    body = {"model": ask["model"], "max_tokens": 4096, "system": system, "metadata": {"user_id": "ann"}}
    if ask.get("tools"):
        body["tools"] = [{"name": "look", "description": DESCRIPTION, "input_schema": SCHEMA}]
    if ask.get("schema"):
        body["output_config"] = {"format": {"type": "json_schema", "schema": COLOR}}
    if ask.get("think"):
        body["thinking"] = {"type": "adaptive"}
    while True:
        with client.messages.stream(messages=messages, **body) as stream:
            reply = stream.get_final_message()
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return parsed(next(block.text for block in reply.content if block.type == "text"), ask)
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": look(**call.input)} for call in calls]
        messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]


def google(ask):
    from google import genai
    from google.genai import types

    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=ask["base"]))
    parts = [types.Part(text=ask["prompt"])]
    if ask.get("image"):
        parts.append(types.Part.from_bytes(data=base64.b64decode(PICTURE), mime_type="image/png"))
    contents = [types.Content(role="user", parts=parts)]
    config = {"system_instruction": BRIEF, "top_p": 0.5, "seed": 7}
    if ask.get("tools"):
        config["tools"] = [
            {"function_declarations": [{"name": "look", "description": DESCRIPTION, "parameters_json_schema": SCHEMA}]}
        ]
    if ask.get("schema"):
        config |= {"response_mime_type": "application/json", "response_json_schema": COLOR}
    if ask.get("think"):
        config["thinking_config"] = {"include_thoughts": True, "thinking_level": "HIGH"}
    while True:
        stream = client.models.generate_content_stream(model=ask["model"], contents=contents, config=config)
        parts = [part for chunk in stream for part in chunk.candidates[0].content.parts]
        calls = [part.function_call for part in parts if part.function_call]
        if not calls:
            return parsed("".join(part.text for part in parts if not part.thought), ask)
        results = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=call.id, name=call.name, response={"output": look(**call.args)}
                )
            )
            for call in calls
        ]
        contents += [types.Content(role="model", parts=parts), types.Content(role="user", parts=results)]


def langchain_model(ask):
    think = ask.get("think")
    if ask["api"] == "messages":
        from langchain_anthropic import ChatAnthropic

        more = {"thinking": {"type": "adaptive"}} if think else {}
        return ChatAnthropic(
            model=ask["model"], api_key=KEY, base_url=ask["base"], max_retries=0, max_tokens=4096, **more
        )
    if ask["api"] == "gemini":
        from langchain_google_genai import ChatGoogleGenerativeAI

        more = {"include_thoughts": True, "thinking_level": "high"} if think else {}
        return ChatGoogleGenerativeAI(model=ask["model"], api_key=KEY, base_url=ask["base"], max_retries=1, **more)
    from langchain_openai import ChatOpenAI

    is_responses = ask["api"] == "responses"
    more = {"store": False, "include": ["reasoning.encrypted_content"]} if is_responses else {}
    if think:
        more |= {"reasoning": {"effort": "high", "summary": "auto"}} if is_responses else {"reasoning_effort": "high"}
    common = {"model": ask["model"], "api_key": KEY, "base_url": f"{ask['base']}/v1", "max_retries": 0}
    return ChatOpenAI(**common, use_responses_api=is_responses, stream_usage=True, **more)


def langchain_content(ask):
    picture = [{"type": "text", "text": ask["prompt"]}, {"type": "image", "base64": PICTURE, "mime_type": "image/png"}]
    return picture if ask.get("image") else ask["prompt"]


def langchain(ask):
    from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
    from langchain_core.tools import tool

    model = langchain_model(ask)
    messages = [SystemMessage(BRIEF), HumanMessage(langchain_content(ask))]
    if ask.get("schema"):
        return model.with_structured_output(color_type()).invoke(messages).model_dump()
    bound = model.bind_tools([tool(look)]) if ask.get("tools") else model
    while True:
        reply = None
        for chunk in bound.stream(messages):
            reply = chunk if reply is None else reply + chunk
        if not reply.tool_calls:
            return str(reply.text)
        messages.append(reply)
        messages += [
            ToolMessage(look(**call["args"]), tool_call_id=call["id"], name=call["name"]) for call in reply.tool_calls
        ]


def langgraph(ask):
    from langchain.agents import create_agent
    from langchain.agents.structured_output import ProviderStrategy

    options = {"response_format": ProviderStrategy(color_type())} if ask.get("schema") else {}
    agent = create_agent(langchain_model(ask), [look] if ask.get("tools") else [], system_prompt=BRIEF, **options)
    question = {"messages": [{"role": "user", "content": langchain_content(ask)}]}
    for mode, value in agent.stream(question, stream_mode=["values", "messages"]):
        if mode == "values":
            state = value
    return state["structured_response"].model_dump() if ask.get("schema") else str(state["messages"][-1].text)


async def pydantic_ai(ask):
    from pydantic_ai import Agent, BinaryContent, NativeOutput

    think, api = ask.get("think"), ask["api"]
    settings = {}
    if api == "messages":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        model = AnthropicModel(ask["model"], provider=AnthropicProvider(api_key=KEY, base_url=ask["base"]))
        settings = {"max_tokens": 4096, "anthropic_cache_instructions": True, "anthropic_cache_tool_definitions": True}
        if think:
            settings["anthropic_thinking"] = {"type": "adaptive"}
    elif api == "gemini":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        model = GoogleModel(ask["model"], provider=GoogleProvider(api_key=KEY, base_url=ask["base"]))
        if think:
            settings["google_thinking_config"] = {"include_thoughts": True, "thinking_level": "HIGH"}
    else:
        from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
        from pydantic_ai.providers.openai import OpenAIProvider

        kind = OpenAIResponsesModel if api == "responses" else OpenAIChatModel
        model = kind(ask["model"], provider=OpenAIProvider(openai_client=openai_client(ask, "AsyncOpenAI")))
        if think:
            settings = {"openai_reasoning_effort": "high"}
            if api == "responses":
                settings |= {"openai_reasoning_summary": "auto", "openai_store": False}
    output = NativeOutput(color_type(), name="color") if ask.get("schema") else str
    agent = Agent(
        model,
        instructions=BRIEF,
        tools=[look] if ask.get("tools") else [],
        output_type=output,
        model_settings=settings,
        retries=0,
    )
    prompt = [ask["prompt"]]
    if ask.get("image"):
        prompt.append(BinaryContent(base64.b64decode(PICTURE), media_type="image/png"))
    async with agent.run_stream(prompt if ask.get("image") else ask["prompt"]) as result:
        found = await result.get_output()
    return found.model_dump() if ask.get("schema") else found


async def openai_agents(ask):
    from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
    from agents import set_tracing_disabled
    from openai.types.shared import Reasoning

    set_tracing_disabled(True)
    is_responses = ask["api"] == "responses"
    kind = OpenAIResponsesModel if is_responses else OpenAIChatCompletionsModel
    settings = ModelSettings(store=False, response_include=["reasoning.encrypted_content"] if is_responses else None)
    if ask.get("think"):
        settings.reasoning = Reasoning(effort="high", summary="auto" if is_responses else None)
    model = kind(model=ask["model"], openai_client=openai_client(ask, "AsyncOpenAI"))
    agent = Agent(name="Ada", instructions=BRIEF, model=model, model_settings=settings)
    if ask.get("tools"):
        agent.tools = [function_tool(look)]
    if ask.get("schema"):
        agent.output_type = color_type()
    picture = [
        {"type": "input_text", "text": ask["prompt"]},
        {"type": "input_image", "image_url": PICTURE_URL, "detail": "auto"},
    ]
    result = Runner.run_streamed(agent, [{"role": "user", "content": picture}] if ask.get("image") else ask["prompt"])
    async for _ in result.stream_events():
        pass
    return result.final_output.model_dump() if ask.get("schema") else result.final_output


loop = asyncio.new_event_loop()
for line in sys.stdin:
    ask = json.loads(line)
    try:
        if "version" in ask:
            print(json.dumps({"found": metadata.version(ask["version"])}), flush=True)
            continue
        found = globals()[ask["answer"]](ask)
        found = {"found": loop.run_until_complete(found) if asyncio.iscoroutine(found) else found}
    except Exception:  # any failure of a client is reported with its name
        found = {"error": traceback.format_exc()[-1500:]}
    print(json.dumps(found), flush=True)
