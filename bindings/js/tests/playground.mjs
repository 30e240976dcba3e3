// Opens the playground in Chromium under its strict policy, and makes a request of a card: playground.mjs CHROMIUM
// [PICTURE].

import assert from "node:assert/strict";

import { chromium } from "playwright-core";

import { serve } from "./serve.mjs";

const CARD = {
  spec: "chara_card_v2",
  data: {
    name: "Ada",
    description: "{{char}} keeps a lighthouse. <img src=x onerror=alert(1)>",
    first_mes: "Hi.",
    character_book: { entries: [{ keys: ["lamp"], content: "The lamp is red.", enabled: true, insertion_order: 1, extensions: {} }] },
  },
};

const [browserPath, picture] = process.argv.slice(2);
const server = await serve("playground");
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
const said = [];
page.on("console", (line) => said.push(line.text()));
page.on("pageerror", (error) => said.push(error.message));
page.on("dialog", (dialog) => said.push(`a dialog: ${dialog.message()}`) && dialog.dismiss());
const settled = () => page.waitForSelector('#made[aria-busy="false"]');
const texts = (selector) => page.locator(selector).allInnerTexts();

await page.goto(`${server.url}/`);
await settled();
assert.ok((await texts("#messages p"))[0].includes("You are Robin"));
assert.match(await page.innerText("#sum"), /tokens of [\d,]+, counted as o200k_base/);
if (picture) await page.screenshot({ path: picture, fullPage: true });

// From here on there is no network.
await context.setOffline(true);
await page.setInputFiles("#file", { name: "ada.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(CARD)) });
await page.waitForFunction(() => document.querySelector("#messages")?.innerText.includes("keeps a lighthouse"));
await page.fill("#input", "Is the lamp lit?");
await page.waitForFunction(() => document.querySelector("#messages").innerText.includes("The lamp is red."));
const body = JSON.parse(await page.locator("#body").textContent());
assert.equal(body.model, "gpt-5");
assert.ok(body.messages.some((message) => message.content.includes("Ada keeps a lighthouse.")));
assert.equal(await page.locator("#made img").count(), 0);
await page.fill("#budget", "5");
await page.waitForFunction(() => document.querySelector("#status").innerText !== "");
assert.notEqual((await texts("#findings li")).length, 0);
await page.fill("#budget", "");
await page.fill("#agent", "presetMessages:\n  - {role: system\n");
await page.waitForFunction(() => document.querySelector("#findings").innerText.includes("line 2"));
await page.setViewportSize({ width: 400, height: 800 });
assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 400);

assert.deepEqual(said, []);
console.log("js: the playground makes a request of a card, offline, and says nothing on the console");
await browser.close();
server.close();
