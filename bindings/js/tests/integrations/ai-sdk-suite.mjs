// The tests of the AI SDK, for each of its versions.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CtxError } from "ctx-engine";
import { ctxMiddleware, ctxPrepareStep } from "ctx-engine/ai-sdk";
import * as z from "zod";

import { BUDGET, FACT, RECALL, STEPS, SYSTEM, TASK, checkLoop, checkPage, measure, report, said } from "./measure.mjs";

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** Writes the prompt of a provider call as chat completions, without the converter under test. */
export function asChat(prompt) {
  return prompt.flatMap(({ role, content }) => {
    if (role === "system") return [{ role, content }];
    if (role === "tool") {
      return content.map((part) => ({ role, tool_call_id: part.toolCallId, content: part.output.value }));
    }
    const text = content.filter(({ type }) => type === "text").map((part) => part.text).join("");
    const calls = content.filter(({ type }) => type === "tool-call");
    const made = calls.map(({ toolCallId, toolName, input }) => ({
      id: toolCallId, type: "function", function: { name: toolName, arguments: JSON.stringify(input) },
    }));
    return [made.length > 0 ? { role, content: text, tool_calls: made } : { role, content: text }];
  });
}

export function scripted(Model, requests) {
  return new Model({
    modelId: "scripted",
    doGenerate: async ({ prompt }) => {
      requests.push(prompt);
      const step = requests.length;
      const call = { type: "tool-call", toolCallId: `call-${step}`, toolName: "inspect", input: JSON.stringify({ step }) };
      const content = step > STEPS ? [{ type: "text", text: "All done." }] : [{ type: "text", text: said(step) }, call];
      const reason = step > STEPS ? "stop" : "tool-calls";
      return { content, finishReason: { unified: reason, raw: reason }, usage: USAGE, warnings: [] };
    },
  });
}

export function defineTests(name, ai, Model) {
  const inspect = () =>
    ai.tool({ description: "Inspects a section.", inputSchema: z.object({ step: z.number() }), execute: async ({ step }) => report(step) });
  const run = async (prepareStep, wrap = (model) => model, messages) => {
    const requests = [];
    const system = name === "ai 7" ? { instructions: SYSTEM } : { system: SYSTEM };
    const result = await ai.generateText({
      model: wrap(scripted(Model, requests)), ...system, ...(messages ? { messages } : { prompt: TASK }),
      tools: { inspect: inspect() }, stopWhen: ai.stepCountIs(STEPS + 10), ...(prepareStep && { prepareStep }),
    });
    assert.equal(result.text, "All done.");
    return { requests, chats: requests.map(asChat) };
  };

  test(`${name}: prepareStep keeps a loop in the budget, with whole pairs and a stable prefix`, async (t) => {
    const reports = [];
    const options = { budget: BUDGET, recall: RECALL, system: SYSTEM, tools: { inspect: inspect() }, onReport: (one) => reports.push(one) };
    const { chats } = await run(ctxPrepareStep(options));
    const found = await checkLoop(chats, reports);
    await checkPage("ai-sdk", found);
    const plain = await measure((await run()).chats);
    assert.ok(Math.max(...plain.tokens) > 2 * BUDGET);
    t.diagnostic(`tokens ${found.sum} (without: ${plain.sum}), shared ${found.shared.toFixed(3)}, resets ${found.resets}`);
  });

  test(`${name}: the middleware keeps a loop in the budget, with whole pairs and a stable prefix`, async (t) => {
    const reports = [];
    const middleware = ctxMiddleware({ budget: BUDGET, recall: RECALL, onReport: (one) => reports.push(one) });
    const { chats } = await run(undefined, (model) => ai.wrapLanguageModel({ model, middleware }));
    const found = await checkLoop(chats, reports);
    await checkPage("ai-sdk", found);
    t.diagnostic(`tokens ${found.sum}, shared ${found.shared.toFixed(3)}, resets ${found.resets}`);
  });

  test(`${name}: runs at the same time can share prepareStep`, async () => {
    const shared = ctxPrepareStep({ budget: BUDGET });
    const [first, second] = await Promise.all([run(shared), run(shared, undefined, [{ role: "user", content: `${TASK} Again.` }])]);
    const alone = await run(ctxPrepareStep({ budget: BUDGET }));
    assert.deepEqual(first.chats, alone.chats);
    assert.equal(second.chats.length, alone.chats.length);
  });

  test(`${name}: kept messages are the given objects, and unfitting ones throw`, async () => {
    const given = [];
    const kept = [];
    const planned = ctxPrepareStep({ budget: BUDGET });
    await run(async (step) => {
      given.push(...step.messages, ...(step.responseMessages ?? []));
      const { messages } = await planned(step);
      kept.push(...messages);
      return { messages };
    });
    assert.ok(kept.every((message) => given.includes(message)));
    await assert.rejects(run(ctxPrepareStep({ budget: 300 })), (error) => error instanceof CtxError && error.code === "infeasible");
    const middleware = ctxMiddleware({ budget: 300 });
    await assert.rejects(run(undefined, (model) => ai.wrapLanguageModel({ model, middleware })), { code: "infeasible" });
  });

  test(`${name}: a fact of a removed message is gone without recall`, async () => {
    const { chats } = await run(ctxPrepareStep({ budget: BUDGET }));
    assert.ok(JSON.stringify(chats[3]).includes(FACT));
    assert.ok(!JSON.stringify(chats[28]).includes(FACT));
  });
}
