// What strangers wrote never becomes markup: 30 payloads in every field of an agent, a profile, a conversation, a card.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, folder, open, serve, settled } from "./harness.mjs";

after(close);

export const PAYLOADS = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(2)>",
  "<svg onload=alert(3)>",
  "<svg><script>alert(4)</script></svg>",
  '<iframe srcdoc="<script>alert(5)</script>"></iframe>',
  '<iframe src="https://example.invalid/"></iframe>',
  '"><script>alert(7)</script>',
  "'><img src=x onerror=alert(8)>",
  "</title><script>alert(9)</script>",
  "</style><script>alert(10)</script>",
  "</textarea><script>alert(11)</script>",
  "</script><script>alert(12)</script>",
  '<a href="javascript:alert(13)">x</a>',
  "javascript:alert(14)",
  "<body onload=alert(15)>",
  "<input autofocus onfocus=alert(16)>",
  "<details open ontoggle=alert(17)>",
  "<video><source onerror=alert(18)></video>",
  "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(19)>",
  "<link rel=stylesheet href=https://example.invalid/x.css>",
  "<style>*{background:url(https://example.invalid/y)}</style>",
  '<meta http-equiv=refresh content="0;url=https://example.invalid/">',
  "<base href=https://example.invalid/>",
  "<object data=https://example.invalid/z></object>",
  "<embed src=https://example.invalid/w>",
  "{{7*7}}${alert(26)}",
  '<!--<img src="--><img src=x onerror=alert(27)//">',
  "&lt;script&gt;alert(28)&lt;/script&gt;",
  '<x style="background:url(https://example.invalid/v)">',
  "`'\"<>\\u003cscript\\u003ealert(30)",
];

function write(path) {
  const all = PAYLOADS.join(" ");
  const entries = PAYLOADS.map((payload, index) => ({
    id: `${payload}${index}`,
    name: payload,
    role: index % 7 === 6 ? payload : "system",
    content: `${payload}\n{{${payload.slice(0, 8)}}}`,
    groupId: payload,
    ...(index % 3 === 1 ? { isEnabled: false } : {}),
    ...(index % 5 === 2 ? { anchorTarget: payload, anchorPoint: "before" } : {}),
    ...(index % 5 === 3 ? { type: payload } : {}),
    modelMatch: { enabled: false, patterns: [payload] },
    presetAttachments: [{ name: payload, path: payload }],
  }));
  const agent = {
    name: all,
    displayName: all,
    description: all,
    presetGroups: PAYLOADS.map((payload) => ({ id: payload, name: payload, selectionMode: payload })),
    presetMessages: [
      ...entries,
      { type: "user_profile", role: "system", content: "{{user}} {{persona}}" },
      { type: "chat_history" },
    ],
  };
  writeFileSync(join(path, "agent.yaml"), JSON.stringify(agent, null, 2));
  writeFileSync(join(path, "profile.yaml"), JSON.stringify({ name: PAYLOADS[0], content: all }));
  writeFileSync(
    join(path, "conversation.json"),
    JSON.stringify(PAYLOADS.map((content, index) => ({ role: index % 2 ? "assistant" : "user", content }))),
  );
  const lore = PAYLOADS.map((payload, uid) => [
    uid,
    { uid, key: [payload], keysecondary: [payload], comment: payload, content: payload, outletName: payload, position: 7, group: payload },
  ]);
  writeFileSync(join(path, "book.json"), JSON.stringify({ name: all, entries: Object.fromEntries(lore) }));
  mkdirSync(join(path, "<img src=x onerror=alert(40)>"));
  writeFileSync(join(path, "<img src=x onerror=alert(40)>", "agent&quot;.yaml"), "presetMessages: []\n");
}

const card = () => {
  const all = PAYLOADS.join(" ");
  return JSON.stringify({
    spec: "chara_card_v2",
    spec_version: "2.0",
    data: {
      name: PAYLOADS[0],
      description: all,
      personality: all,
      scenario: all,
      first_mes: all,
      mes_example: all,
      creator_notes: all,
      extensions: { [PAYLOADS[1]]: all },
      [PAYLOADS[2]]: all,
    },
  });
};

/** Walks through every page and opens everything on it. */
async function walk(page) {
  const rows = page.locator(".entry [data-part=main]");
  const count = Math.min(await rows.count(), 30);
  for (let index = 0; index < count; index += 4) await rows.nth(index).click();
  await page.locator(".entry .cm-content").first().waitFor();
  await page.locator(".expansion").first().waitFor();
  await settled(page);
  await page.locator(".entry .more summary").first().click();
  await page.locator(".piece").first().hover();
  await page.locator("[data-test=view-placed]").click();
  await page.locator("[data-test=view-text]").click();
  await page.locator("[data-test=file-text] .cm-content").waitFor();
  await page.locator("[data-test=view-list]").click();
  await page.locator("[data-test=add-anchor]").click();
  await page.keyboard.press("Escape");
  await page.locator("[data-test=entry-menu]").first().click();
  await page.keyboard.press("Escape");
  for (const tab of ["messages", "stages", "decisions", "body", "findings"]) {
    await page.locator(`#inspector-${tab}`).click();
    await page.locator(`#inspector-${tab}[aria-selected=true]`).waitFor();
    await settled(page);
    if (tab === "body") await page.locator("[data-test=body]").waitFor();
    if (tab === "messages")
      for (const index of [0, 3, 6])
        if (await page.locator(".row > .line").nth(index).count())
          await page.locator(".row > .line").nth(index).click();
  }
  await page.locator("#inspector-messages").click();
  await page.locator("[data-test=pin]").click();
  await page.evaluate(() => {
    location.hash = "#/compare";
  });
  await page.locator("[data-test=input]").fill(PAYLOADS[1]);
  await page.locator("[data-test=difference], [data-test=equal]").first().waitFor();
  await walkNewer(page);
  await page.evaluate(() => {
    location.hash = "#/import";
  });
  await page.locator("[data-test=files]").setInputFiles([
    { name: "<img src=x onerror=alert(50)>.json", mimeType: "application/json", buffer: Buffer.from(card()) },
    {
      name: '"><script>alert(51)</script>.json',
      mimeType: "application/json",
      buffer: Buffer.from('{"x": "<script>alert(52)</script>"}'),
    },
  ]);
  await page.locator(".import-page .findings, .import-page .by-field").first().waitFor();
  // What a payload would ask for comes after it is drawn.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 300))));
}

/** The pages of settings, conversations and worldbooks. */
async function walkNewer(page) {
  const go = (hash) => page.evaluate((hash) => (location.hash = hash), hash);
  await go("#/agent");
  await page.locator("[data-test=agent-name]").waitFor();
  await go("#/files");
  await page.locator("[data-test=file-menu]").first().click();
  await page.keyboard.press("Escape");
  await go("#/pipeline");
  await page.locator(".processor [data-part=main]").nth(10).click();
  await page.locator("[data-test=pipeline-compression]").click();
  await page.locator("[data-test=compression-advanced]").click();
  await page.locator("[data-field=summaryPrompt]").waitFor();
  await go("#/chat");
  await page.locator("[data-test=make-session]").click();
  await page.locator("[data-test=composer]").waitFor();
  await page.locator("[data-test=composer]").fill(PAYLOADS[0]);
  await page.locator("[data-test=add-message]:enabled").click();
  await page.locator("[data-test=add-user]").click();
  await page.waitForFunction((count) => document.querySelectorAll(".message").length === count, PAYLOADS.length + 1);
  await page.locator("[data-test=compress]:enabled").click();
  await page.locator("[data-test=compress-range]").selectOption("between");
  await page.locator("[data-test=plan] b").waitFor();
  await page.locator("[data-test=compress-now]:enabled").click();
  await page.locator(".stack [data-test=details]").click();
  await page.locator("[data-test=summary-details]").waitFor();
  await page.locator(".stack [data-test=unfold]").click();
  await page.locator(".message.behind").first().waitFor();
  await go("#/books");
  await page.locator(".book-entries th button").first().click();
  await page.locator(".book-side .cm-content").waitFor();
  await page.locator("[data-test=book-close]").click();
  await page.locator("[data-test=books-test]").click();
  await page.locator("[data-test=own-text]").check();
  await page.locator("[data-test=searched-text]").fill(PAYLOADS.join("\n"));
  await page.locator(".book-entries tr[data-state=active] th button").first().click();
  await page.locator("[data-test=hit]").first().click();
  await page.locator("[data-test=marked] mark").first().waitFor();
}

test("no payload becomes markup on any page", async (t) => {
  const path = folder();
  write(path);
  const server = await serve(path);
  t.after(() => server.stop());
  const { page, problems, context } = await open(server);
  t.after(() => context.close());
  await page.locator(".entry").first().waitFor();
  await walk(page);
  const strange = await page.evaluate(
    () =>
      document.querySelectorAll(
        "#app :is(script, iframe, object, embed, base, link, img, video, math, meta, style), #app [onerror], #app [onload], #app [href^='javascript:']",
      ).length,
  );
  assert.equal(strange, 0, "elements that came from files");
  // An answer that refuses a request is told on the console by the browser itself; it is no line of the page.
  assert.deepEqual(
    problems.filter((line) => !/Failed to load resource: .* status of 4\d\d/.test(line)),
    [],
  );
});

test("a planted innerHTML fails this test", async (t) => {
  const path = folder();
  const server = await serve(path);
  t.after(() => server.stop());
  const { page, problems, context } = await open(server);
  t.after(() => context.close());
  const isRefused = await page.evaluate(() => {
    try {
      document.querySelector("main").innerHTML = "<img src=x onerror=alert(1)>";
      return false;
    } catch {
      return true;
    }
  });
  assert.ok(isRefused, "the browser takes HTML from a string");
  const isNoted = () => problems.some((line) => line.startsWith("violation: require-trusted-types-for"));
  // The browser tells of a violation when it has time for that.
  for (let wait = 0; wait < 300 && !isNoted(); wait++) await page.waitForTimeout(100);
  assert.ok(isNoted(), problems.join("\n"));
});
