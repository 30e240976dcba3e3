import assert from "node:assert/strict";
import { test } from "node:test";

import { Agent, MemorySession, Runner, handoff, protocol, setTracingDisabled, tool } from "@openai/agents";
import { CtxError } from "ctx-engine";
import { ctxInputFilter, ctxSession } from "ctx-engine/openai-agents";
import * as fc from "fast-check";
import * as z from "zod";

import { BUDGET, RECALL, STEPS, SYSTEM, TASK, checkLoop, checkPage, isNote, measure, report } from "./measure.mjs";
import { scriptedModel } from "./openai-model.mjs";
import { checkPlans, conversations, extra, text } from "./plans.mjs";

setTracingDisabled(true);

/** Writes a request as chat completions, without the converter under test. */
function asChat({ systemInstructions, input }) {
  const messages = systemInstructions ? [{ role: "system", content: systemInstructions }] : [];
  for (const item of input) {
    const last = messages.at(-1);
    if (item.type === "function_call") {
      const call = { id: item.callId, type: "function", function: { name: item.name, arguments: item.arguments } };
      if (last.role === "assistant") last.tool_calls = [...(last.tool_calls ?? []), call];
      else messages.push({ role: "assistant", content: "", tool_calls: [call] });
    } else if (item.type === "function_call_result") {
      messages.push({ role: "tool", tool_call_id: item.callId, content: item.output.text ?? item.output });
    } else {
      const content = typeof item.content === "string" ? item.content : item.content.map((part) => part.text).join("");
      messages.push({ role: item.role, content });
    }
  }
  return messages;
}

const inspect = tool({ name: "inspect", description: "Inspects a section.", parameters: z.object({ step: z.number() }), execute: ({ step }) => report(step) });

async function run({ filter, session, task = TASK, agent: more = {} } = {}) {
  const requests = [];
  const agent = new Agent({ name: "inspector", instructions: SYSTEM, tools: [inspect], model: scriptedModel(requests), ...more });
  const runner = new Runner({ tracingDisabled: true, ...(filter && { callModelInputFilter: filter }) });
  const result = await runner.run(agent, task, { maxTurns: STEPS + 10, ...(session && { session }) });
  assert.equal(result.finalOutput, "All done.");
  return { requests, chats: requests.map(asChat), result };
}

test("openai-agents: the filter keeps a loop in the budget, with whole pairs and a stable prefix", async (t) => {
  const reports = [];
  const session = new MemorySession();
  const filter = ctxInputFilter({ budget: BUDGET, recall: RECALL, onReport: (one) => reports.push(one) });
  const { chats, result } = await run({ filter, session });
  const found = await checkLoop(chats, reports);
  await checkPage("openai-agents-js", found);
  assert.equal(result.history.length, 3 * STEPS + 2, "the run keeps all items");
  const stored = await session.getItems();
  assert.equal(stored.length, result.history.length, "the session keeps all items");
  assert.ok(!stored.some((item) => item.role === "user" && isNote(item)), "the session keeps no recalled lines");
  const plain = await measure((await run()).chats);
  t.diagnostic(`tokens ${found.sum} (without: ${plain.sum}), shared ${found.shared.toFixed(3)}, resets ${found.resets}`);
});

test("openai-agents: runs at the same time can share the filter", async () => {
  const filter = ctxInputFilter({ budget: BUDGET });
  const [first, second] = await Promise.all([run({ filter }), run({ filter })]);
  const alone = await run({ filter: ctxInputFilter({ budget: BUDGET }) });
  assert.deepEqual(first.chats, alone.chats);
  assert.deepEqual(second.chats, alone.chats);
});

test("openai-agents: items that do not fit throw", async () => {
  const isInfeasible = (error) => error instanceof CtxError && error.code === "infeasible";
  await assert.rejects(run({ filter: ctxInputFilter({ budget: 300 }) }), isInfeasible);
});

test("openai-agents: handoffs and the schema of the output are counted", async () => {
  const tokens = async (agent) => {
    const reports = [];
    const filter = ctxInputFilter({ budget: 100_000, onReport: (one) => reports.push(one) });
    await run({ filter, agent }).catch(() => {});
    return reports[0].tokens;
  };
  const plain = await tokens({});
  const schema = z.object({ lamps: z.array(z.object({ name: z.string(), hours: z.number() })) });
  assert.ok((await tokens({ outputType: schema })) > plain + 10);
  assert.ok((await tokens({ handoffs: [handoff(new Agent({ name: "painter", handoffDescription: "Paints the lamps." }))] })) > plain + 5);
});

test("openai-agents: a session limits the start of a run, and stores all items", async () => {
  const stored = new MemorySession();
  const reports = [];
  const session = ctxSession(stored, { budget: BUDGET, reserve: 500, onReport: (one) => reports.push(one) });
  await run({ session });
  const all = await stored.getItems();
  assert.equal(all.length, 3 * STEPS + 2);
  assert.equal(await session.getSessionId(), await stored.getSessionId());
  assert.deepEqual(await session.getItems(5), all.slice(-5));
  const sent = await session.getItems();
  assert.ok(sent.length < all.length / 2 && reports.at(-1).tokens <= BUDGET - 500);
  const { chats } = await run({ session, task: `${TASK} Again.` });
  const [measured] = (await measure(chats.slice(0, 2))).tokens;
  assert.ok(measured <= BUDGET, `${measured}`);
  assert.equal((await stored.getItems()).length, 2 * all.length);
  await session.clearSession();
  assert.deepEqual(await stored.getItems(), []);
});

const image = fc.record({ type: fc.constant("input_image"), image: fc.constantFrom("https://example.org/a.png", "data:image/png;base64,aGVsbG8=") });
const file = fc.record({ type: fc.constant("input_file"), file: fc.constant("data:application/pdf;base64,aGVsbG8="), filename: text });
const words = fc.record({ type: fc.constant("input_text"), text, providerData: extra });
const user = fc.record({ role: fc.constant("user"), content: fc.oneof(text, fc.array(fc.oneof(words, image, file), { minLength: 1, maxLength: 3 })), providerData: extra });

/** The calls of the protocol with their results. */
const CALLS = {
  function_call: (callId, said) => [
    { type: "function_call", callId, name: "inspect", arguments: `{ "said": ${JSON.stringify(said)} }`, status: "completed" },
    { type: "function_call_result", callId, name: "inspect", status: "completed", output: { type: "text", text: said } },
  ],
  computer_call: (callId) => [
    { type: "computer_call", callId, status: "completed", action: { type: "screenshot" } },
    { type: "computer_call_result", callId, output: { type: "computer_screenshot", data: "data:image/png;base64,aGVsbG8=" } },
  ],
  shell_call: (callId, said) => [
    { type: "shell_call", callId, status: "completed", action: { commands: [said] } },
    { type: "shell_call_output", callId, output: [{ stdout: said, stderr: "", outcome: { type: "exit", exitCode: 0 } }] },
  ],
  apply_patch_call: (callId, said) => [
    { type: "apply_patch_call", callId, status: "completed", operation: { type: "create_file", path: "a", diff: said } },
    { type: "apply_patch_call_output", callId, status: "completed", output: said },
  ],
  program: (callId, said) => [
    { type: "program", callId, code: said, fingerprint: "f" },
    { type: "program_output", callId, output: said, status: "completed" },
  ],
};
const ALONE = [
  (said) => ({ type: "hosted_tool_call", name: "web_search_call", arguments: said, status: "completed", output: said }),
  () => ({ type: "compaction", encrypted_content: "gAAAA" }),
  (said) => ({ type: "unknown", providerData: { said } }),
  (said) => ({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: said }, { type: "refusal", refusal: said }] }),
];

/** One response: reasoning, items without results, calls; then their results. */
function turn(number) {
  const kinds = fc.array(fc.constantFrom(...Object.keys(CALLS)), { maxLength: 3 });
  return fc.tuple(kinds, fc.subarray(ALONE), text, extra).map(([made, alone, said, more]) => {
    const made2 = made.map((kind, at) => CALLS[kind](`call-${number}-${at}`, said));
    const thought = { type: "reasoning", id: `rs-${number}`, content: [{ type: "input_text", text: said }], providerData: { encrypted: "gAAAA", ...more } };
    return [thought, ...alone.map((one) => one(said)), ...made2.map(([call]) => call), ...made2.map(([, result]) => result)];
  });
}

function pairs(items) {
  const isResult = ({ type = "" }) => /_(?:result|output)$/.test(type);
  const ids = items.filter(({ callId }) => callId);
  return { calls: ids.filter((item) => !isResult(item)).map(({ callId }) => callId), results: ids.filter(isResult).map(({ callId }) => callId) };
}

test("openai-agents: kept items of any type are the given objects, in whole pairs", async () => {
  const agent = new Agent({ name: "inspector" });
  const plan = async (input, budget) => (await ctxInputFilter({ budget })({ modelData: { input }, agent, context: undefined })).input;
  await checkPlans(conversations(user, turn), plan, pairs);
});

test("openai-agents: the items of the test are those of the protocol", () => {
  fc.assert(fc.property(conversations(user, turn), (items) => {
    for (const item of items) assert.ok(protocol.ModelItem.safeParse(item).success, JSON.stringify(item));
  }), { numRuns: 50 });
});
