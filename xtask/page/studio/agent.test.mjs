// The form of an agent: what is typed is in the file, in the preview, and can be undone.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, folder, focused, open, save, serve, settled } from "./harness.mjs";

after(close);

async function agent(t, path = folder(), options) {
  const server = await serve(path);
  t.after(() => server.stop());
  const opened = await open(server, options);
  t.after(() => opened.context.close());
  await opened.page.locator("nav.pages .to-agent a").click();
  await opened.page.locator("[data-test=agent-name]").waitFor();
  return { path, server, ...opened, text: () => readFileSync(join(path, "agent.yaml"), "utf8") };
}

test("a field changes its key alone, shows in the preview, and can be undone", async (t) => {
  const { page, text, problems } = await agent(t);
  const before = text();
  await page.locator("[data-test=agent-name]").fill("Rowan");
  await page.locator(".row .head", { hasText: "You are Rowan" }).waitFor();
  await page.locator("[data-test=dirty].on").waitFor();
  await save(page);
  assert.equal(text(), before.replace("name: Robin", "name: Rowan"));
  await page.locator("[data-test=undo]").click();
  await page.locator(".row .head", { hasText: "You are Robin" }).waitFor();
  await save(page);
  assert.equal(text(), before);
  assert.deepEqual(problems, []);
});

test("parameters are written where they are set, and an emptied field leaves no key", async (t) => {
  const { page, text } = await agent(t);
  const before = text();
  const field = (name) => page.locator(`[data-test=parameter-${name}]`);
  await field("temperature").fill("0.7");
  await page.keyboard.press("Enter");
  await field("maxTokens").fill("500");
  await page.keyboard.press("Tab");
  await page.locator("[data-test=agent-model]").fill("gpt-5");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=agent-stop]").fill("END\nSTOP");
  await page.locator("[data-test=dirty].on").waitFor();
  await save(page);
  assert.match(text(), /parameters:\s+temperature: 0\.7\s+maxTokens: 500\s+stop:/);
  assert.match(text(), /modelId: gpt-5/);
  // What providers reject stays in the field, with the reason, and not in the file.
  await field("temperature").fill("9");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=parameter-temperature][aria-invalid=true]").waitFor();
  assert.match(await page.locator(".parameters small.wrong").textContent(), /0 to 2/);
  await field("temperature").fill("");
  await page.keyboard.press("Enter");
  await field("maxTokens").fill("");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=agent-stop]").fill("");
  await page.locator("[data-test=agent-model]").fill("");
  await page.keyboard.press("Enter");
  await settled(page);
  await save(page);
  assert.equal(text().trimEnd(), before.trimEnd());
});

test("unknown parameters and other spellings are kept", async (t) => {
  const path = folder();
  const file = join(path, "agent.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8")}\nparameters:\n  top_p: 0.5 # nucleus\n  minP: 0.1\n`);
  const { page, text } = await agent(t, path);
  assert.equal(await page.locator("[data-test=parameter-topP]").inputValue(), "0.5");
  assert.match(await page.locator("[data-test=other-parameters]").textContent(), /minP\s*0\.1/);
  await page.locator("[data-test=parameter-topP]").fill("0.9");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=dirty].on").waitFor();
  await save(page);
  assert.match(text(), /parameters:\n {2}top_p: 0\.9 # nucleus\n {2}minP: 0\.1\n$/);
});

test("greetings are added, ordered and deleted by keyboard", async (t) => {
  const { page, text } = await agent(t);
  const before = text();
  const greeting = page.locator("[data-test=greeting]");
  await page.locator("[data-test=add-greeting]").focus();
  await page.keyboard.press("Enter");
  await focused(page, "[data-test=greeting] textarea");
  await page.keyboard.type("Hello, {{user}}.");
  await page.locator("[data-test=add-greeting]").focus();
  await page.keyboard.press("Enter");
  await focused(page, "[data-test=greeting]:nth-child(2) textarea");
  await page.keyboard.type("Good evening.\nSit down.");
  await greeting.nth(1).getByRole("button", { name: "Move up" }).press("Enter");
  await page.waitForFunction(() => document.querySelector("[data-test=greeting] textarea").value.startsWith("Good"));
  await save(page);
  const saved = text();
  assert.ok(saved.indexOf("Good evening.") < saved.indexOf("Hello, {{user}}."), saved);
  for (const left of [1, 0]) {
    await greeting.first().getByRole("button", { name: "Delete" }).press("Enter");
    await page.waitForFunction((left) => document.querySelectorAll("[data-test=greeting]").length === left, left);
  }
  await settled(page);
  await save(page);
  assert.equal(text().trimEnd(), before.trimEnd());
});

test("two windows in one text or list of greetings overwrite nothing", async (t) => {
  const { page, text, server } = await agent(t);
  const second = await page.context().newPage();
  await second.goto(`${new URL(server.link).origin}/#/agent`);
  const own = page.locator("[data-test=agent-description]");
  const other = second.locator("[data-test=agent-description]");
  const both = (value) =>
    Promise.all([page, second].map((one) => one.waitForFunction((value) => document.querySelector("[data-test=agent-description]")?.value === value, value, { polling: 100 })));
  await own.fill("One");
  await both("One");
  await own.press("Home");
  await other.press("End");
  // With a space at its end, the text would be written in quotes.
  await second.keyboard.insertText(" t");
  await second.keyboard.type("wo");
  await both("One two");
  // The caret stays in its place.
  await page.keyboard.type("Zero ");
  await both("Zero One two");
  // The focus stays in its greeting.
  await page.locator("[data-test=add-greeting]").click();
  await focused(page, "[data-test=greeting] textarea");
  await page.keyboard.type("Hello");
  await second.locator("[data-test=greeting]").waitFor();
  await second.locator("[data-test=add-greeting]").click();
  await focused(second, "[data-test=greeting]:nth-child(2) textarea");
  await second.keyboard.type("Good evening");
  await second.locator("[data-test=greeting]").nth(1).getByRole("button", { name: "Move up" }).press("Enter");
  await focused(second, "[data-test=greeting]:nth-child(1) button");
  await page.waitForFunction(() => document.querySelector("[data-test=greeting] textarea").value === "Good evening", null, { polling: 100 });
  await focused(page, "[data-test=greeting]:nth-child(2) textarea");
  await page.keyboard.type(", {{user}}.");
  await page.locator("[data-test=dirty].on").waitFor();
  await settled(page);
  await save(page);
  assert.match(text(), /description: Zero One two/);
  assert.ok(text().indexOf("Good evening") < text().indexOf("Hello, {{user}}."), text());
});

test("the user profile of the preview is chosen beside the agent", async (t) => {
  const { page } = await agent(t);
  await page.locator("#inspector-body").click();
  const request = page.locator("[data-test=body]");
  await request.filter({ hasText: "About Alex" }).waitFor();
  await page.locator("[data-test=agent-profile]").selectOption("");
  await request.filter({ hasNotText: "About Alex" }).waitFor();
  await page.locator("[data-test=agent-profile]").selectOption({ label: "profile.yaml" });
  await request.filter({ hasText: "About Alex" }).waitFor();
});

test("a card of another application has no form, and says why", async (t) => {
  const path = folder();
  writeFileSync(
    join(path, "card.json"),
    JSON.stringify({ spec: "chara_card_v2", spec_version: "2.0", data: { name: "Ada", description: "Exact.", first_mes: "Hi" } }),
  );
  const { page } = await agent(t, path);
  await page.locator("[data-test=file]").selectOption({ label: "card.json" });
  await page.locator(".agent-page .empty", { hasText: "another application" }).waitFor();
});

test("the form fits each width", async (t) => {
  const { page } = await agent(t);
  await page.locator("[data-test=add-greeting]").click();
  await page.locator("[data-test=greeting] textarea").fill("A long greeting. ".repeat(60));
  for (const width of [400, 640, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll(".agent-form :is(.label, h2, small, b, .button)")]
        .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
        .map((one) => one.textContent),
    );
    assert.deepEqual(cut, [], `${width}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, `${width}`);
  }
});
