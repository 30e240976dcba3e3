// Files that go with a message: chosen, dropped and pasted, taken away by keyboard, previewed byte for byte, sent.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { close, focused } from "./harness.mjs";
import { studio, words } from "./provider.mjs";

after(close);

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Drops a file on the composer, or pastes it into the message, as a browser does. */
const bring = (page, how, name, type, base64) =>
  page.locator("[data-test=composer]").evaluate(
    (area, { how, name, type, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], name, { type }));
      const about = { bubbles: true, cancelable: true };
      const event =
        how === "drop"
          ? new DragEvent("drop", { ...about, dataTransfer: data })
          : new ClipboardEvent("paste", { ...about, clipboardData: data });
      area.dispatchEvent(event);
    },
    { how, name, type, base64 },
  );
const chip = (page, name) => page.locator("[data-test=attached] .chip", { hasText: name });
const kept = (path) => readdirSync(join(path, "attachments")).sort();

test("job 10: files are chosen, dropped and pasted, and what is previewed is sent", async (t) => {
  const { page, path, bodies, problems } = await studio(t, [words("Nice basil."), words("And again.")]);
  const text = Buffer.from("The <b>bed</b> is wet.").toString("base64");
  await bring(page, "paste", "image.png", "image/png", PNG);
  await chip(page, "image.png").waitFor();
  await bring(page, "drop", "bed notes.txt", "text/plain", text);
  await chip(page, "bed notes.txt").waitFor();
  const place = join(mkdtempSync(join(tmpdir(), "files-")), "wrong.txt");
  writeFileSync(place, "Not this one.");
  await page.locator("[data-test=attach-files]").setInputFiles(place);
  await chip(page, "wrong.txt").locator("small", { hasText: "13 bytes" }).waitFor();
  assert.equal(kept(path).length, 3);
  assert.equal(new URL(page.url()).hash.startsWith("#/chat"), true, "nothing is imported");
  // Taken away by keyboard; the focus stays in the list.
  await chip(page, "wrong.txt").locator("button").focus();
  await page.keyboard.press("Enter");
  await chip(page, "wrong.txt").waitFor({ state: "detached" });
  await focused(page, "[data-test=remove-attached]");
  await page.waitForFunction(() => document.querySelectorAll("[data-test=attached] .chip").length === 2);
  await assert.doesNotReject(async () => {
    while (kept(path).length !== 2) await new Promise((resolve) => setTimeout(resolve, 20));
  });
  // Without a word it can be sent, too; but here is one.
  await page.locator("[data-test=send]:enabled").waitFor();
  await page.locator("[data-test=composer]").fill("Look at this.");
  await page.locator("[data-test=show-request]:enabled").click();
  const shown = await page.locator("[data-test=request]").textContent();
  assert.ok(shown.includes(PNG) && shown.includes("The <b>bed</b> is wet."), shown);
  await page.keyboard.press("Escape");
  await page.locator("[data-test=send]:enabled").click();
  await page.locator(".message .text", { hasText: "Nice basil." }).waitFor();
  assert.equal(bodies[0], JSON.stringify(JSON.parse(shown)), "byte for byte, but indented");
  const own = page.locator(".message", { hasText: "Look at this." });
  assert.deepEqual(await own.locator(".chip").allInnerTexts(), ["image.png", "bed notes.txt"]);
  assert.equal(await page.locator("[data-test=attached]").count(), 0);
  assert.equal(await page.locator("main img, main b b").count(), 0, "nothing is shown as a picture or as HTML");
  const node = Object.values(JSON.parse(readFileSync(join(path, "conversation.session.json"), "utf8")).nodes).find(
    (one) => one.attachments?.length,
  );
  assert.deepEqual(node.attachments.map(({ path }) => path.split("/")[0]), ["attachments", "attachments"]);
  // The same file again is kept once; it alone is a message.
  await bring(page, "drop", "image.png", "image/png", PNG);
  await chip(page, "image.png").waitFor();
  await page.locator("[data-test=send]:enabled").click();
  await page.locator(".message .text", { hasText: "And again." }).waitFor();
  assert.equal(kept(path).length, 2);
  assert.deepEqual(problems, []);
});

test("job 10: files that are not sent are gone with the window, and where another conversation is opened", async (t) => {
  const { page, path, context, server } = await studio(t, []);
  const until = async (count) => {
    while (kept(path).length !== count) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await bring(page, "drop", "a.png", "image/png", PNG);
  await chip(page, "a.png").waitFor();
  const second = await context.newPage();
  await second.goto(new URL(server.link).origin + new URL(page.url()).hash);
  await bring(second, "drop", "a.png", "image/png", PNG);
  await chip(second, "a.png").waitFor();
  await bring(second, "drop", "b.png", "image/png", PNG);
  await chip(second, "b.png").waitFor();
  await until(2);
  // The other window still means to send the one.
  await second.close({ runBeforeUnload: true });
  await until(1);
  await page.locator("[data-test=begin-talk]").click();
  await page.locator("[data-test=begin-without]").click();
  await page.locator("[data-test=attached]").waitFor({ state: "detached" });
  await until(0);
});

test("job 10: files that cannot be kept are refused with a way out", async (t) => {
  const elsewhere = mkdtempSync(join(tmpdir(), "assets-"));
  const { page, path, bodies } = await studio(t, [words("Well.")]);
  const error = page.locator(".toast.error");
  await bring(page, "paste", "empty.txt", "text/plain", "");
  await error.filter({ hasText: "empty" }).waitFor();
  // A folder that leads elsewhere is not written into.
  symlinkSync(elsewhere, join(path, "attachments"));
  await bring(page, "drop", "a.png", "image/png", PNG);
  await error.filter({ hasText: "attachments/" }).waitFor();
  assert.deepEqual(readdirSync(elsewhere), []);
  assert.equal(await page.locator("[data-test=attached]").count(), 0);
  assert.deepEqual(bodies, []);
});
