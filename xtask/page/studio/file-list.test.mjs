// The list of files: create, copy, rename, delete, export; by mouse and by keyboard.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, ctx, entry, files, focused, folder, open, save, serve, settled } from "./harness.mjs";

after(close);

async function list(t, path = folder()) {
  const server = await serve(path);
  t.after(() => server.stop());
  const opened = await open(server);
  t.after(() => opened.context.close());
  await opened.page.locator("nav.pages .to-files a").click();
  await row(opened.page, "agent.yaml").waitFor();
  return { path, server, ...opened };
}

const row = (page, path) => page.locator(`.file-list [data-path="${path}"]`);

/** Chooses a command of a file. */
async function choose(page, path, name) {
  await row(page, path).locator("[data-test=file-menu]").click();
  await page.getByRole("menuitem", { name }).click();
}

test("a new agent is created by keyboard, and its form opens", async (t) => {
  const { page, path, problems } = await list(t);
  await page.locator("[data-test=new-file]").focus();
  await page.keyboard.press("Enter");
  await focused(page, "[role=menuitem]");
  await page.keyboard.press("Enter");
  await focused(page, "[data-test=file-name]");
  await page.keyboard.type("Rowan");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=agent-name]").waitFor();
  assert.equal(await page.locator("[data-test=agent-name]").inputValue(), "Rowan");
  assert.match(ctx(path, "check", "Rowan.yaml"), /0 errors, 0 warnings/);
  assert.deepEqual(problems, []);
});

test("each kind opens on its page, without diagnostics", async (t) => {
  const { page, path } = await list(t);
  for (const [at, name, file, shown] of [
    [1, "Short", "Short.yaml", ".entry"],
    [2, "Maria", "Maria.yaml", "[data-test=file-text]"],
    [3, "Garden", "worldbooks/Garden.json", ".books-page"],
    [4, "First", "First.json", ".talk-page"],
  ]) {
    await page.evaluate(() => (location.hash = "#/files"));
    await page.locator("[data-test=new-file]").click();
    await page.getByRole("menuitem").nth(at).click();
    await page.locator("[data-test=file-name]").fill(name);
    await page.locator("[data-test=answer]").click();
    await page.locator(shown).first().waitFor();
    assert.ok(existsSync(join(path, file)), file);
    assert.match(ctx(path, "check", file), /0 errors, 0 warnings/);
  }
});

test("an invalid or used name is refused in the dialog", async (t) => {
  const { page, path } = await list(t);
  const before = files(path);
  await page.locator("[data-test=new-file]").click();
  await page.getByRole("menuitem").first().click();
  for (const name of ["../out", "con", "agent"]) {
    await page.locator("[data-test=file-name]").fill(name);
    await page.locator("[data-test=answer]").click();
    await page.locator("[data-test=refused]").waitFor();
  }
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.deepEqual(files(path), before);
});

test("a rename keeps unsaved edits, and ctx.toml follows", async (t) => {
  const { page, path } = await list(t);
  await page.evaluate(() => (location.hash = "#/preset"));
  await entry(page, "season").locator("[role=switch]").click();
  await page.locator("[data-test=dirty].on").waitFor();
  await page.evaluate(() => (location.hash = "#/files"));
  await choose(page, "agent.yaml", "Rename");
  await page.locator("[data-test=file-name]").fill("robin");
  await page.keyboard.press("Enter");
  await row(page, "robin.yaml").locator(".dot.on").waitFor();
  assert.match(readFileSync(join(path, "ctx.toml"), "utf8"), /^agent = "robin.yaml"$/m);
  assert.equal(await page.locator(".toast.error").count(), 0);
  await row(page, "robin.yaml").locator("a").click();
  await entry(page, "season").locator("[role=switch][aria-checked=false]").waitFor();
  await save(page);
  assert.match(readFileSync(join(path, "robin.yaml"), "utf8"), /isEnabled: false|enabled: false/);
  await settled(page);
});

test("a file with edits that the server does not have is not renamed", async (t) => {
  const { page } = await list(t);
  await page.evaluate(() => (location.hash = "#/preset"));
  await entry(page, "season").waitFor();
  await page.route("**/edits", (route) => route.abort());
  await entry(page, "season").locator("[role=switch]").click();
  await page.locator(".bar-note.warning").waitFor();
  await page.evaluate(() => (location.hash = "#/files"));
  await choose(page, "agent.yaml", "Rename");
  await page.locator("[data-test=file-name]").fill("robin");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=refused]", { hasText: "not saved on the server yet" }).waitFor();
  await page.unroute("**/edits");
  await page.waitForFunction(() => Object.keys(localStorage).every((key) => !key.includes("/unsent/")));
  await page.keyboard.press("Enter");
  await row(page, "robin.yaml").locator(".dot.on").waitFor();
  assert.equal(await page.locator("[data-test=conflict]").count(), 0);
});

test("a file in use is not deleted; a copy is, after a question that names it", async (t) => {
  const { page, path } = await list(t);
  await choose(page, "profile.yaml", "Delete");
  assert.match(await page.locator("dialog").textContent(), /profile\.yaml/);
  await page.locator("[data-test=answer]").click();
  await page.locator("[data-test=refused]", { hasText: "ctx.toml" }).waitFor();
  await page.keyboard.press("Escape");
  await choose(page, "profile.yaml", "Duplicate");
  await page.locator("[data-test=file-name]").fill("Maria");
  await page.keyboard.press("Enter");
  await row(page, "Maria.yaml").waitFor();
  assert.equal(readFileSync(join(path, "Maria.yaml"), "utf8"), readFileSync(join(path, "profile.yaml"), "utf8"));
  await choose(page, "Maria.yaml", "Delete");
  await page.locator("[data-test=answer]").click();
  await row(page, "Maria.yaml").waitFor({ state: "detached" });
  assert.ok(!existsSync(join(path, "Maria.yaml")) && existsSync(join(path, "profile.yaml")));
});

test("an export is a download that the importer reads", async (t) => {
  const { page, path } = await list(t);
  for (const [name, key] of [
    ["SillyTavern preset", "prompts"],
    ["SillyTavern card", "data"],
    ["AIO Hub", "agents"],
  ]) {
    const coming = page.waitForEvent("download");
    await choose(page, "agent.yaml", name);
    const download = await coming;
    assert.equal(download.suggestedFilename(), "Robin.json");
    const text = readFileSync(await download.path(), "utf8");
    assert.ok(key in JSON.parse(text), name);
    if (await page.locator("dialog").count()) await page.keyboard.press("Escape");
    writeFileSync(join(path, "..", "export.json"), text);
    ctx(path, "import", "../export.json");
  }
});

test("a profile that the form of an agent creates is chosen", async (t) => {
  const { page } = await list(t);
  await page.evaluate(() => (location.hash = "#/agent"));
  await page.locator("[data-test=new-profile]").click();
  await page.locator("[data-test=file-name]").fill("Maria");
  await page.keyboard.press("Enter");
  await page.waitForFunction(
    () => document.querySelector("select[data-test=agent-profile]").selectedOptions[0]?.textContent === "Maria.yaml",
  );
  await page.locator("#inspector-body").click();
  await page.locator("[data-test=body]").filter({ hasText: "About Maria" }).waitFor();
});

test("an empty folder offers a new agent", async (t) => {
  const path = folder(true);
  const server = await serve(path);
  t.after(() => server.stop());
  const { page, context } = await open(server);
  t.after(() => context.close());
  await page.locator("[data-test=start-agent]").click();
  await page.locator("[data-test=file-name]").fill("Ada");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=agent-name]").waitFor();
  assert.deepEqual(Object.keys(files(path)), ["Ada.yaml"]);
});
