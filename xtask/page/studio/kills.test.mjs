// The server is killed at chance moments while somebody types and saves, changes a conversation or is answered: the file
// is whole, and nothing typed is lost.
// KILLS says how often; the moments are drawn from SEED.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { api, close, ctx, folder, open, openEntry, serve } from "./harness.mjs";
import { provider, stream } from "./provider.mjs";

after(close);

const KILLS = Number(process.env.KILLS ?? 4);
const WORDS = "seeds want warmth and light before they want water";

/** Numbers from 0 to 1, the same for the same seed (xorshift). */
function draws(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Saves without a key that would be held down while letters are typed. */
const pressSave = (page) => page.evaluate(() => document.querySelector("[data-test=save]").click());
const draw = draws(Number(process.env.SEED ?? 7));

test(`killed ${KILLS} times while typing and saving`, async (t) => {
  const path = folder();
  const place = join(path, "agent.yaml");
  const [before, after] = readFileSync(place, "utf8").split("Answer in two sentences.");
  let server = await serve(path);
  t.after(() => server.stop());
  const port = new URL(server.link).port;
  const { context, page: first } = await open(server);
  t.after(() => context.close());
  let page = first;
  for (let kill = 0; kill < KILLS; kill++) {
    const text = `${kill} ${WORDS}`;
    const row = await openEntry(page, "reminder");
    await row.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    // Some moments are within the typing, some just after the last letter was taken.
    const at = draw() * 900;
    const killed = pause(at).then(() => server.kill());
    const saved = draw() < 0.6 ? pause(draw() * at).then(() => pressSave(page)) : undefined;
    await page.keyboard.type(text, { delay: draw() * 10 });
    await Promise.all([killed, saved]);
    const now = readFileSync(place, "utf8");
    assert.ok(now.startsWith(before) && now.endsWith(after), `after ${kill} kills:\n${now}`);
    server = await serve(path, port);
    await page.close();
    page = await context.newPage();
    await page.goto(server.link);
    await openEntry(page, "reminder");
    const kept = page.locator(".entry[data-id=reminder] .cm-content");
    await kept.filter({ hasText: text }).waitFor();
    assert.equal(await kept.textContent(), text);
  }
  // What was drafted all along is saved, and nothing else has changed.
  await page.keyboard.press("Control+s");
  await page.locator("[data-test=dirty]:not(.on)").waitFor();
  const saved = readFileSync(place, "utf8");
  assert.ok(saved.startsWith(before) && saved.endsWith(after) && saved.includes(`${KILLS - 1} ${WORDS}`), saved);
});

/**
 * Does something with a conversation, again and again, while the server is killed KILLS times, or more often where
 * nothing was done in time; after each the nodes of its file are looked at. What was begun when the server went may be
 * done or not.
 */
async function killed(t, { said, answers = [], least = 0, isEnough }, work, look) {
  const path = folder();
  const { address } = await provider(t, answers);
  const home = mkdtempSync(join(tmpdir(), "home-"));
  writeFileSync(join(home, "ctx.toml"), `model = "gpt-4o"\n[endpoint]\nbase-url = "${address}"\n`);
  process.env.CTX_HOME = home;
  writeFileSync(join(path, "chat.json"), JSON.stringify(said));
  let server = await serve(path);
  t.after(() => server.stop());
  const port = new URL(server.link).port;
  const talk = { path, ask: await api(server) };
  const { files } = (await talk.ask("GET", "project")).value;
  const idOf = (name) => files.find((one) => one.path === name).id;
  talk.id = (await talk.ask("POST", `conversations/${idOf("chat.json")}/session`, {})).value.id;
  talk.agent = idOf("agent.yaml");
  for (let kill = 0; kill < KILLS || (!isEnough() && kill < 20 * KILLS); kill++) {
    let isThere = true;
    const gone = pause(least + draw() * 900).then(() => {
      isThere = false;
      return server.kill();
    });
    while (isThere) {
      try {
        await work(talk);
      } catch (error) {
        if (isThere || error instanceof assert.AssertionError) throw error;
      }
    }
    await gone;
    look(JSON.parse(readFileSync(join(path, "chat.session.json"), "utf8")).nodes, `after ${kill + 1} kills`);
    server = await serve(path, port);
    talk.ask = await api(server);
  }
  ctx(path, "check", "chat.session.json");
  return talk;
}

const base = async ({ ask, id }) => (await ask("GET", `conversations/${id}`)).value.hash;

/** Waits until a model has written what it was asked for. */
async function written({ ask, id }) {
  for (;;) {
    const { value: turn } = await ask("GET", `conversations/${id}/turn`);
    if (!turn.isRunning) return turn;
    await pause(5);
  }
}

const active = (path) => JSON.parse(ctx(path, "session", "show", "chat.session.json", "--json")).path;
const texts = (nodes) => Object.values(nodes).map(({ content }) => content);
const chat = (count) =>
  Array.from({ length: count }, (_, at) => ({ role: at % 2 ? "assistant" : "user", content: `${at} ${WORDS}` }));

test(`killed ${KILLS} times while a conversation is changed and compressed`, async (t) => {
  const done = [];
  const summaries = [];
  let number = 0;
  const work = async (talk) => {
    const text = `step ${++number}`;
    const isCompressing = draw() < 0.3;
    const [verb, body] = isCompressing
      ? ["compress", { range: { kind: "all" } }]
      : ["steps", { step: { kind: "append", role: "user", text } }];
    const { ok, value } = await talk.ask("POST", `conversations/${talk.id}/${verb}`, { base: await base(talk), ...body });
    if (ok && isCompressing) summaries.push(value.id);
    else if (ok) done.push(text);
  };
  const isEnough = () => done.length >= KILLS && summaries.length > 0;
  const { path } = await killed(t, { said: chat(40), isEnough }, work, (nodes, when) => {
    const kept = texts(nodes);
    for (const text of done) assert.ok(kept.includes(text), `${text} is lost ${when}`);
    for (const id of summaries) assert.ok(id in nodes, `the summary ${id} is lost ${when}`);
  });
  assert.ok(isEnough(), `${done.length} steps, ${summaries.length} summaries`);
  const shown = active(path).map(({ text }) => text);
  for (const text of done) assert.equal(shown.filter((one) => one === text).length, 1, `${text} is there once`);
});

test(`killed ${KILLS} times while a model answers`, async (t) => {
  // Some answers come at once, others are still being written when the server goes.
  const answers = Array.from({ length: 400 * KILLS }, () => stream(1 + Math.floor(draw() * 40), 100));
  // Turns of which the server has said that they are over.
  const answered = [];
  let number = 0;
  const work = async (talk) => {
    const input = `question ${++number}`;
    const body = { base: await base(talk), agent: talk.agent, turn: { input } };
    const begun = await talk.ask("POST", `conversations/${talk.id}/turns`, body);
    assert.ok(begun.ok, JSON.stringify(begun.value));
    assert.equal((await written(talk)).failure, undefined);
    answered.push(input);
  };
  const isEnough = () => answered.length > 0;
  const { path } = await killed(t, { said: chat(2), answers, least: 100, isEnough }, work, (nodes, when) => {
    const kept = texts(nodes);
    for (const text of answered) assert.equal(kept.filter((one) => one === text).length, 1, `${text} ${when}`);
  });
  assert.ok(isEnough(), "something was answered");
  const said = active(path);
  for (const text of answered) {
    const next = said[said.findIndex((one) => one.text === text) + 1];
    assert.equal(next?.role, "assistant", `${text} has its answer`);
    assert.match(next.text, /^piece 0\b/);
  }
});

test(`killed ${KILLS} times while a model writes summaries`, async (t) => {
  const answers = Array.from({ length: 400 * KILLS }, () => stream(1 + Math.floor(draw() * 20), 100));
  const summaries = [];
  const work = async (talk) => {
    const summary = summaries.at(-1);
    // A new one of all messages, and from then on that one again and again.
    const of = summary === undefined ? { kind: "range", range: { kind: "all" } } : { kind: "again", id: summary };
    const body = { with: { base: await base(talk), agent: talk.agent }, summary: of };
    const begun = await talk.ask("POST", `conversations/${talk.id}/summaries`, body);
    if (!begun.ok) {
      // The first summary is there, only nobody was told.
      const { rows } = (await talk.ask("GET", `conversations/${talk.id}`)).value;
      const there = rows.find((row) => row.summary);
      assert.ok(there, begun.value.message);
      return void summaries.push(there.id);
    }
    const { failure, summary: work } = await written(talk);
    assert.equal(failure, undefined);
    if (work?.taken) summaries.push(work.taken.id);
  };
  const isEnough = () => summaries.length > 1;
  const { path } = await killed(t, { said: chat(40), answers, least: 100, isEnough }, work, (nodes, when) => {
    for (const id of summaries) assert.match(nodes[id].content, /^piece 0\b/, `the summary ${id} ${when}`);
    const hidden = Object.values(nodes).filter(({ content }) => content.includes(WORDS));
    assert.equal(hidden.length, 40, `no message is lost ${when}`);
  });
  assert.ok(isEnough(), "something was compressed");
  assert.ok(active(path).some(({ id }) => id === summaries.at(-1)), "the summary stands in the path");
});
