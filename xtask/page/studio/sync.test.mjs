// Two windows, lost connections, files that change outside: no edit is lost, and none overwrites another silently.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { close, entry, folder, open, openEntry, save, serve, settled } from "./harness.mjs";

after(close);

async function studio(t, isStopped = false) {
  const path = folder();
  const server = await serve(path);
  if (!isStopped) t.after(() => server.stop());
  const opened = await open(server);
  t.after(() => opened.context.close());
  const another = async () => {
    const page = await opened.context.newPage();
    await page.goto(new URL(server.link).origin);
    await page.locator(".entry").first().waitFor();
    return page;
  };
  return { path, server, ...opened, another };
}

async function type(page, id, text) {
  const row = await openEntry(page, id);
  await row.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type(text);
}

test("an edit of the one window is seen in the other, and a change from outside too", async (t) => {
  const { path, page, problems, another } = await studio(t);
  const second = await another();
  await entry(page, "season").locator("[role=switch]").click();
  await second.locator(".entry[data-id=season].off").waitFor();
  await entry(second, "reminder").locator("[role=switch]").click();
  await page.locator(".entry[data-id=reminder].off").waitFor();
  writeFileSync(join(path, "profile.yaml"), "name: Maria\ncontent: has a cat.\n");
  await page.locator("#inspector-body").click();
  await page.locator("[data-test=body]").filter({ hasText: "Maria" }).waitFor();
  // A file that is being written is empty for a moment, and the browser tells of the answer that says so.
  assert.deepEqual(problems.filter((line) => !/status of 422/.test(line)), []);
});

test("what changes while a window is opened is seen in it", async (t) => {
  const { page, context, another } = await studio(t);
  let release;
  const held = new Promise((resolve) => (release = resolve));
  // The files are read, and the socket does not stand yet.
  await context.routeWebSocket(/api\/events/, async (socket) => {
    await held;
    socket.connectToServer();
  });
  const second = await another();
  await settled(second);
  await entry(page, "season").locator("[role=switch]").click();
  await settled(page);
  release();
  await second.locator(".entry[data-id=season].off").waitFor();
});

for (const [button, kept, lost] of [
  ["keep-mine", "Mine.", "Theirs."],
  ["take-theirs", "Theirs.", "Mine."],
]) {
  test(`two who write the same text see both: ${button}`, async (t) => {
    const { page, another } = await studio(t);
    const second = await another();
    let release;
    const held = new Promise((resolve) => {
      release = resolve;
    });
    const sent = second.waitForRequest("**/edits");
    await second.route("**/edits", async (route) => {
      await held;
      await route.continue();
    });
    await type(second, "reminder", "Mine.");
    await sent;
    await type(page, "reminder", "Theirs.");
    await settled(page);
    release();
    const conflict = second.locator("[data-test=conflict]");
    await conflict.waitFor();
    assert.deepEqual(await conflict.locator("pre").allTextContents(), ["Mine.", "Theirs."]);
    // The words in which they differ.
    assert.deepEqual(await conflict.locator("mark").allTextContents(), ["Mine", "Theirs"]);
    await conflict.locator(`[data-test=${button}]`).click();
    await conflict.waitFor({ state: "detached" });
    for (const window of [page, second]) {
      await entry(window, "reminder").locator(".cm-content").filter({ hasText: kept }).waitFor();
      assert.equal(await entry(window, "reminder").locator(".cm-content").filter({ hasText: lost }).count(), 0);
    }
  });
}

test("an edit that waits meets what another wrote there meanwhile", async (t) => {
  const { page, another } = await studio(t);
  const second = await another();
  await second.route("**/edits", (route) => route.abort());
  await type(second, "reminder", "Mine.");
  await second.locator(".bar-note.warning").waitFor();
  // Of another place: both stay.
  await entry(page, "season").locator("[role=switch]").click();
  await second.locator(".entry[data-id=season].off").waitFor();
  assert.equal(await second.locator("[data-test=conflict]").count(), 0);
  await type(page, "reminder", "Theirs.");
  const conflict = second.locator("[data-test=conflict]");
  await conflict.filter({ hasText: "Mine." }).filter({ hasText: "Theirs." }).waitFor();
  await second.unroute("**/edits");
  await conflict.locator("[data-test=keep-mine]").click();
  await conflict.waitFor({ state: "detached" });
  await entry(page, "reminder").locator(".cm-content").filter({ hasText: "Mine." }).waitFor();
});

test("windows that type in one entry see each other's letters", async (t) => {
  const { path, page, another } = await studio(t);
  const second = await another();
  const shown = (window, text) =>
    window.waitForFunction(
      (text) => document.querySelector(".entry[data-id=reminder] .cm-content")?.textContent === text,
      text,
    );
  await (await openEntry(second, "reminder")).locator(".cm-content").click();
  await type(page, "reminder", "One");
  await shown(second, "One");
  await second.keyboard.press("Control+End");
  await second.keyboard.type(" two");
  await shown(page, "One two");
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" three");
  await shown(second, "One two three");
  const name = (window) => entry(window, "reminder").locator("[data-test=name]");
  await name(second).click();
  await name(page).click();
  await page.keyboard.type("Note", { delay: 0 });
  await second.waitForFunction(() => document.activeElement.value === "Note");
  await second.keyboard.press("End");
  await second.keyboard.type("book", { delay: 0 });
  await page.waitForFunction(() => document.activeElement.value === "Notebook");
  await settled(page);
  await save(page);
  assert.match(readFileSync(join(path, "agent.yaml"), "utf8"), /content: '?One two three'?\n/);
  assert.equal(await page.locator("[data-test=conflict]").count(), 0);
});

test("an edit follows its entry that another window has moved, without a question", async (t) => {
  const { page, another } = await studio(t);
  const second = await another();
  const isMoved = () => document.querySelectorAll(".entry")[2]?.dataset.id === "reminder";
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const sent = second.waitForRequest("**/edits");
  await second.route("**/edits", async (route) => {
    await held;
    await route.continue();
  });
  await type(second, "reminder", "Mine.");
  await sent;
  await entry(page, "reminder").locator("[data-part=main]").focus();
  await page.keyboard.press("Alt+ArrowUp");
  await page.waitForFunction(isMoved);
  await settled(page);
  release();
  for (const window of [page, second]) {
    await window.waitForFunction(isMoved);
    await entry(window, "reminder").filter({ hasText: "Mine." }).waitFor();
  }
  await settled(second);
  assert.equal(await second.locator("[data-test=conflict]").count(), 0);
});

test("text that was not sent meets what another window wrote there after a crash", async (t) => {
  const { page, context, server, another } = await studio(t);
  const second = await another();
  await second.route("**/edits", (route) => route.abort());
  await type(second, "reminder", "Mine.");
  await second.locator(".bar-note.warning").waitFor();
  await second.close();
  await type(page, "reminder", "Theirs.");
  await settled(page);
  const next = await context.newPage();
  await next.goto(new URL(server.link).origin);
  const conflict = next.locator("[data-test=conflict]");
  await conflict.filter({ hasText: "Mine." }).filter({ hasText: "Theirs." }).waitFor();
  await conflict.locator("[data-test=take-theirs]").focus();
  await next.keyboard.press("Enter");
  await conflict.waitFor({ state: "detached" });
  await next.waitForFunction(() => Object.keys(localStorage).every((key) => !key.includes("/unsent/")));
  await entry(page, "reminder").locator(".cm-content").filter({ hasText: "Theirs." }).waitFor();
});

test("edits wait while the server is away, and outlive the window", async (t) => {
  const { page, context, server } = await studio(t);
  await page.route("**/edits", (route) => route.abort());
  await entry(page, "season").locator("[role=switch]").click();
  await page.locator(".entry[data-id=season].off").waitFor();
  await page.locator(".bar-note.warning").waitFor();
  await page.close();
  const next = await context.newPage();
  await next.goto(new URL(server.link).origin);
  await next.locator(".entry[data-id=season].off").waitFor();
  await next.locator("[data-test=dirty].on").waitFor();
  await next.waitForFunction(() => Object.keys(localStorage).every((key) => !key.includes("/unsent/")));
});

test("edits that wait are sent though their file could not be read at first", async (t) => {
  const { page, context, server } = await studio(t);
  await page.route("**/edits", (route) => route.abort());
  await entry(page, "season").locator("[role=switch]").click();
  await page.locator(".bar-note.warning").waitFor();
  await page.close();
  const next = await context.newPage();
  await next.route("**/api/files/*", (route) => route.abort(), { times: 1 });
  await next.goto(new URL(server.link).origin);
  await next.locator(".entry[data-id=season].off").waitFor();
  await next.waitForFunction(() => Object.keys(localStorage).every((key) => !key.includes("/unsent/")));
});

test("a window goes on with a server that began anew, and sends it what it missed", async (t) => {
  const { path, page, context, server } = await studio(t, true);
  const origin = new URL(server.link);
  await entry(page, "season").locator("[role=switch]").click();
  await settled(page);
  await server.stop();
  await entry(page, "reminder").locator("[role=switch]").click();
  await page.locator(".bar-note.warning").waitFor();
  const again = await serve(path, origin.port);
  t.after(() => again.stop());
  // The token of before has no effect any more; whoever opens the new link gives this browser another.
  await page.locator(".closed").waitFor();
  const second = await context.newPage();
  await second.goto(again.link);
  await second.locator(".entry[data-id=season].off").waitFor();
  await second.locator(".entry[data-id=reminder].off").waitFor();
  await page.locator(".entry[data-id=reminder].off").waitFor();
  await page.waitForFunction(() => Object.keys(localStorage).every((key) => !key.includes("/unsent/")));
  await entry(second, "identity").locator("[role=switch]").click();
  await page.locator(".entry[data-id=identity].off").waitFor();
});

test("an edit waits until its file is read from a server that began anew", async (t) => {
  const { path, page, context, server } = await studio(t, true);
  const origin = new URL(server.link);
  await entry(page, "season").locator("[role=switch]").click();
  await settled(page);
  await server.stop();
  const again = await serve(path, origin.port);
  t.after(() => again.stop());
  await page.locator(".closed").waitFor();
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const order = [];
  await page.route("**/api/files/*", async (route) => {
    await held;
    order.push("read");
    await route.continue();
  });
  await page.route("**/edits", async (route) => {
    order.push("edit");
    await route.continue();
  });
  const asked = page.waitForRequest("**/api/files/*");
  const second = await context.newPage();
  await second.goto(again.link);
  await asked;
  await entry(page, "reminder").locator("[role=switch]").click();
  await page.locator(".entry[data-id=reminder].off").waitFor();
  release();
  await second.locator(".entry[data-id=reminder].off").waitFor();
  await page.waitForFunction(() => Object.keys(localStorage).every((key) => !key.includes("/unsent/")));
  assert.equal(await page.locator("[data-test=conflict]").count(), 0);
  assert.equal(order.indexOf("edit") > order.indexOf("read"), true, order.join(", "));
});

test("what is typed behind a request whose answer was lost is kept", async (t) => {
  const { path, page } = await studio(t);
  let lose;
  const lost = new Promise((resolve) => (lose = resolve));
  let isLost = false;
  await page.route("**/edits", async (route) => {
    if (isLost) return await route.continue();
    isLost = true;
    await route.fetch();
    await route.abort();
    lose();
  });
  await type(page, "reminder", "One");
  // The page says so only until another request is answered, which may be at once.
  await lost;
  await page.keyboard.type(" and two.");
  await settled(page);
  await save(page);
  assert.match(readFileSync(join(path, "agent.yaml"), "utf8"), /One and two\./);
});

test("what another program wrote in other entries appears without a question", async (t) => {
  const { path, page } = await studio(t);
  const place = join(path, "agent.yaml");
  await entry(page, "season").locator("[role=switch]").click();
  await settled(page);
  const other = readFileSync(place, "utf8").replace("patient gardener.", "hasty gardener. # theirs");
  writeFileSync(place, other);
  await entry(page, "identity").filter({ hasText: "hasty gardener." }).waitFor();
  assert.equal(await page.locator("[data-test=conflict]").count(), 0);
  await save(page);
  const saved = readFileSync(place, "utf8");
  assert.match(saved, /hasty gardener\. # theirs/);
  assert.match(saved, /isEnabled: false/);
});

for (const [button, kept] of [
  ["keep-mine", "Mine"],
  ["take-theirs", "Theirs"],
]) {
  test(`what another program wrote in the same entry is shown at once: ${button}`, async (t) => {
    const { path, page, problems } = await studio(t);
    const place = join(path, "agent.yaml");
    await type(page, "reminder", "Mine in two sentences.");
    await settled(page);
    const other = readFileSync(place, "utf8").replace("Answer in two", "Theirs in two").replace("a patient", "a hasty");
    writeFileSync(place, other);
    const conflict = page.locator("[data-test=conflict]");
    await conflict.filter({ hasText: "Another program also changed “reminder”." }).waitFor();
    assert.deepEqual(await conflict.locator("mark").allTextContents(), ["Mine", "Theirs"]);
    // Nothing is written before a version is chosen.
    const refused = page.waitForResponse("**/save");
    await page.keyboard.press("Control+s");
    assert.equal((await refused).status(), 409);
    assert.equal(readFileSync(place, "utf8"), other);
    await conflict.locator(`[data-test=${button}]`).click();
    await conflict.waitFor({ state: "detached" });
    await entry(page, "reminder").locator(".cm-content").filter({ hasText: `${kept} in two sentences.` }).waitFor();
    await entry(page, "identity").filter({ hasText: "a hasty" }).waitFor();
    if (kept === "Mine") await save(page);
    await page.locator("[data-test=dirty]:not(.on)").waitFor();
    assert.equal(readFileSync(place, "utf8"), other.replace("Theirs in", `${kept} in`));
    assert.deepEqual(problems.filter((line) => !/status of 409/.test(line)), []);
  });
}

test("a file that was deleted is told, and written again by who keeps their text", async (t) => {
  const { path, page } = await studio(t);
  await entry(page, "season").locator("[role=switch]").click();
  await settled(page);
  rmSync(join(path, "agent.yaml"));
  await page.keyboard.press("Control+s");
  await page.locator("[data-test=keep-mine]").click();
  await page.locator("[data-test=dirty]:not(.on)").waitFor();
  assert.match(readFileSync(join(path, "agent.yaml"), "utf8"), /isEnabled: (true|false)/);
  // With nothing to keep, the page says what is gone.
  rmSync(join(path, "agent.yaml"));
  await page.locator(".toast", { hasText: "agent.yaml was deleted or moved" }).waitFor();
});

test("saving again and again while somebody types is no conflict", async (t) => {
  const { path, page, problems } = await studio(t);
  const text = "Plant the leeks before the frost, water them once a week and wait. ".repeat(2);
  await type(page, "season", "");
  for (const [at, letter] of [...text].entries()) {
    await page.keyboard.type(letter);
    if (at % 5 === 4) await page.keyboard.press("Control+s");
  }
  await save(page);
  assert.equal(await page.locator("[data-test=conflict]").count(), 0);
  assert.ok(readFileSync(join(path, "agent.yaml"), "utf8").includes(text.trim()));
  assert.deepEqual(problems, []);
});

test("a server that began anew asks for its link, which the same tab takes", async (t) => {
  const { path, server, page } = await studio(t, true);
  const port = new URL(server.link).port;
  await server.stop();
  const again = await serve(path, port);
  t.after(() => again.stop());
  await page.locator(".closed").waitFor();
  await page.evaluate((hash) => (location.hash = hash), new URL(again.link).hash);
  await page.locator(".entry").first().waitFor();
  assert.equal(new URL(page.url()).hash.includes("code"), false);
});

test("a file with line ends of two characters keeps them", async (t) => {
  const path = folder();
  const place = join(path, "agent.yaml");
  const text = readFileSync(place, "utf8").replaceAll("\n", "\r\n");
  writeFileSync(place, text);
  const server = await serve(path);
  t.after(() => server.stop());
  const { page, problems, context } = await open(server);
  t.after(() => context.close());
  await page.locator("[data-test=view-text]").click();
  await page.locator("[data-test=file-text] .cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("# x");
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  // Twice, as the line may be wrapped.
  await page.keyboard.press("End");
  await page.keyboard.press("End");
  await page.keyboard.type(" # y");
  await settled(page);
  await save(page);
  const [first, ...rest] = text.split("\r\n");
  const expected = ["# x", first, `${rest[0]} # y`, ...rest.slice(1)].join("\r\n");
  assert.equal(readFileSync(place, "utf8"), expected);
  assert.deepEqual(problems, []);
});

test("what the server refuses is kept until somebody gives it up", async (t) => {
  const { page } = await studio(t);
  const refuse = (route) =>
    route.fulfill({ status: 500, contentType: "application/json", body: '{"code":"X","message":"No room."}' });
  await page.route("**/edits", refuse);
  await type(page, "reminder", "Mine.");
  const conflict = page.locator("[data-test=conflict]");
  await conflict.filter({ hasText: "No room." }).filter({ hasText: "Mine." }).filter({ hasText: "“reminder” (text)" }).waitFor();
  await page.unroute("**/edits", refuse);
  await conflict.locator("[data-test=send-again]").click();
  await conflict.waitFor({ state: "detached" });
  await page.waitForFunction(() => Object.keys(localStorage).every((key) => !key.includes("/unsent/")));
  await page.route("**/edits", refuse);
  await type(page, "reminder", "Lost.");
  await conflict.locator("[data-test=drop-mine]").click();
  await conflict.waitFor({ state: "detached" });
  await entry(page, "reminder").locator(".cm-content").filter({ hasText: "Mine." }).waitFor();
});

test("edits that wait for a busy server are reported, and sent", async (t) => {
  const { page } = await studio(t);
  const refuse = (route) =>
    route.fulfill({ status: 503, contentType: "application/json", body: '{"code":"X","message":"Busy."}' });
  await page.route("**/edits", refuse);
  await entry(page, "season").locator("[role=switch]").click();
  const notice = page.locator(".toast.error", { hasText: "The server does not respond" });
  await notice.waitFor();
  await page.unroute("**/edits", refuse);
  await notice.waitFor({ state: "detached" });
  await page.waitForFunction(() => Object.keys(localStorage).every((key) => !key.includes("/unsent/")));
});

test("text is kept if the server rejects its form; a switch goes back", async (t) => {
  const { page } = await studio(t);
  const refuse = (route) =>
    route.fulfill({ status: 422, contentType: "application/json", body: '{"code":"X","message":"Cannot write this."}' });
  await page.route("**/edits", refuse);
  await entry(page, "season").locator("[role=switch]").click();
  await page.locator(".toast", { hasText: "Cannot write this." }).waitFor();
  await page.locator(".entry[data-id=season]:not(.off)").waitFor();
  await type(page, "reminder", "Mine.");
  const conflict = page.locator("[data-test=conflict]");
  await conflict.filter({ hasText: "Cannot write this." }).filter({ hasText: "Mine." }).waitFor();
  await page.unroute("**/edits", refuse);
  await conflict.locator("[data-test=send-again]").click();
  await conflict.waitFor({ state: "detached" });
  await entry(page, "reminder").locator(".head").filter({ hasText: "Mine." }).waitFor();
});

test("a file that goes and comes back is shown as it is now, and can be edited", async (t) => {
  const { path, page } = await studio(t);
  const place = join(path, "agent.yaml");
  const text = readFileSync(place, "utf8");
  await type(page, "reminder", "One two three four.");
  await save(page);
  rmSync(place);
  await page.locator(".toast", { hasText: "agent.yaml was deleted or moved" }).waitFor();
  await entry(page, "reminder").waitFor({ state: "detached" });
  writeFileSync(place, text.replace("Answer in two sentences.", "Answer in verse."));
  await entry(page, "reminder").locator(".head").filter({ hasText: "Answer in verse." }).waitFor();
  await type(page, "reminder", "Answer in rhymes.");
  await save(page);
  assert.match(readFileSync(place, "utf8"), /Answer in rhymes\./);
  assert.equal(await page.locator("[data-test=conflict]").count(), 0);
});

test("what was typed for a file that is gone can be copied, also after a crash", async (t) => {
  const { path, page, context, server } = await studio(t);
  await page.route("**/edits", (route) => route.abort());
  await type(page, "reminder", "Mine.");
  await page.locator(".bar-note.warning").waitFor();
  await page.close();
  renameSync(join(path, "agent.yaml"), join(path, "robin.yaml"));
  const next = await context.newPage();
  await next.goto(new URL(server.link).origin);
  const conflict = next.locator("[data-test=conflict]");
  await conflict.filter({ hasText: "agent.yaml no longer exists" }).filter({ hasText: "Mine." }).waitFor();
  // It comes back, and takes the text.
  await conflict.locator("[data-test=copy-mine]").waitFor();
  renameSync(join(path, "robin.yaml"), join(path, "agent.yaml"));
  await conflict.waitFor({ state: "detached" });
  await entry(next, "reminder").locator(".head").filter({ hasText: "Mine." }).waitFor();
  await next.waitForFunction(() => Object.keys(localStorage).every((key) => !key.includes("/unsent/")));
});

test("the text of a removed entry survives a reload", async (t) => {
  const { page, another } = await studio(t);
  const second = await another();
  await page.route("**/edits", (route) => route.abort());
  await type(page, "reminder", "Mine.");
  await page.locator(".bar-note.warning").waitFor();
  await entry(second, "reminder").locator("[data-test=entry-menu]").click();
  await second.getByRole("menuitem", { name: "Delete" }).click();
  await entry(second, "reminder").waitFor({ state: "detached" });
  const conflict = page.locator("[data-test=conflict]");
  const isShown = () => conflict.filter({ hasText: "The entry is gone" }).filter({ hasText: "Mine." }).waitFor();
  await isShown();
  await page.unroute("**/edits");
  await page.reload();
  await isShown();
  assert.equal(await conflict.count(), 1);
  await conflict.locator("[data-test=take-theirs]").click();
  await conflict.waitFor({ state: "detached" });
  await page.reload();
  await page.locator(".entry").first().waitFor();
  assert.equal(await conflict.count(), 0);
});

test("a whole text that is typed while an entry waits does not overwrite the entry silently", async (t) => {
  const { page } = await studio(t);
  await page.route("**/edits", (route) => route.abort());
  await type(page, "reminder", "Mine.");
  await page.locator(".bar-note.warning").waitFor();
  await page.locator("[data-test=view-text]").click();
  await page.locator("[data-test=file-text] .cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("# x");
  await page.keyboard.press("Enter");
  await page.unroute("**/edits");
  const conflict = page.locator("[data-test=conflict]");
  await conflict.locator("pre").last().filter({ hasText: "Mine." }).waitFor();
  await conflict.locator("[data-test=take-theirs]").click();
  await conflict.waitFor({ state: "detached" });
  await page.locator("[data-test=file-text] .cm-content").filter({ hasText: "Mine." }).waitFor();
});

test("a text that is being composed is not touched", async (t) => {
  const { page, another, context } = await studio(t);
  const second = await another();
  const row = await openEntry(page, "reminder");
  await row.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  const client = await context.newCDPSession(page);
  await client.send("Input.imeSetComposition", { selectionStart: 2, selectionEnd: 2, text: "ni" });
  await type(second, "identity", "Changed elsewhere.");
  await settled(second);
  await entry(page, "identity").locator(".head").filter({ hasText: "Changed elsewhere." }).waitFor();
  await client.send("Input.imeSetComposition", { selectionStart: 3, selectionEnd: 3, text: "nih" });
  await client.send("Input.insertText", { text: "你好" });
  await entry(page, "reminder").locator(".cm-content").filter({ hasText: "Answer in two sentences.你好" }).waitFor();
});

test("a link counts once", async (t) => {
  const { server, context, page } = await studio(t);
  const stranger = await (await context.browser().newContext()).newPage();
  await stranger.goto(server.link);
  await stranger.locator(".closed").waitFor();
  assert.equal(await page.locator(".entry").count(), 5);
});
