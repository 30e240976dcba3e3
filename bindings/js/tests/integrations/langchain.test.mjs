import assert from "node:assert/strict";
import { test } from "node:test";

import * as messages from "@langchain/core/messages";
import { CtxError } from "ctx-engine";
import { ctxMiddleware } from "ctx-engine/langchain";
import * as fc from "fast-check";
import { createAgent, tool } from "langchain";
import * as z from "zod";

import { ScriptedModel, asChat } from "./langchain-model.mjs";
import { BUDGET, RECALL, STEPS, SYSTEM, TASK, checkLoop, checkPage, measure, report } from "./measure.mjs";
import { checkPlans, conversations, extra, text } from "./plans.mjs";

const inspect = tool(({ step }) => report(step), { name: "inspect", description: "Inspects a section.", schema: z.object({ step: z.number() }) });

async function run(middleware) {
  const model = new ScriptedModel({});
  const agent = createAgent({ model, tools: [inspect], systemPrompt: SYSTEM, middleware });
  const state = await agent.invoke({ messages: [new messages.HumanMessage(TASK)] }, { recursionLimit: 200 });
  return { requests: model.requests, chats: model.requests.map(asChat), state };
}

test("langchain: the middleware keeps a loop in the budget, with whole pairs and a stable prefix", async (t) => {
  const reports = [];
  const options = { budget: BUDGET, recall: RECALL, onReport: (one) => reports.push(one) };
  const { chats, requests, state } = await run([ctxMiddleware(options)]);
  const found = await checkLoop(chats, reports);
  await checkPage("langchain-js", found);
  assert.equal(state.messages.length, 2 * STEPS + 2, "the state keeps all messages");
  const kept = requests.at(-1).filter(({ type, text: said }) => type !== "system" && (type !== "human" || said === TASK));
  assert.ok(kept.every((message) => state.messages.includes(message)), "kept messages are those of the state");
  const plain = await measure((await run([])).chats);
  t.diagnostic(`tokens ${found.sum} (without: ${plain.sum}), shared ${found.shared.toFixed(3)}, resets ${found.resets}`);
});

test("langchain: agents at the same time can share the middleware", async () => {
  const shared = ctxMiddleware({ budget: BUDGET });
  const [first, second] = await Promise.all([run([shared]), run([shared])]);
  const alone = await run([ctxMiddleware({ budget: BUDGET })]);
  assert.deepEqual(first.chats, alone.chats);
  assert.deepEqual(second.chats, alone.chats);
});

test("langchain: messages that do not fit throw", async () => {
  await assert.rejects(run([ctxMiddleware({ budget: 300 })]), ({ cause }) => cause instanceof CtxError && cause.code === "infeasible");
});

test("langchain: the schema of the response is counted", async () => {
  const tokens = async (responseFormat) => {
    const reports = [];
    const model = new ScriptedModel({});
    const middleware = [ctxMiddleware({ budget: 100_000, onReport: (one) => reports.push(one) })];
    const agent = createAgent({ model, tools: [inspect], middleware, ...(responseFormat && { responseFormat }) });
    await agent.invoke({ messages: [new messages.HumanMessage(TASK)] }, { recursionLimit: 200 }).catch(() => {});
    return reports[0].tokens;
  };
  const schema = z.object({ lamps: z.array(z.object({ name: z.string(), hours: z.number() })) });
  assert.ok((await tokens(schema)) > (await tokens()) + 10);
});

const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text, cache_control: fc.constant({ type: "ephemeral" }) }),
  fc.record({ type: fc.constant("image_url"), image_url: fc.constantFrom("https://example.org/a.png", { url: "data:image/png;base64,aGVsbG8=" }) }),
  fc.record({ type: fc.constant("image"), data: fc.constant("aGVsbG8="), mimeType: fc.constant("image/png") }),
  fc.record({ type: fc.constant("file"), data: fc.constant("aGVsbG8="), mimeType: fc.constant("application/pdf") }),
);
const content = fc.oneof(text, fc.array(block, { minLength: 1, maxLength: 3 }));
const fields = fc.record({ content, additional_kwargs: extra, response_metadata: extra, id: fc.option(fc.uuid(), { nil: undefined }) });
const user = fields.map((one) => new messages.HumanMessage(one));

/** One response: with calls and results, with an invalid call, or text of any class. */
function turn(number) {
  const ids = fc.nat({ max: 3 }).map((count) => Array.from({ length: count }, (_, at) => `call-${number}-${at}`));
  const thought = fc.record({ type: fc.constantFrom("reasoning", "thinking"), thinking: text, signature: text });
  return fc.tuple(ids, fields, thought, fc.array(text, { minLength: 3, maxLength: 3 }), fc.boolean(), extra).map(([made, one, before, outputs, isInvalid, args]) => {
    const blocks = [before, ...(typeof one.content === "string" ? [{ type: "text", text: one.content }] : one.content)];
    const calls = made.map((id) => ({ id, name: "inspect", args, type: "tool_call" }));
    const uses = calls.map(({ id }) => ({ type: "tool_use", id, name: "inspect", input: args }));
    const bad = calls.map(({ id }) => ({ id, name: "inspect", args: "{", error: "not JSON", type: "invalid_tool_call" }));
    const own = isInvalid && made.length > 0 ? { tool_calls: calls.slice(1), invalid_tool_calls: bad.slice(0, 1) } : { tool_calls: calls };
    const said = new messages.AIMessage({ ...one, content: [...blocks, ...uses], ...own });
    return [said, ...made.map((tool_call_id, at) => new messages.ToolMessage({ tool_call_id, content: outputs[at], artifact: { at }, status: "error" }))];
  });
}

function pairs(given) {
  const calls = given.flatMap(({ tool_calls = [], invalid_tool_calls = [] }) => [...tool_calls, ...invalid_tool_calls]);
  return { calls: calls.map(({ id }) => id), results: given.flatMap(({ type, tool_call_id }) => (type === "tool" ? [tool_call_id] : [])) };
}

test("langchain: kept messages of any type are the given objects, in whole pairs", async () => {
  const plan = async (given, budget) => {
    let sent;
    const request = { messages: given, systemMessage: new messages.SystemMessage(""), tools: [], model: {} };
    await ctxMiddleware({ budget }).wrapModelCall(request, async (planned) => {
      sent = planned.messages;
      return new messages.AIMessage("");
    });
    return sent;
  };
  await checkPlans(conversations(user, turn), plan, pairs);
});
