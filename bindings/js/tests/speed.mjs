// What fitting takes beside the function of @langchain/core that it can stand for, counting with js-tiktoken; prints
// figures of processor time, which says more than a clock on a machine that others use too.

import { AIMessage, HumanMessage, trimMessages } from "@langchain/core/messages";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";

import * as ctx from "ctx-engine";

import { crossing as written } from "../dist/conversation.js";
import { give, perform } from "../dist/engine.js";

const [COUNT, BUDGET, MODEL] = [10_000, 128_000, "gpt-4o"];
/** The first rounds also have the engine compiled, as long as it is new to the host, on threads beside the work. */
const ROUNDS = 15;
const WORDS = "The lamp at the end of the pier was lit by Ada at half past nine and burned until the storm came in. ";
const text = (number) => `Message ${number}. ${WORDS.repeat(2 + (number % 4))}`;
const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

async function taken(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const plain = Array.from({ length: COUNT }, (_, n) => ({ role: n % 2 === 0 ? "user" : "assistant", content: text(n) }));
await ctx.count("", MODEL);
const [firsts, nexts, crossings, readings] = [[], [], [], []];
let kept = 0;
for (let round = 0; round < ROUNDS; round += 1) {
  let conversation;
  // What the border alone takes, of what comes next.
  const cross = (exports) => {
    give(exports, written(plain));
    return 0;
  };
  crossings.push(await taken(async () => perform(cross)));
  const reading = await taken(async () => (conversation = await ctx.Conversation.of(plain)));
  const fitting = await taken(async () => (kept = (await conversation.fit(BUDGET, { model: MODEL })).length));
  readings.push(reading);
  firsts.push(reading + fitting);
  const next = await taken(async () => {
    for (let number = 0; number < 20; number += 1) {
      conversation.append({ role: number % 2 === 0 ? "user" : "assistant", content: text(number) });
      await conversation.fit(BUDGET, { model: MODEL });
    }
  });
  nexts.push(next / 20);
  conversation.free();
}
const cold = firsts[0];
const [first, next] = [median(firsts), median(nexts)];
console.log(`ctx: first call ${first.toFixed(1)} ms (${kept} messages kept; ${cold.toFixed(0)} ms in a new process, which compiles the engine too), next ${next.toFixed(2)} ms`);
const crossing = median(crossings);
console.log(`ctx: ${median(readings).toFixed(1)} ms of the first call bring the messages over and read them, ${crossing.toFixed(1)} ms (${((100 * crossing) / first).toFixed(0)} %) the former`);

// Their function counts what is left after each message that it takes away, all of it: with a counter that only counts
// it does not end within an hour. So theirs remembers what it counted.
const encoder = new Tiktoken(o200k);
const known = new Map();
function cost({ content }) {
  let tokens = known.get(content);
  if (tokens === undefined) known.set(content, (tokens = 3 + encoder.encode(content, [], []).length));
  return tokens;
}
const tokenCounter = (messages) => messages.reduce((sum, one) => sum + cost(one), 0);
const own = plain.map(({ role, content }) => (role === "user" ? new HumanMessage(content) : new AIMessage(content)));
let trimmed = 0;
const trim = () =>
  taken(async () => {
    trimmed = (await trimMessages(own, { maxTokens: BUDGET, tokenCounter, strategy: "last" })).length;
  });
const [theirFirst, theirNext] = [await trim(), await trim()];
console.log(`@langchain/core trimMessages with js-tiktoken that remembers: first ${theirFirst.toFixed(0)} ms (${trimmed} kept), next ${theirNext.toFixed(0)} ms`);
console.log(`ctx is ${(theirFirst / first).toFixed(0)} times as fast on the first call, ${(theirNext / next).toFixed(0)} times on the next`);
