// Jobs 7 and 8: a conversation is branched, changed, compressed and taken back; other windows and programs see it.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, command, ctx, files, focused, folder, open, openTalk, serve, settled } from "./harness.mjs";
import { stream, studio as chatting } from "./provider.mjs";

after(close);

const FACTS = [
  "Hello! Please book room 12 for Ada Bell on 3 May.",
  "Booked: room 12 for Ada Bell, 3 May, at 140 EUR a night.",
  "She must not be called before 9:00.",
  "Noted: no calls to Ada Bell before 9:00.",
];

/** A session with many messages, as the page makes it of a list. */
async function studio(t, { messages = 30, ...options } = {}) {
  const path = folder();
  const said = Array.from({ length: messages }, (_, n) => ({
    role: n % 2 ? "assistant" : "user",
    content: FACTS[n] ?? `Message ${n + 1} speaks of the garden and its beds, of water, of seeds and of the weather today.`,
  }));
  writeFileSync(join(path, "chat.json"), JSON.stringify(said, null, 2));
  const server = await serve(path);
  t.after(() => server.stop());
  const opened = await open(server, options);
  t.after(() => opened.context.close());
  await talkOf(opened.page, "chat.json");
  return { path, server, ...opened };
}

async function talkOf(page, name) {
  await page.locator(".to-talk a").click();
  await openTalk(page, name);
  await page.locator(".message").first().waitFor();
}

async function makeSession(page) {
  await page.locator("[data-test=make-session]").click();
  await page.locator("[data-test=talk-file]").getByText("chat.session.json", { exact: true }).waitFor();
  await page.locator("[data-test=composer]").waitFor();
}

const ids = (page) => page.locator(".message").evaluateAll((all) => all.map((one) => one.dataset.id));
const message = (page, id) => page.locator(`.message[data-id="${id}"]`);
const told = (path) => JSON.parse(ctx(path, "session", "show", "chat.session.json", "--json")).path;
const show = (path) => told(path).map(({ text }) => text);
const hidden = (path) => told(path).filter(({ state }) => state === "hidden");
const undo = (page) => page.locator("[data-test=talk-undo]:enabled").click();

test("job 7: a list of messages opens read-only, and a session is made of it beside it", async (t) => {
  const { page, path, problems } = await studio(t, { messages: 6 });
  const before = files(path);
  assert.ok(await page.locator("[data-test=compress]").isDisabled());
  await makeSession(page);
  const now = files(path);
  assert.deepEqual(Object.keys(now).filter((name) => !(name in before)), ["chat.session.json"]);
  assert.equal(now["chat.json"], before["chat.json"]);
  assert.equal((await ids(page)).length, 6);
  assert.deepEqual(problems, []);
});

test("job 7: compressed, unfolded, switched, edited, written again, deleted and taken back to the first byte", async (t) => {
  const { page, path, problems } = await studio(t);
  await makeSession(page);
  const before = files(path)["chat.session.json"];
  await page.locator("[data-test=compress]").click();
  await page.locator("[data-test=plan] b").waitFor();
  assert.equal(files(path)["chat.session.json"], before, "a plan writes nothing");
  await page.locator("[data-test=compress-range]").selectOption("between");
  await page.locator("[data-test=compress-to]").fill("12");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=plan] summary", { hasText: "12 messages" }).waitFor();
  await page.locator("[data-test=compress-now]").click();
  const stack = page.locator(".message.stack");
  await stack.waitFor();
  assert.equal((await ids(page)).length, 30 - 12 + 1, "the summary stands for twelve");
  // The preview is that of the new file.
  await page.locator(".row .role", { hasText: "system" }).first().waitFor();
  // Unfolding is a matter of this window.
  const compressed = files(path)["chat.session.json"];
  await stack.locator("[data-test=unfold]").click();
  await page.locator(".message.behind").nth(11).waitFor();
  assert.equal(files(path)["chat.session.json"], compressed);
  await stack.locator("[data-test=unfold]").click();
  // Details: figures, and what was lost; a click marks the place in the original.
  await stack.locator("[data-test=details]").click();
  await page.locator("[data-test=summary-details]").waitFor();
  const report = JSON.parse(ctx(path, "compress", "report", "--session", "chat.session.json", "--json")).summaries[0];
  const lost = page.locator("[data-test=lost] button");
  assert.equal(await lost.count(), report.lost.length);
  if (report.lost.length > 0) {
    await lost.first().click();
    await page.locator(".message.behind mark").waitFor();
    assert.equal(await page.locator(".message mark").textContent(), report.lost[0].text);
  }
  // Off and on are steps.
  await command(stack, "toggle");
  await page.locator(".message.stack.is-off").waitFor();
  assert.deepEqual(hidden(path), [], "what it stands for is sent again");
  await command(stack, "toggle");
  await page.locator(".message.stack:not(.is-off)").waitFor();
  assert.equal(hidden(path).length, 12);
  await stack.locator("[data-test=edit]").click();
  await stack.locator("[data-test=message-text]").fill("Ada Bell has room 12.");
  await stack.locator("[data-test=save-message]").click();
  await stack.locator(".text", { hasText: "Ada Bell has room 12." }).waitFor();
  await stack.locator("[data-test=regenerate]").click();
  await page.locator("[data-test=write-again]").click();
  await stack.locator(".text:not(:has-text('Ada Bell has room 12.'))").waitFor();
  await command(stack, "remove");
  await stack.waitFor({ state: "detached" });
  // The steps have names, and all are taken back.
  for (const name of ["delete", "rewrite", "edit", "enable", "disable", "compress 12 messages"]) {
    await page.locator(`[data-test=talk-undo][aria-label*="${name}"]:enabled`).click();
  }
  await page.locator("[data-test=talk-redo][aria-label*=compress]").waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 30);
  assert.deepEqual(
    JSON.parse(files(path)["chat.session.json"]).nodes,
    JSON.parse(before).nodes,
    "the messages are what they were",
  );
  assert.deepEqual(problems, []);
});

test("job 8: branches by keyboard alone, and the way back to the other one", async (t) => {
  const { page, path, problems } = await studio(t, { messages: 6 });
  await makeSession(page);
  const all = await ids(page);
  await message(page, all[3]).locator("[data-test=edit]").focus();
  await page.keyboard.press("Enter");
  await focused(page, "[data-test=message-text]");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Another answer.");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await focused(page, "[data-test=save-branch]");
  await page.keyboard.press("Enter");
  await page.locator(".message", { hasText: "Another answer." }).waitFor();
  assert.equal((await ids(page)).length, 4, "the new branch ends with it");
  await page.locator(".branch", { hasText: "2/2" }).waitFor();
  await page.locator("[data-test=branches]").click();
  await page.locator("[data-test=tree] li").nth(2).waitFor();
  await page.locator(".branch button:enabled").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 6);
  assert.deepEqual(await ids(page), all);
  // By the tree, too; and a message that is added goes to the end.
  await page.locator("[data-test=tree] button", { hasText: "Another answer." }).click();
  await page.locator(".message", { hasText: "Another answer." }).waitFor();
  await page.locator("[data-test=composer]").fill("And then?");
  await page.locator("[data-test=add-message]:enabled").waitFor();
  // Past the files.
  for (let step = 0; step < 2; step++) await page.keyboard.press("Tab");
  await focused(page, "[data-test=add-message]");
  await page.keyboard.press("Enter");
  await focused(page, "[data-test=add-user]");
  await page.keyboard.press("Enter");
  await page.locator(".message", { hasText: "And then?" }).waitFor();
  assert.deepEqual(show(path).slice(-2), ["Another answer.", "And then?"]);
  await settled(page);
  assert.deepEqual(problems, []);
});

test("job 8: a second window and a terminal see each step, and nothing is overwritten", async (t) => {
  const { page, path, server, problems } = await studio(t, { messages: 8 });
  await makeSession(page);
  // Links count once, so the second window of the same browser has the token of the first.
  const other = await page.context().newPage();
  await other.goto(new URL(server.link).origin);
  await other.locator(".to-talk a").waitFor();
  await talkOf(other, "chat.session.json");
  const all = await ids(page);
  // What is being composed there is not touched.
  await message(other, all[2]).locator("[data-test=edit]").click();
  await other.locator("[data-test=message-text]").fill("Being written…");
  await command(message(page, all[7]), "toggle");
  await message(other, all[7]).and(other.locator(".is-off")).waitFor();
  assert.equal(await other.locator("[data-test=message-text]").inputValue(), "Being written…");
  // A step from a terminal.
  ctx(path, "session", "undo", "chat.session.json");
  await message(page, all[7]).and(page.locator(":not(.is-off)")).waitFor();
  await message(other, all[7]).and(other.locator(":not(.is-off)")).waitFor();
  // Both take a step; each is there at the end.
  await other.locator("[data-test=save-message]").click();
  await message(page, all[2]).locator(".text", { hasText: "Being written…" }).waitFor();
  await command(message(page, all[4]), "toggle");
  await message(other, all[4]).and(other.locator(".is-off")).waitFor();
  await undo(other);
  await message(page, all[4]).and(page.locator(":not(.is-off)")).waitFor();
  assert.deepEqual(problems, []);
});

test("job 8: a double click adds a message once, and what is typed meanwhile stays", async (t) => {
  const { page, path, problems } = await studio(t, { messages: 4 });
  await makeSession(page);
  let letGo;
  const gate = new Promise((resolve) => (letGo = resolve));
  await page.route("**/steps?*", async (route) => {
    await gate;
    await route.continue();
  });
  const composer = page.locator("[data-test=composer]");
  await composer.fill("One.");
  await page.locator("[data-test=add-message]").click();
  await page.locator("[data-test=add-user]").dblclick();
  await composer.fill("One. And two");
  letGo();
  await page.locator(".message", { hasText: "One." }).waitFor();
  await page.locator("[data-test=add-message]:enabled").waitFor();
  assert.equal(await composer.inputValue(), "One. And two");
  assert.deepEqual(show(path), [...FACTS, "One."]);
  assert.deepEqual(problems, []);
});

test("job 8: a step that waits for the one before goes into its own conversation, whatever is shown meanwhile", async (t) => {
  const { page, path, problems } = await studio(t, { messages: 4 });
  await makeSession(page);
  const [all, before] = [await ids(page), files(path)];
  let letGo;
  const gate = new Promise((resolve) => (letGo = resolve));
  await page.route("**/steps?*", async (route) => {
    await gate;
    await route.continue();
  });
  for (const id of all.slice(1, 3)) await command(message(page, id), "toggle");
  await talkOf(page, "chat.json");
  letGo();
  const isOff = () => told(path).map(({ state }) => state === "off");
  for (let tries = 0; tries < 100 && isOff().filter(Boolean).length < 2; tries += 1) await page.waitForTimeout(100);
  assert.deepEqual(isOff(), [false, true, true, false]);
  const changed = Object.keys(before).filter((name) => files(path)[name] !== before[name]);
  assert.deepEqual(changed, ["chat.session.json"]);
  assert.deepEqual(problems, []);
});

const FILE = "conversation.session.json";

/** How long the conversation of six windows is: a program without optimizations takes minutes for 10,000. */
const MANY = Number(process.env.MANY ?? 2000);

test(`job 8: six windows on ${MANY} messages, two of which write while one streams, show the same at the end`, async (t) => {
  // A turn of a long conversation may ask for a summary, too.
  const answers = Array.from({ length: 8 }, () => stream(60, 40));
  const said = Array.from({ length: MANY }, (_, n) => ({ role: n % 2 ? "assistant" : "user", content: `Message ${n} of the garden.` }));
  const { page, path, server, problems } = await chatting(t, answers, () => "", (path) => {
    writeFileSync(join(path, "conversation.json"), JSON.stringify(said));
  });
  const pages = [page];
  while (pages.length < 6) {
    const next = await page.context().newPage();
    await next.goto(`${new URL(server.link).origin}/#/chat`);
    await talkOf(next, FILE);
    pages.push(next);
  }
  // A step for a conversation that has changed meanwhile, or in which a model answers, is refused and taken again. A click
  // on a button that was switched off a moment ago, since another window has asked, does nothing.
  const write = async (one, button, texts) => {
    for (const text of texts) {
      await one.locator("[data-test=composer]").fill(text);
      for (let end; end !== "taken"; ) {
        await one.locator(`[data-test=${button}]:enabled`).press("Enter");
        // The first of the menu, unless a scrolling page has closed it: then it is opened again.
        if (button === "add-message") await one.keyboard.press("Enter");
        const what = await one.waitForFunction((button) => {
          if (document.querySelector("[data-test=composer]").value === "") return "taken";
          if (document.querySelector(".toast.error")) return "refused";
          return document.querySelector(`[data-test=${button}]:enabled`) && "lost";
        }, button);
        end = await what.jsonValue();
        if (end === "refused") await one.locator(".toast.error button").last().click();
      }
    }
  };
  const named = (name) => [0, 1, 2].map((at) => `${name} ${at}`);
  await Promise.all([
    write(pages[1], "add-message", named("left")),
    write(pages[4], "add-message", named("right")),
    write(pages[2], "send", ["ask 0", "ask 1"]),
  ]);
  // What a turn of a long conversation has compressed by itself stays told.
  await pages[2].locator("[data-test=live].running").waitFor({ state: "detached" });
  const all = JSON.parse(ctx(path, "session", "show", FILE, "--json")).path;
  const expected = all.map(({ id }) => id).slice(-200);
  for (const one of pages) {
    await one.waitForFunction(
      (expected) => [...document.querySelectorAll(".message")].map((row) => row.dataset.id).join() === expected.join(),
      expected,
    );
  }
  const summaries = new Set(all.map(({ hiddenBy }) => hiddenBy));
  const messages = all.filter(({ id }) => !summaries.has(id));
  assert.deepEqual(messages.slice(0, MANY).map(({ text }) => text), said.map(({ content }) => content));
  const added = messages.slice(MANY).map(({ text }) => text.trim());
  const answer = Array.from({ length: 60 }, (_, at) => `piece ${at}`).join(" ");
  const wanted = [...named("left"), ...named("right"), "ask 0", "ask 1", answer, answer];
  assert.deepEqual([...added].sort(), wanted.sort(), "none lost, none twice");
  for (const question of ["ask 0", "ask 1"]) assert.equal(added[added.indexOf(question) + 1], answer, "answered where it was asked");
  assert.ok((await page.locator(".message").count()) <= 200, "few rows stand in the page");
  assert.deepEqual(
    problems.filter((line) => !/Failed to load resource: .* status of 409/.test(line)),
    [],
  );
});
