// Job 10: a model answers in a conversation: all windows see it, it can be stopped, errors go on, calls are asked about.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { CTX, close, ctx, settled } from "./harness.mjs";
import { chunk, DONE, studio, words } from "./provider.mjs";

after(close);

const said = (path) =>
  JSON.parse(ctx(path, "session", "show", "conversation.session.json", "--json")).path.map(({ role, text }) => [role, text]);
const last = (page) => page.locator(".message").last();

test("job 10: what is shown is sent, and the answer streams into all windows and the file", async (t) => {
  let go = () => {};
  const { page, path, bodies, server, problems } = await studio(t, [
    (response) => {
      response.write(chunk({ content: "Every " }));
      go = () => {
        for (const piece of words("second day.")) response.write(piece);
        response.end();
      };
    },
  ]);
  const other = await page.context().newPage();
  await other.goto(`${new URL(server.link).origin}/`);
  await other.locator(".to-talk a").click();
  await other.locator("[data-test=talk-file]").selectOption({ label: "conversation.session.json" });
  await other.locator(".message").nth(2).waitFor();
  await page.locator("[data-test=composer]").fill("And in May?");
  await page.locator("[data-test=show-request]").click();
  const shown = await page.locator("[data-test=request]").textContent();
  assert.deepEqual(bodies, [], "looking sends nothing");
  await page.keyboard.press("Escape");
  await page.locator("[data-test=composer]").focus();
  await page.keyboard.press("Control+Enter");
  for (const one of [page, other]) await one.locator("[data-test=live-text]", { hasText: "Every" }).waitFor();
  assert.deepEqual(said(path).at(-1), ["user", "And in May?"], "what was said is stored before it is sent");
  assert.equal(bodies[0], shown, "byte for byte");
  // Steps wait for the answer.
  await last(page).locator("[data-test=toggle]:disabled").waitFor();
  go();
  for (const one of [page, other]) await last(one).locator(".text", { hasText: "Every second day." }).waitFor();
  await page.locator("[data-test=live]").waitFor({ state: "detached" });
  assert.deepEqual(said(path).slice(-2), [
    ["user", "And in May?"],
    ["assistant", "Every second day."],
  ]);
  await settled(page);
  // A turn is undone as a whole: the message and its answer.
  await page.locator("[data-test=talk-undo]:enabled").click();
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 3);
  assert.deepEqual(problems, []);
});

test("job 10: stopping keeps what came, and an error goes on with Continue", async (t) => {
  const { page, path, bodies, problems } = await studio(t, [
    (response) => void response.write(chunk({ content: "Half an answer" })),
    400,
    words("Whole again."),
  ]);
  await page.locator("[data-test=composer]").fill("Go on.");
  await page.locator("[data-test=send]").click();
  await page.locator("[data-test=live-text]", { hasText: "Half an answer" }).waitFor();
  await page.locator("[data-test=stop]").click();
  await page.locator(".message .text", { hasText: "Half an answer" }).waitFor();
  assert.ok(said(path).some(([role, text]) => role === "assistant" && text.startsWith("Half an answer")));
  await page.locator("[data-test=composer]").fill("Once more.");
  await page.locator("[data-test=send]:enabled").click();
  await page.locator("[data-test=turn-failure]", { hasText: "out of order" }).waitFor();
  await page.locator("[data-test=continue]").click();
  await page.locator(".message .text", { hasText: "Whole again." }).waitFor();
  await page.locator("[data-test=live]").waitFor({ state: "detached" });
  assert.equal(bodies.length, 3);
  assert.deepEqual(problems, []);
});

test("job 10: calls of tools are shown, refused and agreed to", async (t) => {
  const asks = (id) => [
    chunk({ tool_calls: [{ index: 0, id, type: "function", function: { name: "read_file", arguments: '{"path":"bed.txt"}' } }] }),
    chunk({}, "tool_calls"),
    DONE,
  ];
  const { page, path, bodies, problems } = await studio(
    t,
    [asks("c1"), asks("c2"), words("The bed is wet.")],
    (path) => {
      mkdirSync(join(path, "notes"));
      writeFileSync(join(path, "notes", "bed.txt"), "Wet since Monday.");
      return `[tools]\nfolder = ${JSON.stringify(join(path, "notes"))}\nask = true\n`;
    },
  );
  await page.locator("[data-test=composer]").fill("Look at the bed.");
  await page.locator("[data-test=send]").click();
  const pending = page.locator("[data-test=pending-call]", { hasText: "bed.txt" });
  await pending.waitFor();
  assert.equal(bodies.length, 1, "nothing is done before somebody agrees");
  await page.locator("[data-test=refuse]").click();
  await page.locator(".message .text", { hasText: "rejected this call" }).waitFor();
  await pending.waitFor();
  await page.locator("[data-test=allow]").focus();
  await page.keyboard.press("Enter");
  await page.locator(".message .text", { hasText: "The bed is wet." }).waitFor();
  assert.equal(await page.locator(".message .calls", { hasText: "read_file" }).count(), 2);
  const [refused, allowed] = [1, 2].map((at) => JSON.parse(bodies[at]).messages.at(-1));
  assert.match(refused.content, /rejected this call/);
  assert.match(allowed.content, /Wet since Monday/);
  assert.equal(said(path).filter(([role]) => role === "tool").length, 2);
  assert.deepEqual(problems, []);
});

test("job 10: a conversation is begun in the store, and another program's step arrives", async (t) => {
  const { page, path, bodies, problems } = await studio(t, [words("By the fig.")]);
  await page.locator("[data-test=begin-talk]").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 0);
  await page.locator("[data-test=composer]").fill("Where shall I sit?");
  await page.keyboard.press("Control+Enter");
  await last(page).locator(".text", { hasText: "By the fig." }).waitFor();
  assert.match(bodies[0], /Where shall I sit\?/);
  const [kept] = JSON.parse(ctx(path, "session", "list", "--json"));
  assert.equal(kept.steps, 2);
  // `ctx chat` goes on with it.
  await promisify(execFile)(CTX, ["chat", "--conversation", kept.id, "--once", "And then?"], { cwd: path });
  await last(page).locator(".text", { hasText: "Nothing more." }).waitFor();
  await page.locator("[data-test=talk-undo]:enabled").click();
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 2);
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 2);
  assert.deepEqual(problems, []);
});
