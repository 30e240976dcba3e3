// Properties of planned messages, for conversations of any framework.

import assert from "node:assert/strict";
import { inspect } from "node:util";

import { CtxError } from "ctx-engine";
import * as fc from "fast-check";

const RUNS = 150;

/** A text with extra words, so that some conversations exceed the small budget. */
export const text = fc.tuple(fc.string({ unit: "binary", maxLength: 12 }), fc.integer({ min: 1, max: 40 }))
  .map(([start, words]) => `t${start}${" lamp".repeat(words)}`);

/** Fields that a framework or provider adds. */
export const extra = fc.dictionary(fc.constantFrom("note", "cacheControl", "signature"), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2, noNullPrototype: true });

/**
 * Checks plans of whole conversations. `plan` returns the messages to send; `pairs` returns the ids of calls and results.
 *
 * In a large budget all messages return as the same objects. In a small one the kept ones are the same objects in the
 * same order, no pair is broken, and planning the result again changes nothing.
 */
export async function checkPlans(conversations, plan, pairs) {
  let cut = 0;
  await fc.assert(
    fc.asyncProperty(conversations, fc.integer({ min: 120, max: 500 }), async (messages, budget) => {
      const before = inspect(messages, { depth: null });
      sameObjects(await plan(messages, 1_000_000), messages);
      let kept;
      try {
        kept = await plan(messages, budget);
      } catch (error) {
        assert.ok(error instanceof CtxError && error.code === "infeasible", String(error));
        return;
      }
      if (kept.length < messages.length) cut += 1;
      sameObjects(kept, messages.filter((message) => kept.includes(message)));
      const { calls, results } = pairs(kept);
      assert.deepEqual([...calls].sort(), [...results].sort());
      sameObjects(await plan(kept, budget), kept);
      assert.equal(inspect(messages, { depth: null }), before);
    }),
    { numRuns: RUNS },
  );
  assert.ok(cut > RUNS / 20, `only ${cut} conversations were cut`);
}

function sameObjects(found, wanted) {
  assert.equal(found.length, wanted.length);
  assert.ok(found.every((message, at) => message === wanted[at]));
}

/** Makes conversations of a user message and turns; `turn(number)` returns lists of messages of a turn. */
export function conversations(user, turn) {
  const turns = Array.from({ length: 8 }, (_, number) => fc.oneof(user.map((message) => [message]), turn(number)));
  return fc.tuple(user, fc.nat({ max: 8 }), ...turns, user).map((made) => {
    const [first, length, ...others] = made;
    return [first, ...others.slice(0, length).flat(), others.at(-1)];
  });
}
