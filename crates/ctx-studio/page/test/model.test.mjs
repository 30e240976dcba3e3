// What the page computes by itself: `npm test`. Everything else is tested in a browser, in `xtask/page/studio`.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { build } from "esbuild";

const out = mkdtempSync(join(tmpdir(), "model-"));
after(() => rmSync(out, { recursive: true }));
const entryPoints = ["pointer", "rebase", "words", "difference", "editor/line-ends", "preset/entries", "preset/headings", "preset/placement", "preset/actions", "preset/section-lines", "books/entries", "pipeline/edits", "pipeline/groups", "import/reasons", "talk/markdown", "agent/edits", "indented"].map((name) =>
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
const { isHeading, sectionOf } = await import(join(out, "preset/headings.mjs"));
const { placementEdits, placementOf, wrongPoint, orderEdits, orderOf } = await import(
  join(out, "preset/placement.mjs")
);
const { LineEnds, difference, shownText, typedInto } = await import(join(out, "editor/line-ends.mjs"));
const { removal, resetEdits } = await import(join(out, "pipeline/edits.mjs"));
const { groupsOf } = await import(join(out, "pipeline/groups.mjs"));
const { changesOf } = await import(join(out, "import/reasons.mjs"));
const { agentBase, keyOf, numberIn, otherParameters, put, PARAMETERS } = await import(join(out, "agent/edits.mjs"));
const { indented } = await import(join(out, "indented.mjs"));
const { moveEdits, removeEdits, copiesOf, switchEdits } = await import(join(out, "preset/actions.mjs"));
const { sectionLines } = await import(join(out, "preset/section-lines.mjs"));
const { added, copied, entriesOf, setAll } = await import(join(out, "books/entries.mjs"));
const { parseMarkdown } = await import(join(out, "talk/markdown.mjs"));

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
  const later = { op: "set", pointer: "/list/1/content", value: "mine too" };
  const lost = rebased(before, { list: [{ content: "y" }] }, [...edits, later]).clashes;
  assert.deepEqual(lost.map(({ theirs, lost }) => [theirs, lost]), [[undefined, "mine too"]]);
});

test("edits that are rebased on the same file give the same file", () => {
  const next = random(3);
  for (let round = 0; round < 3000; round++) {
    const ids = [() => ({ id: `e${next(20)}` }), () => ({ uid: next(9) }), () => ({})];
    const item = () => ({ ...ids[next(3)](), text: `${round} ${next(1_000_000)}`, list: [{ id: "a" }, { id: "b" }] });
    const value = { list: Array.from({ length: 1 + next(6) }, item) };
    let length = value.list.length;
    const edits = [];
    for (let count = next(8); count > 0; count--) {
      const at = `/list/${next(Math.max(1, length))}`;
      const kinds = [
        () => ({ op: "set", pointer: `${at}/text`, value: `${count}` }),
        () => ({ op: "set", pointer: `${at}/id`, value: `e${next(20)}` }),
        () => ({ op: "set", pointer: `${at}/list/1/text`, value: count }),
        () => ({ op: "set", pointer: at, value: item() }),
        () => ({ op: "remove", pointer: `${at}/list/0` }),
        () => ({ op: "move", pointer: at, to: `/list/${next(length)}` }),
        () => (length--, { op: "remove", pointer: at }),
      ];
      edits.push(length === 0 || next(4) === 0 ? { op: "insert", pointer: `/list/${next(++length)}`, value: item() } : kinds[next(7)]());
    }
    const before = JSON.stringify(value);
    const wanted = apply(value, edits);
    assert.deepEqual(edits.reduce((value, edit) => apply(value, [edit]), value), wanted);
    const { batches, clashes } = rebase([{ id: "1", edits, origins: originsOf(value, edits) }], { value }, { value });
    assert.deepEqual([apply(value, batches.flatMap(({ edits }) => edits)), clashes], [wanted, []], JSON.stringify([round, value, edits]));
    assert.equal(JSON.stringify(value), before, "the file of before is as it was");
  }
});

test("edits of 130,000 entries, and their rebase, are linear", () => {
  const MANY = 130_000;
  const list = Array.from({ length: MANY }, (_, uid) => ({ uid, key: ["a"], content: `${uid}` }));
  const asObject = Object.fromEntries(list.map((entry, at) => [at, entry]));
  for (const entries of [list, asObject]) {
    const value = { entries };
    const rows = entriesOf(value);
    assert.equal(added(value).edit.value.uid, MANY);
    const copies = copied(rows, value);
    assert.equal(new Set(copies.map(({ value }) => value.uid)).size, MANY);
    const removals = rows.toReversed().slice(0, MANY - 2).map(({ pointer }) => ({ op: "remove", pointer }));
    const theirs = apply(value, [{ op: "set", pointer: "/entries/5/content", value: "theirs" }]);
    // Another window removed the first entry of the list.
    const fewer = entries === list ? apply(theirs, [{ op: "remove", pointer: "/entries/0" }]) : theirs;
    for (const edits of [setAll(rows, "disable", true), ...(entries === list ? [copies, removals] : [])]) {
      const result = apply(value, edits);
      assert.equal(entriesOf(result).length, edits === copies ? 2 * MANY : edits === removals ? 2 : MANY);
      const { batches } = rebase([{ id: "1", edits, origins: originsOf(value, edits) }], { value: fewer }, { value });
      const [batch] = batches;
      assert.ok(edits.length - batch.edits.length <= 1);
      const second = entries === asObject ? "1" : edits === removals ? undefined : "2";
      assert.equal(get(apply(fewer, batch.edits), "/entries/1/content"), second);
    }
  }
  const preset = presetOf(Array.from({ length: MANY }, () => ({})));
  assert.equal(moveEdits(preset, preset.entries.filter(({ index }) => index % 2), 0).length, MANY / 2);
  assert.equal(switchEdits(preset, preset.entries, false).length, MANY);
  assert.equal(new Set(copiesOf(presetOf(list.map(() => ({ id: "a" }))).entries, [], "").map(({ id }) => id)).size, MANY);
});

test("lines of 100,000 entries in alternating groups", () => {
  const MANY = 100_000;
  const groups = Array.from({ length: MANY / 2 }, (_, id) => ({ id: `${id}`, isEnabled: true }));
  const { entries } = presetOf(Array.from({ length: MANY }, (_, at) => ({ groupId: `${at % (MANY / 2)}` })));
  const lines = sectionLines({ entries, groups }, new Set(["1"]));
  assert.equal(lines.length, 2 * MANY);
  const { group, isContinued, count } = lines[MANY + 2];
  assert.deepEqual([group.id, isContinued, count], ["1", true, 2]);
  assert.equal(lines.filter(({ isHidden }) => isHidden).length, 2);
});

test("a whole text meets only the text that it was made of", () => {
  const batch = { id: "1", text: "mine", was: [digest("old")] };
  const clashes = (text, batches = [batch]) => rebase(batches, { text }, undefined).clashes.map(({ theirs }) => theirs);
  assert.deepEqual([clashes("old"), clashes("mine"), clashes("theirs")], [[], [], ["theirs"]]);
  // Two texts were typed, and the server has the first one.
  const { batches } = rebase([batch, { id: "2", text: "mine too", was: [] }], { text: "old" }, { text: "old" });
  assert.deepEqual(["old", "mine", "theirs"].map((text) => clashes(text, batches.slice(1))), [[], [], ["theirs"]]);
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

test("of equal entries, each keeps its place when another one changes", () => {
  const keys = new Keys();
  const before = keys.of([{ content: "" }, { content: "" }], "").map(({ key }) => key);
  const after = keys.of([{ content: "Hello" }, { content: "" }], "").map(({ key }) => key);
  assert.deepEqual(after, before);
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
  const copies = copiesOf(preset.entries.slice(0, 2), preset.entries, "");
  assert.deepEqual(copies.map(({ id }) => id), ["a-3", "a-4"]);
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

test("what is reset leaves nothing empty behind, and keeps what others wrote", () => {
  const layer = { origin: "agent", base: "/parameters", entries: {} };
  const entry = (id) => ({ id, enabled: true });
  const reset = (parameters, ids) =>
    apply({ name: "Robin", parameters }, resetEdits(layer, { name: "Robin", parameters }, ids));
  assert.deepEqual(reset({ processors: [entry("recall")] }, ["recall"]), { name: "Robin" });
  assert.deepEqual(reset({ processors: [entry("a"), entry("b")] }, ["a"]), { name: "Robin", parameters: { processors: [entry("b")] } });
  assert.deepEqual(reset({ top_p: 1, processors: [entry("a")] }, ["a", "b"]), { name: "Robin", parameters: { top_p: 1 } });
  const ofModel = { origin: "model", base: "", entries: {} };
  assert.deepEqual(resetEdits(ofModel, { processors: [entry("a")] }, ["a"]), [{ op: "remove", pointer: "/processors/0" }]);
  assert.deepEqual(removal({ a: { b: [{ c: 1 }] } }, "/a/b/0/c"), { op: "remove", pointer: "/a" });
  assert.deepEqual(removal({ a: { b: [1, 2] } }, "/a/b/0"), { op: "remove", pointer: "/a/b/0" });
});

test("groups of processors never interleave, wherever processors are moved", () => {
  const built = [
    ["session-loader", 100],
    ["worldbook-processor", 280],
    ["injection-assembler", 300],
    ["token-limiter", 400],
    ["merge-system-to-head", 500],
    ["merge-consecutive-roles", 600],
    ["asset-resolver", 10_000],
  ].map(([id, builtIn]) => ({ id, builtIn, priority: builtIn }));
  const withOne = (one) => {
    const list = [...built.filter(({ id }) => id !== one.id), one].sort((a, b) => a.priority - b.priority);
    return groupsOf(list)[list.indexOf(one)];
  };
  assert.equal(withOne({ id: "signed", priority: 900, builtIn: 900 }), "shape");
  assert.equal(withOne({ id: "signed", priority: 290, builtIn: 290 }), "collect", "of two as near, that before it");
  assert.equal(withOne({ id: "signed", priority: -5, builtIn: -5 }), "collect");
  assert.equal(withOne({ id: "token-limiter", priority: 550, builtIn: 400 }), "shape");
  assert.equal(withOne({ id: "merge-system-to-head", priority: 410, builtIn: 500 }), "shape", "still beside its group");
  const next = random(5);
  const order = ["collect", "place", "fit", "shape", "files"];
  for (let round = 0; round < 500; round++) {
    const list = built
      .concat(Array.from({ length: next(4) }, (_, n) => ({ id: `own${n}`, priority: next(12_000), builtIn: 900 })))
      .map((one) => (next(3) === 0 ? { ...one, priority: next(12_000) } : one))
      .sort((a, b) => a.priority - b.priority);
    const ranks = groupsOf(list).map((group) => order.indexOf(group));
    assert.deepEqual(ranks, ranks.toSorted((a, b) => a - b), JSON.stringify(list));
  }
});

test("changed fields of an import are grouped by status and reason", () => {
  const field = (pointer, status, note, more = {}) => ({ file: "a.json", pointer, status, note, count: 1, ...more });
  const { reasons, empty } = changesOf([
    field("/a", "mapped"),
    field("/b", "kept", "not used"),
    field("/c", "approximated", "other notation", { isAlike: true }),
    field("/d", "kept", "not used"),
    field("/e", "kept", undefined, { isEmpty: true }),
    field("/f", "unsupported", "no equivalent"),
  ]);
  const told = [...reasons].map(([status, all]) => [status, all.map(({ note, fields }) => [note, fields.length])]);
  assert.deepEqual(told, [
    ["kept", [["not used", 2]]],
    ["unsupported", [["no equivalent", 1]]],
  ]);
  assert.equal(empty, 1);
});

/** Blocks as short text: what tests compare. */
function written(blocks) {
  const span = (one) =>
    ({
      text: () => one.text,
      code: () => `<code>${one.text}</code>`,
      break: () => "<br>",
      link: () => `<a ${one.href}>${one.spans.map(span).join("")}</a>`,
    })[one.kind]?.() ?? `<${one.kind}>${one.spans.map(span).join("")}</${one.kind}>`;
  const spans = (all) => all.map(span).join("");
  const block = (one) => {
    if (one.kind === "paragraph") return spans(one.spans);
    if (one.kind === "heading") return `#${one.level} ${spans(one.spans)}`;
    if (one.kind === "code") return `[${one.language}|${one.text}]`;
    if (one.kind === "quote") return `>(${written(one.blocks)})`;
    if (one.kind === "list") return `${one.start ?? "-"}(${one.items.map(written).join(" | ")})`;
    if (one.kind === "table") return `table(${[one.head, ...one.rows].map((row) => row.map(spans).join(",")).join(" | ")})`;
    return one.kind;
  };
  return blocks.map(block).join(" / ");
}

test("Markdown of messages becomes blocks and spans", () => {
  const cases = [
    ["One\ntwo\n\nthree", "One<br>two / three"],
    ["*She nods.* \"Yes, **now**.\" ~~no~~ ***both***", '<em>She nods.</em> "Yes, <strong>now</strong>." <del>no</del> <strong><em>both</em></strong>'],
    ["**bold *and* more** 2 * 3 * 4, snake_case_name, _so_", "<strong>bold <em>and</em> more</strong> 2 * 3 * 4, snake_case_name, <em>so</em>"],
    ["open **never closed, and *this", "open **never closed, and *this"],
    ["a `x * y` and `` a`b `` and `open", "a <code>x * y</code> and <code>a`b</code> and `open"],
    ["# Title #\n## Next\n#no", "#1 Title / #2 Next / #no"],
    ["```js\nlet a = 1;\n\n# b\n```\nafter", "[js|let a = 1;\n\n# b] / after"],
    ["~~~\nnever closed", "[|never closed]"],
    ["~~~~ a`b\n~~~\n~~~~\n``` a`b\n#\tT\u2028x\n#", "[a`b|~~~] / ``` a`b / #1 T\u2028x / #1 "],
    ["- a\n- b\n  - c\n  - d\n- e", "-(a | b / -(c | d) | e)"],
    ["3. a\n4. b\n\nIn\n1984. was", "3(a | b) / In<br>1984. was"],
    ["> said\n> > deeper\n\nend", ">(said / >(deeper)) / end"],
    ["| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 |\n\nx | y", "table(a,b | 1,2 | 3,) / x | y"],
    ["| a | b |\n|---|---|\n| 1 | 2 | 3 | 4 |\n| `x\\|y` | \\\\|\n||", "table(a,b | 1,2 | 3 | 4 | <code>x|y</code>,\\ | ,)"],
    ["---\n* * *", "rule / rule"],
    ["[text](https://a.b/c_(d)) https://e.f/g. [x](javascript:alert(1)) ![i](http://h)", "<a https://a.b/c_(d)>text</a> <a https://e.f/g>https://e.f/g</a>. [x](javascript:alert(1)) <a http://h>i</a>"],
    ["<b>no</b> &amp; \\*kept\\*", "<b>no</b> &amp; *kept*"],
    [">".repeat(50) + " deep", ">(".repeat(6) + ">".repeat(44) + " deep" + ")".repeat(6)],
  ];
  for (const [text, expected] of cases) assert.equal(written(parseMarkdown(text)), expected, text);
});

test("Markdown of 1,000,000 characters of syntax loses no word", () => {
  const much = (unit) => unit.repeat(Math.ceil(1_000_000 / unit.length));
  const units = ["*a", "_a ", "**a*", "[a](", "](http://a", "`a``", "~~a", "> ", "- ", "  - a\n", "|a", "|-", "# ", "#", "\\", " ", "![", "***a**", "a|\n-|\n", "```", "https://.", "1. ", "~", "* ", "a\\|"];
  const lines = [`${much("~")}\``, `${much("`")}x\``, `#${much(" ")}\u2028`, `#${much("\t")}`, `*${much(" ")}`, `a|\n|${much("- ")}`, `|x|\n|-|\n${much("|a")}|`, `x](${much("http://a(b)")}`];
  for (const text of [...units.map(much), ...lines]) {
    const isThere = JSON.stringify(parseMarkdown(`${text}Ω`)).includes("Ω");
    assert.ok(isThere, JSON.stringify(text.slice(0, 12)));
  }
});

test("the form of an agent writes what differs, and leaves nothing empty behind", () => {
  const after = (value, ...edit) => apply(value, put(value, ...edit));
  assert.deepEqual(after({ name: "Ada" }, "", ["name"], "Eve"), { name: "Eve" });
  assert.deepEqual(put({ name: "Ada" }, "", ["name"], "Ada"), []);
  assert.deepEqual(put({}, "", ["name"], undefined), []);
  const set = after({ name: "Ada" }, "", ["parameters", "topP"], 0.5);
  assert.deepEqual(set, { name: "Ada", parameters: { topP: 0.5 } });
  assert.deepEqual(after(set, "", ["parameters", "topP"], undefined), { name: "Ada" });
  const more = { parameters: { topP: 1, minP: 0 } };
  assert.deepEqual(after(more, "", ["parameters", "topP"], undefined), { parameters: { minP: 0 } });
  assert.deepEqual(after({ agents: [{}] }, "/agents/0", ["name"], "Eve"), { agents: [{ name: "Eve" }] });
  assert.equal(agentBase([]), undefined);
  assert.equal(agentBase({ spec: "chara_card_v2", data: {} }), undefined);
  assert.equal(agentBase({ agents: [{}] }), "/agents/0");
  const topP = PARAMETERS.find(({ name }) => name === "topP");
  assert.equal(keyOf({ top_p: 1 }, topP), "top_p");
  assert.equal(keyOf({ top_p: 1, topP: 1 }, topP), "topP");
  assert.deepEqual(otherParameters({ top_p: 1, minP: 0, processors: [] }), [["minP", 0]]);
  assert.deepEqual([numberIn("0,5", topP), numberIn(" ", topP), numberIn("2", topP), numberIn("x", topP)], [0.5, undefined, null, null]);
  assert.equal(numberIn("1.5", PARAMETERS.find(({ name }) => name === "maxTokens")), null);
});

test("JSON is indented, and spelled as before", () => {
  const values = [{}, [], "a", null, { a: [], b: {}, c: [1, { d: 'x "y" {[,:]} \\' }], "e,": "\n" }, [[[]]]];
  for (const value of values) {
    assert.equal(indented(JSON.stringify(value)), JSON.stringify(value, null, 2));
    assert.equal(indented(JSON.stringify(value, null, 4)), JSON.stringify(value, null, 2));
  }
  assert.equal(indented('{"a":12345678901234567890,"b":1.0}'), '{\n  "a": 12345678901234567890,\n  "b": 1.0\n}');
  const long = JSON.stringify({ text: 'a"\\'.repeat(2_000_000) });
  assert.equal(JSON.parse(indented(long)).text.length, 6_000_000);
  indented("]]}{".repeat(10_000) + '"open');
});
