// Everybody can read and use every page: axe on each page and dialog, in both themes, languages and widths.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { axe, close, entry, focused, folder, open, openEntry, openTalk, requestLog, serve, settled } from "./harness.mjs";

after(close);

const go = (page, hash) =>
  page.evaluate((hash) => {
    location.hash = hash;
  }, hash);
const inPreview = (tab) => async (page) => {
  await go(page, "#/preview");
  await page.locator(`#inspector-${tab}`).click();
  await page.locator(`#inspector-${tab}[aria-selected=true]`).waitFor();
  await settled(page);
};

const VIEWS = {
  preset: async (page) => {
    await openEntry(page, "profile");
    const reminder = await openEntry(page, "reminder");
    await reminder.locator(".cm-content").waitFor();
    await reminder.locator(".more summary").click();
    await page.locator(".expansion").first().waitFor();
  },
  selection: async (page) => {
    await page.locator("[data-test=select]").click();
    await page.locator(".pick").first().check();
  },
  "as placed": (page) => page.locator("[data-test=view-placed]").click(),
  text: async (page) => {
    await page.locator("[data-test=view-text]").click();
    await page.locator(".cm-content").waitFor();
  },
  menu: (page) => entry(page, "identity").locator("[data-test=entry-menu]").click(),
  anchors: (page) => page.locator("[data-test=add-anchor]").click(),
  group: (page) => page.locator("[data-test=add-group]").click(),
  move: async (page) => {
    await entry(page, "identity").locator("[data-test=entry-menu]").click();
    await page.getByRole("menuitem").nth(5).click();
    await page.locator("[data-test=move-to]").waitFor();
  },
  agent: async (page) => {
    await go(page, "#/agent");
    await page.locator("[data-test=add-greeting]").click();
    await page.locator("[data-test=greeting] textarea").fill("Hello, {{user}}.");
    await page.locator("[data-test=parameter-temperature]").fill("9");
    await page.keyboard.press("Enter");
    await page.locator("[aria-invalid=true]").waitFor();
    await page.locator("[data-test=turn]").click();
    await page.locator("[data-test=turn][aria-expanded=false]").waitFor();
  },
  files: async (page) => {
    await page.locator("[data-test=turn]").click();
    await go(page, "#/files");
    await page.locator("[data-path='profile.yaml'] [data-test=file-menu]").click();
    await page.locator(".menu").waitFor();
  },
  "new file": async (page) => {
    await go(page, "#/files");
    await page.locator("[data-test=new-file]").click();
    await page.getByRole("menuitem").nth(3).click();
    await page.locator("[data-test=file-name]").waitFor();
  },
  pipeline: async (page, path) => {
    writeFileSync(join(path, "model.json"), '{ "processors": [{ "id": "token-limiter", "priority": 405 }] }');
    await go(page, "#/pipeline");
    await page.locator('[data-entry="merge-system-to-head"] [data-part=main]').click();
    await page.locator("[data-field=separator]").waitFor();
    await page.locator("[data-test=layer] option", { hasText: "model.json" }).waitFor({ state: "attached" });
  },
  compression: async (page) => {
    await go(page, "#/pipeline");
    await page.locator("[data-test=pipeline-compression]").click();
    await page.locator("[data-test=compression-advanced]").click();
    await page.locator("[data-field=summaryPrompt]").waitFor();
    await page.locator("[data-test=next-compression]").waitFor();
  },
  "a list in talk": async (page) => {
    await go(page, "#/chat");
    await page.locator("[data-test=make-session]").waitFor();
  },
  talk: async (page, path) => {
    const said = Array.from({ length: 30 }, (_, n) => ({ role: n % 2 ? "assistant" : "user", content: `Room ${n} is Ada's.` }));
    if (!existsSync(join(path, "long.session.json"))) {
      writeFileSync(join(path, "long.json"), JSON.stringify(said));
      await go(page, "#/chat");
      await openTalk(page, "long.json");
      await page.locator("[data-test=make-session]").click();
      await page.locator("[data-test=composer]").waitFor();
      await page.locator("[data-test=compress]").click();
      await page.locator("[data-test=compress-range]").selectOption("between");
      await page.locator("[data-test=compress-to]").fill("12");
      await page.keyboard.press("Enter");
      await page.locator("[data-test=compress-now]:enabled").click();
      await page.locator("dialog").waitFor({ state: "detached" });
      await page.locator(".message:not(.stack) [data-test=edit]:enabled").last().press("Enter");
      await page.locator("[data-test=message-text]").fill("Another.");
      await page.locator("[data-test=save-branch]").press("Enter");
      await page.locator("[data-test=branches]").click();
      await page.locator("[data-test=tree]").waitFor();
      // In a narrow window the tree is a dialog.
      if (await page.locator("dialog [data-test=tree]").count()) await page.keyboard.press("Escape");
    }
    await go(page, "#/chat");
    await openTalk(page, "long.session.json");
    await page.locator(".stack [data-test=unfold]").click();
    await page.locator(".message:not(.stack) [data-test=edit]:enabled").last().press("Enter");
    await page.locator(".stack [data-test=details]").click();
    await page.locator("[data-test=facts]").waitFor();
  },
  conversations: async (page) => {
    await go(page, "#/chat");
    await page.locator("[data-test=talk-file]").click();
    await page.locator("[data-test=conversations] .open").first().waitFor();
  },
  compress: async (page) => {
    await go(page, "#/chat");
    await openTalk(page, "long.session.json");
    await page.locator("[data-test=compress]:enabled").click();
    await page.locator("[data-test=plan] b").waitFor();
  },
  books: async (page, path) => {
    writeFileSync(join(path, "book.json"), JSON.stringify({ entries: { 0: { uid: 0, key: ["basil"], content: "Green." } } }));
    await page.locator("[data-test=file] option", { hasText: "book.json" }).waitFor({ state: "attached" });
    await go(page, "#/books");
    await page.locator("[data-test=choose-all]").check();
    await page.locator(".book-entries th button").first().click();
    await page.locator(".book-side .cm-content").waitFor();
  },
  "test of a book": async (page) => {
    await go(page, "#/books");
    await page.locator(":is([data-test=book-back], [data-test=book-close]):visible").click();
    await page.locator("[data-test=books-test]").click();
    await page.locator("[data-test=own-text]").check();
    await page.locator("[data-test=searched-text]").fill("basil");
    await page.locator(".book-entries tr[data-state=active] th button").first().click();
    await page.locator("[data-test=hit]").first().click();
    await page.locator("[data-test=marked] mark").waitFor();
  },
  row: async (page) => {
    await go(page, "#/preview");
    await page.locator(".row > .line").first().click();
    await page.locator(".opened .piece").first().waitFor();
  },
  stages: inPreview("stages"),
  decisions: inPreview("decisions"),
  body: inPreview("body"),
  findings: inPreview("findings"),
  compare: async (page) => {
    await go(page, "#/compare");
    await page.locator("[data-test=pin-now]").click();
    await page.locator("[data-test=input]").fill("And in May?");
    await page.locator("[data-test=difference]").waitFor();
  },
  requests: async (page, path) => {
    writeFileSync(join(path, "log.jsonl"), requestLog());
    await go(page, "#/requests");
    await page.locator("[data-test=causes] button").first().click();
    await page.locator(".open-request").first().click();
    await page.locator("[data-test=pair]").waitFor();
  },
  import: async (page) => {
    await go(page, "#/import");
    await page.locator("[data-test=files]").setInputFiles([
      {
        name: "book.json",
        mimeType: "application/json",
        buffer: Buffer.from(JSON.stringify({ entries: { 0: { uid: 0, key: ["basil"], content: "Basil is green." } } })),
      },
    ]);
    await page.locator("[data-test=import-write]").waitFor();
  },
  rename: async (page) => {
    await page.locator("[data-test=add-group]").click();
    await focused(page, "dialog input");
    await page.keyboard.type("Voice");
    await page.keyboard.press("Enter");
    await page.locator(".group .menu-place button").click();
    await page.getByRole("menuitem").first().click();
    await page.locator("dialog form").waitFor();
  },
  // These leave a draft that is not saved.
  code: async (page) => {
    const row = await openEntry(page, "reminder");
    await row.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(" {{usr}}");
    await row.locator("[data-test=explain]").first().click();
    await page.locator("[data-test=code] pre").first().waitFor();
  },
  conflict: async (page, path) => {
    await entry(page, "season").locator("[role=switch]").click();
    await page.locator("[data-test=dirty].on").waitFor();
    await settled(page);
    writeFileSync(join(path, "agent.yaml"), "name: Theirs\npresetMessages: []\n");
    await page.keyboard.press("Control+s");
    await page.locator("[data-test=conflict]").first().waitFor();
    await settled(page);
  },
  // A preview that takes its time: what is shown meanwhile is readable too.
  working: async (page) => {
    await page.route("**/api/preview", () => {}, { times: 1 });
    await entry(page, "season").locator("[role=switch]").click();
    await page.locator(".meter.working").waitFor();
  },
  // The last two, as the draft stays broken.
  unreadable: async (page) => {
    await page.locator("[data-test=view-text]").click();
    await page.locator("[data-test=file-text] .cm-content").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("[");
    await page.locator(".preset-page > .bar-note").waitFor();
  },
  "broken file": async (page) => {
    await page.keyboard.press("Control+s");
    await page.locator("[data-test=save-fault]").waitFor();
  },
};

/** What everybody would notice, by axe; in the other theme only colours are other ones. */
async function faults(page, rules = {}) {
  const { violations } = await page.evaluate(
    (rules) => window.axe.run(document, { resultTypes: ["violations"], ...rules }),
    rules,
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}, ${nodes.length} times, ${nodes[0].html.slice(0, 120)}`);
}

const tooWide = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
const COLOURS = { runOnly: { type: "rule", values: ["color-contrast"] } };

describe("axe", { concurrency: 2 }, () => {
  // Each language in one width, and looked at in the other: a language changes no colours, and a width no words.
  for (const [lang, width, other] of [
    ["en", 1200, 400],
    ["zh", 400, 1200],
  ]) {
    test(`every page and dialog, both themes: ${lang}, ${width} wide`, async (t) => {
      const found = [];
      const path = folder();
      const server = await serve(path);
      t.after(() => server.stop());
      const { page, context } = await open(server, { theme: "system", lang, width, ignoresPolicy: true });
      t.after(() => context.close());
      for (const [name, act] of Object.entries(VIEWS)) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${new URL(server.link).origin}/#/preset`);
        await page.reload();
        await page.locator(name === "broken file" ? ".preset-page > .bar-note" : ".entry").first().waitFor();
        await settled(page);
        await act(page, path);
        await page.evaluate(axe);
        for (const fault of await faults(page)) found.push(`${name}: ${fault}`);
        await page.emulateMedia({ colorScheme: "dark" });
        await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
        for (const fault of await faults(page, COLOURS)) found.push(`${name}, dark: ${fault}`);
        await page.emulateMedia({ colorScheme: "light" });
        for (const size of [width, other]) {
          await page.setViewportSize({ width: size, height: 900 });
          const over = await tooWide(page);
          if (over > 0) found.push(`${name}: ${over} pixels too wide at ${size}`);
        }
      }
      assert.deepEqual(found, []);
    });
  }
});

// A window of 1280 by 900 that is zoomed to 200 % has half as many pixels of style; some enlarge the text alone.
for (const [how, window, size] of [
  ["the page", { width: 640, height: 450, scale: 2 }, ""],
  ["the text", {}, "200%"],
]) {
  test(`with ${how} at 200 %, all is there and nothing has to be scrolled sideways`, async (t) => {
    const server = await serve(folder());
    t.after(() => server.stop());
    const { page, context } = await open(server, { ...window, isTurnOpen: false });
    t.after(() => context.close());
    await page.evaluate((size) => (document.documentElement.style.fontSize = size), size);
    const row = await openEntry(page, "reminder");
    await row.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(" Briefly.");
    await page.locator("[data-test=dirty].on").waitFor();
    assert.equal(await tooWide(page), 0, "the preset");
    await page.locator("[data-test=save]").click();
    await page.locator("[data-test=dirty]:not(.on)").waitFor();
    await page.goto(`${new URL(server.link).origin}/#/preview`);
    await page.locator(".row > .line").first().click();
    await page.locator(".opened .piece").first().waitFor();
    assert.equal(await tooWide(page), 0, "the preview");
  });
}

test("axe: the start page", async (t) => {
  const server = await serve(folder(true));
  t.after(() => server.stop());
  const { page, context } = await open(server, { ignoresPolicy: true });
  t.after(() => context.close());
  await page.evaluate(axe);
  assert.deepEqual(await faults(page), []);
});

test("targets have 24 pixels, and Tab reaches the page in order", async (t) => {
  const server = await serve(folder());
  t.after(() => server.stop());
  const { page, context } = await open(server);
  t.after(() => context.close());
  const small = await page.evaluate(() =>
    [...document.querySelectorAll("button, a, select, input:not(.hidden)")]
      .filter((one) => one.checkVisibility() && !one.closest(".hidden") && !one.classList.contains("skip"))
      .map((one) => ({ box: one.getBoundingClientRect(), what: one.outerHTML.slice(0, 90) }))
      .filter(({ box }) => box.width > 0 && (box.width < 24 || box.height < 24))
      .map(({ box, what }) => `${box.width}x${box.height} ${what}`),
  );
  // A checkbox's label is its target.
  assert.deepEqual(
    small.filter((line) => !line.includes('type="checkbox"')),
    [],
  );
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "page");
});

// Systems with forced colours take a page's own colours away: what is on, chosen or marked needs another sign.
test("with forced colours, no state and no kind looks like another", async (t) => {
  const server = await serve(folder());
  t.after(() => server.stop());
  const { page, context } = await open(server);
  t.after(() => context.close());
  await page.emulateMedia({ forcedColors: "active" });
  const picture = async (place) => (await place.screenshot({ animations: "disabled" })).toString("base64");
  const find = (selector) => page.locator(selector).first();
  const same = [];
  /** Takes pictures of places before and after something happens. */
  const differ = async (selectors, act) => {
    const before = [];
    for (const selector of selectors) before.push(await picture(find(selector)));
    await act();
    await page.mouse.move(0, 0);
    for (const [at, selector] of selectors.entries())
      if ((await picture(find(selector))) === before[at]) same.push(selector);
  };
  /** Draws the same text as each kind of something. */
  const kinds = async (around, names) => {
    await page.evaluate(
      ([around, names]) => {
        const place = document.createElement("div");
        place.id = "kinds";
        place.className = around;
        place.append(...names.map((name) => Object.assign(document.createElement("p"), { textContent: "mimosa", className: name })));
        for (const one of place.children) one.style.width = "max-content";
        document.querySelector("main").prepend(place);
      },
      [around, names],
    );
    const seen = new Map();
    for (const name of names) {
      const drawn = await picture(page.locator(`#kinds > .${name.replaceAll(" ", ".")}`));
      if (seen.has(drawn)) same.push(`${name} and ${seen.get(drawn)}`);
      seen.set(drawn, name);
    }
    await page.evaluate(() => document.querySelector("#kinds").remove());
  };
  await differ(["[data-test=dirty]", ".entry[data-id=season] [role=switch]", "[data-test=save]"], async () => {
    await entry(page, "season").locator("[role=switch]").click();
    await page.locator("[data-test=dirty].on").waitFor();
    await settled(page);
  });
  await differ(["#inspector-stages", "#inspector-messages"], async () => {
    await page.locator("#inspector-stages").click();
    await page.locator("#inspector-stages[aria-selected=true]").waitFor();
  });
  await differ(["[data-test=view-placed]", "[data-test=view-list]"], async () => {
    await page.locator("[data-test=view-placed]").click();
    await page.locator(".placed").waitFor();
  });
  await page.locator("[data-test=view-list]").click();
  await differ([".brand"], async () => {
    await page.locator(".skip").focus();
    await page.keyboard.press("Tab");
    await focused(page, ".brand");
  });
  const pieces = ["preset", "input", "summary", "worldbook", "macro", "variable", "rule", "file", "plugin"];
  await kinds("text", pieces.map((kind) => `piece kind-${kind}`));
  await kinds("text", ["found error", "found warning", "found info"]);
  const row = await openEntry(page, "reminder");
  await row.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" {{");
  await find(".cm-tooltip-autocomplete li").waitFor();
  // The editor takes no key for a moment, lest somebody who types chooses without looking.
  await page.waitForTimeout(120);
  await differ([".cm-tooltip-autocomplete li"], () => page.keyboard.press("ArrowDown"));
  assert.deepEqual(same, []);
});
