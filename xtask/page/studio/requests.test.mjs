// Request logs: what broke the prompt cache, and the two requests side by side.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, focused, folder, open, requestLog, serve } from "./harness.mjs";

after(close);

/** The page Requests of a folder with these files. */
async function start(t, logs, options) {
  const path = folder();
  for (const [name, text] of Object.entries(logs)) {
    mkdirSync(join(path, name, ".."), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  const server = await serve(path);
  t.after(() => server.stop());
  const opened = await open(server, options);
  t.after(() => opened.context.close());
  await opened.page.locator("nav.pages .to-requests a").click();
  await opened.page.locator("#requests-title").waitFor();
  return opened;
}

const indexes = (page) => page.locator("[data-test=requests] tr[data-index]").evaluateAll((rows) => rows.map((row) => Number(row.dataset.index)));

test("a log is explained: causes by cost, and the requests at the break", async (t) => {
  const { page, problems } = await start(t, { "log.jsonl": `${requestLog()}\n{"request": {"mod` });
  // The only log of a folder opens by itself.
  const causes = page.locator("[data-test=causes] button");
  await causes.first().waitFor();
  assert.equal((await indexes(page)).length, 12);
  assert.equal(await causes.count(), 2);
  assert.match(await page.locator("[data-test=totals]").textContent(), /^Requests12Tokens.*For cache misses\$0\.\d{4}$/);
  await page.getByText("1 line skipped, first line 13: no JSON").waitFor();
  // A cause filters the table, and a second click shows all again.
  const clock = causes.filter({ hasText: "system prompt: a time, date, or id changed" });
  await clock.click();
  assert.deepEqual(await indexes(page), [5]);
  assert.equal(await clock.getAttribute("aria-pressed"), "true");
  await page.locator("tr[data-index='5'] td.cause").click();
  await page.locator("[data-test=pair] del", { hasText: "05" }).waitFor();
  await page.locator("[data-test=pair] ins", { hasText: "06" }).waitFor();
  assert.match(await page.locator(".pair-summary").textContent(), /system part 1.*tokens read again \(\$0\.\d{4}\).*1 of \d+ blocks shared/);
  await clock.click();
  assert.equal((await indexes(page)).length, 12);
  await page.locator("[data-test=only-misses]").check();
  assert.deepEqual(await indexes(page), [5, 9]);
  await page.locator("[data-test=only-misses]").uncheck();
  // A rewritten tool result.
  await page.locator("tr[data-index='9'] td.cause").click();
  await page.locator("[data-test=pair] ins", { hasText: "removed" }).waitFor();
  assert.match(await page.locator(".pair-summary").textContent(), /the tool result was rewritten/);
  // The first request has none to be compared with, and the second one extends it.
  await page.locator("tr[data-index='1'] .open-request").click();
  await page.getByText("This is the first request of its conversation.").waitFor();
  await page.locator("tr[data-index='2'] .open-request").click();
  await page.locator(".pair-summary", { hasText: "No cache miss" }).waitFor();
  assert.deepEqual(problems, []);
});

test("the keyboard moves through the requests, opens and closes them", async (t) => {
  const { page, problems } = await start(t, { "log.jsonl": requestLog() });
  await page.locator(".open-request").first().focus();
  for (const key of ["End", "ArrowUp", "Home", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  await focused(page, "tr[data-index='3'] .open-request");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=pair]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("[data-test=pair]").waitFor({ state: "detached" });
  await focused(page, "tr[data-index='3'] .open-request");
  assert.deepEqual(problems, []);
});

test("without a log the page tells how to record one; a dropped log is explained", async (t) => {
  const { page, problems } = await start(t, {}, { width: 400 });
  await page.locator("[data-test=no-logs]", { hasText: "ctx serve --record DIR" }).waitFor();
  await page.locator("[data-test=no-logs]", { hasText: "ctx tap -- claude" }).waitFor();
  const data = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "dropped <b>.jsonl"));
    return data;
  }, requestLog());
  for (const event of ["dragenter", "dragover", "drop"]) await page.dispatchEvent("#requests-title", event, { dataTransfer: data });
  await page.locator("tr[data-index='9'] .open-request").click();
  await page.locator("[data-test=pair] ins", { hasText: "removed" }).waitFor();
  assert.equal(await page.locator("[data-test=log] option").first().textContent(), "dropped <b>.jsonl");
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
  // Something else than a log.
  await page.locator("[data-test=log-file]").setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("\u0000no") });
  await page.getByText("1 line skipped, first line 1: no JSON").waitFor();
  assert.deepEqual(problems, []);
});

test("logs of a folder are one log, and long logs are shown in pages", async (t) => {
  const { page, problems } = await start(t, { "logs/a.jsonl": requestLog(1200), "logs/b.jsonl": requestLog() });
  const options = page.locator("[data-test=log] option");
  await options.nth(3).waitFor({ state: "attached" });
  assert.deepEqual((await options.allTextContents()).map((text) => text.split(" (")[0]), ["Choose a log", "logs/a.jsonl", "logs/b.jsonl", "logs/"]);
  await page.locator("[data-test=log]").selectOption({ index: 3 });
  await page.locator("[data-test=totals]", { hasText: "1,212" }).waitFor();
  assert.equal((await indexes(page)).length, 200);
  await page.locator(".pager button").last().click();
  await page.locator("tr[data-index='1212']").waitFor();
  assert.deepEqual(problems, []);
});
