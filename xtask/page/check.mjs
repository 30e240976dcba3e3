// Opens pages in a browser and says what is wrong with them: `node check.mjs BROWSER PICTURE|- PAGE...`.
// A page has no scripts, asks for nothing, says nothing on the console, fits into a narrow window and can be read by
// everybody, in light and in dark. A line on standard output is a problem; the first page may have its picture taken.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [browserPath, picture, ...pages] = process.argv.slice(2);

// A page that is wrong in every way that is looked for: each has to be noticed.
const WRONG = `<!doctype html><html lang="en"><title>x</title><body style="width:900px">
<p style="color:#ccc;background:#fff">pale</p><img src="missing.png"><script>console.error("noise")</script>
<a href="javascript:alert(1)">x</a></body></html>`;
const KINDS = ["overflow", "request", "console", "script", "axe color-contrast", "axe image-alt"];

async function problems(browser, url, colorScheme, width) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
  const page = await context.newPage();
  const found = [];
  page.on("console", (line) => found.push(`console: ${line.text()}`));
  page.on("pageerror", (error) => found.push(`console: ${error.message}`));
  page.on("dialog", (dialog) => { found.push("script: a dialog opened"); dialog.dismiss(); });
  page.on("request", (request) => { if (request.url() !== url) found.push(`request: ${request.url()}`); });
  await page.goto(url, { waitUntil: "load" });
  found.push(...await page.evaluate(() => {
    const found = [];
    for (const details of document.querySelectorAll("details")) details.open = true;
    const wide = document.documentElement.scrollWidth - window.innerWidth;
    if (wide > 0) found.push(`overflow: ${wide} pixels wider than the window`);
    if (document.querySelector("script, iframe, object, embed, base, link")) found.push("script: an element that loads or runs");
    for (const element of document.querySelectorAll("*")) {
      for (const attribute of element.attributes) {
        const isUnsafe = attribute.name.startsWith("on") || attribute.name === "style" || /^\s*(javascript|data):/i.test(attribute.value) && attribute.name !== "title";
        if (isUnsafe) found.push(`script: ${element.tagName} has ${attribute.name}`);
      }
    }
    return found;
  }));
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, impact, nodes } of violations) {
    if (impact === "serious" || impact === "critical") found.push(`axe ${id}: ${nodes.length} times, first ${nodes[0].html.slice(0, 160)}`);
  }
  await context.close();
  return found;
}

async function take(browser, url, path) {
  const context = await browser.newContext({ colorScheme: "light", viewport: { width: 1200, height: 1500 }, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(url, { waitUntil: "load" });
  await page.screenshot({ path });
  await context.close();
}

const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"],
});
try {
  const wrong = join(mkdtempSync(join(tmpdir(), "page-")), "wrong.html");
  writeFileSync(wrong, WRONG);
  const noticed = await problems(browser, pathToFileURL(wrong).href, "light", 400);
  for (const kind of KINDS) {
    if (!noticed.some((problem) => problem.startsWith(kind))) console.log(`a wrong page: ${kind} is not noticed`);
  }
  for (const path of pages) {
    const url = pathToFileURL(resolve(path)).href;
    for (const scheme of ["light", "dark"]) {
      for (const width of [1200, 400]) {
        const found = await problems(browser, url, scheme, width);
        for (const problem of new Set(found)) console.log(`${path}, ${scheme}, ${width} wide: ${problem}`);
      }
    }
  }
  if (picture !== "-") await take(browser, pathToFileURL(resolve(pages[0])).href, resolve(picture));
} finally {
  await browser.close();
}
