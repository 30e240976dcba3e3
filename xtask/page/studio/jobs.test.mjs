// The jobs of the specification from end to end: what is shown, and what is in the folder before and after.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, ctx, entry, files, focused, folder, open, openEntry, order, save, serve, settled } from "./harness.mjs";
import { studio as chatting, words } from "./provider.mjs";

after(close);
const IDS = ["identity", "profile", "history", "reminder", "season"];

async function studio(t, path, options) {
  const server = await serve(path);
  t.after(() => server.stop());
  const opened = await open(server, options);
  t.after(() => opened.context.close());
  return { server, ...opened };
}

test("job 1: the first context, with the figures of the command", async (t) => {
  const path = folder();
  const before = files(path);
  const { page, problems } = await studio(t, path);
  await settled(page);
  assert.deepEqual(await order(page), IDS);
  assert.equal(new URL(page.url()).hash.includes("code"), false, "the code stays in the address");
  await equals(page, JSON.parse(ctx(path, "assemble", "--json")));
  // With a budget that leaves something out, and one that cannot be met.
  await page.locator("[data-test=input]").fill("Hi");
  await page.locator("[data-test=budget]").fill("84");
  await page.keyboard.press("Enter");
  await settled(page);
  await equals(page, JSON.parse(ctx(path, "assemble", "--json", "--input", "Hi", "--context-tokens", "84")));
  assert.ok(await page.locator(".row.dropped .why").count(), "what was left out stands at its place, with its reason");
  await page.locator("[data-test=budget]").fill("60");
  await page.keyboard.press("Enter");
  await page.locator(".over-note").waitFor();
  assert.throws(() => ctx(path, "assemble", "--json", "--input", "Hi", "--context-tokens", "60"));
  assert.deepEqual(files(path), before, "looking writes nothing");
  assert.deepEqual(problems, []);
});

test("the preview is busy until the first one is there", async (t) => {
  const { page } = await studio(t, folder());
  await settled(page);
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route("**/api/project*", async (route) => {
    await held;
    await route.continue();
  });
  await page.reload({ waitUntil: "commit" });
  await page.locator(".inspector .empty").waitFor();
  assert.equal(await page.locator(".inspector").getAttribute("aria-busy"), "true");
  release();
  await settled(page);
  assert.deepEqual(await order(page), IDS);
});

/** The rows and figures of the page are those of the command. */
async function equals(page, { messages, report }) {
  const sent = page.locator(".row:not(.dropped)");
  const rows = await sent.evaluateAll((all) =>
    all.map((row) => [
      row.querySelector(".role").classList[1],
      Number(row.dataset.tokens),
      row.querySelector(".head").textContent,
    ]),
  );
  assert.deepEqual(
    rows,
    messages.map(({ role, tokens, content }) => [role, tokens, content.split("\n")[0]]),
  );
  const used = Number(await page.locator("[data-test=meter]").getAttribute("data-tokens"));
  assert.equal(used, report.usage?.total ?? messages.reduce((sum, { tokens }) => sum + tokens, 0));
  assert.equal(await page.locator("#inspector-decisions .count").textContent(), String(report.decisions.length));
}

test("job 1: an empty folder offers the sample, and writes it when asked", async (t) => {
  const path = folder(true);
  const { page, problems } = await studio(t, path);
  await page.locator("[data-test=write-sample]").waitFor();
  assert.deepEqual(files(path), {});
  await page.locator("[data-test=write-sample]").click();
  await page.locator(".entry").first().waitFor();
  const written = files(path);
  assert.ok("agent.yaml" in written, Object.keys(written).join());
  assert.deepEqual(written, files(folder()));
  assert.deepEqual(problems, []);
});

const CARD = {
  spec: "chara_card_v2",
  spec_version: "2.0",
  data: {
    name: "Ada",
    description: "Ada mends clocks.",
    personality: "exact",
    scenario: "A workshop.",
    first_mes: "Come in.",
    mes_example: "<START>\n{{user}}: Hi\n{{char}}: Hello.",
    creator_notes: "none",
    system_prompt: "",
    post_history_instructions: "",
    alternate_greetings: [],
    tags: [],
    creator: "me",
    character_version: "1",
    extensions: { talkativeness: "0.5", depth_prompt: { depth: 4, prompt: "Ada is tired.", role: "system" } },
    character_book: {
      name: "Clocks",
      extensions: {},
      entries: [{ keys: ["clock"], content: "Clocks tick.", extensions: {}, enabled: true, insertion_order: 1 }],
    },
  },
};

test("job 2: files that are dropped are reported, and written when asked", async (t) => {
  const path = folder();
  const before = files(path);
  const { page, problems } = await studio(t, path);
  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "ada.json", { type: "application/json" }));
    for (const type of ["dragenter", "dragover", "drop"]) {
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
  }, JSON.stringify(CARD));
  await page.locator("[data-test=import-write]").waitFor();
  assert.deepEqual(files(path), before, "a report writes nothing");
  await page.locator("[data-test=all-fields] > summary").click();
  await page.locator(".by-field").waitFor();
  for (const status of ["mapped", "approximated", "kept", "unsupported"])
    assert.ok(await page.locator(`[data-test=filter-${status}]`).count());
  const rows = page.locator(".by-field tbody tr");
  const all = await rows.count();
  assert.ok(all > 5, `${all} fields`);
  await page.locator("[data-test=filter-mapped]").click();
  assert.ok((await rows.count()) < all, "the filter hides rows");
  await page.locator("[data-test=import-write]").click();
  await page.locator(".entry").first().waitFor();
  await page.waitForFunction(() => location.hash.startsWith("#/preset/"));
  const now = files(path);
  const added = Object.keys(now).filter((name) => !(name in before));
  assert.ok(added.length > 0);
  for (const name of Object.keys(before)) assert.equal(now[name], before[name]);
  const out = folder(true);
  const card = join(out, "..", "ada.json");
  writeFileSync(card, JSON.stringify(CARD));
  ctx(out, "import", card, "--out", "out");
  const expected = Object.entries(files(join(out, "out"))).map(([name, text]) => [name.split("/").at(-1), text]);
  const made = added.map((name) => [name.split("/").at(-1), now[name]]);
  assert.deepEqual(made.sort(), expected.sort(), "as `ctx import --out` writes them");
  assert.deepEqual(problems, []);
});

test("job 3: moved with the mouse, edited, saved, undone", async (t) => {
  const path = folder();
  const before = files(path);
  const { page, problems } = await studio(t, path);
  const grip = entry(page, "season").locator(".grip");
  const target = entry(page, "identity");
  const [from, to] = [await grip.boundingBox(), await target.boundingBox()];
  await page.mouse.move(from.x + 8, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(from.x + 8, from.y - 40, { steps: 4 });
  await page.mouse.move(to.x + 20, to.y + 4, { steps: 6 });
  await page.mouse.up();
  await page.waitForFunction(() => document.querySelector(".entry")?.dataset.id === "season");
  assert.deepEqual(await order(page), ["season", ...IDS.slice(0, 4)]);
  await page.locator("[data-test=dirty].on").waitFor();
  assert.deepEqual(files(path), before, "a draft writes nothing");
  await save(page);
  const moved = files(path)["agent.yaml"];
  assert.deepEqual(
    moved.split("\n").sort(),
    before["agent.yaml"].split("\n").sort(),
    "the same lines in another order",
  );
  assert.ok(moved.indexOf("id: season") < moved.indexOf("id: identity"));
  assert.ok(moved.indexOf("# Placed at an anchor") < moved.indexOf("id: season"), "its comment moves with it");
  await page.locator("[data-test=undo]").click();
  await page.waitForFunction(() => document.querySelector(".entry")?.dataset.id === "identity");
  await save(page);
  assert.deepEqual(files(path), before, "undo and save give the first bytes");
  assert.deepEqual(problems, []);
});

test("job 3: the same with the keyboard alone", async (t) => {
  const path = folder();
  const before = files(path);
  const { page, problems } = await studio(t, path);
  await entry(page, "season").locator("[data-part=main]").focus();
  for (let step = 0; step < 4; step++) {
    await page.keyboard.press("Alt+ArrowUp");
    await page.waitForFunction((step) => document.querySelectorAll(".entry")[3 - step]?.dataset.id === "season", step);
    await page.waitForFunction(() => document.activeElement?.closest(".entry")?.dataset.id === "season");
  }
  await page.waitForFunction(() => /season/.test(document.querySelector("[data-test=announcement]").textContent));
  assert.equal((await order(page))[0], "season");
  await page.keyboard.press("Alt+ArrowUp");
  assert.equal((await order(page))[0], "season", "the first stays the first");
  await save(page);
  assert.notEqual(files(path)["agent.yaml"], before["agent.yaml"]);
  await page.keyboard.press("Control+z");
  for (let step = 0; step < 3; step++) await page.keyboard.press("Control+z");
  await page.waitForFunction(() => document.querySelectorAll(".entry")[4]?.dataset.id === "season");
  await save(page);
  assert.deepEqual(files(path), before);
  // "Move to…" in the menu.
  await entry(page, "identity").locator("[data-part=main]").focus();
  await entry(page, "identity").locator("[data-test=entry-menu]").press("Enter");
  await focused(page, "[role=menuitem]");
  await page.keyboard.press("m");
  await page.keyboard.press("m");
  await page.keyboard.press("m");
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("Move"));
  await page.getByRole("menuitem", { name: "Move to…" }).press("Enter");
  await focused(page, "[data-test=move-to]");
  await page.keyboard.type("profile");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll(".entry")[1]?.dataset.id === "identity");
  assert.deepEqual(problems, []);
});

test("job 3: placement, switch, duplicate, add below; only what differs is written", async (t) => {
  const path = folder();
  const before = files(path);
  const { page, problems } = await studio(t, path);
  const reminder = await openEntry(page, "reminder");
  await reminder.locator("[data-test=placement] input[value=depth]").check();
  await reminder.locator("[data-test=depth]").fill("3, 10~5");
  await settled(page);
  await save(page);
  const text = files(path)["agent.yaml"];
  assert.match(text, /depthConfig: ["']?3, 10~5/);
  assert.doesNotMatch(text, /insertionPoint: -1/);
  for (const line of before["agent.yaml"].split("\n").filter((line) => !line.includes("insertionPoint")))
    assert.ok(text.includes(line), line);
  await reminder.locator("[role=switch]").click();
  await settled(page);
  assert.equal(await reminder.getAttribute("class").then((name) => name.includes("off")), true);
  await page.locator("[data-test=show-disabled]").check();
  await page.locator(".row.dropped").first().waitFor();
  await entry(page, "identity").locator("[data-test=entry-menu]").click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".entry").length === 6);
  assert.equal((await order(page))[1], "identity-2");
  await page.locator("[data-test=add-entry]").click();
  await page.waitForFunction(() => document.querySelectorAll(".entry").length === 7);
  await page.waitForFunction(() => document.activeElement?.classList.contains("cm-content"));
  await page.keyboard.type("Be kind.");
  await settled(page);
  await page.locator("#inspector-body").click();
  await page.locator("[data-test=body]").filter({ hasText: "Be kind." }).waitFor();
  assert.deepEqual(problems, []);
});

test("job 4: a template anchor with its default text, and macros", async (t) => {
  const path = folder();
  const before = files(path);
  const { page, problems } = await studio(t, path);
  await page.locator("[data-test=add-anchor]").click();
  const cards = await page
    .locator("dialog .card[data-test]")
    .evaluateAll((all) => all.map((card) => card.dataset.test.slice(7)));
  assert.deepEqual(cards.slice(0, 2), ["chat_history", "user_profile"], "in the order of the registry");
  const template = await page.locator("[data-test=anchor-user_profile] code").textContent();
  assert.equal(template, "### About {{user}}\n\n{{persona}}", "in the language of the page");
  await page.locator("[data-test=anchor-char_description]").click();
  await page.waitForFunction(() => document.querySelectorAll(".entry").length === 6);
  const added = page.locator(".entry").nth(5);
  await added.locator(".cm-content").waitFor();
  assert.equal(await added.locator(".cm-content").textContent(), "{{description}}");
  await added.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" {{us");
  await page.locator(".cm-tooltip-autocomplete li").filter({ hasText: "user" }).first().waitFor();
  await page.waitForTimeout(120);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".cm-content")].some((one) => /\{\{user\}\}$/.test(one.textContent)),
  );
  await added.locator(".expansion .text").filter({ hasText: "Alex" }).waitFor();
  await page.keyboard.type(" {{usr}}");
  await added.locator(".found").waitFor();
  await added.locator("[data-test=fix]").first().click();
  await page.waitForFunction(() => !document.querySelector(".entry:nth-of-type(6) .found"));
  await added.locator(".expansion .text").filter({ hasText: "Alex Alex" }).waitFor();
  await settled(page);
  await save(page);
  assert.match(files(path)["agent.yaml"], /char_description/);
  assert.deepEqual(ctx(path, "assemble", "--json").includes("Alex Alex"), true);
  // A placeholder has only its hint.
  const history = await openEntry(page, "history");
  assert.equal(await history.locator(".cm-editor").count(), 0);
  assert.ok(await history.locator(".hint").count());
  assert.deepEqual(problems, []);
});

test("job 5: what is sent, why, and the comparison", async (t) => {
  const path = folder();
  const before = files(path);
  const { page, problems } = await studio(t, path);
  await settled(page);
  const first = page.locator(".row:not(.dropped)").first();
  await first.locator(".line").click();
  await first.locator(".piece").first().waitFor();
  await first.locator("[data-test=life] li").first().waitFor();
  assert.equal(
    await first.locator(".opened .text").textContent(),
    JSON.parse(ctx(path, "assemble", "--json")).messages[0].content,
  );
  await page.locator("#inspector-body").click();
  const dialects = await page.locator("[data-test=dialect] option").evaluateAll((all) => all.map((one) => one.value));
  assert.ok(dialects.length >= 4, dialects.join());
  await page.locator("[data-test=body]").filter({ hasText: "patient gardener" }).waitFor();
  await page
    .locator("[data-test=dialect]")
    .selectOption(dialects.find((name) => name.startsWith("anthropic")) ?? dialects[1]);
  await page.locator("[data-test=body]").filter({ hasText: '"system"' }).waitFor();
  await page.locator("#inspector-stages").click();
  assert.ok((await page.locator(".stages > li").count()) > 3);
  await page.locator("#inspector-messages").click();
  await page.locator("[data-test=pin]").click();
  await page.getByRole("link", { name: "Compare" }).click();
  await page.locator("[data-test=equal]").waitFor();
  await page.locator("[data-test=input]").fill("Can I sow outside?");
  await page.locator("[data-test=difference]").waitFor();
  assert.ok(await page.locator(".compared .added, .compared .changed").count());
  await page.locator("[data-test=input]").fill("");
  await page.locator("[data-test=equal]").waitFor();
  await page.locator("[data-test=pin-saved]").click();
  await page.locator("[data-test=equal]").waitFor();
  assert.deepEqual(files(path), before, "comparing writes nothing");
  assert.deepEqual(problems, []);
});

test("job 5: processors are switched for the preview alone", async (t) => {
  const path = folder();
  const before = files(path);
  const { page, problems } = await studio(t, path, { lang: "zh" });
  await page.locator("#inspector-stages").click();
  const stage = (id) => page.locator(`.stages > [data-id=${id}]`);
  const state = (id) => stage(id).locator("[role=switch]").getAttribute("aria-checked");
  await stage("injection-assembler").locator("[role=switch]:disabled").waitFor();
  assert.equal(await state("merge-consecutive-roles"), "true");
  assert.equal(await state("convert-system-to-user"), "false");
  await stage("convert-system-to-user").locator("[role=switch]").focus();
  await page.keyboard.press("Space");
  await stage("merge-consecutive-roles").locator("[role=switch]").click();
  await settled(page);
  assert.equal(await state("convert-system-to-user"), "true");
  await page.locator("[data-test=switches]").waitFor();
  await page.locator("#inspector-messages").click();
  const switched = ["--enable", "convert-system-to-user", "--disable", "merge-consecutive-roles"];
  await equals(page, JSON.parse(ctx(path, "assemble", "--json", ...switched)));
  await page.locator("[data-test=switches-reset]").click();
  await page.locator("[data-test=switches]").waitFor({ state: "detached" });
  await settled(page);
  await equals(page, JSON.parse(ctx(path, "assemble", "--json")));
  assert.deepEqual(files(path), before);
  assert.deepEqual(problems, []);
});

test("profiles, books and ctx.toml are edited as text beside the preview of the agent", async (t) => {
  const path = folder();
  writeFileSync(join(path, "herbs.json"), '{\n  "entries": {}\n}\n');
  const { page, problems } = await studio(t, path);
  await settled(page);
  const choose = (name) => page.locator("[data-test=file]").selectOption({ label: name });
  await choose("herbs.json");
  await page.locator("[data-test=file-text] .cm-content").filter({ hasText: "entries" }).waitFor();
  await choose("profile.yaml");
  const text = page.locator("[data-test=file-text] .cm-content");
  await text.filter({ hasText: "Alex" }).waitFor();
  const before = files(path);
  await text.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("name: Maria\ncontent: has a cat.\n");
  await page.locator("#inspector-body").click();
  await page.locator("[data-test=body]").filter({ hasText: "Maria" }).filter({ hasText: "patient gardener" }).waitFor();
  assert.deepEqual(files(path), before, "a draft writes nothing");
  await save(page);
  assert.deepEqual(files(path), { ...before, "profile.yaml": "name: Maria\ncontent: has a cat.\n" });
  await choose("agent.yaml");
  await entry(page, "identity").waitFor();
  await page.locator("[data-test=body]").filter({ hasText: "Maria" }).waitFor();
  // With its first letters the profile is none, and the browser tells of the answer that says so.
  assert.deepEqual(problems.filter((line) => !/status of 422/.test(line)), []);
});

test("job 3: groups, many at once, and the text of the file", async (t) => {
  const path = folder();
  const before = files(path);
  const { page, problems } = await studio(t, path);
  await page.locator("[data-test=select]").click();
  await entry(page, "identity").locator(".pick").check();
  await entry(page, "season").locator(".pick").check();
  await page.locator(".selection").getByRole("button", { name: "Group" }).click();
  await page.getByRole("menuitem", { name: "New group" }).click();
  await focused(page, "dialog input");
  await page.keyboard.type("Voice");
  await page.keyboard.press("Enter");
  await page.locator(".group").waitFor();
  assert.deepEqual(await order(page), ["identity", "season", "profile", "history", "reminder"], "they stand together");
  await page.locator(".group [role=switch]").click();
  await page.locator(".entry.off[data-id=season]").waitFor();
  await settled(page);
  await save(page);
  const written = files(path)["agent.yaml"];
  assert.match(written, /presetGroups:/);
  for (const line of before["agent.yaml"].split("\n")) assert.ok(written.includes(line), line);
  assert.doesNotMatch(ctx(path, "assemble"), /patient gardener/);
  await page.locator(".group [data-part=group]").click();
  assert.equal(await page.locator(".entry:not([hidden])").count(), 3, "a folded group hides its entries");
  await page.locator(".group [data-part=group]").click();
  await page.locator(".selection").getByRole("button", { name: "All" }).click();
  await page.locator(".selection").getByRole("button", { name: "Disable" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".entry.off").length === 5);
  // The text: broken, shown with its place, and mended.
  await page.locator("[data-test=view-text]").click();
  await page.locator("[data-test=file-text] .cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("name: [");
  await page.locator(".preset-page > .bar-note").waitFor();
  await page.waitForFunction(() => /error/.test(document.querySelector("[data-test=findings-count]").textContent));
  for (let step = 0; step < 7; step++) await page.keyboard.press("Backspace");
  await page.locator(".preset-page > .bar-note").waitFor({ state: "detached" });
  await page.locator("[data-test=view-list]").click();
  assert.equal(await page.locator(".entry").count(), 5);
  assert.deepEqual(problems, []);
});

test("jobs 2, 4 and 5 with the keyboard alone", async (t) => {
  const path = folder();
  const { page, problems } = await studio(t, path);
  const before = files(path);
  const until = (check) => page.waitForFunction(check);
  // An anchor: the dialog takes the focus, the new entry gets it, and its text is reached from it.
  await page.locator("[data-test=add-anchor]").focus();
  await page.keyboard.press("Enter");
  await until(() => document.activeElement.dataset.test === "anchor-chat_history");
  await page.keyboard.press("Escape");
  await until(() => document.activeElement.dataset.test === "add-anchor");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=anchor-scenario]").focus();
  await page.keyboard.press("Enter");
  await until(
    () => document.activeElement.dataset.part === "main" && document.activeElement.textContent.includes("scenario"),
  );
  await page.locator(".entry").nth(5).locator(".cm-content").waitFor();
  for (
    let steps = 0;
    steps < 12 && !(await page.evaluate(() => document.activeElement.classList.contains("cm-content")));
    steps++
  )
    await page.keyboard.press("Tab");
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" {{ch");
  await page.locator(".cm-tooltip-autocomplete").waitFor();
  await page.waitForTimeout(120);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /\{\{char\w*\}\}$/.test(document.activeElement.textContent));
  await page.keyboard.press("Escape");
  await until(
    () => document.activeElement.dataset.part === "main" && document.activeElement.textContent.includes("scenario"),
  );
  // The menu opens with Enter, and Escape gives the focus back.
  await entry(page, "reminder").locator("[data-test=entry-menu]").focus();
  await page.keyboard.press("Enter");
  await until(() => document.activeElement.getAttribute("role") === "menuitem");
  await page.keyboard.press("End");
  await until(() => document.activeElement.textContent.includes("Delete"));
  await page.keyboard.press("Escape");
  await until(() => document.activeElement.dataset.test === "entry-menu");
  // The preview: tabs by arrows, a row by Enter, its sources by Tab.
  await page.locator("#inspector-messages").focus();
  await page.keyboard.press("ArrowRight");
  await until(() => document.activeElement.id === "inspector-stages");
  await page.locator(".stages > li").first().waitFor();
  await page.keyboard.press("Home");
  await page.locator(".row > .line").first().focus();
  await page.keyboard.press("Enter");
  await page.locator(".opened .piece").first().waitFor();
  await page.keyboard.press("Tab");
  await until(() => document.activeElement.classList.contains("piece"));
  await page.locator(".source-line b").first().waitFor();
  // Compare and import.
  await page.locator("[data-test=pin]").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Compare" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("[data-test=equal]").waitFor();
  await page.getByRole("link", { name: "Import" }).focus();
  await page.keyboard.press("Enter");
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Choose files…" }).focus();
  await page.keyboard.press("Enter");
  await (
    await chooser
  ).setFiles([{ name: "ada.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(CARD)) }]);
  await page.locator("[data-test=import-write]").waitFor();
  await until(() => document.activeElement.id === "import-title");
  assert.deepEqual(files(path), before, "an anchor that is not saved, a comparison and a report write nothing");
  await page.locator("[data-test=import-write]").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#/preset/"));
  const after = files(path);
  const made = Object.keys(after).filter((name) => !(name in before));
  assert.ok(made.some((name) => name.endsWith("agent.yaml")), `${made}`);
  for (const name of Object.keys(before)) assert.equal(after[name], before[name], `${name} stays as it was`);
  assert.deepEqual(problems, []);
});

test("an agent that is broken when the page opens is shown as text, with the place, and mended there", async (t) => {
  const path = folder();
  const place = join(path, "agent.yaml");
  const text = files(path)["agent.yaml"];
  writeFileSync(place, `name: [\n${text}`);
  const { page } = await studio(t, path);
  await page.locator(".preset-page > .bar-note").filter({ hasText: /\d+:\d+/ }).waitFor();
  const editor = page.locator("[data-test=file-text] .cm-content");
  await editor.click();
  await page.keyboard.press("Control+Home");
  for (let letter = 0; letter < "name: [\n".length; letter++) await page.keyboard.press("Delete");
  await page.locator(".preset-page > .bar-note").waitFor({ state: "detached" });
  await settled(page);
  await save(page);
  assert.equal(files(path)["agent.yaml"], text);
  await page.locator(".entry").first().waitFor();
});

test("an edit that its YAML cannot express is offered as a list that is written anew", async (t) => {
  const path = folder();
  const text = "name: Robin\npresetMessages:\n  # one\n  - &who {id: a, role: system, content: One} # two\n  - *who\n  - {type: chat_history}\n";
  writeFileSync(join(path, "agent.yaml"), text);
  const { page } = await studio(t, path);
  await page.locator(".entry").nth(1).locator("[data-part=main]").focus();
  await page.keyboard.press("Alt+ArrowUp");
  await page.locator("[data-test=rewrite]").filter({ hasText: "Rewrite list (deletes 2 comments)" }).click();
  await page.locator("[data-test=conflict]").waitFor({ state: "detached" });
  await settled(page);
  await save(page);
  assert.doesNotMatch(files(path)["agent.yaml"], /# one|# two|&who/);
  await page.locator("[data-test=undo]").click();
  await page.locator("[data-test=dirty].on").waitFor();
  await save(page);
  assert.equal(files(path)["agent.yaml"], text, "undo gives the comments back");
});

test("clicks for five jobs, from the page Preset", async (t) => {
  const book = { entries: { 0: { uid: 0, key: ["dragon"], comment: "Dragon", content: "No dragons here." } } };
  const { page, path, problems } = await chatting(t, [words("Twice a week."), words("Every day.")], undefined, (path) => {
    writeFileSync(join(path, "garden.json"), JSON.stringify(book));
    const agent = join(path, "agent.yaml");
    writeFileSync(agent, `${readFileSync(agent, "utf8")}\ngreetings:\n  - content: Hello.\n`);
  });
  const last = page.locator(".message").last();
  await page.locator("[data-test=composer]").fill("How often?");
  await page.keyboard.press("Enter");
  await last.locator(".text", { hasText: "Twice a week." }).waitFor();
  const link = (name) => page.getByRole("link", { name });
  const counts = {};
  /** Does a job that clicks each of these, up to a place that shows that it is done. */
  const job = async (name, targets, done) => {
    await link("Preset").click();
    await entry(page, "identity").waitFor();
    for (const target of targets) await target.click();
    await done.first().waitFor();
    counts[name] = targets.length;
  };
  await job("toggle an entry", [entry(page, "season").locator("[role=switch]")], page.locator(".entry.off[data-id=season]"));
  await job(
    "see why an entry is not active",
    [link("Worldbooks"), page.locator(".book-entries tr[data-uid='0'] th button")],
    page.locator("[data-test=why]", { hasText: "no key in the last" }),
  );
  await job("regenerate", [link("Chat"), last.locator("[data-test=regenerate-reply]")], last.locator(".text", { hasText: "Every day." }));
  await job("begin a chat with a greeting", [link("Chat"), page.locator("[data-test=new-talk]")], last.locator(".text", { hasText: "Hello." }));
  const before = files(path);
  page.once("filechooser", (chooser) =>
    chooser.setFiles({ name: "ada.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(CARD)) }),
  );
  await job(
    "import a card and see its request",
    [link("Import"), page.getByRole("button", { name: "Choose files" }), page.locator("#inspector-body")],
    page.locator("[data-test=body]", { hasText: "Ada mends clocks." }),
  );
  assert.deepEqual(files(path), before, "the request is shown before anything is written");
  for (const [name, count] of Object.entries(counts)) t.diagnostic(`${count} to ${name}`);
  assert.deepEqual(Object.values(counts), [1, 2, 2, 2, 3]);
  assert.deepEqual(problems, []);
});
