// The package as its users see it.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as ctx from "ctx-engine";

const said = (number) => `Lamp ${number} of the pier was lit at ${number}:30.`;
const MESSAGES = [
  { role: "system", content: "Be brief." },
  ...Array.from({ length: 41 }, (_, n) => ({ role: n % 2 === 0 ? "user" : "assistant", content: said(n) })),
];
const refused = (code) => (error) => error instanceof ctx.CtxError && error.code === code;

test("what fits are the very messages that were given", async () => {
  const fitted = await ctx.fit(MESSAGES, 200, { model: "gpt-4o" });
  assert.equal(fitted[0], MESSAGES[0]);
  assert.ok(fitted.slice(1).every((one, place) => one === MESSAGES.slice(1 - fitted.length)[place]));
  assert.ok(fitted.length > 3 && fitted.length < MESSAGES.length);
});

test("a conversation that grew fits as one that was given at once", async () => {
  const grown = await ctx.Conversation.of(MESSAGES.slice(0, 10));
  for (const message of MESSAGES.slice(10)) grown.append(message);
  assert.deepEqual(grown.toJSON(), (await ctx.Conversation.of(MESSAGES)).toJSON());
  assert.deepEqual(await grown.fit(300, { model: "gpt-4o" }), await ctx.fit(MESSAGES, 300, { model: "gpt-4o" }));
});

test("messages of any shape cross as they are", async () => {
  const many = Array.from({ length: 200 }, (_, number) => ({ role: "user", content: `Number ${number}` }));
  const odd = [
    { role: "user", content: "NUL \0 and é" },
    { role: "user", content: "a\0user\0b" },
    { role: "user", content: "\0".repeat(3) },
    { content: "x", role: "user" },
    { role: "user", content: "x", name: "Ada" },
  ];
  const read = async (list) => (await ctx.Conversation.read({ file: "session.json", text: JSON.stringify(list) })).toJSON();
  for (const list of [...[...MESSAGES, ...odd].flatMap((one) => [[one, ...MESSAGES], [...MESSAGES, one], [one]]), many, [...many, { role: "user", content: "é" }]]) {
    const given = await ctx.Conversation.of(list);
    assert.equal(JSON.stringify(given.toJSON()), JSON.stringify(await read(list)));
    const grown = await ctx.Conversation.of(MESSAGES);
    grown.extend(list);
    assert.equal(grown.length, MESSAGES.length + list.length);
    assert.deepEqual(grown.toJSON(), await read([...MESSAGES, ...list]));
  }
});

test("a conversation is read from its file", async () => {
  const read = await ctx.Conversation.read({ file: "chat.json", text: JSON.stringify(MESSAGES) });
  read.append({ role: "user", content: "And now?" });
  assert.equal(read.length, 43);
  assert.deepEqual((await read.fit(60)).slice(-2), [{ number: 41 }, { role: "user", content: "And now?" }]);
});

test("notes stand in place of what does not fit", async () => {
  const fitted = await ctx.fit(MESSAGES, 300, { model: "gpt-4o", compress: true });
  assert.ok(fitted.some((one) => !MESSAGES.includes(one)));
});

test("calls and results stay or go together, as every package writes them", async () => {
  const rain = "Rain. ".repeat(40);
  const plain = [
    { role: "user", content: "Look." },
    { role: "assistant", content: null, tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "c1", content: rain },
  ];
  const sdk = [
    { role: "user", content: "Look." },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "look", input: {} }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId: "c1", toolName: "look", output: { type: "text", value: rain } }] },
  ];
  const page = [
    { id: "1", role: "user", parts: [{ type: "text", text: "Look." }] },
    { id: "2", role: "assistant", parts: [{ type: "step-start" }, { type: "tool-look", toolCallId: "c1", state: "output-available", input: {}, output: rain }] },
  ];
  for (const list of [plain, sdk, page]) {
    let kept = 0;
    for (let budget = 40; budget < 400; budget += 20) {
      const fitted = await ctx.fit([...list, ...MESSAGES.slice(1)], budget);
      assert.equal(fitted.includes(list[1]), fitted.includes(list.at(-1)));
      assert.equal(new Set(fitted).size, fitted.length);
      kept += fitted.includes(list[1]);
    }
    assert.equal(await ctx.fit([...list, ...MESSAGES.slice(1)], 4000).then((all) => all.length), list.length + 41);
    assert.ok(kept < 18);
  }
});

test("messages of LangChain come back, trimmed as its own function does", async () => {
  const { AIMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } = await import("@langchain/core/messages");
  const messages = [
    new SystemMessage("Be brief."),
    new HumanMessage("Look."),
    new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "look", args: { at: "é" } }] }),
    new ToolMessage({ content: "Rain.", tool_call_id: "c1" }),
    ...MESSAGES.slice(1).map(({ role, content }) => (role === "user" ? new HumanMessage(content) : new AIMessage(content))),
  ];
  assert.deepEqual(await ctx.fit(messages, 4000), messages);
  const counter = async (list) => (await Promise.all(list.map((one) => ctx.count([one])))).reduce((sum, one) => sum + one, 0);
  const theirs = await trimMessages(messages, { maxTokens: 200, tokenCounter: counter, strategy: "last", includeSystem: true });
  const ours = await ctx.trimMessages(messages, { maxTokens: 200 });
  assert.deepEqual(ours.map((one) => one.content), theirs.map((one) => one.content));
  await assert.rejects(ctx.trimMessages(messages, { maxTokens: 200, allowPartial: true }), refused("usage"));
  await assert.rejects(ctx.trimMessages(messages, { maxTokens: 200, startOn: "human" }), refused("usage"));
});

test("what is no message is refused", async () => {
  const parts = { role: "assistant", parts: [null] };
  const foreign = { getType: () => "human", tool_calls: [null] };
  const reply = { type: "message", role: "assistant", content: [], usage: 5n };
  for (const odd of [null, 5, 5n, "text", {}, [], { content: "x" }, parts, foreign, reply, { role: "user", content: 5n }]) {
    const { code, pointer } = await ctx.fit([MESSAGES[0], odd], 500).catch((error) => error);
    assert.deepEqual([code, pointer], ["usage", "/1"]);
  }
  for (const odd of [null, 5, {}]) {
    for (const call of [ctx.fit(odd, 500), ctx.count(odd), ctx.compress(odd, 500), ctx.encode(odd, "openai", "m")]) {
      await assert.rejects(call, refused("usage"));
    }
  }
});

test("too small a budget says so", async () => {
  await assert.rejects(ctx.fit(MESSAGES, 10), refused("infeasible"));
});

test("half a character becomes a mark", async () => {
  const cut = [{ role: "user", content: "\ud83d and \\ud83d" }];
  assert.deepEqual(await ctx.fit(cut, 100), cut);
  const { nodes } = (await ctx.Conversation.of(cut)).toJSON();
  assert.ok(JSON.stringify(nodes).includes("\ufffd and \\\\ud83d"));
});

test("findings have places", async () => {
  const { findings } = await ctx.check("presetMessages:\n  - {role: system, content: '{{nope}}'}\n");
  assert.deepEqual([findings[0].code, findings[0].position.line], ["CTX0300", 2]);
});

test("a document that cannot be read says where", async () => {
  await assert.rejects(ctx.Agent.compile("presetMessages:\n  - {role: system\n"), (error) => {
    assert.deepEqual(error.position, { file: "agent.yaml", line: 2, column: 5 });
    return refused(error.code)(error);
  });
});

test("a card comes in and goes out", async () => {
  const card = { spec: "chara_card_v2", data: { name: "Ada", description: "Counts.", first_mes: "Hi." } };
  const bytes = new TextEncoder().encode(JSON.stringify(card));
  const made = await ctx.importFiles({ "ada.json": bytes });
  assert.equal(made.agent.name, "Ada");
  assert.equal((await ctx.exportAgent(made.agent, "st-card")).document.data.name, "Ada");
});

test("what is held goes on when an operation on files has loaded the larger engine", async () => {
  const chat = await ctx.Conversation.of(MESSAGES);
  const before = await chat.fit(200, { model: "gpt-4o" });
  await ctx.ready("import");
  assert.deepEqual(await chat.fit(200, { model: "gpt-4o" }), before);
  assert.equal((await ctx.migrate("presetMessages: []")).format, "agent");
});

test("HTML of messages becomes Markdown, in the larger engine", async () => {
  const agent = await ctx.Agent.compile({
    presetMessages: [{ type: "chat_history" }],
    parameters: { processors: [{ id: "session-loader", config: { htmlToMarkdown: true, htmlKeptMessages: 0 } }] },
  });
  const chat = await ctx.Conversation.of([{ role: "user", content: "<p>a <b>b</b></p>" }]);
  assert.equal((await agent.assemble(chat)).messages[0].content, "a **b**");
});

test("each dialect is written and read", async () => {
  for (const dialect of ["openai", "openai-responses", "anthropic", "gemini", "completion"]) {
    assert.ok(JSON.stringify(await ctx.encode([{ role: "user", content: "Hi" }], dialect, "m")).includes("Hi"));
  }
  const reply = { choices: [{ message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }] };
  assert.deepEqual((await ctx.decode("openai", reply)).message, { role: "assistant", content: "Hello" });
  const body = { model: "m", messages: [] };
  assert.deepEqual(await ctx.lint(body, "openai"), await ctx.lint(body));
});

test("a stream is read piece by piece", async () => {
  const stream = await ctx.Stream.open("openai");
  assert.deepEqual(stream.push('{"choices":[{"delta":{"content":"Hi"}}]}'), [{ kind: "text", text: "Hi" }]);
  assert.throws(() => stream.finish(), refused("provider"));
  assert.equal(stream.partial().text, "Hi");
  stream.push('{"choices":[{"delta":{},"finish_reason":"stop"}]}');
  assert.equal(stream.finish().text, "Hi");
  stream.free();
  assert.throws(() => stream.partial(), refused("usage"));
});

test("others of the list", async () => {
  assert.equal(await ctx.count("hello world", "gpt-4o"), 2);
  assert.equal((await ctx.describeModel("gpt-4o")).contextWindow, 128_000);
  assert.equal((await ctx.expandMacros("{{char}}", { char: "Ada" })).text, "Ada");
  assert.ok((await ctx.listMacros("aio")).some((one) => one.name === "char"));
  assert.ok((await ctx.schemas()).some((one) => one.name === "agent"));
  assert.equal((await ctx.schemas("report")).title, "Report");
  const book = { entries: { 0: { uid: 0, key: ["lamp"], content: "Lamps are red." } } };
  const scan = await ctx.scanWorldbooks([book], MESSAGES.slice(1));
  assert.deepEqual(scan.entries.map((one) => one.state), ["active"]);
  assert.ok((await ctx.compress(MESSAGES, 300)).messages.length < MESSAGES.length);
  const said = [{ role: "user", content: "My daughter must not eat nuts." }, { role: "assistant", content: "Noted." }];
  const { lines } = await ctx.recall(said, "May she eat nuts?");
  assert.deepEqual(lines.map(({ ago, words }) => [ago, words]), [[1, ["eat", "nuts"]], [0, []]]);
  const firstPlan = await ctx.plan(MESSAGES, { budget: 300 });
  const nextPlan = await ctx.plan([...MESSAGES, said[1]], { budget: 300, state: firstPlan.state });
  assert.deepEqual([firstPlan.reset, nextPlan.reset], [true, false]);
  assert.deepEqual(nextPlan.kept, [...firstPlan.kept, MESSAGES.length]);
  const first = await (await ctx.Agent.compile("presetMessages: [{role: system, content: A}]")).assemble();
  const second = await (await ctx.Agent.compile("presetMessages: [{role: system, content: B}]")).assemble();
  assert.equal((await ctx.diff(first, second)).sharedMessages, 0);
  assert.equal((await ctx.migrate("presetMessages: []")).format, "agent");
  const session = await ctx.call("fit", { conversation: MESSAGES, budget: 100 });
  assert.ok(session.numbers.length < MESSAGES.length);
});

test("a context is assembled and explained", async () => {
  const agent = await ctx.Agent.compile("presetMessages:\n- {role: system, content: 'It is {{date}}.'}\n- {type: chat_history}\n");
  const chat = await ctx.Conversation.of(MESSAGES.slice(1));
  const turn = { input: "Hi", at: "2026-01-31T12:00:00Z" };
  const made = await Promise.all([1, 2, 3].map(() => agent.assemble(chat, turn)));
  assert.deepEqual(made[0], made[2]);
  assert.equal((await agent.explain(chat, { ...turn, message: 0 })).subject, "preset#0");
  assert.ok((await agent.explain(chat, turn)).stages.length > 0);
  assert.equal((await agent.assemble()).messages.length, 1);
});

test("applied effects keep inserted text in place", async () => {
  const presetMessages = [{ type: "chat_history" }, { role: "user", content: "Be brief.", insertionPoint: -1 }];
  const agent = await ctx.Agent.compile({ prefix: "append-only", presetMessages });
  const chat = await ctx.Conversation.of([{ role: "user", content: "Hello" }]);
  const first = await agent.assemble(chat);
  chat.apply(first.effects);
  chat.extend([{ role: "assistant", content: "Yes." }, { role: "user", content: "Is it late?" }]);
  const texts = (made) => made.messages.map(({ content }) => content);
  assert.deepEqual(texts(await agent.assemble(chat)).slice(0, first.messages.length), texts(first));
  assert.throws(() => chat.apply([{ op: "nothing" }]), refused("usage"));
});

test("what cannot be written as JSON is refused", async () => {
  const circle = {};
  circle.circle = circle;
  let deep = [];
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  for (const odd of [circle, 5n, deep, undefined]) {
    await assert.rejects(ctx.call("check", { document: odd }), refused("usage"));
  }
  await assert.rejects(ctx.call("nothing", {}), refused("usage"));
});

test("anchors, macros and processors of one's own", async () => {
  const chat = await ctx.Conversation.of([{ role: "user", content: "Write to ada@pier.example" }]);
  const agent = await ctx.Agent.compile(
    "presetMessages:\n- {role: system, content: '{{shout::lamp}} {{fails}}'}\n- {id: weather, type: weather, role: system, content: Sky}\n- {type: chat_history}\n",
    {
      anchors: [{ id: "weather", hasTemplate: true }],
      macros: [
        { name: "shout", min: 1, max: 1, expand: (word) => word.toUpperCase() },
        { name: "fails", expand: () => { throw new Error("no idea"); } },
      ],
      processors: [
        {
          id: "hide-mail",
          priority: 210,
          execute: (messages) => [
            ...messages.map(({ number, content }) => ({ number, content: content.replace(/\S+@\S+/, "[mail]") })),
            { role: "user", content: "And reply soon." },
          ],
        },
        { id: "broken", priority: 220, execute: () => { throw new Error("out of order"); } },
        { id: "late", priority: 230, execute: async () => { throw new Error("never seen"); } },
        { id: "calls-back", priority: 240, execute: () => { chat.toJSON(); } },
      ],
      disable: ["merge-system-to-head", "merge-consecutive-roles"],
    },
  );
  const { messages, report } = await agent.assemble(chat, { at: "2026-01-31T12:00:00Z" });
  assert.deepEqual(
    messages.map(({ content, source }) => [content, source.kind]),
    [
      ["LAMP {{fails}}", "preset"],
      ["Sky", "preset"],
      ["Write to [mail]", "history"],
      ["And reply soon.", "plugin"],
    ],
  );
  const told = report.diagnostics.map((found) => found.message).join("; ");
  for (const word of ["no idea", "out of order", "no promise", "cannot call `ctx`"]) assert.ok(told.includes(word), told);
});

test("a call ends when its time is over, or it was cancelled", async () => {
  const chat = await ctx.Conversation.of(MESSAGES);
  await assert.rejects(chat.fit(200, { timeLimit: 0 }), refused("cancelled"));
  await assert.rejects(chat.fit(200, { signal: AbortSignal.abort() }), refused("cancelled"));
  const controller = new AbortController();
  const agent = await ctx.Agent.compile("presetMessages: [{type: chat_history}]", {
    processors: [{ id: "stops", priority: 210, execute: () => controller.abort() }],
  });
  await assert.rejects(agent.assemble(chat, { signal: controller.signal }), refused("cancelled"));
  assert.ok((await chat.fit(200, { timeLimit: 60_000 })).length > 1);
});

test("a fault of the engine is an exception, and everything goes on", async () => {
  const chat = await ctx.Conversation.of(MESSAGES);
  const before = await chat.fit(200, { model: "gpt-4o" });
  const agent = await ctx.Agent.compile("presetMessages: [{role: system, content: A}]");
  const stream = await ctx.Stream.open("openai");
  stream.push('{"choices":[{"delta":{"content":"Hi"}}]}');
  const { breakEngine } = await import("../dist/engine.js");
  assert.throws(breakEngine, (error) => refused("internal")(error) && /unreachable/.test(error.message));
  assert.deepEqual(await chat.fit(200, { model: "gpt-4o" }), before);
  assert.equal((await agent.assemble()).messages[0].content, "A");
  assert.equal(stream.partial().text, "Hi");
});
