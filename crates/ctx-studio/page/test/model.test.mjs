// What the page computes by itself: `npm test`. Everything else is tested in a browser, in `xtask/page/studio`.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { build } from "esbuild";

const out = mkdtempSync(join(tmpdir(), "model-"));
after(() => rmSync(out, { recursive: true }));
const entryPoints = ["pointer", "rebase", "words", "difference", "editor/line-ends", "preset/entries", "preset/placement", "preset/actions"].map((name) =>
  join(import.meta.dirname, `../src/${name}.ts`),
);
await build({
  entryPoints,
  bundle: true,
  format: "esm",
  platform: "neutral",
  outdir: out,
  outExtension: { ".js": ".mjs" },
  logLevel: "error",
});
const { apply, get } = await import(join(out, "pointer.mjs"));
const { digest, originsOf, rebase } = await import(join(out, "rebase.mjs"));
const { differing, shortened } = await import(join(out, "words.mjs"));
const { joined } = await import(join(out, "difference.mjs"));
const { Keys, listPointer } = await import(join(out, "preset/entries.mjs"));
const { placementEdits, placementOf, wrongPoint, orderEdits, orderOf } = await import(
  join(out, "preset/placement.mjs")
);
const { LineEnds, difference, shownText, typedInto } = await import(join(out, "editor/line-ends.mjs"));
const { moveEdits, removeEdits, copyOf } = await import(join(out, "preset/actions.mjs"));

// A small generator with a seed, so that a failure can be repeated.
function random(seed) {
  let state = seed;
  return (below) => (state = (state * 1103515245 + 12345) % 2147483648) % below;
}

const presetOf = (list) => ({ list: "/presetMessages", groups: [], entries: new Keys().of(list, "/presetMessages") });

test("moving entries gives the order that was asked for, in any list", () => {
  const next = random(7);
  for (let round = 0; round < 2000; round++) {
    const list = Array.from({ length: 1 + next(9) }, (_, id) => ({ id: `e${id}` }));
    const preset = presetOf(list);
    const chosen = preset.entries.filter(() => next(3) === 0);
    const to = next(list.length + 1);
    const edited = get(apply({ presetMessages: list }, moveEdits(preset, chosen, to)), "/presetMessages");
    const keys = new Set(chosen.map(({ index }) => index));
    const before = list.slice(0, to).filter((_, index) => !keys.has(index));
    const after = list.slice(to).filter((_, index) => !keys.has(index + to));
    assert.deepEqual(edited, [...before, ...chosen.map(({ value }) => value), ...after], `round ${round}`);
  }
});

test("line ends stay as they are, whatever is typed", () => {
  const next = random(3);
  const pieces = ["a", "b", "\n", "\r\n", "\r", "🌱"];
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: next(12) }, () => pieces[next(pieces.length)]).join("");
    const ends = new LineEnds(text);
    const shown = shownText(text);
    for (let place = 0; place <= shown.length; place++) {
      assert.equal(ends.toShown(ends.toText(place)), place);
      assert.equal(shownText(text.slice(0, ends.toText(place))), shown.slice(0, place));
    }
    ends.change([]);
    assert.equal(ends.text, text);
    const from = next(shown.length + 1);
    const to = from + next(shown.length - from + 1);
    const typed = shown.slice(0, from) + "x\ny" + shown.slice(to);
    ends.change([{ from, to, insert: "x\ny" }]);
    assert.equal(shownText(ends.text), typed, JSON.stringify([text, from, to]));
    assert.equal(shownText(typedInto(text, typed)), typed);
  }
  const ends = new LineEnds("a\r\nb\nc\r\n");
  ends.change([
    { from: 1, to: 1, insert: "1\n2" },
    { from: 4, to: 4, insert: "!" },
  ]);
  assert.equal(ends.text, "a1\r\n2\r\nb\n!c\r\n");
  assert.equal(typedInto("a\r\nb\r\n", "a\nxb\n"), "a\r\nxb\r\n");
  assert.deepEqual(difference("same", "same"), { from: 4, to: 4, insert: "" });
});

/** Rebases one batch: the value afterwards, and the places that clash. */
function rebased(before, after, edits, seen = { value: before, text: "" }) {
  const batch = { id: "1", edits, origins: originsOf(before, edits) };
  const { batches, clashes } = rebase([batch], { value: after, text: "" }, seen);
  const value = batches.reduce((value, { edits = [] }) => apply(value, edits), after);
  return { list: value.list, places: clashes.map(({ place }) => place), clashes };
}

test("edits find their entries in a file that another window has changed", () => {
  const list = (...entries) => ({ list: entries });
  const [a, b, c] = ["a", "b", "c"].map((id) => ({ id, content: id }));
  const set = (index, value = "mine") => ({ op: "set", pointer: `/list/${index}/content`, value });
  const mine = (entry) => ({ ...entry, content: "mine" });
  const check = (after, edits, expected, places = []) => {
    const made = rebased(list(a, b, c), list(...after), edits);
    assert.deepEqual([made.list, made.places], [expected, places]);
  };
  const theirs = { ...b, content: "theirs" };
  check([c, b, a], [set(1)], [c, mine(b), a]);
  check([b, c], [set(1), set(2)], [mine(b), mine(c)]);
  check([a, { ...b, name: "theirs" }, c], [set(1)], [a, { ...mine(b), name: "theirs" }, c]);
  check([a, theirs, c], [set(0)], [mine(a), theirs, c]);
  // The same place: a person chooses.
  check([a, theirs, c], [set(1)], [a, mine(b), c], ["list/b/content"]);
  check([a, theirs, c], [set(1), set(1, "mine")], [a, mine(b), c], ["list/b/content"]);
  check([a, theirs, c], [{ op: "remove", pointer: "/list/1" }], [a, c], ["list/b"]);
  check([a, mine(b), c], [set(1)], [a, mine(b), c]);
  // What is gone.
  check([a, c], [set(1)], [a, c], ["list/b/content"]);
  check([a, c], [{ op: "remove", pointer: "/list/1" }], [a, c]);
  // Insertions and moves go where their neighbours are.
  const n = { id: "n", content: "" };
  check([c, b, a], [{ op: "insert", pointer: "/list/1", value: n }], [c, n, b, a]);
  check([a, b], [{ op: "insert", pointer: "/list/-", value: n }, { ...set(3), pointer: "/list/3/content" }], [a, b, mine(n)]);
  check([theirs, c, a], [{ op: "move", pointer: "/list/0", to: "/list/1" }], [theirs, a, c]);
  check([b, a, c], [{ op: "move", pointer: "/list/2", to: "/list/0" }], [b, c, a]);
  // An answer that was lost: the file has the insertion already.
  check([a, n, b, c], [{ op: "insert", pointer: "/list/1", value: n }], [a, n, b, c]);
});

test("entries without ids are found by their index, unless the list has another length", () => {
  const before = { list: [{ content: "x" }, { content: "y" }] };
  const edits = [{ op: "set", pointer: "/list/1/content", value: "mine" }];
  const free = { list: [{ content: "theirs" }, { content: "y" }] };
  assert.deepEqual(rebased(before, free, edits).places, []);
  assert.deepEqual(rebased(before, { list: [{ content: "x" }, { content: "theirs" }] }, edits).places, ["list/1/content"]);
  const [clash] = rebased(before, { list: [{ content: "y" }] }, edits).clashes;
  assert.deepEqual([clash.theirs, clash.lost], [undefined, "mine"]);
});

test("a whole text meets only the text that it was made of", () => {
  const batch = { id: "1", text: "mine", was: digest("old") };
  const clashes = (text) => rebase([batch], { text }, undefined).clashes.map(({ theirs }) => theirs);
  assert.deepEqual([clashes("old"), clashes("mine"), clashes("theirs")], [[], [], ["theirs"]]);
});

test("words that differ are marked in both texts", () => {
  const marked = (a, b) => differing(a, b).map((runs) => runs.map(({ text, isSame }) => (isSame ? text : `[${text}]`)).join(""));
  assert.deepEqual(marked("one two three", "one 2 three"), ["one [two] three", "one [2] three"]);
  assert.deepEqual(marked("雨天好", "晴天好"), ["[雨]天好", "[晴]天好"]);
  assert.deepEqual(marked("", "x"), ["", "[x]"]);
  assert.deepEqual(marked("a b c d", "b x d"), ["[a ]b [c] d", "b [x] d"]);
  const [runs] = differing(`${"w ".repeat(500)}x`, `${"w ".repeat(500)}y`);
  assert.ok(shortened(runs)[0].text.length < 200 && shortened(runs)[1].text === "x");
});

test("entries keep their keys wherever they go", () => {
  const keys = new Keys();
  const [a, b, c] = [{ id: "a", content: "x" }, { content: "y" }, { content: "y" }];
  const first = keys.of([a, b, c], "");
  assert.equal(new Set(first.map(({ key }) => key)).size, 3);
  const second = keys.of([structuredClone(c), structuredClone(a), structuredClone(b)], "");
  assert.equal(second[1].key, first[0].key);
  const third = keys.of([second[0].value, { id: "a", content: "changed" }, second[2].value], "");
  assert.equal(third[1].key, first[0].key, "an entry that is edited stays itself");
  assert.equal(third[0], second[0], "what did not change is the same object");
  assert.equal(keys.of([third[0].value, third[1].value, third[2].value, { content: "new" }], "").length, 4);
});

test("a placement that is written is read again, and the order stays", () => {
  const places = [
    { kind: "order" },
    { kind: "depth", points: "3" },
    { kind: "depth", points: "3, 10~5" },
    { kind: "index", index: -2 },
    { kind: "anchor", target: "lore", side: "before" },
  ];
  const starts = [
    {},
    { order: 5 },
    { insertionPoint: 1, order: 5 },
    { injectionStrategy: { type: "depth", depth: 2, order: 5, lane: 1 } },
    { anchorTarget: "x", anchorPoint: "before", order: 5 },
  ];
  for (const start of starts) {
    for (const place of places) {
      const entry = { key: "k", index: 0, pointer: "/0", value: start };
      const [value] = apply([start], placementEdits(entry, place));
      const read = { ...entry, value };
      assert.deepEqual(placementOf(read), place, JSON.stringify([start, place, value]));
      assert.equal(orderOf(read), orderOf(entry), JSON.stringify([start, place, value]));
      const [ordered] = apply([value], orderEdits(read, 42));
      assert.equal(orderOf({ ...entry, value: ordered }), 42);
    }
  }
});

test("points of a depth", () => {
  for (const points of ["0", "3", "3, 10~5", " 1,2 "]) assert.equal(wrongPoint(points), undefined, points);
  for (const points of ["", "x", "3,", "3~0", "-1", "10~"]) assert.notEqual(wrongPoint(points), undefined, points);
});

test("removing, copying, and where lists stand", () => {
  const preset = presetOf([{ id: "a" }, { id: "a-2" }, { id: "b" }]);
  assert.deepEqual(
    get(
      apply(
        { presetMessages: preset.entries.map(({ value }) => value) },
        removeEdits([preset.entries[0], preset.entries[2]]),
      ),
      "/presetMessages",
    ),
    [{ id: "a-2" }],
  );
  assert.equal(copyOf(preset.entries[0], preset.entries, "").id, "a-3");
  assert.equal(listPointer([]), "");
  assert.equal(listPointer({ messages: [] }), "/messages");
  assert.equal(listPointer({ agents: [{ presetMessages: [] }] }), "/agents/0/presetMessages");
  assert.equal(listPointer({}), undefined);
});

test("differences of previews, one after the other, make the whole of the last", () => {
  const next = random(11);
  const words = (count) => Array.from({ length: next(count) }, () => `w${next(5)}`);
  const state = (id) => ({
    id,
    usage: { parts: [] },
    rows: words(9).map((key) => ({ key, ...(next(3) === 0 ? { dropped: "why" } : {}) })),
    decisions: words(6).map((code) => ({ code })),
    stages: words(4).map((id) => ({ id })),
    findings: words(4).map((code) => ({ code })),
    entryTokens: Object.fromEntries(words(5).map((pointer) => [pointer, next(3)])),
  });
  /** The places that a server counts. */
  const counted = (rows) => {
    let sent = 0;
    return rows.map((row, place) => ({ ...row, n: row.dropped === undefined ? sent++ : undefined, row: place }));
  };
  /** Any splices do: here what is between the same beginning and the same end. */
  const since = (before, now) => {
    const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
    let at = 0;
    while (at < Math.min(before.length, now.length) && same(before[at], now[at])) at++;
    let end = 0;
    while (end < Math.min(before.length, now.length) - at && same(before.at(-1 - end), now.at(-1 - end))) end++;
    const splice = { at, remove: before.length - at - end, insert: now.slice(at, now.length - end) };
    return { splices: splice.remove + splice.insert.length > 0 ? [splice] : [], total: now.length };
  };
  let before = state("0");
  let shown = joined(before, undefined);
  for (let round = 1; round < 2000; round++) {
    const now = next(6) === 0 ? { ...before, id: `${round}` } : state(`${round}`);
    const answer = { ...now, since: before.id };
    for (const name of ["rows", "decisions", "stages", "findings"]) answer[name] = since(before[name], now[name]);
    const gone = Object.keys(before.entryTokens).filter((key) => !(key in now.entryTokens));
    const changed = Object.entries(now.entryTokens).filter(([key, tokens]) => before.entryTokens[key] !== tokens);
    answer.entryTokens = Object.fromEntries([...changed, ...gone.map((key) => [key, null])]);
    const after = joined(answer, shown);
    assert.deepEqual(after, { ...now, rows: counted(now.rows) }, `round ${round}`);
    if (now.rows === before.rows) assert.ok(after.rows === shown.rows && after.decisions === shown.decisions);
    assert.equal(joined({ ...answer, since: "another" }, shown), undefined);
    [before, shown] = [now, after];
  }
});
