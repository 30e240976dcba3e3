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

test(`killed ${KILLS} times while a conversation is changed and compressed`, async (t) => {
  const path = folder();
  const said = Array.from({ length: 40 }, (_, at) => ({ role: at % 2 ? "assistant" : "user", content: `${at} ${WORDS}` }));
  writeFileSync(join(path, "chat.json"), JSON.stringify(said));
  let server = await serve(path);
  t.after(() => server.stop());
  const port = new URL(server.link).port;
  let ask = await api(server);
  const idOf = async (name) => (await ask("GET", "project")).value.files.find((one) => one.path === name).id;
  const made = await ask("POST", `conversations/${await idOf("chat.json")}/session`, {});
  const id = made.value.id;
  const file = join(path, "chat.session.json");
  // What the server has said is done; a step whose answer did not come may be done or not.
  const done = [];
  let number = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const killed = pause(draw() * 700).then(() => server.kill());
    let isThere = true;
    void killed.then(() => (isThere = false));
    while (isThere) {
      try {
        const base = (await ask("GET", `conversations/${id}`)).value.hash;
        const text = `step ${++number}`;
        const isCompressing = draw() < 0.15;
        const [verb, body] = isCompressing
          ? ["compress", { base, range: { kind: "all" } }]
          : ["steps", { base, step: { kind: "append", role: "user", text } }];
        const { ok } = await ask("POST", `conversations/${id}/${verb}`, body);
        if (ok && !isCompressing) done.push(text);
      } catch {
        // The server is gone.
      }
    }
    await killed;
    const kept = Object.values(JSON.parse(readFileSync(file, "utf8")).nodes).map(({ content }) => content);
    for (const text of done) assert.ok(kept.includes(text), `${text} is lost after ${kill + 1} kills`);
    server = await serve(path, port);
    ask = await api(server);
  }
  assert.ok(done.length >= KILLS, `${done.length} steps`);
  const texts = JSON.parse(ctx(path, "session", "show", "chat.session.json", "--json")).path.map(({ text }) => text);
  for (const text of done) assert.equal(texts.filter((one) => one === text).length, 1, `${text} is there once`);
});

test(`killed ${KILLS} times while a model answers`, async (t) => {
  const path = folder();
  // Some answers come at once, others are still being written when the server goes.
  const answers = Array.from({ length: 400 * KILLS }, () => stream(1 + Math.floor(draw() * 40), 100));
  const { address } = await provider(t, answers);
  const home = mkdtempSync(join(tmpdir(), "home-"));
  writeFileSync(join(home, "ctx.toml"), `model = "gpt-4o"\n[endpoint]\nbase-url = "${address}"\n`);
  process.env.CTX_HOME = home;
  writeFileSync(join(path, "chat.json"), JSON.stringify([{ role: "user", content: "Hello" }, { role: "assistant", content: "Hi" }]));
  let server = await serve(path);
  t.after(() => server.stop());
  const port = new URL(server.link).port;
  let ask = await api(server);
  const idOf = async (name) => (await ask("GET", "project")).value.files.find((one) => one.path === name).id;
  const { id } = (await ask("POST", `conversations/${await idOf("chat.json")}/session`, {})).value;
  const agent = await idOf("agent.yaml");
  const file = join(path, "chat.session.json");
  const nodes = () => Object.values(JSON.parse(readFileSync(file, "utf8")).nodes);
  // Turns of which the server has said that they are over.
  const answered = [];
  let number = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const killed = pause(100 + draw() * 900).then(() => server.kill());
    let isThere = true;
    void killed.then(() => (isThere = false));
    while (isThere) {
      try {
        const base = (await ask("GET", `conversations/${id}`)).value.hash;
        const input = `question ${++number}`;
        const begun = await ask("POST", `conversations/${id}/turns`, { base, agent, turn: { input } });
        assert.ok(begun.ok, JSON.stringify(begun.value));
        for (;;) {
          const { value: turn } = await ask("GET", `conversations/${id}/turn`);
          if (!turn.isRunning) {
            assert.equal(turn.failure, undefined);
            answered.push(input);
            break;
          }
          await pause(5);
        }
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        // The server is gone.
      }
    }
    await killed;
    const texts = nodes().map(({ content }) => content);
    for (const text of answered) assert.equal(texts.filter((one) => one === text).length, 1, `${text} after ${kill + 1} kills`);
    server = await serve(path, port);
    ask = await api(server);
  }
  assert.ok(answered.length > 0, `${answered.length} answers`);
  const said = JSON.parse(ctx(path, "session", "show", "chat.session.json", "--json")).path;
  for (const text of answered) {
    const next = said[said.findIndex((one) => one.text === text) + 1];
    assert.equal(next?.role, "assistant", `${text} has its answer`);
    assert.match(next.text, /^piece 0 /);
  }
  ctx(path, "check", "chat.session.json");
});
