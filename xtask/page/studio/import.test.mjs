// Imports lead with what a person recognizes, and the preview follows the edited entry.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { axe, close, files, folder, open, openEntry, serve, settled } from "./harness.mjs";

after(close);

async function studio(t, path, options) {
  const server = await serve(path);
  t.after(() => server.stop());
  const opened = await open(server, options);
  t.after(() => opened.context.close());
  return { server, ...opened };
}

const CARD = {
  spec: "chara_card_v2",
  spec_version: "2.0",
  data: {
    name: "Ada",
    description: "Ada mends clocks.",
    personality: "",
    first_mes: "Good morning.",
    alternate_greetings: ["Good evening."],
    tags: [],
    extensions: { talkativeness: "0.5" },
    character_book: {
      name: "Clocks",
      extensions: {},
      entries: [
        { keys: ["clock"], content: "Clocks tick.", extensions: {}, enabled: true, insertion_order: 1 },
        { keys: ["bell"], content: "Bells ring.", extensions: {}, enabled: false, insertion_order: 2 },
      ],
    },
  },
};
const PRESET = {
  prompts: [
    { identifier: "main", name: "Main", role: "system", content: "Be exact." },
    { identifier: "nsfw", name: "Style", role: "system", content: "Be brief." },
    { identifier: "off", name: "Off", role: "system", content: "Never." },
  ],
  prompt_order: [
    {
      character_id: 100001,
      order: [
        { identifier: "main", enabled: true },
        { identifier: "nsfw", enabled: true },
        { identifier: "off", enabled: false },
      ],
    },
  ],
};

const asFile = (name, value) => ({
  name,
  mimeType: "application/json",
  buffer: Buffer.from(typeof value === "string" ? value : JSON.stringify(value)),
});

async function choose(page, chosen) {
  await page.getByRole("link", { name: /^(Import|导入)$/ }).click();
  await page.locator("[data-test=files]").setInputFiles(chosen);
  await page.locator("[data-test=import-write]:enabled").waitFor();
}

const lines = (page) => page.locator("[data-test=import-files] > li p").allTextContents();

test("an import names what each file holds, and what changed by reason", async (t) => {
  const { page, problems } = await studio(t, folder());
  await choose(page, [asFile("Ada.json", CARD), asFile("My Preset.json", PRESET), asFile("notes.bin", "\u0000\u0001")]);
  await page.locator("[data-test=import-files] > li").nth(2).waitFor();
  assert.deepEqual(await lines(page), [
    "Character Ada · 2 greetings · 2 worldbook entries, 1 enabled",
    "3 prompts, 2 enabled",
    "Not recognized",
  ]);
  assert.equal(await page.locator("[data-test=import-folder]").inputValue(), "ada");
  // One line for each reason, whose fields open; empty fields are only counted.
  const kept = page.locator("[data-test=changed-kept] .reason").first();
  assert.equal(await kept.locator("code").first().isVisible(), false);
  await kept.locator("summary").focus();
  await page.keyboard.press("Enter");
  await kept.locator("code").first().waitFor();
  // All fields on request.
  assert.equal(await page.locator(".by-field").count(), 0);
  await page.locator("[data-test=all-fields] > summary").click();
  const rows = page.locator(".by-field tbody tr");
  await rows.first().waitFor();
  const all = await rows.count();
  await page.locator("[data-test=filter-mapped]").click();
  await page.waitForFunction((all) => document.querySelectorAll(".by-field tbody tr").length < all, all);
  assert.deepEqual(problems, []);
});

test("Discard ends an import, also while files are sent", async (t) => {
  const path = folder();
  const { page, problems } = await studio(t, path);
  await choose(page, [asFile("Ada.json", CARD)]);
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const sent = [];
  await page.route("**/api/import?*", async (route) => {
    sent.push(new URL(route.request().url()).searchParams.get("name"));
    await held;
    await route.continue();
  });
  await page.locator("[data-test=files]").setInputFiles([asFile("a.json", PRESET), asFile("b.json", PRESET)]);
  await page.locator(".import-page [role=status]").waitFor();
  assert.equal(await page.locator("[data-test=import-write]").isDisabled(), true, "files are on their way");
  await page.getByRole("button", { name: "Discard" }).click();
  await page.locator(".drop-target").waitFor();
  const discarded = page.waitForResponse(/import\/discard/);
  release();
  // What arrives later is discarded too.
  await discarded;
  await page.locator(".drop-target").waitFor();
  assert.equal(await page.locator("[data-test=import-files], .import-page [role=status]").count(), 0);
  assert.deepEqual(sent, ["a.json"], "the other file is not sent");
  assert.deepEqual(problems, []);
});

test("the folder of an import is checked while it is typed", async (t) => {
  const path = folder();
  const { page, problems } = await studio(t, path);
  await choose(page, [asFile("My Preset (v2).json", PRESET)]);
  const field = page.locator("[data-test=import-folder]");
  const write = page.locator("[data-test=import-write]");
  assert.equal(await field.inputValue(), "my-preset-v2", "named after the file");
  await field.fill("a:b");
  await page.locator(".writes small.wrong").filter({ hasText: ":" }).waitFor();
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  assert.equal(await write.isDisabled(), true);
  await field.fill("presets/mine");
  await page.locator("[data-test=import-write]:enabled").waitFor();
  assert.equal(await field.getAttribute("aria-invalid"), null);
  await write.click();
  await page.waitForFunction(() => location.hash.startsWith("#/preset/"));
  assert.ok("presets/mine/agent.yaml" in files(path));
  // The same folder again: nothing is replaced without a word.
  await choose(page, [asFile("My Preset (v2).json", PRESET)]);
  await field.fill("presets/mine");
  await page.locator(".writes .check input").waitFor();
  assert.equal(await write.isDisabled(), true);
  await page.locator(".writes .check input").check();
  assert.equal(await write.isDisabled(), false);
  assert.deepEqual(problems, []);
});

test("an import is previewed before it is written, also in a narrow window", async (t) => {
  const path = folder();
  const before = files(path);
  const { page, problems } = await studio(t, path);
  await choose(page, [asFile("Ada.json", CARD)]);
  await page.locator(".row .head").filter({ hasText: "Ada mends clocks." }).waitFor();
  await page.locator("[data-test=import-note]").waitFor();
  // Another file of the same import changes the preview.
  await page.locator("[data-test=files]").setInputFiles([asFile("My Preset.json", PRESET)]);
  await page.locator(".row .head").filter({ hasText: "Be exact." }).waitFor();
  const row = page.locator(".row:not(.dropped)").first();
  await row.locator(".line").click();
  await row.locator("[data-test=life] li").first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Open entry" }).count(), 0, "it is in no file yet");
  await page.setViewportSize({ width: 400, height: 800 });
  await page.locator("[data-test=import-preview]").click();
  await page.waitForFunction(() => location.hash.startsWith("#/preview"));
  await page.locator(".row .head").filter({ hasText: "Be exact." }).waitFor();
  await page.getByRole("button", { name: "Back to import" }).click();
  await page.locator("[data-test=import-write]").waitFor();
  await page.setViewportSize({ width: 1280, height: 900 });
  assert.deepEqual(files(path), before, "a preview writes nothing");
  // Elsewhere the preview is that of the open agent again.
  await page.getByRole("link", { name: "Preset" }).click();
  await page.locator(".row .head").filter({ hasText: "patient gardener" }).waitFor();
  assert.equal(await page.locator("[data-test=import-note]").count(), 0);
  assert.deepEqual(problems, []);
});

/** An agent whose messages fill several screens. */
function longAgent(path, entries) {
  const one = (n) => `  - {id: e${n}, name: Rule ${n}, role: ${n % 2 ? "user" : "assistant"}, content: "Rule ${n} of {{char}}."`;
  const list = Array.from({ length: entries }, (_, n) => `${one(n)}${n === 1 ? ", isEnabled: false" : ""}}\n`);
  writeFileSync(join(path, "agent.yaml"), `name: Robin\npresetMessages:\n${list.join("")}`);
}

const scrollOf = (page) => page.locator("#inspector-panel").evaluate((panel) => panel.scrollTop);

test("the preview shows the edited entry, and keeps its place", async (t) => {
  const path = folder();
  longAgent(path, 40);
  const { page, problems } = await studio(t, path);
  await settled(page);
  const opened = await openEntry(page, "Rule 30");
  const current = page.locator(".row[aria-current=true]");
  await current.waitFor();
  assert.match(await current.locator(".source").textContent(), /Rule 30/);
  const isInView = () =>
    page.waitForFunction(() => {
      const panel = document.querySelector("#inspector-panel").getBoundingClientRect();
      const row = document.querySelector(".row[aria-current=true]").getBoundingClientRect();
      return row.top >= panel.top && row.bottom <= panel.bottom;
    });
  await isInView();
  // The row stays open and in its place while its text is edited.
  await current.locator(".line").click();
  await current.locator(".opened .text").waitFor();
  const before = await scrollOf(page);
  await opened.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" Edited");
  await current.locator(".opened .text").filter({ hasText: "Edited" }).waitFor();
  assert.ok(await page.evaluate(() => document.activeElement.classList.contains("cm-content")), "the focus stays");
  assert.equal(await scrollOf(page), before);
  // Tabs and pages keep the place too.
  await page.locator("#inspector-stages").click();
  await page.locator("#inspector-messages").click();
  await isInView();
  await page.getByRole("link", { name: "Compare" }).click();
  await page.getByRole("link", { name: "Preset" }).click();
  await page.waitForFunction(() => document.querySelector("#inspector-panel").scrollTop > 0);
  assert.deepEqual(problems, []);
});

test("disabled entries are hidden in the preview until they are asked for", async (t) => {
  const path = folder();
  longAgent(path, 4);
  const { page, problems } = await studio(t, path);
  await settled(page);
  assert.equal(await page.locator(".row").filter({ hasText: "Rule 1" }).count(), 0);
  await page.locator("[data-test=show-disabled]").focus();
  await page.keyboard.press("Space");
  await page.locator(".row.dropped .why").filter({ hasText: "disabled" }).waitFor();
  assert.equal(await page.locator(".row:not(.dropped) .number").first().textContent(), "1", "numbers begin at 1");
  assert.deepEqual(problems, []);
});

test("names, never ids, and one number for a message everywhere", async (t) => {
  const path = folder();
  const { page, problems } = await studio(t, path);
  await settled(page);
  const history = page.locator('.row [title^="history: history:"], .row [title^="历史消息"]').first();
  assert.match(await history.textContent(), /^Chat message \d+$/);
  await page.locator("#inspector-decisions").click();
  const names = await page.locator(".decisions li b").allTextContents();
  assert.ok(names.length > 0 && names.every((name) => !/^\w+:/.test(name)), names.join());
  await page.locator("#inspector-messages").click();
  const row = page.locator(".row:not(.dropped)").first();
  const number = await row.locator(".number").textContent();
  await row.locator(".line").click();
  await row.locator("[data-test=life] li").filter({ hasText: `message ${number}` }).first().waitFor();
  assert.deepEqual(problems, []);
});

test("a comparison names the right messages: added, moved, removed", async (t) => {
  const path = folder();
  const agent = (list) =>
    writeFileSync(join(path, "agent.yaml"), `name: Robin\nhistoryWhenUnplaced: omit\npresetMessages:\n${list.map((one) => `  - ${one}\n`).join("")}`);
  const [a, b, c] = ["Alpha", "Beta", "Gamma"].map((name, n) => [
    `{id: ${name}, role: ${["system", "user", "assistant"][n]}, content: ${name} text, isEnabled: `,
    name,
  ]);
  const [on, off] = [([one]) => `${one}true}`, ([one]) => `${one}false}`];
  const first = "{id: First, role: assistant, content: First text}";
  agent([off(a), first, on(b), on(c)]);
  const { page, problems } = await studio(t, path);
  await settled(page);
  await page.locator("[data-test=pin]").click();
  await page.getByRole("link", { name: "Compare" }).click();
  await page.locator("[data-test=equal]").waitFor();
  agent([on(a), on(c), on(b)]);
  await page.locator(".compared .added").waitFor();
  const line = async (kind) => page.locator(`.compared > .${kind}`).allTextContents();
  assert.match((await line("added")).join(), /added.*–.*1.*Alpha.*Alpha text/s);
  assert.match((await line("removed")).join(), /removed.*1.*–.*First.*First text/s);
  const [moved] = await line("moved");
  assert.match(moved, /moved.*(2.*3.*Beta|3.*2.*Gamma)/s);
  await page.locator("[data-test=difference]").filter({ hasText: /^First differenceMessage 1/ }).waitFor();
  assert.deepEqual(problems, []);
});

for (const [lang, theme, width] of [["en", "light", 1440], ["zh", "dark", 400]])
  test(`import, long messages and comparison are accessible (${lang}, ${theme}, ${width})`, async (t) => {
    const path = folder();
    const text = readFileSync(join(path, "agent.yaml"), "utf8");
    writeFileSync(join(path, "agent.yaml"), text.replace("a patient gardener.", `a patient gardener. ${"A long text. ".repeat(600)}`));
    const { page } = await studio(t, path, { lang, theme, width });
    const check = async (what) => {
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
      const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      assert.deepEqual(told, [], what);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.equal(wide, false, `${what} is wider than the window`);
    };
    await page.evaluate(() => (location.hash = "#/preview"));
    await settled(page);
    await page.locator(".row:not(.dropped) > .line").first().click();
    await page.locator(".opened .text[tabindex='0']").waitFor();
    await check("a long message");
    await page.evaluate(() => (location.hash = "#/import"));
    await page.locator("[data-test=files]").setInputFiles([asFile("Ada.json", CARD), asFile("My Preset.json", PRESET)]);
    await page.locator("[data-test=import-write]:enabled").waitFor();
    await page.locator("[data-test=all-fields] > summary").click();
    await page.locator(".by-field").waitFor();
    await page.locator("[data-test=import-folder]").fill("a:b");
    await page.locator(".writes small.wrong").waitFor();
    await check("an import");
  });
