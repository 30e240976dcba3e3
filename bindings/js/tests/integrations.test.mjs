// The integrations with the real frameworks and scripted models: a loop of 30 tool calls in 8,000 tokens.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { test } from "node:test";

import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { Agent, MemorySession, Runner, tool as agentTool, Usage } from "@openai/agents";
import * as ai6 from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as ai7 from "ai-7";
import { MockLanguageModelV4 } from "ai-7/test";
import fc from "fast-check";
import { createAgent, tool as langchainTool } from "langchain";
import { z } from "zod";

import * as aiSdk from "ctx-engine/ai-sdk";
import * as langchain from "ctx-engine/langchain";
import * as openaiAgents from "ctx-engine/openai-agents";

const CALLS = 30;
const BUDGET = 8_000;
const FACT = "QX-7731";
const SYSTEM = "You read the logs of the harbor.";
const QUESTION = "Which code opens the vault of the harbor master?";
const TEXT = "The river bank has lamps and piers, and the tide is low in the morning. ".repeat(31);

/** The result of a page; the second has the fact. */
const read = ({ page }) => (page === "p2" ? `The code of the vault is ${FACT}. ` : "") + `Page ${page}. ${TEXT}`;
const page = (step) => (step === CALLS ? "the code of the vault" : `p${step}`);

/** The share of equal bytes at the beginning of two requests, of the first. */
function shared(before, after) {
  let equal = 0;
  while (equal < before.length && before[equal] === after[equal]) equal += 1;
  return equal / before.length;
}

/** Checks the requests of a loop: `ids` returns the ids of calls and results of a request. */
function check(requests, reports, ids) {
  assert.equal(requests.length, CALLS + 1);
  assert.equal(reports.length, CALLS + 1);
  for (const { tokens } of reports) assert(tokens <= BUDGET, `${tokens} tokens`);
  for (const request of requests) {
    const [calls, results] = ids(request);
    assert.deepEqual(calls, results, "broken pairs");
  }
  // The recalled lines are the last message, which the cache does not contain anyway.
  const texts = requests.map((request) => JSON.stringify(withoutNote(request)));
  const shares = texts.slice(1).map((text, at) => shared(texts[at].slice(0, -1), text));
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const resets = reports.filter(({ reset }) => reset).length;
  assert(mean >= 0.9, `mean share ${mean}`);
  assert(resets >= 1 && resets <= 3, `${resets} resets`);
  const last = requests.at(-2);
  assert(!JSON.stringify(withoutNote(last)).includes(FACT), "the fact was never removed");
  assert(JSON.stringify(last.at(-1)).includes(FACT), "the fact is not recalled");
}

function withoutNote(request) {
  return JSON.stringify(request.at(-1)).includes("[Recalled from earlier messages]") ? request.slice(0, -1) : request;
}

const aiIds = (prompt) => {
  const parts = prompt.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const of = (kind) => parts.filter(({ type }) => type === kind).map(({ toolCallId }) => toolCallId);
  return [of("tool-call"), of("tool-result")];
};

function aiModel(Model, requests) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const next = (prompt) => {
    requests.push(structuredClone(prompt));
    const step = requests.length;
    const call = { type: "tool-call", toolCallId: `c${step}`, toolName: "read", input: JSON.stringify({ page: page(step) }) };
    const content = step <= CALLS ? [call] : [{ type: "text", text: "done" }];
    return { content, finishReason: { unified: step <= CALLS ? "tool-calls" : "stop" }, usage, warnings: [] };
  };
  const doStream = async ({ prompt }) => {
    const { content, finishReason } = next(prompt);
    const [part] = content;
    const chunks = part.type === "text" ? [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: part.text }, { type: "text-end", id: "1" }] : [part];
    const all = [{ type: "stream-start", warnings: [] }, ...chunks, { type: "finish", finishReason, usage }];
    return { stream: ReadableStream.from(all) };
  };
  return new Model({ doGenerate: async ({ prompt }) => next(prompt), doStream });
}

for (const [name, ai, Model, version] of [["6", ai6, MockLanguageModelV3, "v3"], ["7", ai7, MockLanguageModelV4, "v4"]]) {
  const inputSchema = z.object({ page: z.string() });
  const tools = { read: ai.tool({ inputSchema, execute: read }) };
  const run = async (generate, settings) => {
    const [requests, reports] = [[], []];
    const { prepareStep, middleware } = settings({ budget: BUDGET, recall: 400, onReport: (report) => reports.push(report) });
    const model = aiModel(Model, requests);
    const options = { tools, stopWhen: ai.stepCountIs(40), system: SYSTEM, prompt: QUESTION, prepareStep };
    const result = await generate({ ...options, model: middleware ? ai.wrapLanguageModel({ model, middleware }) : model });
    assert.equal(await result.text, "done");
    check(requests, reports, aiIds);
  };
  const byStep = (settings) => ({ prepareStep: aiSdk.ctxPrepareStep(settings) });
  const byCall = (settings) => ({ middleware: aiSdk.ctxMiddleware({ ...settings, specificationVersion: version }) });
  test(`AI SDK ${name}, prepareStep`, () => run(ai.generateText, byStep));
  test(`AI SDK ${name}, middleware`, () => run(ai.generateText, byCall));
  test(`AI SDK ${name}, middleware and streaming`, () =>
    run(async (options) => {
      const result = ai.streamText(options);
      await result.consumeStream();
      return result;
    }, byCall));
  test(`AI SDK ${name}: fails if nothing can be removed`, () =>
    assert.rejects(run(ai.generateText, (settings) => byStep({ ...settings, budget: 10 })), { code: "infeasible" }));
}

class ScriptedModel extends BaseChatModel {
  requests = [];
  _llmType() {
    return "scripted";
  }
  bindTools() {
    return this;
  }
  async _generate(messages) {
    this.requests.push(messages);
    const step = this.requests.length;
    const message =
      step <= CALLS ? new AIMessage({ content: "", tool_calls: [{ id: `c${step}`, name: "read", args: { page: page(step) } }] }) : new AIMessage("done");
    return { generations: [{ message, text: "" }] };
  }
}

const langchainIds = (messages) => [
  messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)),
  messages.filter((message) => message.getType() === "tool").map(({ tool_call_id }) => tool_call_id),
];

test("LangChain.js, middleware", async () => {
  const model = new ScriptedModel({});
  const reports = [];
  const middleware = [langchain.ctxMiddleware({ budget: BUDGET, recall: 400, onReport: (report) => reports.push(report) })];
  const tools = [langchainTool(read, { name: "read", description: "Reads a page", schema: z.object({ page: z.string() }) })];
  const agent = createAgent({ model, tools, middleware, systemPrompt: SYSTEM });
  const { messages } = await agent.invoke({ messages: [new HumanMessage(QUESTION)] }, { recursionLimit: 200 });
  assert.equal(messages.length, 2 * CALLS + 2, "the state keeps all messages");
  check(model.requests, reports, langchainIds);
  assert(model.requests[20].slice(1, -1).every((message) => messages.includes(message)), "the messages are the given objects");
});

test("OpenAI Agents SDK, filter and session", async () => {
  const [requests, reports, ends] = [[], [], []];
  const getResponse = async ({ input }) => {
    requests.push(structuredClone(input));
    const step = requests.length;
    const call = { type: "function_call", callId: `c${step}`, name: "read", arguments: JSON.stringify({ page: page(step) }), status: "completed" };
    const text = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] };
    return { usage: new Usage(), output: [step % (CALLS + 1) === 0 ? text : call] };
  };
  const tools = [agentTool({ name: "read", description: "Reads a page", parameters: z.object({ page: z.string() }), execute: read })];
  const agent = new Agent({ name: "Reader", instructions: SYSTEM, tools, model: { getResponse } });
  const settings = { budget: BUDGET, recall: 400, onReport: (report) => reports.push(report) };
  const runner = new Runner({ callModelInputFilter: openaiAgents.ctxInputFilter(settings), tracingDisabled: true });
  const store = new MemorySession();
  const session = openaiAgents.ctxSession(store, { budget: 4_000, reserve: 500, onReport: (report) => ends.push(report) });
  const run = () => runner.run(agent, QUESTION, { session, maxTurns: 40 });
  assert.equal((await run()).finalOutput, "done");
  const ids = (items) => [
    items.filter(({ type }) => type === "function_call").map(({ callId }) => callId),
    items.filter(({ type }) => type === "function_call_result").map(({ callId }) => callId),
  ];
  check(requests, reports, ids);
  const stored = await store.getItems();
  assert.equal(stored.length, 2 * CALLS + 2, "the store keeps all items");
  await run();
  assert(requests[CALLS + 1].length < 12 && ends.at(-1).tokens <= 3_500, "the next run begins with what fits");
});

/** Any part with unknown fields. */
const extra = fc.dictionary(fc.stringMatching(/^x[a-z]{1,5}$/), fc.jsonValue(), { maxKeys: 2 });
const text = fc.string({ minLength: 1, maxLength: 20 });
const part = (fields) => fc.tuple(fc.record(fields), extra).map(([one, more]) => ({ ...more, ...one }));
const media = fc.constantFrom("image/png", "application/pdf", "audio/wav");
const said = part({ type: fc.constantFrom("text", "reasoning"), text });
const file = part({ type: fc.constant("file"), data: fc.oneof(text, fc.uint8Array()), mediaType: media });
const opaque = part({ type: fc.constantFrom("source", "tool-approval-request", "custom"), approvalId: text });

test("messages of the AI SDK are returned as they are", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(said, file, opaque), { maxLength: 3 }),
      fc.array(fc.tuple(text, fc.jsonValue(), fc.boolean()), { maxLength: 3 }),
      async (parts, calls) => {
        const named = calls.map(([, input, isServer], at) => ({ type: "tool-call", toolCallId: `t${at}`, toolName: "f", input, providerExecuted: isServer }));
        const result = (at, value) => ({ type: "tool-result", toolCallId: `t${at}`, toolName: "f", output: { type: "json", value } });
        const inner = calls.flatMap(([, input, isServer], at) => (isServer ? [result(at, input)] : []));
        const outer = calls.flatMap(([, input, isServer], at) => (isServer ? [] : [result(at, input)]));
        const messages = [
          { role: "user", content: parts },
          { role: "assistant", content: [...parts, ...named, ...inner] },
          ...(outer.length > 0 ? [{ role: "tool", content: outer }] : []),
          { role: "user", content: "Go on." },
        ];
        const before = structuredClone(messages);
        const { messages: sent } = await aiSdk.ctxPrepareStep({ budget: 100_000 })({ messages });
        assert.equal(sent.length, messages.length);
        assert(sent.every((message, at) => message === messages[at]));
        assert.deepEqual(messages, before);
      },
    ),
    { numRuns: 200 },
  ));

test("messages of LangChain.js and items of the Agents SDK are returned as they are", async () => {
  const content = [{ type: "text", text: "Look." }, { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }, { type: "custom", x: 1 }];
  const messages = [
    new SystemMessage("Be brief."),
    new HumanMessage({ content, id: "h1" }),
    new AIMessage({ content: [{ type: "reasoning", reasoning: "Hm." }], invalid_tool_calls: [{ id: "b", name: "f", args: "{" }] }),
    new ToolMessage({ content: "malformed", tool_call_id: "b" }),
    new AIMessage({ content: "", additional_kwargs: { x: 1 } }),
    new HumanMessage("Go on."),
  ];
  const converted = langchain.convertMessages(messages);
  assert.deepEqual(converted.map(({ message }) => message.role), ["system", "user", "assistant", "tool", "assistant", "user"]);
  const items = [
    { role: "user", content: [{ type: "input_text", text: "Look." }, { type: "input_image", image: "data:image/png;base64,iVBORw0KGgo=" }] },
    { type: "reasoning", id: "r", content: [], providerData: { encrypted_content: "x" } },
    { type: "function_call", callId: "a", name: "f", arguments: '{"a": 1}' },
    { type: "function_call", callId: "b", name: "f", arguments: "{}" },
    { type: "function_call_result", callId: "a", name: "f", output: { type: "text", text: "1" }, status: "completed" },
    { type: "function_call_result", callId: "b", name: "f", output: [{ type: "input_text", text: "2" }], status: "completed" },
    { type: "hosted_tool_call", name: "web_search_call", id: "w", status: "completed" },
    { type: "compaction", encrypted_content: "x" },
    { role: "user", content: "Go on." },
  ];
  const filter = openaiAgents.ctxInputFilter({ budget: 100_000 });
  const agent = new Agent({ name: "A" });
  const { input } = await filter({ modelData: { input: items }, agent, context: undefined });
  assert.equal(input.length, items.length);
  assert(input.every((item, at) => item === items[at]));
});

/** Runs the code of a page of the guide, with the values that the page names. */
async function runPage(name, values) {
  const page = await readFile(new URL(`../../../docs/guide/${name}.md`, import.meta.url), "utf8");
  const blocks = [...page.matchAll(/^```js run\n([^]*?)^```/gm)].map(([, code]) => code);
  assert(blocks.length > 0, "no code");
  globalThis.pageValues = values;
  const file = new URL(`../page-${name}.mjs`, import.meta.url);
  const names = `const { ${Object.keys(values).join(", ")} } = globalThis.pageValues;\n`;
  await writeFile(file, names + blocks.join("\n"));
  try {
    await import(file.href);
  } finally {
    await rm(file);
  }
}

test("the code of the guide runs", async () => {
  const log = console.log;
  const reported = [];
  console.log = (...words) => reported.push(words);
  try {
    await runPage("ai-sdk", { languageModel: aiModel(MockLanguageModelV3, []), lookUp: read });
  } finally {
    console.log = log;
  }
  assert.equal(reported.length, CALLS + 1);
  const model = new ScriptedModel({});
  const fields = { name: "read", description: "Reads a page", schema: z.object({ page: z.string() }) };
  await runPage("langchain-js", { model, lookUp: langchainTool(read, fields) });
  assert.equal(model.requests.length, CALLS + 1);
  const text = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] };
  const scripted = { getResponse: async () => ({ usage: new Usage(), output: [text] }) };
  const { schema: parameters, ...named } = fields;
  await runPage("openai-agents-js", { model: scripted, lookUp: agentTool({ ...named, parameters, execute: read }) });
});

test("vitest compares contexts with files", async () => {
  const folder = new URL("../vitest/", import.meta.url);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const run = async (context, ...words) => {
    const code = `import { expect, test } from "vitest";
import "ctx-engine/vitest";
test("greets", () => expect(${JSON.stringify(context)}).toMatchContext());\n`;
    await writeFile(new URL("a.test.js", folder), code);
    const program = new URL("../node_modules/vitest/vitest.mjs", import.meta.url).pathname;
    const options = { cwd: folder, env: { ...process.env, CI: "" } };
    return new Promise((resolve) => {
      execFile(process.execPath, [program, "run", "--root", folder.pathname, ...words], options, (error, stdout, stderr) =>
        resolve([error === null, stdout + stderr]),
      );
    });
  };
  const context = { messages: [{ role: "user", content: "Hi" }] };
  const [isPassed, told] = await run(context);
  assert(!isPassed && told.includes("is missing; `vitest -u` writes it"), told);
  assert((await run(context, "-u"))[0]);
  const written = await readFile(new URL("__ctx__/a.test.greets.json", folder), "utf8");
  assert.equal(written, `${JSON.stringify({ messages: [{ content: "Hi", role: "user" }] }, null, 2)}\n`);
  assert((await run(context))[0]);
  const [isSame, differs] = await run({ messages: [{ role: "user", content: "Hello" }] });
  assert(!isSame && differs.includes("Hello") && differs.includes("the context differs from"), differs);
  await rm(folder, { recursive: true });
});
