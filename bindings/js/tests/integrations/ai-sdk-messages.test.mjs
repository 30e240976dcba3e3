import assert from "node:assert/strict";
import { test } from "node:test";

import { modelMessageSchema } from "ai";
import { ctxPrepareStep } from "ctx-engine/ai-sdk";
import * as fc from "fast-check";

import { checkPlans, conversations, extra, text } from "./plans.mjs";

const withOptions = (part) => fc.tuple(part, extra).map(([one, more]) => ({ ...one, providerOptions: { test: more } }));
const record = (type, fields) => withOptions(fc.record({ type: fc.constant(type), ...fields }));
const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 });
const data = fc.oneof(bytes, fc.constant("aGVsbG8="), fc.constant(new URL("https://example.org/lamp.png")));
const said = record("text", { text });
const image = record("image", { image: data });
const file = record("file", { data, mediaType: fc.constantFrom("application/pdf", "image/png", "audio/wav"), filename: text });
const reasoning = record("reasoning", { text });
const user = withOptions(fc.record({
  role: fc.constant("user"),
  content: fc.oneof(text, fc.array(fc.oneof(said, image, file), { minLength: 1, maxLength: 3 })),
}));

const output = fc.oneof(
  fc.record({ type: fc.constantFrom("text", "error-text"), value: text }),
  fc.record({ type: fc.constantFrom("json", "error-json"), value: fc.jsonValue({ maxDepth: 2 }) }),
  fc.record({ type: fc.constant("execution-denied"), reason: text }),
  fc.record({ type: fc.constant("content"), value: fc.array(fc.oneof(
    fc.record({ type: fc.constant("text"), text }),
    fc.record({ type: fc.constantFrom("image-data", "file-data"), data: fc.constant("aGVsbG8="), mediaType: fc.constantFrom("image/png", "application/pdf") }),
  ), { maxLength: 2 }) }),
);
const call = (toolCallId) => record("tool-call", { toolCallId: fc.constant(toolCallId), toolName: fc.constant("inspect"), input: fc.jsonValue({ maxDepth: 2 }) });
const result = (toolCallId) => record("tool-result", { toolCallId: fc.constant(toolCallId), toolName: fc.constant("inspect"), output });

/** One response with up to 3 calls: results in one message or several, with an approval, or by the provider. */
function turn(number) {
  const ids = fc.nat({ max: 3 }).map((count) => Array.from({ length: count }, (_, at) => `call-${number}-${at}`));
  return fc.tuple(ids, fc.constantFrom("one", "several", "approval", "provider"), said, reasoning).chain(([made, form, words, thought]) => {
    if (made.length === 0) return fc.constant([{ role: "assistant", content: [thought, words] }]);
    return fc.tuple(fc.tuple(...made.map(call)), fc.tuple(...made.map(result))).map(([calls, results]) => {
      if (form === "provider") {
        const own = calls.map((one) => ({ ...one, providerExecuted: true }));
        return [{ role: "assistant", content: [thought, ...own.flatMap((one, at) => [one, results[at]]), words] }];
      }
      const approvals = calls.map(({ toolCallId }) => ({ approvalId: `approval-${toolCallId}`, toolCallId }));
      const asked = form === "approval" ? approvals.map((one) => ({ type: "tool-approval-request", ...one })) : [];
      const granted = approvals.map(({ approvalId }) => ({ type: "tool-approval-response", approvalId, approved: true }));
      const messages = form === "several" ? results.map((one) => [one]) : [results];
      const answers = form === "approval" ? [granted, results] : messages;
      return [
        { role: "assistant", content: [thought, words, ...calls, ...asked] },
        ...answers.map((content) => ({ role: "tool", content })),
      ];
    });
  });
}

function pairs(messages) {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const ids = (...types) => parts.filter(({ type }) => types.includes(type)).map((part) => `${part.toolCallId ?? part.approvalId}`);
  return {
    calls: [...ids("tool-call"), ...parts.filter(({ type }) => type === "tool-approval-request").map((part) => part.approvalId)],
    results: [...ids("tool-result"), ...ids("tool-approval-response")],
  };
}

test("ai: kept messages of any type are the given objects, in whole pairs", async () => {
  await checkPlans(
    conversations(user, turn),
    async (messages, budget) => (await ctxPrepareStep({ budget })({ messages })).messages,
    pairs,
  );
});

test("ai: the messages of the test are those of the AI SDK", () => {
  fc.assert(fc.property(conversations(user, turn), (messages) => {
    for (const message of messages) assert.ok(modelMessageSchema.safeParse(message).success, JSON.stringify(message));
  }), { numRuns: 50 });
});

test("ai 7: removed messages and messages sent during a run come from the lists of the run", async () => {
  const word = (role, content) => ({ role, content });
  const [start, approved, first, during, second, now] = [
    word("user", "Start."), word("assistant", "Approved."), word("assistant", "One."),
    word("user", "Hurry."), word("assistant", "Two."), word("user", "Stop."),
  ];
  const steps = [{ response: { messages: [first] } }, { response: { messages: [second] }, experimental_steeringMessages: [during] }];
  const step = {
    steps, initialMessages: [start], responseMessages: [approved, first, second], experimental_steeringMessages: [now],
    messages: [second, now],
  };
  const { messages } = await ctxPrepareStep({ budget: 1_000 })(step);
  assert.equal(messages.length, 6);
  assert.ok([start, approved, first, during, second, now].every((message, at) => message === messages[at]));
});

test("ai: the next turn of a conversation repeats the choice of the turn before", async () => {
  const messages = Array.from({ length: 20 }, (_, at) => ({ role: at % 2 ? "assistant" : "user", content: `Number ${at}. ${"lamp ".repeat(20)}` }));
  const resets = [];
  const prepareStep = ctxPrepareStep({ budget: 400, onReport: ({ reset }) => resets.push(reset) });
  const { messages: before } = await prepareStep({ messages });
  const { messages: after } = await prepareStep({ messages: [...messages, { role: "assistant", content: "Good." }, { role: "user", content: "Go on." }] });
  assert.deepEqual(resets, [true, false]);
  assert.ok(before.length < 20 && before.every((message, at) => message === after[at]));
  assert.equal(after.length, before.length + 2);
});
