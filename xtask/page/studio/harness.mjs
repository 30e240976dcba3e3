// Starts `ctx studio` on a folder and opens its page in a browser, and notes everything that a silent page never does.
// The program is named by the environment variable CTX, the browser by CHROMIUM.
import { spawn, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const CTX = process.env.CTX ?? join(import.meta.dirname, "../../../target/debug/ctx");
/** A program with a processor of its own, from the examples. */
export const OWN_PARTS = process.env.OWN_PARTS ?? join(import.meta.dirname, "../../../target/debug/examples/own_parts");
// A bundle that is newer than the one in the program, while the page is made.
const DIST = process.env.STUDIO_DIST;
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** How long anything may take before it counts as missing: the machine may be slow, and compile meanwhile. */
const PATIENCE = 90_000;
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A stranger's name that leads to this machine, as after DNS rebinding.
  "--host-resolver-rules=MAP rebound.test 127.0.0.1",
];
export const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export function ctx(folder, ...args) {
  return execFileSync(CTX, args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
}

let sample;
/** A new folder with the sample, or an empty one. */
export function folder(isEmpty = false) {
  const path = join(mkdtempSync(join(tmpdir(), "studio-")), "demo");
  if (isEmpty) {
    mkdirSync(path);
    return path;
  }
  if (!sample) {
    sample = join(mkdtempSync(join(tmpdir(), "sample-")), "demo");
    execFileSync(CTX, ["init", sample]);
  }
  cpSync(sample, path, { recursive: true });
  return path;
}

/** Every file of a folder with its text. */
export function files(path, below = "") {
  const all = {};
  for (const name of readdirSync(join(path, below)).sort()) {
    const inner = join(below, name);
    if (statSync(join(path, inner)).isDirectory()) Object.assign(all, files(path, inner));
    else all[inner] = readFileSync(join(path, inner), "utf8");
  }
  return all;
}

let nextPort = 20_000 + ((process.pid * 64) % 12_000);
/** A port below those that systems give to connections: one of these would take it while its server starts anew. */
async function freePort() {
  const port = nextPort++;
  const isFree = await new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
  return isFree ? port : freePort();
}

/** A running server: `link` opens it once. `program` is another one that takes a folder and a port. */
export async function serve(path, port = undefined, program = undefined) {
  port ??= await freePort();
  const [name, ...args] = program
    ? [...program, path, String(port)]
    : [CTX, "studio", path, "--no-open", "--port", String(port)];
  const child = spawn(name, args, {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let said = "";
  const link = await new Promise((resolve, reject) => {
    const hear = (bytes) => {
      said += bytes;
      const found = /http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/.exec(said)?.[0];
      if (found) resolve(found);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", (code) => reject(new Error(`ctx studio ended with ${code}: ${said}`)));
    setTimeout(() => reject(new Error(`ctx studio names no link: ${said}`)), PATIENCE).unref();
  });
  const end = (signal) =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", resolve);
      child.kill(signal);
    });
  return { path, link, pid: child.pid, stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
}

/** Asks the server as the page does. */
export async function api(server) {
  const origin = new URL(server.link).origin;
  const headers = { "content-type": "application/json", origin };
  const code = /#code=(.+)$/.exec(server.link)[1];
  const login = await fetch(`${origin}/api/login`, { method: "POST", headers, body: JSON.stringify({ code }) });
  headers.authorization = `Bearer ${(await login.json()).token}`;
  return async (method, path, body) => {
    const answer = await fetch(`${origin}/api/${path}`, { method, headers, body: body && JSON.stringify(body) });
    return { ok: answer.ok, value: await answer.json() };
  };
}

let browser;
export async function close() {
  await (await browser)?.close();
  browser = undefined;
}

/** A window on a server. `problems` gets what the page must not do. */
export async function open(
  server,
  { lang = "en", theme = "light", width = 1280, height = 900, scale = 1, ignoresPolicy = false, isTurnOpen = true } = {},
) {
  // The promise is kept, so that tests that begin at once share one browser.
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: PATIENCE });
  const context = await (
    await browser
  ).newContext({
    viewport: { width, height },
    deviceScaleFactor: scale,
    colorScheme: theme === "dark" ? "dark" : "light",
    bypassCSP: ignoresPolicy,
  });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const problems = [];
  const origin = new URL(server.link).origin;
  page.on("console", (line) => problems.push(`console: ${line.text()}`));
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    problems.push("dialog");
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !url.origin.startsWith("ws://") && url.protocol !== "blob:")
      problems.push(`request: ${url.href}`);
  });
  if (DIST)
    await context.route(/\/(studio\.js|editor\.js|studio\.css|icons\.svg)$/, (route) =>
      route.fulfill({ path: join(DIST, new URL(route.request().url()).pathname) }),
    );
  await page.exposeFunction("noteViolation", (text) => problems.push(`violation: ${text}`));
  await context.addInitScript(
    ({ lang, theme, isTurnOpen }) => {
      localStorage.setItem("ctx-studio/lang", lang);
      localStorage.setItem("ctx-studio/theme", theme);
      // Most tests set the turn.
      if (localStorage.getItem("ctx-studio/turn-open") === null) localStorage.setItem("ctx-studio/turn-open", `${isTurnOpen}`);
      document.addEventListener("securitypolicyviolation", (event) =>
        window.noteViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
      );
    },
    { lang, theme, isTurnOpen },
  );
  if (process.env.STUDIO_INIT) await context.addInitScript(process.env.STUDIO_INIT);
  await page.goto(server.link);
  // In a narrow window what comes first in the page may be on a tab that is not open.
  await page.locator(":is(.row, .start-page, .empty, .findings, .entry, .bar-note):visible").first().waitFor();
  return { page, problems, context };
}

/** A log of an agent: in request 5 the time of the system prompt changed, in request 9 a tool result. Also hostile texts. */
export function requestLog(count = 12) {
  const messages = [{ role: "user", content: "Which lamps are broken? </td><script>alert(1)</script>\u202e" }];
  const log = [];
  for (let n = 1; n <= count; n++) {
    const id = `call-${n}`;
    messages.push({ role: "assistant", content: [{ type: "tool_use", id, name: "look", input: { lamp: n } }] });
    messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: `Lamp ${n}: ${"The glass is dusty. ".repeat(12)}` }] });
    if (n === 9) messages[4].content[0].content = "[removed]";
    const system = `It is 10:${n < 5 ? "05" : "06"}. ${"You keep the lamps of the harbor. ".repeat(200)}`;
    const line = {
      at: `2026-12-01T10:${String(n % 60).padStart(2, "0")}:00Z`,
      api: "anthropic",
      host: "api.anthropic.com",
      request: {
        model: "claude-sonnet-4-5",
        tools: [{ name: "look", input_schema: { type: "object" } }],
        system: [{ type: "text", text: system, cache_control: { type: "ephemeral" } }],
        messages: messages.map((message, at) =>
          at === messages.length - 1 ? { ...message, content: [{ ...message.content[0], cache_control: { type: "ephemeral" } }] } : message,
        ),
      },
    };
    log.push(JSON.stringify(line));
    // Long logs begin new conversations, as they would be huge otherwise.
    if (n % 12 === 0) messages.splice(1);
  }
  return log.join("\n");
}

export const entry = (page, id) => page.locator(`.entry[data-id="${id}"]`);
export const order = (page) => page.locator(".entry").evaluateAll((rows) => rows.map((row) => row.dataset.id));

/** Opens an entry and waits for its editor. */
export async function openEntry(page, id) {
  const row = entry(page, id);
  if ((await row.locator("[data-part=main]").getAttribute("aria-expanded")) !== "true")
    await row.locator("[data-part=main]").click();
  return row;
}

/** Opens a conversation on the page Chat. */
export async function openTalk(page, name) {
  await page.locator("[data-test=talk-file]").click();
  await page.locator("[data-test=conversations] .open", { has: page.getByText(name, { exact: true }) }).click();
  await page.locator("[data-test=talk-file]").getByText(name, { exact: true }).waitFor();
}

/** Chooses a command from the menu of a message. */
export async function command(message, name) {
  await message.locator("[data-test=message-menu]").click();
  await message.locator(`[data-test=${name}]`).click();
}

/** Checks by time: a window in the background draws no frames. */
const BACKGROUND = { polling: 100 };

/** Waits until nothing is on its way to the server, and the preview is that of now. */
export async function settled(page) {
  await page.waitForFunction(() => document.querySelector(".inspector")?.getAttribute("aria-busy") === "false", null, BACKGROUND);
}

/** Waits until the focus is on what a selector names: what is typed before that goes elsewhere. */
export const focused = (page, selector) =>
  page.waitForFunction((selector) => document.activeElement?.matches(selector), selector, BACKGROUND);

/** Saves, and waits until the page says that all is saved. */
export async function save(page) {
  await page.keyboard.press("Control+s");
  await page.locator("[data-test=dirty]:not(.on)").waitFor();
}
