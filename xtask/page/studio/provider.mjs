// A model server on this machine that plays answers, and a studio whose conversation it answers.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folder, open, serve } from "./harness.mjs";

export const chunk = (delta, end = null) =>
  `data: ${JSON.stringify({ id: "a", object: "chat.completion.chunk", model: "gpt-4o", choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
export const DONE = "data: [DONE]\n\n";
export const words = (text) => [...text.split(/(?<= )/).map((content) => chunk({ content })), chunk({}, "stop"), DONE];

/** An answer of so many pieces, so many a second. */
export const stream = (count, perSecond) => (response) => {
  let sent = 0;
  const begun = performance.now();
  const timer = setInterval(() => {
    // Timers come late: what is due is sent.
    const due = Math.min(count, Math.floor(((performance.now() - begun) / 1000) * perSecond) + 1);
    while (sent < due) response.write(chunk({ content: `piece ${sent++} ` }));
    if (sent < count) return;
    clearInterval(timer);
    for (const piece of [chunk({}, "stop"), DONE]) response.write(piece);
    response.end();
  }, 2);
  response.on("close", () => clearInterval(timer));
};

/** A provider that plays a list of answers: pieces to stream, a status, or a function that writes. */
export async function provider(t, answers) {
  const bodies = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      bodies.push(body);
      const next = answers[bodies.length - 1] ?? words("Nothing more.");
      if (typeof next === "number") {
        response.writeHead(next, { "content-type": "application/json" });
        return response.end('{"error":{"message":"out of order","type":"invalid_request_error"}}');
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (typeof next === "function") return next(response);
      for (const piece of next) response.write(piece);
      response.end();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { bodies, address: `http://127.0.0.1:${server.address().port}/v1` };
}

/**
 * A window on a folder whose model is played: `prepare` changes the folder and returns first lines of the user's own
 * `ctx.toml`, `more` returns tables of it.
 */
export async function studio(t, answers, more = () => "", prepare = () => "") {
  const { bodies, address } = await provider(t, answers);
  const path = folder();
  // Of one's own file everything holds; the page can set nothing of it.
  const home = mkdtempSync(join(tmpdir(), "home-"));
  const first = prepare(path) ?? "";
  writeFileSync(join(home, "ctx.toml"), `model = "gpt-4o"\n${first}[endpoint]\nbase-url = "${address}"\n${more(path)}`);
  process.env.CTX_HOME = home;
  const server = await serve(path);
  t.after(() => server.stop());
  const opened = await open(server);
  t.after(() => opened.context.close());
  const { page } = opened;
  await page.locator(".to-talk a").click();
  await page.locator("[data-test=make-session]").click();
  await page.locator("[data-test=composer]").waitFor();
  // So many stand in the page at most.
  const count = Math.min(200, JSON.parse(readFileSync(join(path, "conversation.json"), "utf8")).length);
  await page.waitForFunction((count) => document.querySelectorAll(".message").length === count, count);
  return { path, server, bodies, ...opened };
}
