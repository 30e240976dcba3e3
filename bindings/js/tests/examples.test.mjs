// The examples, each with a provider that is a function here.

import assert from "node:assert/strict";
import { test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

import { Conversation } from "ctx-engine";

import { answer } from "../built/anthropic-cache.js";
import { route } from "../built/chat-route.js";
import { ask } from "../built/openai-trim.js";
import { loop } from "../built/tool-loop.js";

// Gives a client a server that answers what it is told, and keeps what it was asked.
function server(reply) {
  const bodies = [];
  const fetch = async (_, request) => {
    bodies.push(JSON.parse(request.body));
    return new Response(JSON.stringify(reply), { headers: { "content-type": "application/json" } });
  };
  return { bodies, client: { apiKey: "none", fetch } };
}

test("the OpenAI client gets what fits, and the conversation keeps everything", async () => {
  const said = { role: "assistant", content: "At dusk." };
  const { bodies, client } = server({ choices: [{ index: 0, message: said, finish_reason: "stop" }] });
  const long = "The lamp burns until the storm comes in. ".repeat(100);
  const conversation = await Conversation.of([{ role: "system", content: "Be brief." }]);
  for (let turn = 0; turn < 12; turn += 1) {
    assert.equal(await ask(new OpenAI(client), conversation, `${turn}: ${long}`), "At dusk.");
  }
  assert.equal(conversation.length, 25);
  const last = bodies.at(-1).messages;
  assert.deepEqual(last[0], { role: "system", content: "Be brief." });
  assert.ok(last.length < 24 && last.at(-1).content.startsWith("11:"));
});

test("the Anthropic client gets a body with marks for its cache", async () => {
  const reply = { id: "m1", type: "message", role: "assistant", content: [{ type: "text", text: "I keep it." }] };
  const { bodies, client } = server(reply);
  const conversation = await Conversation.of([
    { role: "user", content: "Good evening." },
    { role: "assistant", content: "Come in." },
  ]);
  const message = await answer(new Anthropic(client), conversation, "Who are you?");
  assert.equal(bodies[0].messages.at(-1).content.at?.(-1)?.text ?? bodies[0].messages.at(-1).content, "Who are you?");
  assert.ok(JSON.stringify(bodies[0]).includes('"cache_control"'));
  conversation.append(message);
  assert.equal(conversation.toJSON().nodes.n3.content, "I keep it.");
});

test("the route streams the words of the answer", async () => {
  const events = ["At ", "dusk."].map((content) => ({ choices: [{ index: 0, delta: { content } }] }));
  events.push({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  const bodies = [];
  const send = async (body) => {
    bodies.push(body);
    return new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") + "data: [DONE]\n\n");
  };
  const messages = [{ id: "1", role: "user", parts: [{ type: "step-start" }, { type: "text", text: "When?" }] }];
  const request = new Request("http://localhost/chat", { method: "POST", body: JSON.stringify({ messages }) });
  assert.equal(await (await route(send)(request)).text(), "At dusk.");
  assert.equal(bodies[0].stream, true);
  assert.ok(JSON.stringify(bodies[0].messages).includes("When?"));
});

test("the loop compresses, and no result is without its call", async () => {
  let steps = 0;
  const sizes = [];
  const model = async (messages) => {
    sizes.push(messages.length);
    const calls = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.id);
    const results = messages.filter((message) => message.role === "tool").map((message) => message.tool_call_id);
    assert.ok(results.every((id) => calls.includes(id)));
    steps += 1;
    if (steps > 20) return { role: "assistant", content: "Done." };
    const call = { id: `c${steps}`, type: "function", function: { name: "look", arguments: "{}" } };
    return { role: "assistant", content: null, tool_calls: [call] };
  };
  const run = async ({ id }) => `${id}: the lamp was lit at half past nine. `.repeat(5);
  const { messages } = await loop({ messages: [{ role: "user", content: "Watch." }] }, { model, run });
  assert.equal(messages.at(-1).content, "Done.");
  assert.ok(Math.max(...sizes) < 41);
});
