// Job 9: a worldbook is edited as a table, and tested against a conversation.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, ctx, files, focused, folder, open, save, serve, settled } from "./harness.mjs";
import { studio as chatting, words } from "./provider.mjs";

after(close);

const BOOK = `{
  "name": "Garden",
  "entries": {
    "0": { "uid": 0, "key": ["basil", "herbs"], "comment": "Basil", "content": "Basil is sown in May.", "order": 10 },
    "1": { "uid": 1, "key": ["May"], "comment": "May", "content": "May is warm.", "position": 4, "depth": 2 },
    "2": { "uid": 2, "key": ["dragon"], "comment": "Dragon", "content": "No dragons here.", "order": 30 },
    "3": { "uid": 3, "key": ["basil"], "comment": "Off", "content": "Unused.", "disable": true }
  }
}
`;
const CHAT = '[{ "role": "user", "content": "When do I sow BASIL?" }, { "role": "assistant", "content": "Soon." }]\n';

async function studio(t, options) {
  const path = folder();
  writeFileSync(join(path, "garden.json"), BOOK);
  writeFileSync(join(path, "chat.json"), CHAT);
  const server = await serve(path);
  t.after(() => server.stop());
  const opened = await open(server, options);
  t.after(() => opened.context.close());
  const { page } = opened;
  await page.locator("[data-test=conversation]").selectOption({ label: "chat.json" });
  await page.locator(".to-books a").click();
  await page.locator(".book-entries").waitFor();
  return { path, ...opened };
}

const row = (page, uid) => page.locator(`.book-entries tr[data-uid="${uid}"]`);
const found = (page) =>
  page.locator("[data-test=scan] tbody tr").evaluateAll((rows) =>
    rows.map((row) => [row.querySelector("th").textContent, row.dataset.state, row.children[2].textContent]),
  );

test("job 9: the test tells for each entry what the command tells", async (t) => {
  const { page, path, problems } = await studio(t);
  const before = files(path);
  await page.locator("[data-test=books-test]").click();
  await page.locator("[data-test=scan] tbody tr").nth(3).waitFor();
  assert.deepEqual(await found(page), [
    ["Basil", "active", "1"],
    ["May", "active", "2"],
    ["Off", "off", "–"],
    ["Dragon", "no key", "–"],
  ]);
  const told = JSON.parse(ctx(path, "worldbook", "scan", "garden.json", "--session", "chat.json", "--all", "--json"));
  assert.deepEqual(
    told.entries.map(({ title, state }) => [title, state]),
    (await found(page)).map(([title, state]) => [title, state]),
  );
  const budget = page.locator("[data-test=book-budget]");
  assert.equal(Number(await budget.getAttribute("data-tokens")), told.tokens);
  // A click on a key marks its place: in a message, and in the text of another entry.
  const key = (name) => page.locator("[data-test=scan] tr", { hasText: name }).locator("td button");
  await key("Basil").click();
  assert.deepEqual(await page.locator("[data-test=marked] mark").allTextContents(), ["BASIL"]);
  assert.equal(await page.locator("[data-test=marked] .text").textContent(), "When do I sow BASIL?");
  await key("May").first().click();
  await page.locator("[data-test=marked] mark", { hasText: "May" }).waitFor();
  // A text of one's own, in which a key is found that nobody said.
  await page.locator("[data-test=own-text]").check();
  await page.locator("[data-test=searched-text]").fill("Here be a dragon.");
  await page.locator('[data-test=scan] tr[data-state=active][data-id*="2"]').waitFor();
  assert.deepEqual((await found(page))[0].slice(0, 2), ["Dragon", "active"]);
  assert.deepEqual(files(path), before, "a test writes nothing");
  assert.deepEqual(problems, []);
});

test("job 9: rows are chosen and changed together, in one step", async (t) => {
  const { page, path, problems } = await studio(t);
  const before = files(path);
  for (const uid of [0, 2]) await row(page, uid).locator("input[type=checkbox]").check();
  const bulk = page.locator("[data-test=bulk]");
  await bulk.locator("[data-test=bulk-position]").selectOption("4");
  await bulk.locator("[data-test=bulk-depth]").fill("7");
  await page.keyboard.press("Enter");
  await row(page, 0).locator("td", { hasText: "depth 7" }).waitFor();
  await bulk.locator("[data-test=bulk-order]").fill("55");
  await page.keyboard.press("Enter");
  await bulk.locator("button", { hasText: "Disable" }).click();
  await save(page);
  const now = files(path);
  const { entries } = JSON.parse(now["garden.json"]);
  for (const uid of ["0", "2"])
    assert.deepEqual(
      [entries[uid].position, entries[uid].depth, entries[uid].order, entries[uid].disable],
      [4, 7, 55, true],
    );
  assert.deepEqual([entries["1"], entries["3"]], [1, 3].map((uid) => JSON.parse(BOOK).entries[uid]));
  assert.deepEqual({ ...now, "garden.json": "" }, { ...before, "garden.json": "" }, "nothing else is written");
  // Four steps, each for both rows.
  for (let step = 0; step < 4; step++) await page.locator("[data-test=undo]").click();
  await row(page, 0).locator('[role=switch][aria-checked="true"]').waitFor();
  await row(page, 0).locator("td", { hasText: "before the character" }).waitFor();
  await save(page);
  assert.equal(files(path)["garden.json"], BOOK, "taken back to the first byte");
  assert.deepEqual(problems, []);
});

test("job 9: an entry is edited by keyboard alone, and the test follows", async (t) => {
  const { page, path, problems } = await studio(t);
  await settled(page);
  await row(page, 2).locator("th button").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await focused(page, "[data-test=book-name]");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("soon");
  await page.keyboard.press("Tab");
  await row(page, 2).locator(".state.active").waitFor();
  await page.locator('[data-test=scan-figures]:has-text("3 of 4")').waitFor();
  // Opened text, in the editor.
  await page.locator(".opened .cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Dragons came.");
  await save(page);
  const entry = JSON.parse(files(path)["garden.json"]).entries["2"];
  assert.deepEqual([entry.key, entry.content], [["soon"], "Dragons came."]);
  assert.deepEqual(problems, []);
});

test("timed effects are kept by a turn of the page as by the command, and shown by the test", async (t) => {
  const book = { name: "Sky", entries: { 7: { uid: 7, key: ["basil"], comment: "Basil", content: "Basil likes warmth.", sticky: 6 } } };
  const { page, path, bodies, problems } = await chatting(
    t,
    [words("In May."), words("Yes.")],
    () => "",
    (path) => {
      writeFileSync(join(path, "sky.json"), JSON.stringify(book));
      writeFileSync(join(path, "conversation.json"), '[{ "role": "user", "content": "Hello." }]');
    },
  );
  await page.locator(".to-books a").click();
  await page.getByLabel("Use in preview").check();
  await page.locator(".to-talk a").click();
  for (const [at, text] of ["And basil?", "Is that so?"].entries()) {
    await page.locator("[data-test=composer]").fill(text);
    await page.locator("[data-test=send]:enabled").click();
    await page.waitForFunction((count) => document.querySelectorAll(".message").length === count, 3 + 2 * at);
    await page.locator("[data-test=live]").waitFor({ state: "detached" });
  }
  assert.ok(bodies[0].includes("Basil likes warmth."));
  assert.ok(bodies[1].includes("Basil likes warmth."), "it stays");
  const session = JSON.parse(readFileSync(join(path, "conversation.session.json"), "utf8"));
  const states = Object.values(session.nodes).flatMap(({ metadata }) => metadata?.worldbookState ?? []);
  assert.equal(states.length, 1, "kept once, as nothing changed with the second turn");
  // What the page shows is what the command begins with.
  const told = ctx(path, "worldbook", "scan", "sky.json", "--session", "conversation.session.json", "--input", "Hm.");
  const until = /sticky (until .*)/.exec(told)[1];
  await page.locator(".to-books a").click();
  await page.locator("[data-test=books-test]").click();
  const kept = page.locator("[data-test=timed-kept]");
  await kept.locator("summary").click();
  assert.ok((await kept.locator("li").textContent()).includes(until), until);
  assert.deepEqual(problems, []);
});
