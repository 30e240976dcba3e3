// What fitting takes beside the function of @langchain/core that it can stand for, counting with js-tiktoken; prints
// figures of processor time, which says more than a clock on a machine that others use too.

import { AIMessage, HumanMessage, trimMessages } from "@langchain/core/messages";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";

import * as ctx from "ctx-engine";

const [COUNT, BUDGET, MODEL] = [10_000, 128_000, "gpt-4o"];
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
const [firsts, nexts, crossings] = [[], [], []];
let kept = 0;
for (let round = 0; round < 5; round += 1) {
  let conversation;
  const crossing = await taken(async () => (conversation = await ctx.Conversation.of(plain)));
  const fitting = await taken(async () => (kept = (await conversation.fit(BUDGET, { model: MODEL })).length));
  crossings.push(crossing);
  firsts.push(crossing + fitting);
  const next = await taken(async () => {
    for (let number = 0; number < 20; number += 1) {
      conversation.append({ role: number % 2 === 0 ? "user" : "assistant", content: text(number) });
      await conversation.fit(BUDGET, { model: MODEL });
    }
  });
  nexts.push(next / 20);
  conversation.free();
}
const [first, next] = [median(firsts), median(nexts)];
console.log(`ctx: first call ${first.toFixed(1)} ms (${kept} messages kept), next ${next.toFixed(2)} ms`);
console.log(`ctx: ${median(crossings).toFixed(1)} ms of the first call bring the messages over and read them`);

const encoder = new Tiktoken(o200k);
const tokenCounter = (messages) => messages.reduce((sum, one) => sum + 3 + encoder.encode(one.content, [], []).length, 0);
const own = plain.map(({ role, content }) => (role === "user" ? new HumanMessage(content) : new AIMessage(content)));
let trimmed = 0;
const theirs = await taken(async () => {
  trimmed = (await trimMessages(own, { maxTokens: BUDGET, tokenCounter, strategy: "last" })).length;
});
console.log(`@langchain/core trimMessages with js-tiktoken: ${theirs.toFixed(0)} ms (${trimmed} kept), on every call`);
console.log(`ctx is ${(theirs / first).toFixed(0)} times as fast on the first call, ${(theirs / next).toFixed(0)} times on the next`);
