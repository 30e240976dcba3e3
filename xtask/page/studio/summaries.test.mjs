// Job 7 with a model: who writes a summary is chosen, all windows see how far it is, it can be canceled, a failure has
// ways out.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, ctx, openTalk } from "./harness.mjs";
import { studio, words } from "./provider.mjs";

after(close);

const FILE = "conversation.session.json";
const file = (path) => readFileSync(join(path, FILE), "utf8");
const steps = (path) => JSON.parse(file(path)).operationLog?.undo.length ?? 0;

/** A conversation that is long enough to be compressed, and another window on it. */
async function long(t, answers, prepare = () => "") {
  const made = await studio(t, answers, () => "", (path) => {
    const messages = Array.from({ length: 24 }, (_, at) => ({
      role: at % 2 ? "assistant" : "user",
      content: `In bed ${at + 1} Ada Bell grows ${at + 3} plants of basil, and waters them on 3 May after the rain.`,
    }));
    writeFileSync(join(path, "conversation.json"), JSON.stringify(messages));
    return prepare(path);
  });
  const other = await made.page.context().newPage();
  await other.goto(`${new URL(made.server.link).origin}/`);
  await other.locator(".to-talk a").click();
  await openTalk(other, FILE);
  await other.locator(".message").nth(23).waitFor();
  return { ...made, other };
}

async function compress(page, last = "12") {
  await page.locator("[data-test=compress]:enabled").click();
  await page.locator("[data-test=compress-range]").selectOption("between");
  await page.locator("[data-test=compress-to]").fill(last);
  await page.keyboard.press("Enter");
  await page.locator("[data-test=plan] summary", { hasText: `${last} messages` }).waitFor();
  await page.locator("[data-test=writer]").selectOption("model");
  await page.locator("[data-test=compress-now]:enabled").click();
}

test("job 7: a model writes a summary, which all windows see, and is canceled without a loss", async (t) => {
  let go = () => {};
  const { page, other, path, bodies, problems } = await long(t, [
    () => {},
    (response) => {
      go = () => {
        for (const piece of words("Ada Bell grows basil.")) response.write(piece);
        response.end();
      };
    },
    words("Basil again."),
  ]);
  const before = file(path);
  await compress(page);
  for (const one of [page, other]) await one.locator("[data-test=live-status]", { hasText: "summary" }).waitFor();
  await page.locator("[data-test=compress]:disabled").waitFor();
  // The other window cancels it.
  await other.locator("[data-test=stop]").click();
  for (const one of [page, other]) await one.locator("[data-test=live]", { hasText: "canceled" }).waitFor();
  assert.equal(file(path), before, "nothing was written");
  await compress(page);
  await page.waitForFunction(() => document.querySelector("[data-test=live].running"));
  while (bodies.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.match(bodies[1], /plants of basil/);
  go();
  for (const one of [page, other])
    await one.locator(".message.stack .text", { hasText: "Ada Bell grows basil." }).waitFor();
  // The notice has a way back; the summary is one step.
  await page.locator(".toast button", { hasText: "Undo" }).waitFor();
  assert.equal(steps(path), 1);
  await page.locator(".message.stack [data-test=regenerate]").click();
  await page.locator("[data-test=write-again]:enabled").click();
  await page.locator(".message.stack .text", { hasText: "Basil again." }).waitFor();
  await page.locator("[data-test=live]").waitFor({ state: "detached" });
  assert.equal(steps(path), 2);
  ctx(path, "session", "show", FILE, "--json");
  await page.locator(".toast button", { hasText: "Undo" }).click();
  await page.locator(".message.stack .text", { hasText: "Ada Bell grows basil." }).waitFor();
  assert.deepEqual(problems, []);
});

test("job 7: where the model fails, it is asked again or the messages' own sentences do", async (t) => {
  const { page, other, path, problems } = await long(t, [400, 400]);
  const before = file(path);
  await compress(page);
  for (const one of [page, other]) await one.locator("[data-test=turn-failure]", { hasText: "out of order" }).waitFor();
  assert.equal(file(path), before);
  // The other window knows what was asked for, too.
  await other.locator("[data-test=summary-again]").click();
  await page.waitForFunction(() => document.querySelector("[data-test=turn-failure]")?.textContent.includes("out of order"));
  await page.locator("[data-test=summary-sentences]").click();
  for (const one of [page, other]) await one.locator(".message.stack").waitFor();
  assert.equal(steps(path), 1);
  assert.deepEqual(problems, []);
});

test("job 7: what does not fit one prompt is summarized in parts, and their count is shown", async (t) => {
  const waiting = [];
  const hold = (response) => waiting.push(response);
  const { page, other, path, bodies, problems } = await long(t, Array(9).fill(hold), (path) => {
    const table = [{ pattern: "^gpt-4o$", contextWindow: 1150, maxOutput: 200 }];
    writeFileSync(join(path, "models.json"), JSON.stringify(table));
    return `models = ${JSON.stringify(join(path, "models.json"))}\n`;
  });
  await compress(page, "20");
  let last = 0;
  while ((await page.locator(".message.stack").count()) === 0) {
    const status = page.locator("[data-test=live-status]", { hasText: `request ${last + 1} of` });
    const end = page.locator(".message.stack");
    await status.or(end).first().waitFor();
    if (await end.count()) break;
    await other.locator("[data-test=live-status]", { hasText: `request ${last + 1} of` }).waitFor();
    while (waiting.length <= last) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const piece of words("Ada Bell grows basil.")) waiting[last].write(piece);
    waiting[last++].end();
  }
  assert.ok(last > 2, `${last} requests`);
  assert.equal(bodies.length, last);
  assert.equal(steps(path), 1);
  assert.deepEqual(problems, []);
});
