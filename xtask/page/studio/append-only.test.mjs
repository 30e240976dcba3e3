// Job 11: requests of an append-only conversation repeat the previous one, and the page shows what they repeat and insert.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { axe, close, settled } from "./harness.mjs";
import { studio, words } from "./provider.mjs";

after(close);

const AGENT = `name: Robin
presetMessages:
  - {id: identity, role: system, content: "You are {{char}}, a gardener."}
  - {id: history, type: chat_history}
  - {id: brief, role: system, content: Be brief., injectionStrategy: {type: depth, depth: 0}}
`;
const BOOK = { name: "Garden", entries: { 0: { uid: 0, key: ["basil"], comment: "Basil", content: "Basil likes sun.", position: 4, depth: 1 } } };

const HELLO = [
  { role: "user", content: "Hello!" },
  { role: "assistant", content: "Hi." },
];

const start = (t, agent = AGENT) =>
  studio(t, ["Twice.", "In the sun.", "Yes."].map(words), () => "", (path) => {
    writeFileSync(join(path, "agent.yaml"), agent);
    writeFileSync(join(path, "conversation.json"), JSON.stringify(HELLO));
    writeFileSync(join(path, "garden.json"), JSON.stringify(BOOK));
    appendFileSync(join(path, "ctx.toml"), 'worldbooks = ["garden.json"]\n');
  });
const note = (page, text) => page.locator(".inspector [data-test=prefix-note]", { hasText: text });
const messages = (body) => JSON.parse(body).messages;

async function say(page, text, reply) {
  await page.locator("[data-test=composer]").fill(text);
  await page.locator("[data-test=send]:enabled").click();
  await page.locator(".message .text", { hasText: reply }).waitFor();
  await page.locator("[data-test=live]").waitFor({ state: "detached" });
  await settled(page);
}

test("job 11: a request is previewed, sent, and repeated by the next one", async (t) => {
  const { page, bodies, problems } = await start(t);
  assert.equal(await note(page, "").count(), 0, "the agent's mode is `moving`");
  // By keyboard: past `moving`.
  const prefix = page.locator("[data-test=prefix]");
  await prefix.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await prefix.inputValue(), "append-only");
  const help = await prefix.getAttribute("aria-describedby");
  assert.match(await page.locator(`#${help}`).textContent(), /Repeats the previous request/);
  await note(page, "Begins a prefix").waitFor();
  await say(page, "How often do I water?", "Twice.");
  await note(page, /Repeats 5 messages \([\d,]+ tokens\) of the previous request/).waitFor();
  const above = await page.locator(".rows > *").evaluateAll((all) => all.findIndex((one) => one.dataset.test === "repeated"));
  assert.equal(above, 5, "a line ends the repeated part");
  // The preview, what the composer shows, and what is sent are the same.
  const text = "Where does basil grow?";
  // What is typed into the composer is the input of the preview.
  await page.locator("[data-test=composer]").fill(text);
  await settled(page);
  await page.locator("#inspector-body").click();
  const previewed = messages(await page.locator(".body-text").textContent());
  await page.locator("#inspector-messages").click();
  assert.equal(await page.locator("[data-test=input]").count(), 0, "there is no second input");
  await page.locator("[data-test=show-request]").click();
  const shown = await page.locator("[data-test=request]").textContent();
  await page.keyboard.press("Escape");
  await say(page, text, "In the sun.");
  assert.equal(bodies[1], JSON.stringify(JSON.parse(shown)), "byte for byte, but indented");
  assert.deepEqual(previewed, messages(shown));
  await say(page, "And chives?", "Yes.");
  const [first, second, third] = bodies.map(messages);
  assert.deepEqual(second.slice(0, first.length), first);
  assert.deepEqual(third.slice(0, second.length), second);
  assert.equal(third.filter(({ content }) => content.includes("Basil likes sun.")).length, 1, "inserted once");
  assert.deepEqual(problems, []);
});

test("job 11: chips show inserted texts at their place, by mouse and by keyboard", async (t) => {
  const { page, problems } = await start(t, `prefix: append-only\n${AGENT}`);
  await say(page, "How often do I water?", "Twice.");
  await say(page, "Where does basil grow?", "In the sun.");
  const chip = page.locator("[data-test=inserted] summary", { hasText: "worldbook: Basil" });
  await chip.waitFor();
  assert.match(await chip.textContent(), /worldbook: Basil · \d+ tokens/);
  const next = await chip.evaluate((one) => one.closest("li").nextElementSibling.querySelector(".text").textContent);
  assert.equal(next, "Where does basil grow?", "above the message that it was inserted before");
  const text = page.locator("[data-test=inserted] .text", { hasText: "Basil likes sun." });
  assert.ok(!(await text.isVisible()));
  await chip.click();
  await text.waitFor();
  await chip.click();
  await text.waitFor({ state: "hidden" });
  await chip.focus();
  await page.keyboard.press("Enter");
  await text.waitFor();
  // It stays open when more comes.
  await say(page, "And chives?", "Yes.");
  assert.ok(await text.isVisible());
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes[0].html]), []);
  assert.deepEqual(problems, []);
});

test("job 11: a planned break is shown before it happens", async (t) => {
  const { page, bodies, problems } = await start(t, `prefix: append-only\n${AGENT}`);
  await say(page, "How often do I water? ".repeat(20), "Twice.");
  await note(page, "Repeats 5 messages").waitFor();
  await page.locator("[data-test=reserve]").fill("0");
  await page.locator("[data-test=budget]").fill("80");
  await page.keyboard.press("Enter");
  await note(page, /begins a new prefix: the conversation exceeds the budget\. \d+ tokens are read again\./).waitFor();
  assert.equal(await page.locator(".inspector .warning[role=status]").count(), 1);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator(".composer [data-test=prefix-note]").waitFor();
  await page.setViewportSize({ width: 1280, height: 900 });
  assert.equal(bodies.length, 1, "nothing is sent");
  // By mouse, for this window only.
  await page.locator("[data-test=prefix]").selectOption("moving");
  await note(page, "").waitFor({ state: "detached" });
  await page.reload();
  await settled(page);
  assert.equal(await page.locator("[data-test=prefix]").inputValue(), "moving");
  assert.deepEqual(problems, []);
});
