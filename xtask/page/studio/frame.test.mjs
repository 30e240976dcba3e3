// What is around every page: the turn in one line, the border to the preview, and what survives Back and a reload.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, entry, files, focused, folder, open, serve, settled } from "./harness.mjs";

after(close);

async function studio(t, path = folder(), options) {
  const server = await serve(path);
  t.after(() => server.stop());
  const opened = await open(server, options);
  t.after(() => opened.context.close());
  return { path, server, ...opened };
}

test("the turn bar is one line, opens by keyboard, and stays as it was left", async (t) => {
  const { page } = await studio(t, folder(), { isTurnOpen: false });
  await settled(page);
  const line = page.locator("[data-test=turn]");
  assert.equal(await line.locator(".parts").textContent(), "conversation · profile · No model");
  assert.equal(await page.locator("[data-test=input]").count(), 0);
  assert.ok((await page.locator(".turn").boundingBox()).height < 45);
  await line.focus();
  await page.keyboard.press("Enter");
  await page.locator("[data-test=input]").fill("And in May?");
  await page.locator("[data-test=model]").fill("gpt-5");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=budget]").fill("183500");
  await page.keyboard.press("Enter");
  await settled(page);
  await line.locator(".parts", { hasText: /^conversation · profile · gpt-5 · 1[78]\dk · “And in May\?”$/ }).waitFor();
  for (const name of ["conversation", "profile", "model", "budget", "reserve", "seed", "at", "now"])
    assert.equal(await page.locator(`.turn-settings [data-test=${name}]`).count(), 1, name);
  await page.evaluate(() => (location.hash = "#/talk"));
  await page.locator(".turn-settings [data-test=input]").waitFor({ state: "detached" });
  await page.reload();
  await page.locator("[data-test=turn][aria-expanded=true]").waitFor();
});

test("nothing lies over the time, in both languages and at each width", async (t) => {
  for (const lang of ["en", "zh"]) {
    const { page } = await studio(t, folder(), { lang });
    for (const width of [400, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const [field, button] = await Promise.all(
        ["at", "now"].map((name) => page.locator(`[data-test=${name}]`).boundingBox()),
      );
      assert.ok(field.x + field.width <= button.x, `${lang} ${width}: the button is beside the field`);
      const isCut = await page.locator("[data-test=at]").evaluate((one) => one.scrollWidth > one.clientWidth);
      assert.ok(!isCut, `${lang} ${width}: the time and its button fit`);
    }
  }
});

test("the border to the preview is moved by mouse and keyboard, and stays after a reload", async (t) => {
  const { page } = await studio(t);
  const splitter = page.locator("[data-test=splitter]");
  const width = async () => (await page.locator("#page").boundingBox()).width;
  const usual = await width();
  const { x, y, width: own } = await splitter.boundingBox();
  await page.mouse.move(x + own / 2, y + 200);
  await page.mouse.down();
  await page.mouse.move(x - 150, y + 200, { steps: 5 });
  await page.mouse.up();
  const dragged = await width();
  assert.ok(Math.abs(usual - dragged - 150) < 15, `${usual} ${dragged}`);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  const moved = await width();
  assert.ok(moved > dragged + 20, `${dragged} ${moved}`);
  const now = await splitter.getAttribute("aria-valuenow");
  await page.reload();
  await settled(page);
  assert.equal(await splitter.getAttribute("aria-valuenow"), now);
  assert.ok(Math.abs((await width()) - moved) < 2);
  await page.keyboard.press("Tab");
  await splitter.focus();
  await page.keyboard.press("End");
  assert.equal(await splitter.getAttribute("aria-valuenow"), "75");
  await splitter.dblclick();
  assert.ok(Math.abs((await width()) - usual) < 2);
});

test("what is pinned is there after a reload, and is compared", async (t) => {
  const { page } = await studio(t);
  await settled(page);
  await page.locator("[data-test=pin]").click();
  await page.locator("[data-test=input]").fill("And in May?");
  await settled(page);
  await page.reload();
  await settled(page);
  await page.evaluate(() => (location.hash = "#/compare"));
  await page.locator("[data-test=difference]").waitFor();
});

test("a broken file is saved only after a question", async (t) => {
  const { page, path } = await studio(t);
  const before = files(path);
  await page.locator("[data-test=view-text]").click();
  await page.locator("[data-test=file-text] .cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("[");
  await page.locator(".preset-page > .bar-note").waitFor();
  await page.keyboard.press("Control+s");
  await page.locator("[data-test=save-fault]").waitFor();
  assert.match(await page.locator("[data-test=save-fault]").textContent(), /^\d+:\d+ \S/);
  await page.locator("[data-test=save-back]").click();
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.deepEqual(files(path), before);
  await page.keyboard.press("Control+s");
  await page.locator("[data-test=save-anyway]").click();
  await page.locator("[data-test=dirty]:not(.on)").waitFor();
  assert.ok(readFileSync(join(path, "agent.yaml"), "utf8").startsWith("["));
});

test("a page opens where it was left, after Back and after a reload", async (t) => {
  const { page } = await studio(t);
  await page.locator("nav.pages .to-pipeline a").click();
  await page.locator(".processor").last().waitFor();
  // Not at the end, which moves with the height of the window.
  const left = 300;
  await page.evaluate((left) => document.getElementById("page").scrollTo(0, left), left);
  await page.waitForFunction(() => Object.keys(sessionStorage).some((key) => key.endsWith("/scroll")));
  const isBack = () =>
    page.waitForFunction((left) => Math.abs(document.getElementById("page").scrollTop - left) < 4, left);
  await page.locator("nav.pages .to-agent a").click();
  await page.locator(".processor").first().waitFor({ state: "detached" });
  await page.waitForFunction(() => document.getElementById("page").scrollTop === 0);
  await page.goBack();
  await page.locator(".processor").last().waitFor();
  await isBack();
  await page.reload();
  await page.locator(".processor").last().waitFor();
  await isBack();
});

test("the request is indented, and Copy takes what is shown", async (t) => {
  const { page, context } = await studio(t);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.locator("#inspector-body").click();
  const shown = page.locator("[data-test=body]");
  await shown.waitFor();
  const text = await shown.textContent();
  assert.equal(text, JSON.stringify(JSON.parse(text), null, 2));
  await page.locator("[data-test=copy-body]").click();
  await page.locator(".toast").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
});

test("in a narrow window the page of now is in view among the pages", async (t) => {
  const { page } = await studio(t, folder(), { width: 400 });
  await page.evaluate(() => (location.hash = "#/files"));
  await page.locator(".file-list").first().waitFor();
  const link = page.locator("nav.pages .to-files a");
  const { x, width } = await link.boundingBox();
  assert.ok(x >= 0 && x + width <= 400, `${x} ${width}`);
  await link.focus();
  await page.keyboard.press("Shift+Tab");
  await focused(page, "nav.pages a");
});
