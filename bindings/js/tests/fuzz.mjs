// Calls every operation with changed documents and values of wrong types: fuzz.mjs COUNT FIXTURES [SEED]. Each call gives
// a value or a `CtxError` with a code, none traps, and the same calls again need no more memory.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import * as ctx from "ctx-engine";

import { memoryBytes } from "../dist/engine.js";

const [count, folder, seed = "7"] = process.argv.slice(2);
const FLAT = 10_000;
const LARGEST = 20_000;
const KEYS = [
  "agent", "profile", "worldbooks", "models", "conversation", "document", "files", "text", "messages", "body", "dialect",
  "budget", "model", "tools", "input", "first", "second", "events", "environment", "to", "format", "at", "tz", "seed",
  "template", "parameters", "enable", "message", "name", "strategy", "plan", "loopStart", "userSettings", "kind",
];
const WORDS = ["openai", "anthropic", "gemini", "completion", "aio", "st-card", "gpt-4o", "snapshot", "agent", "{{char}}", "", "2026-01-31T12:00:00Z"];
const ODD = [null, true, -1, 0, 3, 2 ** 53, 1e300, "", "{{", "\ud800", [], [[]], {}, { a: {} }, { file: 5 }, { file: "x.png", base64: "iVBORw0KGgo=" }];

let state = Number(seed);
function random(bound) {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
}
const pick = (list) => list[random(list.length)];

function documents(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(yaml|json|jsonl|png|charx)$/.test(entry.name))
    .map((entry) => ({ name: entry.name, bytes: readFileSync(join(entry.parentPath ?? entry.path, entry.name)) }))
    .filter(({ bytes }) => bytes.length < LARGEST)
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
}
const seeds = documents(folder);

// A document of a stranger: one that there is, with bytes changed, left out or doubled.
function changed() {
  const { name, bytes } = pick(seeds);
  const made = Buffer.from(bytes);
  for (let times = random(4); times > 0 && made.length > 0; times -= 1) made[random(made.length)] = random(256);
  const [from, to] = [random(made.length + 1), random(made.length + 1)].sort((a, b) => a - b);
  const cut = random(3) === 0 ? Buffer.concat([made.subarray(0, to), made.subarray(from)]) : made;
  return { file: name, base64: cut.toString("base64") };
}

function value() {
  const kind = random(8);
  if (kind < 3) return changed();
  if (kind < 5) return pick(WORDS);
  if (kind === 5) return Buffer.from(changed().base64, "base64").toString();
  if (kind === 6) return [{ role: pick(["user", "assistant", "tool", 5]), content: pick([...WORDS, ...ODD]) }];
  return pick(ODD);
}

function options() {
  const given = {};
  for (let keys = 1 + random(4); keys > 0; keys -= 1) given[pick(KEYS)] = value();
  return given;
}

async function attempt(name, given) {
  try {
    if (name === GROWTH) await grow(given);
    else await ctx.call(name, given);
    return true;
  } catch (error) {
    if (!(error instanceof ctx.CtxError) || typeof error.code !== "string" || error.code === "internal") {
      console.error(`${name} ${JSON.stringify(given)}`);
      throw error;
    }
    return false;
  }
}

/** A conversation that grows; it is none of the operations, since it stays in the engine. */
const GROWTH = "Conversation";
const role = () => pick(["user", "assistant", "system", "developer"]);
const text = () => pick([pick(WORDS), `${pick(WORDS)}\0${pick(WORDS)}`, "\0", "\ud800", "é😀"]);
const message = () =>
  random(16) === 0 ? pick([value(), { role: pick([5, "tool"]), content: pick(ODD) }]) : { role: role(), content: text() };
const messages = () => (random(8) === 0 ? value() : Array.from({ length: random(5) }, message));

async function grow({ document, given, added, budget, compress }) {
  const made = await (document === undefined ? ctx.Conversation.of(given) : ctx.Conversation.read(document));
  try {
    for (const one of added) made.append(one);
    await made.fit(budget, { compress });
    made.toJSON();
  } finally {
    made.free();
  }
}

// What an operation needs, so that half of the calls get as far as its work.
const NEEDED = {
  [GROWTH]: () => ({ given: messages(), added: Array.from({ length: random(3) }, message), budget: random(500) }),
  assemble: () => ({ agent: changed(), conversation: value() }),
  check: () => ({ document: changed() }),
  compile: () => ({ agent: changed() }),
  compress: () => ({ conversation: changed(), budget: random(500) }),
  count: () => ({ conversation: changed() }),
  decode: () => ({ dialect: pick(WORDS.slice(0, 4)), body: value() }),
  diff: () => ({ first: changed(), second: changed() }),
  encode: () => ({ messages: changed(), dialect: pick(WORDS.slice(0, 4)), model: "m" }),
  explain: () => ({ agent: changed(), conversation: value() }),
  export: () => ({ agent: changed(), to: pick(["aio", "st-card", "st-preset", "st-regex"]) }),
  fit: () => ({ conversation: changed(), budget: random(500) }),
  import: () => ({ files: [changed()] }),
  lint: () => ({ body: value() }),
  "macros.expand": () => ({ text: String(value()) }),
  migrate: () => ({ document: changed() }),
  model: () => ({ model: pick(WORDS) }),
  plan: () => ({ messages: messages(), budget: random(500), recall: 50 }),
  recall: () => ({ conversation: changed(), query: String(value()), budget: random(500) }),
  "stream.read": () => ({ dialect: "openai", events: [value()] }),
  "worldbook.scan": () => ({ worldbooks: [changed()], conversation: value() }),
};

/** The same of a document, with a budget and settings of wrong types. */
function odd() {
  const document = random(2) === 0 ? changed() : undefined;
  return { document, given: messages(), added: [message()], budget: pick(ODD), compress: pick([true, value()]) };
}

let given = 0;
let calls = 0;
const names = [...(await ctx.call("operations", {})).map((one) => one.name), GROWTH];
for (const name of names) {
  for (let number = 0; number < Number(count); number += 1) {
    const needed = number % 2 === 0 ? (NEEDED[name]?.() ?? {}) : name === GROWTH ? odd() : options();
    given += await attempt(name, needed);
    calls += 1;
  }
}

// The same calls twice: what the first round did not give back, the second needs again.
async function round() {
  state = Number(seed);
  for (let number = 0; number < FLAT; number += 1) {
    const name = pick(names);
    await attempt(name, NEEDED[name]?.() ?? options());
  }
  return memoryBytes();
}
const [before, after] = [await round(), await round()];
console.log(`js: ${calls} calls of ${names.length} operations: ${given} gave a value, all others a CtxError`);
console.log(`js: ${FLAT} calls, made again, need ${after - before} bytes more`);
if (after > before) process.exit(1);
