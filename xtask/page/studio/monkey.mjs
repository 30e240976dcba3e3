// Clicks and types at random, always the same for one SEED, for so many MINUTES; what a silent page never does ends it.
// At the end the page, the drafts, the files and the store say the same.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { close, ctx, folder, open, openTalk, serve } from "./harness.mjs";

const MINUTES = Number(process.env.MINUTES ?? 60);
let state = Number(process.env.SEED ?? 7);

/** A number from 0 to 1 (xorshift). */
function draw() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}
const pick = (list) => list[Math.floor(draw() * list.length)];

// A store of its own.
const home = mkdtempSync(join(tmpdir(), "home-"));
process.env.CTX_HOME = home;
const path = folder();
const book = { name: "Garden", entries: { 0: { uid: 0, key: ["basil"], content: "Green." }, 1: { uid: 1, key: ["water"], content: "Wet." } } };
writeFileSync(join(path, "garden.json"), JSON.stringify(book, null, 2));
const said = Array.from({ length: 60 }, (_, at) => ({ role: at % 2 ? "assistant" : "user", content: `Room ${at} is Ada's until 3 May.` }));
writeFileSync(join(path, "chat.json"), JSON.stringify(said));
const server = await serve(path);
const { page, problems } = await open(server);
page.setDefaultTimeout(2000);
await page.locator(".to-talk a").click();
await openTalk(page, "chat.json");
await page.locator("[data-test=make-session]").click();
await page.locator("[data-test=composer]").waitFor();

const PAGES = ["preset", "pipeline", "talk", "books", "preview", "compare"];
const TEXTS = ["basil", "{{user}}", "12", "é中文\n𝄞", "", "-1", "<b>x</b>", "{{"];
/** An answer that refuses is told on the console by the browser itself. */
const isFault = (line) => !/Failed to load resource: .* status of 4\d\d/.test(line);

/** One action on something that can be seen. */
async function act() {
  const kind = draw();
  if (kind < 0.06) return page.locator(`.to-${pick(PAGES)} a:visible`).click();
  if (kind < 0.12) return page.keyboard.press(pick(["Control+z", "Control+y", "Control+s", "Escape", "Tab", "Alt+ArrowDown", "Enter"]));
  const selector = kind < 0.7 ? "button:enabled:visible, summary:visible" : kind < 0.9 ? ":is(input, textarea):enabled:visible" : "select:enabled:visible";
  // A modal dialog stands before all else.
  const within = (await page.locator("dialog[open]").count()) > 0 ? page.locator("dialog[open]") : page.locator("#app");
  const all = within.locator(selector);
  const count = await all.count();
  if (count === 0) return;
  const one = all.nth(Math.floor(draw() * count));
  if (kind < 0.7) return one.click();
  if (kind >= 0.9) return one.selectOption({ index: Math.floor(draw() * (await one.locator("option").count())) });
  const type = await one.getAttribute("type");
  if (type === "checkbox" || type === "radio") return one.click();
  if (type === "range" || type === "file" || type === "datetime-local") return;
  await one.fill(pick(TEXTS));
}

const end = Date.now() + MINUTES * 60_000;
let [done, missed] = [0, 0];
while (Date.now() < end) {
  try {
    await act();
    done++;
  } catch (error) {
    // What was drawn is gone or covered by now.
    if (!/Timeout|intercepts|detached|not visible|cannot be filled|strict mode|not an? <(input|select)/.test(error.message)) throw error;
    missed++;
  }
  const faults = problems.filter(isFault);
  assert.deepEqual(faults, [], `after ${done} actions`);
}

// The page, the drafts, the files and the store say the same.
page.setDefaultTimeout(90_000);
// Edits that the server refused, or that are on their way, are kept by the page; the browser asks whether to leave it.
page.removeAllListeners("dialog");
page.on("dialog", (dialog) => void dialog.accept());
await page.evaluate(() => (location.hash = "#/chat"));
await page.reload();
await openTalk(page, "chat.session.json");
await page.locator("[data-test=path]").waitFor();
/** What is shown of a conversation in a file, as the command tells it. */
const shown = (file) => {
  const told = JSON.parse(ctx(path, "session", "show", file, "--json")).path;
  return told.filter(({ state }) => state !== "hidden").map(({ id }) => id).slice(-200);
};
await page.waitForFunction(
  (expected) => [...document.querySelectorAll(".message")].map((one) => one.dataset.id).join() === expected.join(),
  shown("chat.session.json"),
);
const [files, stored] = await page.evaluate(async () => {
  const token = localStorage.getItem(`ctx-studio/${localStorage.getItem("ctx-studio/last")}/token`);
  const ask = async (path) => (await fetch(`/api/${path}`, { headers: { authorization: `Bearer ${token}` } })).json();
  const { files } = await ask("project");
  const texts = files.filter(({ isDirty, isStored }) => !isDirty && !isStored);
  const conversations = files.filter(({ isStored }) => isStored);
  return Promise.all([
    Promise.all(texts.map(async ({ id, path }) => [path, (await ask(`files/${id}`)).text])),
    Promise.all(conversations.map(async ({ id }) => (await ask(`conversations/${id}`)).rows.map((row) => row.id))),
  ]);
});
for (const [name, text] of files)
  if (name !== "ctx.toml") assert.equal(text, readFileSync(join(path, name), "utf8").replace(/^\uFEFF/, ""), name);
const names = JSON.parse(ctx(path, "session", "list", "--json")).map(({ id }) => id);
assert.equal(stored.length, names.length);
for (const [at, name] of names.entries()) {
  const copy = join(home, "copy.json");
  writeFileSync(copy, ctx(path, "session", "export", name));
  assert.deepEqual(stored[at], shown(copy), name);
}
console.log(`studio: ${done} actions, ${missed} missed, no fault (seed ${process.env.SEED ?? 7}, ${MINUTES} minutes)`);
await close();
await server.stop();
