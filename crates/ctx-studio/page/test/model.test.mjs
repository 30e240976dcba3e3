// What the page computes by itself: `npm test`. Everything else is tested in a browser, in `xtask/page/studio`.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { build } from "esbuild";

const out = mkdtempSync(join(tmpdir(), "model-"));
after(() => rmSync(out, { recursive: true }));
const entryPoints = ["pointer", "difference", "editor/line-ends", "preset/entries", "preset/headings", "preset/placement", "preset/actions"].map((name) =>
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
const { apply, get, isUntouched, reachSame } = await import(join(out, "pointer.mjs"));
const { joined } = await import(join(out, "difference.mjs"));
const { Keys, listPointer } = await import(join(out, "preset/entries.mjs"));
const { isHeading, sectionOf } = await import(join(out, "preset/headings.mjs"));
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

test("finds headings by name and by missing text", () => {
  const entryOf = (value) => presetOf([value]).entries[0];
  const isHead = (name, content = "text", more = {}) => isHeading(entryOf({ name, content, ...more }));
  for (const name of ["━📜 Story Primers", "=== Style ===", "--- Style", "▼ Lore", " ## Lore", "——文风——"])
    assert.ok(isHead(name), name);
  for (const name of ["Style", "", "- Style", "★ Style", "<style>", "1. Style"]) assert.ok(!isHead(name), name);
  assert.ok(isHead("Style", " \n"));
  assert.ok(isHead("Style", "{{// a note}}{{trim}}"));
  assert.ok(!isHead("", ""), "a new entry");
  assert.ok(!isHead("=== History", "", { type: "chat_history" }), "an anchor");
  const { entries } = presetOf([{ name: "a", content: "x" }, { name: "== b" }, { content: "c" }, { name: "== d" }]);
  assert.deepEqual(sectionOf(entries, entries[1]), [entries[2]]);
  assert.deepEqual(sectionOf(entries, entries[3]), []);
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

test("edits reach the entry that they were made for, or none", () => {
  const list = (...entries) => ({ presetMessages: entries });
  const [a, b, c] = [{ id: "a", content: "1" }, { id: "b", content: "2" }, { content: "3" }];
  const set = (index) => [{ op: "set", pointer: `/presetMessages/${index}/content`, value: "mine" }];
  const before = list(a, b, c);
  assert.ok(reachSame(before, list(a, { ...b, content: "theirs" }, c), set(1)));
  assert.ok(reachSame(before, list(a, b, { content: "theirs" }), set(2)));
  assert.ok(!reachSame(before, list(b, a, c), set(1)), "moved");
  assert.ok(!reachSame(before, list(a, c), set(1)), "removed");
  assert.ok(!reachSame(before, list(a, b), set(2)), "removed at the end");
  assert.ok(!reachSame(before, list(a, { id: "n", content: "2" }, c), set(1)), "another in its place");
  assert.ok(!reachSame(before, list(b, a, { content: "4" }), set(2)), "nobody knows");
  assert.ok(!reachSame(before, undefined, set(1)));
  const edits = [{ op: "remove", pointer: "/presetMessages/0" }, ...set(0)];
  assert.ok(reachSame(before, list(a, { ...b, content: "theirs" }, c), edits));
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

test("edits that wait are not made over what another has written at their places", () => {
  const before = { name: "Ada", list: [{ id: "a", content: "x" }, { id: "b", content: "y" }] };
  const set = (pointer, value) => ({ op: "set", pointer, value });
  const other = { ...before, name: "Eve" };
  assert.equal(isUntouched(before, other, [set("/list/0/content", "z")]), true);
  assert.equal(isUntouched(before, other, [set("/name", "Mine")]), false);
  const moved = { ...before, list: [before.list[1], before.list[0]] };
  assert.equal(isUntouched(before, moved, [set("/list/0/content", "z")]), false);
  const insert = { op: "insert", pointer: "/list/-", value: { id: "c", content: "" } };
  assert.equal(isUntouched(before, other, [insert, set("/list/2/content", "z")]), true);
  assert.equal(isUntouched(before, { ...before, list: before.list.slice(1) }, [{ op: "remove", pointer: "/list/0" }]), false);
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
