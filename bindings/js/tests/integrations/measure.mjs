// A loop of 30 tool calls, and measurements of its requests.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

import { count } from "ctx-engine";

export const STEPS = 30;
export const BUDGET = 8_000;
export const RECALL = 300;
export const TASK = "Inspect all lamps of the pier and report the vault code.";
export const SYSTEM = "You inspect lamps. Be brief.";
export const FACT = "ZX-4471-QF";

/** The result of a tool call: about 600 tokens. The second one contains the fact. */
export function report(step) {
  const lines = Array.from({ length: 26 }, (_, line) =>
    `Lamp ${step * 100 + line} was inspected at ${line}:30, its glass is clean and its wick has ${(step * 7 + line) % 90} hours left.`,
  );
  if (step === 2) lines.splice(5, 0, `The vault code of the harbor master is ${FACT}.`);
  return lines.join("\n");
}

/** What the model says with its call: at step 29 it asks for the fact. */
export function said(step) {
  return step === 28 || step === 29 ? "I need the vault code of the harbor master." : `I inspect section ${step}.`;
}

/**
 * Measures requests. Each is a list of messages of chat completions.
 *
 * `shared` is the mean share of each request that the next one begins with, in bytes; a reset is a share below 0.8.
 */
export async function measure(requests) {
  const texts = requests.map((request) => request.map((message) => JSON.stringify(message)).join("\n"));
  const shares = texts.slice(1).map((text, at) => sharedLength(texts[at], text) / texts[at].length);
  const tokens = [];
  for (const request of requests) tokens.push(await count(request));
  return {
    tokens,
    sum: tokens.reduce((sum, one) => sum + one, 0),
    shared: shares.reduce((sum, one) => sum + one, 0) / shares.length,
    resets: shares.filter((share) => share < 0.8).length,
    broken: requests.map(brokenPairs).reduce((sum, one) => sum + one, 0),
  };
}

/** Checks the requests of the loop: under budget, whole pairs, few resets, and the fact at step 29. */
export async function checkLoop(requests, reports) {
  assert.equal(requests.length, STEPS + 1);
  const measured = await measure(requests.map((request) => request.filter((message) => !isNote(message))));
  const withNotes = await measure(requests);
  assert.ok(Math.max(...withNotes.tokens) <= BUDGET, `${withNotes.tokens}`);
  assert.equal(measured.broken, 0);
  assert.ok(measured.resets >= 1 && measured.resets <= 3, `${measured.resets} resets`);
  assert.ok(measured.shared >= 0.9, `shares ${measured.shared}`);
  const [at29] = requests.slice(28);
  const own = at29.filter((message) => !isNote(message));
  assert.ok(!JSON.stringify(own).includes(FACT), "the fact was removed");
  assert.ok(JSON.stringify(at29.filter(isNote)).includes(FACT), "the fact is recalled");
  assert.equal(reports.length, STEPS + 1);
  assert.ok(reports.some(({ reset }) => reset) && reports.at(-1).removed > 0);
  return { ...measured, sum: withNotes.sum, largest: Math.max(...withNotes.tokens) };
}

/** Checks that a page of the guide contains the measurements. */
export async function checkPage(name, { sum, largest, shared, resets }) {
  const page = await readFile(new URL(`../../../../docs/guide/${name}.md`, import.meta.url), "utf8");
  const numbers = [sum, largest].map((number) => number.toLocaleString("en-US"));
  const row = `| ${numbers.join(" | ")} | ${shared.toFixed(2)} | ${resets} | 0 |`;
  assert.ok(page.includes(row), `${name}.md does not contain: ${row}`);
}

export function isNote({ role, content }) {
  return role === "user" && !JSON.stringify(content).includes(TASK);
}

function brokenPairs(request) {
  const calls = new Set(request.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)));
  const results = new Set(request.flatMap(({ tool_call_id }) => (tool_call_id ? [tool_call_id] : [])));
  return [...calls].filter((id) => !results.has(id)).length + [...results].filter((id) => !calls.has(id)).length;
}

function sharedLength(first, second) {
  let length = 0;
  while (length < first.length && first[length] === second[length]) length += 1;
  return length;
}
