// Takes pictures of the page for the documentation:
// node studio/picture.mjs FILE [light|dark] [en|zh] [WIDTH] [FOLDER] [ADDRESS] [SELECTOR TO CLICK]...
import { close, folder, open, serve } from "./harness.mjs";

const [file, theme = "light", lang = "en", width = "1280", path = "", address = "", ...clicks] = process.argv.slice(2);
const server = await serve(path || folder());
const { page } = await open(server, { theme, lang, width: Number(width), height: 760 });
await page.locator(".row").nth(3).waitFor({ state: "attached" });
if (address) await page.evaluate((address) => (location.hash = address), address);
for (const selector of clicks) await page.locator(selector).first().click();
await page.waitForTimeout(800);
await page.screenshot({ path: file });
await close();
await server.stop();
