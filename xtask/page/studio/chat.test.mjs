// Job 10: a model answers in a conversation: all windows see it, it can be stopped, errors go on, calls are asked about.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { close, command, CTX, ctx, focused, openTalk, settled } from "./harness.mjs";
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
  await openTalk(other, "conversation.session.json");
  await other.locator(".message").nth(2).waitFor();
  await page.locator("[data-test=composer]").fill("And in May?");
  await page.locator("[data-test=show-request]").click();
  const shown = await page.locator("[data-test=request]").textContent();
  assert.deepEqual(bodies, [], "looking sends nothing");
  await page.keyboard.press("Escape");
  await page.locator("[data-test=composer]").focus();
  await page.keyboard.press("Enter");
  for (const one of [page, other]) await one.locator("[data-test=live-text]", { hasText: "Every" }).waitFor();
  assert.deepEqual(said(path).at(-1), ["user", "And in May?"], "what was said is stored before it is sent");
  assert.equal(bodies[0], JSON.stringify(JSON.parse(shown)), "byte for byte, but indented");
  // Steps wait for the answer.
  await last(page).locator("[data-test=edit]:disabled").waitFor();
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

test("job 10: stopping keeps what came, and a failed turn can be tried again", async (t) => {
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
  const failure = last(page).locator("[data-test=turn-failure]", { hasText: /Response failed: .*out of order/ });
  await failure.waitFor();
  assert.equal(await page.locator("[data-test=turn-failure]").count(), 1, "it is told once");
  // It is a state of the conversation: it is there when the page is loaded again.
  await page.reload();
  await failure.locator("[data-test=failure-details]").click();
  await failure.locator("[data-test=failure-text]", { hasText: "LLM_" }).waitFor();
  await failure.locator("[data-test=try-again]").click();
  await page.locator(".message .text", { hasText: "Whole again." }).waitFor();
  assert.equal(await page.locator("[data-test=turn-failure]").count(), 0, "the reply takes its place");
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
  await page.locator("[data-test=new-talk]").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 0);
  await page.locator("[data-test=composer]").fill("Where shall I sit?");
  await page.keyboard.press("Control+Enter");
  await last(page).locator(".text", { hasText: "By the fig." }).waitFor();
  assert.match(bodies[0], /Where shall I sit\?/);
  const [kept] = JSON.parse(ctx(path, "session", "list", "--json"));
  assert.deepEqual([kept.steps, kept.name], [2, "Where shall I sit?"], "its title is what the user said first");
  // `ctx chat` goes on with it.
  await promisify(execFile)(CTX, ["chat", "--conversation", kept.id, "--once", "And then?"], { cwd: path });
  await last(page).locator(".text", { hasText: "Nothing more." }).waitFor();
  await page.locator("[data-test=talk-undo]:enabled").click();
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 2);
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 2);
  assert.deepEqual(problems, []);
});

test("a reply is regenerated, swiped by mouse and keyboard, and undone", async (t) => {
  const { page, path, bodies, problems } = await studio(t, [words("First."), words("Second."), words("Third.")]);
  await page.locator("[data-test=composer]").fill("When?");
  await page.keyboard.press("Enter");
  await last(page).locator(".text", { hasText: "First." }).waitFor();
  await last(page).locator("[data-test=regenerate-reply]:enabled").click();
  await last(page).locator(".text", { hasText: "Second." }).waitFor();
  await last(page).locator(".branch", { hasText: "2/2" }).waitFor();
  assert.deepEqual(JSON.parse(bodies[1]).messages, JSON.parse(bodies[0]).messages, "the same is asked");
  assert.deepEqual(said(path).slice(-2), [["user", "When?"], ["assistant", "Second."]]);
  await last(page).locator("[data-test=branch-before]:enabled").focus();
  await page.keyboard.press("Enter");
  await last(page).locator(".text", { hasText: "First." }).waitFor();
  // The focus stays where the next step is taken.
  await focused(page, "[data-test=branch-after]");
  await page.keyboard.press("Enter");
  await last(page).locator(".text", { hasText: "Second." }).waitFor();
  // Arrows in the empty composer do the same, and those in a text move the caret.
  await page.locator("[data-test=composer]").focus();
  await page.keyboard.press("ArrowLeft");
  await last(page).locator(".text", { hasText: "First." }).waitFor();
  await page.keyboard.type("x");
  await page.keyboard.press("ArrowRight");
  assert.equal(await last(page).locator(".branch").innerText().then((text) => text.trim()), "1/2");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("ArrowRight");
  await last(page).locator(".text", { hasText: "Second." }).waitFor();
  // A regeneration is undone with the switch of the branch.
  await last(page).locator("[data-test=regenerate-reply]:enabled").click();
  await last(page).locator(".text", { hasText: "Third." }).waitFor();
  await page.locator("[data-test=talk-undo]:enabled").click();
  await last(page).locator(".branch", { hasText: "2/2" }).waitFor();
  assert.deepEqual(said(path).at(-1), ["assistant", "Second."]);
  assert.deepEqual(problems, []);
});

test("a pending message is answered, and an edited one is sent on a branch of its own", async (t) => {
  const { page, path, problems } = await studio(t, [words("In May."), words("In June."), words(" Or July.")]);
  await page.locator("[data-test=composer]").fill("When do I sow?");
  await page.locator("[data-test=add-message]:enabled").click();
  await page.locator("[data-test=add-user]").click();
  await last(page).locator("[data-test=answer]:enabled").click();
  await last(page).locator(".text", { hasText: "In May." }).waitFor();
  assert.equal(await page.locator("[data-test=answer]").count(), 0);
  // Up in the empty composer edits the newest message of the user.
  await page.locator("[data-test=composer]").focus();
  await page.keyboard.press("ArrowUp");
  await focused(page, "[data-test=message-text]");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("When do I plant?");
  await page.locator("[data-test=save-send]:enabled").click();
  await last(page).locator(".text", { hasText: "In June." }).waitFor();
  assert.deepEqual(said(path).slice(-2), [["user", "When do I plant?"], ["assistant", "In June."]]);
  await page.locator(".message .branch", { hasText: "2/2" }).waitFor();
  // A reply is edited in place, and goes on.
  await last(page).locator("[data-test=edit]:enabled").click();
  await last(page).locator("[data-test=message-text]").fill("In June, maybe.");
  await page.keyboard.press("Control+Enter");
  await last(page).locator(".text", { hasText: "In June, maybe." }).waitFor();
  await command(last(page), "continue");
  await last(page).locator(".text", { hasText: "In June, maybe. Or July." }).waitFor();
  assert.equal(said(path).at(-1)[1], "In June, maybe. Or July.");
  assert.deepEqual(problems, []);
});

test("what is typed survives other pages, a reload and a restart, and is previewed meanwhile", async (t) => {
  const { page, server, path, problems } = await studio(t, [words("Yes.")]);
  const composer = page.locator("[data-test=composer]");
  await composer.fill("A long thought");
  await page.locator(".inspector .row", { hasText: "+ input" }).waitFor();
  assert.equal(await page.locator("[data-test=input]").count(), 0, "there is no second input");
  await last(page).locator("[data-test=edit]:enabled").click();
  await last(page).locator("[data-test=message-text]").fill("Half an edit");
  await page.locator(".to-preset a").click();
  await page.locator("[data-test=input]").waitFor();
  assert.equal(await page.locator("[data-test=input]").inputValue(), "A long thought");
  await page.locator(".to-talk a").click();
  const isKept = async () => {
    await last(page).locator("[data-test=message-text]").waitFor();
    assert.equal(await last(page).locator("[data-test=message-text]").inputValue(), "Half an edit");
    assert.equal(await composer.inputValue(), "A long thought");
  };
  await isKept();
  await page.reload();
  await isKept();
  // Another conversation has a text of its own.
  await openTalk(page, "conversation.json");
  await page.locator("[data-test=make-session]").waitFor();
  await openTalk(page, "conversation.session.json");
  await isKept();
  // A window of a later day, whose session is gone.
  const later = await page.context().newPage();
  await later.goto(`${new URL(server.link).origin}/${new URL(page.url()).hash}`);
  await later.locator("[data-test=message-text]").waitFor();
  assert.equal(await later.locator("[data-test=composer]").inputValue(), "A long thought");
  await later.close();
  await last(page).locator("[data-test=cancel-edit]").click();
  await composer.focus();
  await page.keyboard.press("Enter");
  await last(page).locator(".text", { hasText: "Yes." }).waitFor();
  assert.equal(await composer.inputValue(), "");
  await page.reload();
  await last(page).locator(".text", { hasText: "Yes." }).waitFor();
  assert.equal(await composer.inputValue(), "");
  assert.equal(await page.locator("[data-test=message-text]").count(), 0);
  assert.deepEqual(said(path).slice(-2), [["user", "A long thought"], ["assistant", "Yes."]]);
  assert.deepEqual(problems, []);
});

/** A second window on the conversation. */
async function another(page, server) {
  const next = await page.context().newPage();
  await next.goto(`${new URL(server.link).origin}/${new URL(page.url()).hash}`);
  await next.locator("[data-test=composer]").waitFor();
  return next;
}

test("each window keeps its own message, and a sent one does not come back", async (t) => {
  const { page, server, problems } = await studio(t, [words("Yes.")]);
  const first = page.locator("[data-test=composer]");
  await first.fill("Hel");
  const second = await another(page, server);
  const other = second.locator("[data-test=composer]");
  await second.waitForFunction(() => document.querySelector("[data-test=composer]").value === "Hel");
  await first.fill("Hello world");
  // Settings of the turn are no text.
  await second.locator("[data-test=seed]").fill("7");
  await second.keyboard.press("Enter");
  await settled(second);
  await second.close();
  await page.close();
  const third = await another(page, server);
  const composer = third.locator("[data-test=composer]");
  assert.equal(await composer.inputValue(), "Hello world");
  // The reply is on its way, and another conversation is opened.
  let letGo;
  const gate = new Promise((resolve) => (letGo = resolve));
  const begun = new Promise((resolve) => {
    void third.route("**/turns", async (route) => {
      const response = await route.fetch();
      resolve();
      await gate;
      await route.fulfill({ response });
    });
  });
  await composer.press("Enter");
  await begun;
  await openTalk(third, "conversation.json");
  letGo();
  await third.waitForFunction(() => Object.keys(localStorage).every((key) => !key.includes("/draft/")));
  await openTalk(third, "conversation.session.json");
  await last(third).locator(".text", { hasText: "Yes." }).waitFor();
  assert.equal(await composer.inputValue(), "");
  assert.deepEqual(problems, []);
});

test("renaming a conversation keeps its message and its open edit", async (t) => {
  const { page, problems } = await studio(t, []);
  await page.locator("[data-test=composer]").fill("A long thought");
  await last(page).locator("[data-test=edit]:enabled").click();
  await last(page).locator("[data-test=message-text]").fill("Half an edit");
  await page.locator("nav.pages .to-files a").click();
  await page.locator('.file-list [data-path="conversation.session.json"] [data-test=file-menu]').click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.locator("[data-test=file-name]").fill("garden");
  await page.keyboard.press("Enter");
  await page.locator('.file-list [data-path="garden.json"]').waitFor();
  await page.locator(".to-talk a").click();
  await openTalk(page, "garden.json");
  const isKept = async () => {
    await last(page).locator("[data-test=message-text]").waitFor();
    assert.equal(await last(page).locator("[data-test=message-text]").inputValue(), "Half an edit");
    assert.equal(await page.locator("[data-test=composer]").inputValue(), "A long thought");
  };
  await isKept();
  await page.locator("[data-test=talk-menu]").click();
  await page.locator("[data-test=rename-talk]").click();
  await page.locator("[data-test=file-name]").fill("beds");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=talk-file]").getByText("beds.json", { exact: true }).waitFor();
  await page.locator("dialog").waitFor({ state: "detached" });
  await isKept();
  assert.deepEqual(problems, []);
});

test("an edit of a message that another window changed shows both versions", async (t) => {
  const { page, server, path, problems } = await studio(t, []);
  const begin = async (window, text) => {
    await last(window).locator("[data-test=edit]:enabled").click();
    await last(window).locator("[data-test=message-text]").fill(text);
  };
  await begin(page, "Mine, kept.");
  // Escape keeps the text, and the next edit goes on with it.
  await page.keyboard.press("Escape");
  await last(page).locator("[data-test=message-text]").waitFor({ state: "detached" });
  await last(page).locator("[data-test=edit]:enabled").click();
  await focused(page, "[data-test=message-text]");
  assert.equal(await last(page).locator("[data-test=message-text]").inputValue(), "Mine, kept.");
  const second = await another(page, server);
  await last(second).locator("[data-test=message-text]").fill("Theirs, kept.");
  await last(second).locator("[data-test=save-message]").click();
  await last(second).locator(".text", { hasText: "Theirs, kept." }).waitFor();
  await second.close();
  const conflict = page.locator("[data-test=message-conflict]");
  await conflict.waitFor();
  assert.deepEqual(await conflict.locator("pre").allTextContents(), ["Mine, kept.", "Theirs, kept."]);
  await last(page).locator("[data-test=message-text]").focus();
  await page.keyboard.press("Control+Enter");
  await page.reload();
  await conflict.waitFor();
  assert.equal(said(path).at(-1)[1], "Theirs, kept.");
  await conflict.locator("[data-test=keep-mine]").click();
  await conflict.waitFor({ state: "detached" });
  await last(page).locator("[data-test=save-message]:enabled").click();
  await last(page).locator(".text", { hasText: "Mine, kept." }).waitFor();
  assert.equal(said(path).at(-1)[1], "Mine, kept.");
  assert.deepEqual(problems, []);
});

test("an edited message asks for a reply in its own conversation alone", async (t) => {
  const { page, problems } = await studio(t, []);
  const asked = [];
  page.on("request", (request) => /\/turns$/.test(request.url()) && asked.push(request.url()));
  let letGo;
  const gate = new Promise((resolve) => (letGo = resolve));
  await page.route("**/steps?*", async (route) => {
    await gate;
    await route.continue();
  });
  const message = page.locator(".message.of-user").last();
  await message.locator("[data-test=edit]:enabled").click();
  await message.locator("[data-test=message-text]").fill("Edited.");
  await message.locator("[data-test=save-send]").click();
  await openTalk(page, "conversation.json");
  const taken = page.waitForResponse("**/steps?*");
  letGo();
  await taken;
  await openTalk(page, "conversation.session.json");
  await page.locator(".message .text", { hasText: "Edited." }).waitFor();
  await page.locator("[data-test=answer]:enabled").waitFor();
  await settled(page);
  assert.deepEqual(asked, []);
  assert.deepEqual(problems, []);
});

test("the browser forgets what it kept for files that are gone, but no text of this season", async (t) => {
  const { page, problems } = await studio(t, []);
  await page.locator("[data-test=composer]").fill("A thought");
  await page.evaluate(() => {
    const prefix = Object.keys(localStorage).find((key) => key.includes("/draft/")).split("/").slice(0, 2).join("/");
    const day = 24 * 60 * 60 * 1000;
    localStorage.setItem(`${prefix}/saved/gone`, "{}");
    localStorage.setItem(`${prefix}/folded/gone`, "[]");
    localStorage.setItem(`${prefix}/draft/gone//old`, JSON.stringify({ text: "old", at: Date.now() - 100 * day }));
    localStorage.setItem(`${prefix}/draft/gone//new`, JSON.stringify({ text: "new", at: Date.now() - 10 * day }));
  });
  await page.reload();
  await page.locator("[data-test=composer]").waitFor();
  await page.waitForFunction(() => Object.keys(localStorage).filter((key) => key.includes("gone")).length === 1);
  assert.equal(await page.evaluate(() => Object.keys(localStorage).some((key) => key.endsWith("/draft/gone//new"))), true);
  assert.equal(await page.locator("[data-test=composer]").inputValue(), "A thought");
  // A full storage does not stop anybody from typing, and is reported once.
  await page.evaluate(() => {
    const { setItem } = Storage.prototype;
    Storage.prototype.setItem = function (...item) {
      if (this === localStorage) throw new Error("full");
      setItem.apply(this, item);
    };
  });
  await page.locator("[data-test=composer]").pressSequentially("s and more");
  await page.locator(".toast.error", { hasText: "storage of the browser is full" }).waitFor();
  assert.equal(await page.locator(".toast.error").count(), 1);
  await openTalk(page, "conversation.json");
  await page.locator("[data-test=make-session]").waitFor();
  await openTalk(page, "conversation.session.json");
  await page.locator("[data-test=composer]").waitFor();
  assert.equal(await page.locator("[data-test=composer]").inputValue(), "A thoughts and more");
  assert.deepEqual(problems, []);
});

test("Enter sends, Shift+Enter makes a line, and an input method's Enter does neither", async (t) => {
  const { page, path, problems } = await studio(t, [words("Good.")]);
  const composer = page.locator("[data-test=composer]");
  await composer.fill("One");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("two");
  assert.equal(await composer.inputValue(), "One\ntwo");
  await composer.evaluate((area) =>
    area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true })),
  );
  assert.equal(await composer.inputValue(), "One\ntwo");
  await page.keyboard.press("Enter");
  await last(page).locator(".text", { hasText: "Good." }).waitFor();
  assert.deepEqual(said(path).at(-2), ["user", "One\ntwo"]);
  assert.deepEqual(problems, []);
});

test("Markdown of messages is shown as elements or as it is, and stays harmless", async (t) => {
  const text = "# Beds\n\n*Sow* **basil** in `May`:\n\n- one <img src=x onerror=alert(1)>\n- two\n\n```js\nlet x = 1;\n```\n[site](https://example.org/a) [bad](javascript:alert(1))";
  const { page, problems } = await studio(t, [words(text)]);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.locator("[data-test=composer]").fill("How?");
  await page.keyboard.press("Enter");
  const shown = last(page).locator(".text");
  await shown.locator("h2", { hasText: "Beds" }).waitFor();
  assert.deepEqual(await shown.locator("li").allInnerTexts(), ["one <img src=x onerror=alert(1)>", "two"]);
  assert.equal(await shown.locator("img, script").count(), 0);
  assert.deepEqual(await shown.locator("a").evaluateAll((all) => all.map((one) => [one.href, one.rel, one.target])), [
    ["https://example.org/a", "noopener noreferrer", "_blank"],
  ]);
  await shown.locator("[data-test=copy-code]").click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "let x = 1;");
  // The choice stays with this browser.
  await page.locator("[data-test=talk-menu]").click();
  await page.locator("[data-test=markdown]").click();
  await page.waitForFunction(() => document.querySelectorAll(".message .markdown").length === 0);
  assert.equal(await shown.textContent(), text);
  await page.reload();
  await shown.waitFor();
  assert.equal(await shown.textContent(), text);
  assert.deepEqual(problems, []);
});

test("a reply of hostile lines does not hold up the page", async (t) => {
  const lines = ["*a_b".repeat(5_000), "|a".repeat(5_000), `#${" ".repeat(24_000)}\u2028x`, `${"~".repeat(24_000)}\`x`];
  const pieces = lines.flatMap((line) => [...(line.match(/[^]{1,200}/g) ?? []), "\n\n"]);
  const { page, problems } = await studio(t, [[...pieces.map((content) => chunk({ content })), chunk({}, "stop"), DONE]]);
  await page.evaluate(() => {
    // How often the reply changes between two frames.
    window.most = 0;
    let changes = 0;
    new MutationObserver((all) => all.some(({ target }) => target.parentElement?.closest("[data-test=live-text]")) && (window.most = Math.max(window.most, ++changes))).observe(document.body, { subtree: true, childList: true, characterData: true });
    const frame = () => {
      changes = 0;
      requestAnimationFrame(frame);
    };
    frame();
  });
  await page.locator("[data-test=composer]").fill("Well?");
  await page.keyboard.press("Enter");
  await last(page).locator(".text", { hasText: "|a|a" }).waitFor();
  await page.locator("[data-test=live]").waitFor({ state: "detached" });
  assert.ok((await page.evaluate(() => window.most)) <= 1, "the reply is drawn once per frame");
  assert.deepEqual(problems, []);
});

test("a conversation opens at its end, follows it, and keeps the place of who reads further up", async (t) => {
  let more = () => {};
  const { page, problems } = await studio(
    t,
    [
      (response) => {
        response.write(chunk({ content: "It begins.\n\n" }));
        more = (text, isLast) => {
          response.write(chunk({ content: text }));
          if (!isLast) return;
          for (const piece of [chunk({}, "stop"), DONE]) response.write(piece);
          response.end();
        };
      },
    ],
    () => "",
    (path) => {
      const messages = Array.from({ length: 120 }, (_, at) => ({ role: at % 2 ? "assistant" : "user", content: `Message ${at} ${"of the garden ".repeat(30)}` }));
      writeFileSync(join(path, "conversation.json"), JSON.stringify(messages));
    },
  );
  const left = () => page.evaluate(() => { const main = document.getElementById("page"); return main.scrollHeight - main.scrollTop - main.clientHeight; });
  const isAtEnd = () => page.waitForFunction(() => { const main = document.getElementById("page"); return main.scrollHeight - main.scrollTop - main.clientHeight < 4; });
  await isAtEnd();
  await page.locator("[data-test=composer]").fill("And now?");
  await page.evaluate(() => (document.getElementById("page").scrollTop = 0));
  await page.locator("[data-test=composer]").press("Enter");
  // The own message is seen, and what follows it.
  await page.locator("[data-test=live-text]", { hasText: "It begins." }).waitFor();
  await isAtEnd();
  more("Line of the reply.\n\n".repeat(60));
  await page.locator("[data-test=live-text] p").nth(60).waitFor();
  await isAtEnd();
  // Who reads further up is not moved.
  await page.mouse.move(300, 500);
  await page.mouse.wheel(0, -900);
  await page.waitForFunction(() => { const main = document.getElementById("page"); return main.scrollHeight - main.scrollTop - main.clientHeight > 400; });
  const place = () => page.evaluate(() => document.querySelector("[data-test=live-text]").getBoundingClientRect().top);
  const before = await place();
  more("More of it.\n\n".repeat(40));
  await page.locator("[data-test=new-text]").waitFor();
  await page.locator("[data-test=live-text] p").nth(100).waitFor();
  assert.ok(Math.abs((await place()) - before) < 2, "it stays in its place");
  assert.ok((await left()) > 400);
  await page.locator("[data-test=new-text]").click();
  await isAtEnd();
  await page.locator("[data-test=new-text]").waitFor({ state: "detached" });
  more("The end.", true);
  await last(page).locator(".text", { hasText: "The end." }).waitFor();
  await isAtEnd();
  assert.deepEqual(problems, []);
});

const GREETINGS = `greetings:
  - name: At the gate
    content: Hello, I am {{char}}.
  - content: "*The rain has stopped.*"
`;

test("a new conversation begins with a greeting, and another one is a swipe or a choice away", async (t) => {
  const { page, path, bodies, problems } = await studio(t, [words("Good morning.")], () => "", (path) => {
    const file = join(path, "agent.yaml");
    writeFileSync(file, `${readFileSync(file, "utf8")}\n${GREETINGS}`);
  });
  await page.locator("[data-test=new-talk]").click();
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 1);
  await last(page).locator(".branch", { hasText: "1/2" }).waitFor();
  assert.match(await last(page).locator(".text").textContent(), /^Hello, I am \w+\.$/);
  assert.equal(await page.locator("[data-test=branches]").count(), 0, "a greeting is no branch");
  await last(page).locator("[data-test=branch-after]:enabled").click();
  await last(page).locator("em", { hasText: "The rain has stopped." }).waitFor();
  assert.equal(await last(page).locator("[data-test=regenerate-reply]").count(), 0);
  await page.locator("[data-test=composer]").fill("Good morning! Where is the basil that I have sown last week with so much care?");
  await page.keyboard.press("Enter");
  await last(page).locator(".text", { hasText: "Good morning." }).waitFor();
  assert.ok(JSON.parse(bodies[0]).messages.some(({ content }) => content === "*The rain has stopped.*"));
  const title = "Good morning! Where is the basil that I have sown last week…";
  await page.locator("[data-test=talk-file]").getByText(title, { exact: true }).waitFor();
  // By keyboard, from the list of all.
  await page.locator("[data-test=begin-talk]").focus();
  await page.keyboard.press("Enter");
  await focused(page, "[data-test=choose-greeting]");
  await page.keyboard.press("Enter");
  await page.locator("[data-test=greetings] button", { hasText: "Greeting 2/2" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 1);
  await last(page).locator("em", { hasText: "The rain has stopped." }).waitFor();
  await page.locator("[data-test=begin-talk]").click();
  await page.locator("[data-test=begin-without]").click();
  await page.waitForFunction(() => document.querySelectorAll(".message").length === 0);
  assert.equal(JSON.parse(ctx(path, "session", "list", "--json")).length, 3);
  assert.deepEqual(problems, []);
});

test("conversations are renamed, searched by title and text, and deleted after a question", async (t) => {
  const { page, path, problems } = await studio(t, [words("Under the fig tree."), words("In the shed.")]);
  const file = page.locator("[data-test=talk-file]");
  for (const [text, reply] of [["Where shall I sit?", "Under the fig"], ["Where is the spade?", "In the shed"]]) {
    await page.locator("[data-test=new-talk]").click();
    await page.waitForFunction(() => document.querySelectorAll(".message").length === 0);
    await page.locator("[data-test=composer]").fill(text);
    await page.keyboard.press("Enter");
    await last(page).locator(".text", { hasText: reply }).waitFor();
    await file.getByText(text, { exact: true }).waitFor();
  }
  await page.locator("[data-test=talk-menu]").click();
  await page.locator("[data-test=rename-talk]").click();
  await page.locator("[data-test=talk-name]").fill("Tools");
  await page.keyboard.press("Enter");
  await file.getByText("Tools", { exact: true }).waitFor();
  assert.deepEqual(JSON.parse(ctx(path, "session", "list", "--json")).map(({ name }) => name).sort(), ["Tools", "Where shall I sit?"]);
  // By keyboard: a word of a text, and the arrow to what has it.
  await file.focus();
  await page.keyboard.press("Enter");
  await focused(page, "[data-test=talk-search]");
  await page.keyboard.type("FIG TREE");
  const rows = page.locator("[data-test=conversations] li");
  await rows.filter({ hasText: "under the fig tree." }).waitFor();
  assert.equal(await rows.count(), 1);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await file.getByText("Where shall I sit?", { exact: true }).waitFor();
  await page.locator(".message.wanted .text", { hasText: "Under the fig tree." }).waitFor();
  // What is deleted is asked about.
  await file.click();
  await page.locator("[data-test=talk-search]").fill("tool");
  await rows.locator("[data-test=delete]").click();
  await page.getByText("Delete “Tools” with all its branches?").waitFor();
  await page.locator("dialog button", { hasText: "Cancel" }).click();
  await rows.locator("[data-test=delete]").click();
  await page.locator("[data-test=delete-now]").click();
  await page.locator("dialog").getByText("No matching conversations.").waitFor();
  await page.keyboard.press("Escape");
  assert.deepEqual(JSON.parse(ctx(path, "session", "list", "--json")).map(({ name }) => name), ["Where shall I sit?"]);
  await page.locator("[data-test=talk-menu]").click();
  await page.locator("[data-test=delete-talk]").click();
  await page.locator("[data-test=delete-now]").click();
  await page.locator("[data-test=make-session], [data-test=composer]").first().waitFor();
  assert.deepEqual(JSON.parse(ctx(path, "session", "list", "--json")), []);
  assert.deepEqual(problems, []);
});

test("roles have names in the language of the page", async (t) => {
  const { page, problems } = await studio(t, []);
  await page.locator("[data-test=lang]").click();
  await page.locator(".message .role", { hasText: "用户" }).first().waitFor();
  const roles = await page.locator(".message .role").allTextContents();
  assert.deepEqual([...new Set(roles)].sort(), ["助手", "用户"]);
  assert.ok(await last(page).getByRole("button", { name: /用户 3/ }).count());
  await page.locator("[data-test=composer]").fill("?");
  await page.locator("[data-test=add-message]").click();
  assert.deepEqual(await page.getByRole("menuitem").allTextContents(), ["添加为用户消息", "添加为助手消息", "添加为系统消息"]);
  assert.deepEqual(problems, []);
});

test("a conversation in a file is renamed and deleted from its own page", async (t) => {
  const { page, path, problems } = await studio(t, []);
  const file = page.locator("[data-test=talk-file]");
  await openTalk(page, "conversation.session.json");
  const count = await page.locator(".message").count();
  await page.locator("[data-test=talk-menu]").click();
  await page.locator("[data-test=rename-talk]").click();
  await focused(page, "[data-test=file-name]");
  await page.keyboard.type("garden");
  await page.keyboard.press("Enter");
  await file.getByText("garden.json", { exact: true }).waitFor();
  await page.locator("dialog").waitFor({ state: "detached" });
  // The messages are read again under the new id.
  await page.waitForFunction((count) => document.querySelectorAll(".message").length === count, count);
  assert.ok(existsSync(join(path, "garden.json")) && !existsSync(join(path, "conversation.session.json")));
  await file.click();
  const row = page.locator("[data-test=conversations] li").filter({ hasText: "garden.json" });
  await row.locator("[data-test=delete]").click();
  await page.locator("dialog [data-test=answer]").click();
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.ok(!existsSync(join(path, "garden.json")));
  assert.deepEqual(problems, []);
});

test("an address of before leads to the page Chat", async (t) => {
  const { page, server } = await studio(t, []);
  const id = new URL(page.url()).hash.split("/")[2];
  assert.equal(new URL(page.url()).hash, `#/chat/${id}`);
  await page.goto(`${new URL(server.link).origin}/#/talk/${id}`);
  await page.locator("[data-test=composer]").waitFor();
});
