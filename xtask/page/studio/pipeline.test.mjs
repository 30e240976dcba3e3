// Job 6: the pipeline is set by forms that are made of descriptions alone.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, ctx, files, folder, OWN_PARTS, open, save, serve, settled } from "./harness.mjs";

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
const origin = (page, id, name) => row(page, id).locator(".line > .origin", { hasText: name }).waitFor();

test("job 6: switched, set, moved and reset in the agent's file, which holds only what differs", async (t) => {
  const { page, path, before, problems } = await studio(t);
  await row(page, "convert-system-to-user").locator("[role=switch]").click();
  await origin(page, "convert-system-to-user", "agent");
  await opened(page, "merge-system-to-head");
  await input(page, "merge-system-to-head", "separator").fill("\\n---\\n");
  await page.keyboard.press("Enter");
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
  await origin(page, "merge-consecutive-roles", "default");
  await page.locator("[data-test=reset-all]").click();
  await origin(page, "convert-system-to-user", "default");
  await save(page);
  assert.doesNotMatch(files(path)["agent.yaml"], /processors/);
  assert.deepEqual({ ...files(path), "agent.yaml": "" }, { ...before, "agent.yaml": "" });
  assert.deepEqual(problems, []);
});

test("job 6: layers, the origin of each value, and one layer that decides as a whole", async (t) => {
  const { page, path, problems } = await studio(t, {
    change: (path) => writeFileSync(join(path, "model.json"), '{\n  "processors": []\n}\n'),
  });
  await page.locator("[data-test=layer-user]").check();
  await opened(page, "token-limiter");
  const cut = input(page, "token-limiter", "retainedCharacters");
  await cut.fill("20");
  await page.keyboard.press("Enter");
  await origin(page, "token-limiter", "all agents");
  await save(page);
  assert.match(files(path)["ctx.toml"], /retainedCharacters = 20/);
  // A change in a higher layer copies what holds, so that nothing else changes.
  await page.locator("[data-test=model-settings]").selectOption({ label: "model.json" });
  await page.locator("[data-test=layer-model]:not(:disabled)").check();
  await row(page, "token-limiter").locator('.setting input[inputmode="numeric"]').first().fill("405");
  await page.keyboard.press("Enter");
  await origin(page, "token-limiter", "model");
  await page.locator("[data-test=whole-token-limiter]").waitFor();
  await save(page);
  assert.deepEqual(JSON.parse(files(path)["model.json"]), {
    processors: [{ id: "token-limiter", priority: 405, config: { retainedCharacters: 20 } }],
  });
  // In the layer below, it is said that changes have no effect.
  await page.locator("[data-test=layer-user]").check();
  await page.locator("[data-test=whole-token-limiter]", { hasText: "have no effect" }).waitFor();
  // What a field does not take is told, and not written.
  await cut.fill("-1");
  await page.keyboard.press("Enter");
  await row(page, "token-limiter").locator(".wrong").waitFor();
  assert.doesNotMatch(files(path)["ctx.toml"], /-1/);
  assert.deepEqual(problems, []);
});

test("job 6: the form of a plug-in with five kinds of fields works, is saved, and changes the preview", async (t) => {
  const { page, path, problems } = await studio(t, { program: [OWN_PARTS] });
  await opened(page, "signed");
  const kinds = await row(page, "signed").locator("[data-field]").evaluateAll((all) => all.map((one) => one.className));
  assert.deepEqual(
    kinds.map((name) => name.replace("setting of-", "")),
    ["text", "number", "boolean", "select", "list"],
  );
  await input(page, "signed", "mark").fill("!");
  await page.keyboard.press("Enter");
  await input(page, "signed", "times").fill("3");
  await page.keyboard.press("Enter");
  // The answer to what was typed before may show the box as it was, for a moment.
  await input(page, "signed", "loud").click();
  await input(page, "signed", "side").selectOption({ label: "in front" });
  await input(page, "signed", "roles").fill('["assistant"]');
  await page.keyboard.press("Tab");
  await page.locator(".row .head", { hasText: "!!!INDOORS FROM MARCH" }).waitFor();
  await settled(page);
  await save(page);
  assert.match(files(path)["agent.yaml"], /id: signed/);
  assert.deepEqual(problems, []);
});

test("job 6: where no number is free, those behind move too", async (t) => {
  const { page, problems } = await studio(t);
  await opened(page, "ensure-alternating-roles");
  const priority = row(page, "ensure-alternating-roles").locator('.setting input[inputmode="numeric"]').first();
  await priority.fill("701");
  await page.keyboard.press("Enter");
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

test("job 7: compression is set key by key, inherited or not, and it is seen what would be compressed next", async (t) => {
  const said = Array.from({ length: 30 }, (_, n) => ({
    role: n % 2 ? "assistant" : "user",
    content: `Message ${n} speaks of the garden, of its beds and of the weather today.`,
  }));
  const { page, path, problems } = await studio(t, {
    change: (path) => writeFileSync(join(path, "chat.json"), JSON.stringify(said)),
  });
  await page.locator("[data-test=conversation]").selectOption({ label: "chat.json" });
  await page.locator("[data-test=pipeline-compression]").click();
  await page.locator('[data-test=next-compression][data-needed="false"]', { hasText: "chat.json" }).waitFor();
  const field = (key) => page.locator(`[data-field="${key}"]`);
  const set = async (key, text) => {
    await field(key).locator("input").fill(text);
    await page.keyboard.press("Enter");
  };
  // For all agents: the trigger counts messages, and few are protected.
  await page.locator("[data-test=layer-user]").check();
  await field("triggerMode").locator("select").selectOption({ index: 1 });
  await set("countThreshold", "10");
  await field("countThreshold").locator("button", { hasText: "Inherit" }).waitFor();
  await page.locator('[data-test=next-compression][data-needed="true"]').waitFor();
  await save(page);
  assert.match(files(path)["ctx.toml"], /countThreshold = 10/);
  // For this agent: another threshold, and the rest inherited.
  await page.locator("[data-test=layer-agent]").check();
  await field("triggerMode").locator(".of-user").waitFor();
  await set("countThreshold", "1000");
  await page.locator('[data-test=next-compression][data-needed="false"]').waitFor();
  await save(page);
  assert.match(files(path)["agent.yaml"], /contextCompression:\s+countThreshold: 1000/);
  await field("countThreshold").locator("button", { hasText: "Inherit" }).click();
  await page.locator('[data-test=next-compression][data-needed="true"]').waitFor();
  await page.waitForFunction(() => document.querySelector('[data-field="countThreshold"] input').value === "10");
  await save(page);
  assert.doesNotMatch(files(path)["agent.yaml"], /countThreshold/);
  assert.deepEqual(problems, []);
});
