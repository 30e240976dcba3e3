// Jobs 6 and 7: the pipeline and compression are set by forms that are made of descriptions alone.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, ctx, files, focused, folder, OWN_PARTS, open, save, serve, settled } from "./harness.mjs";

after(close);

async function studio(t, { change = () => {}, program, ...options } = {}) {
  const path = folder();
  change(path);
  const server = await serve(path, undefined, program);
  t.after(() => server.stop());
  const opened = await open(server, options);
  t.after(() => opened.context.close());
  await opened.page.locator(".to-pipeline a").click();
  await opened.page.locator(".processor").nth(5).waitFor();
  return { path, before: files(path), ...opened };
}

const row = (page, id) => page.locator(`.processor[data-entry="${id}"]`);
const order = (page) => page.locator(".processor").evaluateAll((rows) => rows.map((one) => one.dataset.entry));
const input = (page, id, key) => row(page, id).locator(`[data-field="${key}"] :is(input, select, textarea)`);
async function opened(page, id) {
  if ((await row(page, id).locator("[data-part=main]").getAttribute("aria-expanded")) !== "true")
    await row(page, id).locator("[data-part=main]").click();
}
const origin = (page, id, name) => row(page, id).locator(".line .origin", { hasText: name }).waitFor();
const builtIn = (page, id) => row(page, id).locator(".line .set-by").waitFor({ state: "detached" });
const saveIn = (page, option) => page.locator("[data-test=layer]").selectOption(option);
const setField = async (page, id, key, text) => {
  await input(page, id, key).fill(text);
  await page.keyboard.press("Enter");
};

test("job 6: switched, set, moved and reset in the agent's file, which holds only what differs", async (t) => {
  const { page, path, before, problems } = await studio(t);
  await row(page, "convert-system-to-user").locator("[role=switch]").click();
  await origin(page, "convert-system-to-user", "agent");
  await opened(page, "merge-system-to-head");
  await setField(page, "merge-system-to-head", "separator", "\\n---\\n");
  await origin(page, "merge-system-to-head", "agent");
  await save(page);
  const listed = () => JSON.parse(ctx(path, "processors", "list", "--json"));
  const of = (id) => (listed().processors ?? listed()).find((one) => one.id === id);
  assert.equal(of("convert-system-to-user").enabled.value, true);
  const text = files(path)["agent.yaml"];
  assert.ok(text.startsWith(before["agent.yaml"].slice(0, 60)), "what stands above stays");
  assert.match(text, /id: convert-system-to-user\s+enabled: true\s/);
  assert.doesNotMatch(text, /priority/, "what is built in is not stored");
  // By keyboard: behind the next one, whose priority is 700.
  await row(page, "merge-consecutive-roles").locator("[data-part=main]").focus();
  await page.keyboard.press("Alt+ArrowDown");
  await page.waitForFunction(() => {
    const all = [...document.querySelectorAll(".processor")].map((one) => one.dataset.entry);
    return all.indexOf("merge-consecutive-roles") === all.indexOf("convert-system-to-user") + 1;
  });
  await page.waitForFunction(() => document.activeElement?.closest("[data-entry]")?.dataset.entry === "merge-consecutive-roles");
  await save(page);
  assert.equal(of("merge-consecutive-roles").priority.value, 750);
  // One is reset, then all.
  await row(page, "merge-consecutive-roles").locator("button", { hasText: "Reset" }).click();
  await builtIn(page, "merge-consecutive-roles");
  await focused(page, '[data-entry="merge-consecutive-roles"] [data-part=main]');
  await page.locator("[data-test=reset-all]").click();
  await builtIn(page, "convert-system-to-user");
  await focused(page, "[data-test=layer]");
  await save(page);
  assert.deepEqual(files(path), before, "the files are as if nothing had been set");
  assert.deepEqual(problems, []);
});

test("job 6: one setting is reset, and an entry that sets nothing goes", async (t) => {
  const { page, path, before, problems } = await studio(t);
  await opened(page, "token-limiter");
  await setField(page, "token-limiter", "retainedCharacters", "20");
  await setField(page, "token-limiter", "cutTo", "0.5");
  const set = (key) => row(page, "token-limiter").locator(`[data-field="${key}"]`);
  await set("cutTo").locator(".origin", { hasText: "agent" }).waitFor();
  await set("cutTo").locator("button", { hasText: "Reset" }).click();
  await focused(page, '[data-field="cutTo"] input');
  await set("cutTo").locator(".set-by").waitFor({ state: "detached" });
  assert.equal(await input(page, "token-limiter", "cutTo").inputValue(), "0.65");
  await save(page);
  assert.match(files(path)["agent.yaml"], /config:\s+retainedCharacters: 20\s*$/);
  await set("retainedCharacters").locator("button", { hasText: "Reset" }).click();
  await builtIn(page, "token-limiter");
  await save(page);
  assert.deepEqual(files(path), before);
  assert.deepEqual(problems, []);
});

test("job 6: layers, the origin of each value, and one layer that decides as a whole", async (t) => {
  const { page, path, before, problems } = await studio(t, {
    change: (path) => writeFileSync(join(path, "model.json"), '{\n  "processors": []\n}\n'),
  });
  await saveIn(page, "user");
  await opened(page, "token-limiter");
  const cut = input(page, "token-limiter", "retainedCharacters");
  await setField(page, "token-limiter", "retainedCharacters", "20");
  await origin(page, "token-limiter", "all agents");
  await save(page);
  assert.match(files(path)["ctx.toml"], /retainedCharacters = 20/);
  // A change in a higher layer copies what holds, so that nothing else changes.
  await saveIn(page, { label: "Model: model.json" });
  await page.locator("[data-test=model-applies]").waitFor();
  await setField(page, "token-limiter", "priority", "405");
  await origin(page, "token-limiter", "model");
  await page.locator("[data-test=whole-token-limiter]").waitFor();
  await save(page);
  assert.deepEqual(JSON.parse(files(path)["model.json"]), {
    processors: [{ id: "token-limiter", priority: 405, config: { retainedCharacters: 20 } }],
  });
  // In the layer below, it is said that changes have no effect.
  await saveIn(page, "user");
  await page.locator("[data-test=whole-token-limiter]", { hasText: "have no effect" }).waitFor();
  // What a field does not take is told, and not written.
  await setField(page, "token-limiter", "retainedCharacters", "-1");
  await row(page, "token-limiter").locator(".wrong").waitFor();
  assert.equal(await cut.getAttribute("aria-invalid"), "true");
  assert.doesNotMatch(files(path)["ctx.toml"], /-1/);
  // "Reset all" leaves each file as if nothing had been set.
  await page.locator("[data-test=reset-all]:enabled").click();
  await page.locator("[data-test=reset-all]:disabled").waitFor();
  await save(page);
  await saveIn(page, { label: "Model: model.json" });
  await page.locator("[data-test=reset-all]:enabled").click();
  await builtIn(page, "token-limiter");
  await save(page);
  assert.deepEqual(files(path), before);
  await page.locator("[data-test=model-off]").click();
  await page.locator("[data-test=model-applies]").waitFor({ state: "detached" });
  assert.equal(await page.locator("[data-test=layer]").inputValue(), "agent");
  assert.deepEqual(problems, []);
});

/** The ids under each heading, in the order of the page. */
const grouped = (page) =>
  page.locator(".processors > li").evaluateAll((items) => {
    const groups = [];
    for (const { dataset } of items) {
      if (dataset.group) groups.push([dataset.group]);
      else groups.at(-1).push(dataset.entry);
    }
    return groups;
  });

test("job 6: groups follow the execution order, and disabled processors take one line", async (t) => {
  const { page, problems } = await studio(t);
  assert.deepEqual(
    (await grouped(page)).map(([group]) => group),
    ["collect", "place", "fit", "shape", "files"],
  );
  const off = row(page, "recall");
  assert.equal(await off.locator(".head").count(), 0);
  assert.ok((await off.boundingBox()).height < 36);
  await opened(page, "recall");
  await off.locator(".head").waitFor();
  await off.locator('[data-field="share"]').waitFor();
  // A processor that is moved belongs to the group in which it runs.
  await opened(page, "token-limiter");
  await setField(page, "token-limiter", "priority", "650");
  await page.waitForFunction(() => {
    const all = [...document.querySelectorAll(".processor")].map((one) => one.dataset.entry);
    return all.indexOf("token-limiter") === all.indexOf("merge-consecutive-roles") + 1;
  });
  const groups = Object.fromEntries((await grouped(page)).map(([group, ...ids]) => [group, ids]));
  assert.deepEqual(groups.fit, ["request-compressor", "recall"]);
  assert.ok(groups.shape.includes("token-limiter"));
  assert.deepEqual(problems, []);
});

test("job 6: the effect of each processor in this turn stands beside it, and leads to its step", async (t) => {
  const { page, problems } = await studio(t);
  const effect = (id) => page.locator(`[data-test="effect-${id}"]`);
  await effect("session-loader").getByText(/^3 messages added, \d+ tokens$/).waitFor();
  await effect("injection-assembler").getByText(/^4 messages added, \d+ tokens$/).waitFor();
  await effect("merge-system-to-head").getByText("2 messages joined into 1").waitFor();
  await effect("regex-processor").getByText("no change").waitFor();
  assert.equal(await effect("recall").count(), 0);
  await effect("token-limiter").press("Enter");
  await page.locator("#inspector-stages[aria-selected=true]").waitFor();
  await focused(page, '.stages > li[data-id="token-limiter"]');
  await effect("session-loader").click();
  await focused(page, '.stages > li[data-id="session-loader"]');
  // A narrow window shows the step on the page of the preview.
  await page.setViewportSize({ width: 400, height: 800 });
  await effect("token-limiter").click();
  await page.waitForFunction(() => location.hash.startsWith("#/preview"));
  await focused(page, '.stages > li[data-id="token-limiter"]');
  assert.deepEqual(problems, []);
});

/** Labels that are cut, and boxes of one row that overlap. */
const misplaced = (page) =>
  page.evaluate(() => {
    const wrong = [];
    const isShown = (one) => one.getClientRects().length > 0;
    const labels = ".setting label, .setting small, .processor .name > span, .group-title > *, .field > .label, .set-by .badge, .in-short b, summary";
    for (const one of document.querySelectorAll(`.pipeline-page :is(${labels})`))
      if (isShown(one) && one.clientWidth > 0 && one.scrollWidth > one.clientWidth) wrong.push(`cut: ${one.textContent}`);
    const rows = [
      [".setting", "label, small, .field, .check, .set-by"],
      [".processor > .line", ".grip, .switch, .number, .name > *, .head, .effect, .set-by"],
      [".layers", ".choice, .field, .button"],
    ];
    for (const [row, parts] of rows)
      for (const one of document.querySelectorAll(`.pipeline-page ${row}`)) {
        const all = [...one.querySelectorAll(parts)].filter(isShown).map((part) => [part, part.getBoundingClientRect()]);
        all.forEach(([a, first], at) => {
          for (const [b, second] of all.slice(at + 1)) {
            const width = Math.min(first.right, second.right) - Math.max(first.left, second.left);
            const height = Math.min(first.bottom, second.bottom) - Math.max(first.top, second.top);
            if (width > 0.5 && height > 0.5 && !a.contains(b)) wrong.push(`overlap: ${a.textContent} | ${b.textContent}`);
          }
        });
      }
    const main = document.querySelector("main");
    if (main.scrollWidth > main.clientWidth) wrong.push("the page is wider than its place");
    return wrong;
  });

for (const lang of ["en", "zh"])
  test(`no label is cut or overlaps at any width or zoom (${lang})`, async (t) => {
    const { page, problems } = await studio(t, {
      lang,
      width: 1440,
      change: (path) =>
        writeFileSync(
          join(path, "ctx.toml"),
          'agent = "agent.yaml"\nsession = "conversation.json"\n[[processors]]\nid = "token-limiter"\nconfig = { retainedCharacters = 20 }\n[compression]\ncountThreshold = 9\n',
        ),
    });
    for (const id of await order(page)) await opened(page, id);
    const at = async (view) => {
      // 1,440 pixels at 200 % are 720.
      for (const width of [1440, 1024, 720, 400]) {
        await page.setViewportSize({ width, height: 900 });
        assert.deepEqual(await misplaced(page), [], `${view} at ${width}`);
      }
      const columns = (width) =>
        page
          .setViewportSize({ width, height: 900 })
          .then(() => page.locator(".config .setting:not(.large)").first().evaluate((one) => getComputedStyle(one).gridTemplateColumns.split(" ").length));
      assert.deepEqual([await columns(1440), await columns(700), await columns(690)], [2, 2, 1]);
    };
    await at("processors");
    await page.locator("[data-test=pipeline-compression]").click();
    await page.locator("[data-test=compression-advanced]").click();
    await page.locator('[data-field="summaryPrompt"]').waitFor();
    await at("compression");
    assert.deepEqual(problems, []);
  });

test("job 6: the form of a plug-in with five kinds of fields works, is saved, and changes the preview", async (t) => {
  const { page, path, problems } = await studio(t, { program: [OWN_PARTS] });
  await opened(page, "signed");
  const kinds = await row(page, "signed").locator("[data-field]").evaluateAll((all) => all.map((one) => one.className));
  assert.deepEqual(
    kinds.map((name) => /of-(\w+)/.exec(name)[1]),
    ["text", "number", "boolean", "select", "list", "number"],
  );
  // Its priority is 900: it runs with the processors that shape messages.
  assert.ok((await grouped(page)).find(([group]) => group === "shape").includes("signed"));
  await input(page, "signed", "mark").fill("!");
  await page.keyboard.press("Enter");
  await input(page, "signed", "times").fill("3");
  await page.keyboard.press("Enter");
  // The answer to what was typed before may show the box as it was, for a moment.
  await input(page, "signed", "loud").click();
  await input(page, "signed", "side").selectOption({ label: "in front" });
  // A list has one text per line, or is JSON.
  await input(page, "signed", "roles").fill('["tool"');
  await page.keyboard.press("Tab");
  await row(page, "signed").locator(".wrong", { hasText: "JSON" }).waitFor();
  await input(page, "signed", "roles").fill("assistant");
  await page.keyboard.press("Tab");
  await page.locator(".row .head", { hasText: "!!!INDOORS FROM MARCH" }).waitFor();
  await settled(page);
  await save(page);
  assert.match(files(path)["agent.yaml"], /id: signed[^]*roles:\s+- assistant\s/);
  assert.deepEqual(problems, []);
});

test("job 6: where no number is free, those behind move too", async (t) => {
  const { page, problems } = await studio(t);
  await opened(page, "ensure-alternating-roles");
  await setField(page, "ensure-alternating-roles", "priority", "701");
  await origin(page, "ensure-alternating-roles", "agent");
  await row(page, "merge-consecutive-roles").locator("[data-part=main]").focus();
  await page.keyboard.press("Alt+ArrowDown");
  await page.locator("[data-test=move-too]").click();
  await page.waitForFunction(() => {
    const all = [...document.querySelectorAll(".processor")].map((one) => one.dataset.entry);
    const at = all.indexOf("convert-system-to-user");
    return all[at + 1] === "merge-consecutive-roles" && all[at + 2] === "ensure-alternating-roles";
  });
  assert.ok((await order(page)).length > 10);
  assert.deepEqual(problems, []);
});

test("job 7: compression leads with when it runs; the rest is under Advanced, each inherited or set", async (t) => {
  const said = Array.from({ length: 30 }, (_, n) => ({
    role: n % 2 ? "assistant" : "user",
    content: `Message ${n} speaks of the garden, of its beds and of the weather today.`,
  }));
  const { page, path, before, problems } = await studio(t, {
    change: (path) => writeFileSync(join(path, "chat.json"), JSON.stringify(said)),
  });
  await page.locator("[data-test=conversation]").selectOption({ label: "chat.json" });
  await page.locator("[data-test=pipeline-compression]").click();
  await page.locator('[data-test=next-compression][data-needed="false"]', { hasText: "chat.json" }).waitFor();
  const inShort = (text) => page.locator("[data-test=compression-summary]", { hasText: text }).waitFor();
  await inShort("Automatic above 80,000 tokens; the last 10 messages are kept.");
  const shown = () => page.locator(".compression > .config [data-field]").evaluateAll((all) => all.map((one) => one.dataset.field));
  assert.deepEqual(await shown(), ["enabled", "autoTrigger", "tokenThreshold", "protectRecentCount"]);
  const field = (key) => page.locator(`[data-field="${key}"]`);
  assert.equal(await field("triggerMode").isVisible(), false);
  const set = async (key, text) => {
    await field(key).locator("input").fill(text);
    await page.keyboard.press("Enter");
  };
  // For all agents: the trigger counts messages.
  await saveIn(page, "user");
  await page.locator("[data-test=compression-advanced]").press("Enter");
  await field("triggerMode").locator("select").selectOption({ index: 1 });
  await page.locator("[data-test=compression-advanced]", { hasText: "1 set" }).waitFor();
  assert.deepEqual(await shown(), ["enabled", "autoTrigger", "countThreshold", "protectRecentCount"]);
  await set("countThreshold", "10");
  await inShort("Automatic above 10 messages; the last 10 messages are kept.");
  await field("countThreshold").locator("button", { hasText: "Reset" }).waitFor();
  await page.locator('[data-test=next-compression][data-needed="true"]').waitFor();
  await save(page);
  assert.match(files(path)["ctx.toml"], /countThreshold = 10/);
  // For this agent: another threshold, and the rest inherited.
  await saveIn(page, "agent");
  await field("triggerMode").locator(".of-user").waitFor();
  await set("countThreshold", "1000");
  await page.locator('[data-test=next-compression][data-needed="false"]').waitFor();
  await field("countThreshold").locator(".of-agent").waitFor();
  await save(page);
  assert.match(files(path)["agent.yaml"], /contextCompression:\s+countThreshold: 1000/);
  await field("countThreshold").locator("button", { hasText: "Reset" }).click();
  await page.locator('[data-test=next-compression][data-needed="true"]').waitFor();
  await page.waitForFunction(() => document.querySelector('[data-field="countThreshold"] input').value === "10");
  await save(page);
  assert.equal(files(path)["agent.yaml"], before["agent.yaml"], "nothing empty is left behind");
  // Off and manual are said as such.
  await field("autoTrigger").locator("input").uncheck();
  await inShort("Manual");
  await field("enabled").locator("input").uncheck();
  await inShort("Off");
  await page.locator("[data-test=reset-all]").click();
  await inShort("Automatic above 10 messages");
  await saveIn(page, "user");
  await page.locator("[data-test=reset-all]").click();
  await inShort("Automatic above 80,000 tokens");
  await save(page);
  assert.deepEqual(files(path), before);
  assert.deepEqual(problems, []);
});
