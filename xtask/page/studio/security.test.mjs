// Pages of strangers, in the browser of somebody whose page is open: none of them reaches the server.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createServer } from "node:http";
import { close, folder, open, serve } from "./harness.mjs";

after(close);

/** A page of a stranger, served from another port. */
async function stranger(t) {
  const server = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<title>stranger</title>"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}/`;
}

/** What a page gets of the server by every way that a script has. */
const reach = (page, origin, token) =>
  page.evaluate(
    async ([origin, token]) => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      const asked = (path, options) =>
        fetch(origin + path, options).then(
          (answer) => `${answer.type} ${answer.status}`,
          () => "refused",
        );
      const socket = new Promise((resolve) => {
        const opened = new WebSocket(`${origin.replace("http", "ws")}/api/events`, ["ctx", token]);
        opened.onopen = () => resolve("open");
        opened.onerror = () => resolve("refused");
      });
      return [
        await asked("/api/project", { headers }),
        await asked("/api/preview", { method: "POST", headers, body: "{}" }),
        await asked("/api/start", { method: "POST", mode: "no-cors", body: "{}" }),
        await socket,
      ];
    },
    [origin, token],
  );

const tokenOf = (page) =>
  page.evaluate(() => Object.values(localStorage).find((value) => /^"?[\w-]{43}"?$/.test(value))?.replaceAll('"', ""));

test("a page of a stranger reaches nothing, not even with the token", async (t) => {
  const server = await serve(folder(true));
  t.after(() => server.stop());
  const { page, context } = await open(server);
  t.after(() => context.close());
  const token = await tokenOf(page);
  assert.ok(token, "the page keeps its token");
  const foreign = await context.newPage();
  await foreign.goto(await stranger(t));
  const origin = new URL(server.link).origin;
  assert.deepEqual(await reach(foreign, origin, token), ["refused", "refused", "refused", "refused"]);
  await page.locator("[data-test=write-sample]").waitFor();
});

test("a name of a stranger that leads here is refused, files of the page too", async (t) => {
  const server = await serve(folder());
  t.after(() => server.stop());
  const { context } = await open(server);
  t.after(() => context.close());
  const rebound = new URL(server.link);
  rebound.hostname = "rebound.test";
  const foreign = await context.newPage();
  for (const path of ["/", "/studio.js", "/api/project"]) {
    const answer = await foreign.goto(`${rebound.origin}${path}`);
    assert.equal(answer.status(), 403, path);
  }
  assert.equal(await foreign.locator(".entry").count(), 0);
});
