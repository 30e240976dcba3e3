// Runs the conformance suite through the package in Chromium, on a page and in a worker: browser.mjs CHROMIUM SUITE.zip
// CALLS, where CALLS is what Node.js gave.

import { readFileSync } from "node:fs";

import { chromium } from "playwright-core";

import { serve } from "./serve.mjs";
import { readSuite } from "./suite.mjs";

const WORK = `
import * as ctx from "/dist/index.js";
import { conformance } from "/tests/conformance.mjs";
export const work = async () => {
  const { lines, different, left, run } = await conformance(ctx, await (await fetch("/cases.json")).json());
  return { lines, different, left, run };
};
`;
const PAGE = `import { work } from "/work.js"; globalThis.done = work();`;
const WORKER = `import { work } from "/work.js"; work().then((result) => postMessage(result));`;
const IN_WORKER = `
globalThis.done = new Promise((done, failed) => {
  const worker = new Worker("/worker.js", { type: "module" });
  worker.onmessage = ({ data }) => done(data);
  worker.onerror = (event) => failed(new Error(event.message));
});
`;
const html = (script) => `<!doctype html><title>ctx</title><script type="module" src="${script}"></script>`;

const [browserPath, suite, calls] = process.argv.slice(2);
const expected = readFileSync(calls, "utf8").trimEnd().split("\n");
const server = await serve(".", {
  "/cases.json": JSON.stringify(readSuite(suite)),
  "/in-worker.html": html("/in-worker.js"),
  "/in-worker.js": IN_WORKER,
  "/page.html": html("/page.js"),
  "/page.js": PAGE,
  "/work.js": WORK,
  "/worker.js": WORKER,
});
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
let failed = false;
for (const [name, path] of [["a page", "/page.html"], ["a worker", "/in-worker.html"]]) {
  const page = await browser.newPage();
  const said = [];
  page.on("console", (line) => said.push(line.text()));
  page.on("pageerror", (error) => said.push(error.message));
  await page.goto(server.url + path);
  await page.waitForFunction(() => globalThis.done);
  const { lines, different, run } = await page.evaluate(() => globalThis.done);
  const other = lines.filter((line, place) => line !== expected[place]).length + Math.abs(lines.length - expected.length);
  console.log(`js: ${run - different.length} of ${run} cases give what the suite expects in ${name} of Chromium, ${other} calls differ from Node.js`);
  failed ||= other > 0 || different.length > 0 || said.length > 0;
  if (said.length > 0) console.error(said.join("\n"));
  await page.close();
}
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
