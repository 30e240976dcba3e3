// Takes pictures of the page for the documentation:
// node studio/picture.mjs FILE [light|dark] [en|zh] [WIDTH] [FOLDER] [ADDRESS] [SELECTOR TO CLICK]...
// The pictures of the guide: `studio`: books; `studio-books`: books /books [data-test=books-test] '[data-uid="0"] th button'; `studio-pipeline`:
// books /pipeline '[data-entry=worldbook-processor] [data-part=main]'; `studio-talk`: talk /talk; each in en and zh.
// The folder `talk` is the sample with a conversation that has a branch and a summary, `books` the sample with a worldbook.
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { close, ctx, folder, open, openTalk, serve } from "./harness.mjs";

const TALKS = {
  en: [
    "When do I sow basil? I am Ada Bell, from Leeds.",
    "In May, once the nights stay above 10 °C. In Leeds that is about 15 May.",
    "I have 2 beds, one of them in the shade. Which one is better?",
    "The sunny one: basil wants 6 hours of light a day.",
    "My seeds are from 2024. Are they still good?",
    "Basil keeps for 5 years. Sow a few more than you need.",
    "How far apart do they stand?",
    "20 cm, and 30 cm between the rows.",
  ],
  zh: [
    "罗勒什么时候播种？我叫艾达，住在杭州。",
    "五月，夜里稳定在 10 °C 以上之后。杭州大约是 5 月 1 日。",
    "我有 2 块地，其中一块在阴处。哪块更好？",
    "向阳的那块：罗勒每天需要 6 小时光照。",
    "我的种子是 2024 年的，还能用吗？",
    "罗勒种子可以保存 5 年。多播几粒就好。",
    "株距留多少？",
    "株距 20 cm，行距 30 cm。",
  ],
};
const BOOKS = {
  en: [
    { key: ["basil", "garden", "water"], comment: "Basil", content: "Basil is sown in May.", order: 10 },
    { key: ["May", "sown"], comment: "May", content: "May is warm.", position: 4, depth: 2 },
    { key: ["dragon"], comment: "Dragon", content: "No dragons here.", order: 30, probability: 40, useProbability: true },
    { key: ["basil"], comment: "Moon", content: "Sow by the moon.", disable: true },
    { key: [], comment: "Climate", content: "Leeds has a mild climate.", constant: true },
  ],
  zh: [
    { key: ["罗勒", "花园", "浇水"], comment: "罗勒", content: "罗勒五月播种。", order: 10 },
    { key: ["三月", "播种"], comment: "三月", content: "三月先在室内育苗。", position: 4, depth: 2 },
    { key: ["龙"], comment: "龙", content: "这里没有龙。", order: 30, probability: 40, useProbability: true },
    { key: ["罗勒"], comment: "月亮", content: "按月相播种。", disable: true },
    { key: [], comment: "气候", content: "杭州气候温和。", constant: true },
  ],
};
const QUESTIONS = { en: "How often do I water the basil?", zh: "罗勒多久浇一次水？" };
const OTHER = { en: "15 cm is enough in a pot.", zh: "盆栽留 15 cm 就够了。" };

/** The sample with a conversation of two branches whose beginning is a summary. */
function talk(lang) {
  const path = folder();
  const file = "garden.session.json";
  const nodes = { root: { role: "system", content: "", parentId: null, childrenIds: ["n1"] } };
  TALKS[lang].forEach((content, at) => {
    const [id, parentId, childrenIds] = [`n${at + 1}`, at ? `n${at}` : "root", at < 7 ? [`n${at + 2}`] : []];
    nodes[id] = { role: at % 2 ? "assistant" : "user", content, parentId, childrenIds };
  });
  nodes.n7.childrenIds.push("n9");
  nodes.n9 = { role: "assistant", content: OTHER[lang], parentId: "n7", childrenIds: [] };
  writeFileSync(join(path, file), JSON.stringify({ id: "garden", rootNodeId: "root", activeLeafId: "n8", nodes }));
  ctx(path, "compress", "run", "--session", file, "--mask", "--from", "n1", "--to", "n6", "--write");
  return path;
}

/** The sample with a worldbook. */
function books(lang) {
  const path = folder();
  const entries = Object.fromEntries(BOOKS[lang].map((entry, uid) => [uid, { uid, ...entry }]));
  writeFileSync(join(path, "garden.json"), JSON.stringify({ name: "Garden", entries }));
  const contents = [...TALKS[lang].slice(0, 2), QUESTIONS[lang]];
  const messages = contents.map((content, at) => ({ role: at % 2 ? "assistant" : "user", content }));
  writeFileSync(join(path, "conversation.json"), JSON.stringify(messages));
  return path;
}

const [file, theme = "light", lang = "en", width = "1280", path = "", address = "", ...clicks] = process.argv.slice(2);
process.env.CTX_HOME = mkdtempSync(join(tmpdir(), "home-"));
process.env.CTX_LANG = lang;
const made = { talk, books }[path]?.(lang);
const server = await serve(made ?? (path || folder()));
const { page } = await open(server, { theme, lang, width: Number(width), height: 760, isTurnOpen: false });
await page.locator(".row").nth(3).waitFor({ state: "attached" });
if (address) await page.evaluate((address) => (location.hash = address), address);
if (path === "talk") {
  await openTalk(page, "garden.session.json");
  await page.locator("[data-test=unfold]").waitFor();
}
for (const selector of clicks) await page.locator(selector).first().click();
await page.waitForTimeout(800);
await page.screenshot({ path: file });
await close();
await server.stop();
