// Measures Chat with a long conversation of the store: its first screen, moving in it, what other windows and programs
// change, and an answer that streams in.
import { appendFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { api, ctx, open, serve, settled } from "./harness.mjs";
import { provider, stream } from "./provider.mjs";

/** How many pieces an answer has, and how many come in a second. */
const PIECES = 1000;
const RATE = 200;

/** Notes the longest task of a window. */
const OBSERVE = () => {
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
  }).observe({ type: "longtask" });
};

/** Starts to wait until an element has a text (or is there), and that is painted; returns when it was. */
const until = (page, selector, text = "") =>
  page.evaluate(
    ([selector, text]) =>
      new Promise((resolve, reject) => {
        setTimeout(() => reject(new Error(`no ${selector} with ${text}`)), 60_000);
        const look = () => {
          if (!document.querySelector(selector)?.textContent.includes(text)) return false;
          seen.disconnect();
          requestAnimationFrame(() => setTimeout(() => resolve(performance.timeOrigin + performance.now())));
          return true;
        };
        const seen = new MutationObserver(look);
        if (!look()) seen.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
      }),
    [selector, text],
  );

/** Does something in the page by a script, and returns when. */
const act = (page, work, argument) =>
  page.evaluate(
    ([work, selector, value]) => {
      const element = document.querySelector(selector);
      if (work === "click") element.click();
      else {
        element.value = value;
        element.dispatchEvent(new Event("input", { bubbles: true }));
      }
      return performance.timeOrigin + performance.now();
    },
    [work, ...argument],
  );

/** The conversation in the store, as the page lists it. */
async function stored(path, messages, text) {
  const chat = Array.from({ length: messages }, (_, at) => ({ role: at % 2 ? "assistant" : "user", content: text(at) }));
  const file = join(mkdtempSync(join(tmpdir(), "long-")), "long.json");
  writeFileSync(file, JSON.stringify(chat));
  ctx(path, "session", "import", file, "--id", "long");
}

/** Measures all of it with messages of `text`; `path` is a folder with an agent, `say` takes what was found. */
export async function measureTalk(path, messages, text, say) {
  const ends = [];
  const { address } = await provider({ after: (end) => ends.push(end) }, [stream(PIECES, RATE)]);
  const home = mkdtempSync(join(tmpdir(), "home-"));
  writeFileSync(join(home, "ctx.toml"), `model = "gpt-4o"\n[endpoint]\nbase-url = "${address}"\n`);
  process.env.CTX_HOME = home;
  await stored(path, messages, text);
  // A summary would be another request.
  appendFileSync(join(path, "ctx.toml"), "\n[compression]\nautoTrigger = false\n");
  const server = await serve(path);
  const { context } = await open(server);
  await context.addInitScript(OBSERVE);
  const { origin } = new URL(server.link);
  // Another program, with the same store.
  const other = await serve(path);
  const ask = await api(other);
  const { files } = (await ask("GET", "project")).value;
  const { id } = files.find((one) => one.isStored);
  const window = async () => {
    const page = await context.newPage();
    await page.goto(`${origin}/#/chat/${id}`);
    return page;
  };
  const page = await context.newPage();
  await page.goto(`${origin}/#/chat/${id}`, { waitUntil: "commit" });
  const shown = await until(page, ".message");
  say("first screen", shown - (await page.evaluate(() => performance.timeOrigin)), 2500, "ms");
  await settled(page);
  await moving(page, ask, id, messages, say);
  await steps(page, await window(), ask, id, say);
  await answering(page, say);
  await context.close();
  await server.stop();
  await other.stop();
  for (const end of ends) end();
}

const p95 = (values) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * 0.95))];

/** Jumps all over the path, and switches between branches in its middle. */
async function moving(page, ask, id, messages, say) {
  const jumps = [];
  for (let at = 1; at <= 20; at++) {
    const place = Math.floor(((at * 7) % 20) * ((messages - 200) / 21));
    const seen = until(page, ".path .message:first-child .number", String(place + 1));
    const begun = await act(page, "input", [".pager .strip", String(place)]);
    jumps.push((await seen) - begun);
  }
  say("jump, p95", p95(jumps), 100, "ms");
  const middle = Math.floor(messages / 2);
  await act(page, "input", [".pager .strip", String(middle)]);
  const view = (await ask("GET", `conversations/${id}?from=${middle}`)).value;
  const step = { kind: "branch", id: view.rows[0].id, text: "Another way." };
  await ask("POST", `conversations/${id}/steps`, { base: view.hash, step });
  await until(page, ".branch", "2/2");
  await settled(page);
  const switches = [];
  for (let at = 0; at < 20; at++) {
    const [to, name] = at % 2 ? ["last-of-type", "2/2"] : ["first-of-type", "1/2"];
    const seen = until(page, ".branch", name);
    const begun = await act(page, "click", [`.branch button:${to}`]);
    switches.push((await seen) - begun);
    await settled(page);
  }
  say("switch of branch, p95", p95(switches), 100, "ms");
}

/** Steps that are taken in one window, or by another program, and when another window shows them. */
async function steps(page, second, ask, id, say) {
  await second.locator(".message").first().waitFor();
  await settled(second);
  const view = (await ask("GET", `conversations/${id}`)).value;
  const last = `.message[data-id="${view.rows.at(-1).id}"]`;
  await page.locator(last).waitFor();
  const own = [];
  const state = (at) => `${last}[data-state=${at % 2 ? "sent" : "off"}]`;
  for (let at = 0; at < 20; at++) {
    const seen = until(second, state(at));
    await page.locator(`${last} [data-test=message-menu]`).click();
    await page.locator(`${last} [data-test=toggle]`).waitFor();
    const begun = await act(page, "click", [`${last} [data-test=toggle]`]);
    own.push((await seen) - begun);
    await settled(page);
    await settled(second);
    await page.locator(".talk-page[aria-busy=false]").waitFor();
  }
  say("step in the other window, p95", p95(own), 200, "ms");
  const foreign = [];
  let { hash: base } = (await ask("GET", `conversations/${id}`)).value;
  for (let at = 0; at < 10; at++) {
    const seen = until(second, state(at));
    const step = { kind: "toggle", id: view.rows.at(-1).id, enabled: at % 2 === 1 };
    const taken = await ask("POST", `conversations/${id}/steps`, { base, step });
    const begun = performance.timeOrigin + performance.now();
    base = taken.value.hash;
    foreign.push((await seen) - begun);
    await pause(at * 50);
  }
  say("step by another program, p95", p95(foreign), 1500, "ms");
  await second.close();
}

/** An answer that comes in pieces. */
async function answering(page, say) {
  // A window behind another one paints once a second.
  await page.bringToFront();
  await settled(page);
  const client = await page.context().newCDPSession(page);
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = await client.send("Runtime.getHeapUsage");
  say("heap of the page", usedSize / 2 ** 20, 60, "MB");
  say("messages in the page", await page.locator(".message").count(), 2000, "");
  await page.locator("[data-test=composer]").fill("Tell me more.");
  await page.locator("[data-test=send]:not([disabled])").click();
  await page.locator("[data-test=live-text]").filter({ hasText: "piece 1 " }).waitFor();
  await page.evaluate(() => (window.longest = 0));
  await page.locator("[data-test=live-text]").filter({ hasText: `piece ${PIECES - RATE} ` }).waitFor();
  say(`${RATE} pieces a second: longest task`, await page.evaluate(() => window.longest), 50, "ms");
  await page.locator(".message").filter({ hasText: `piece ${PIECES - 1} ` }).waitFor();
  await page.locator("[data-test=live]").waitFor({ state: "detached" });
  await settled(page);
  say(`${RATE} pieces a second: longest task to the end`, await page.evaluate(() => window.longest), 50, "ms");
}
