// Rebases pending edits on a newer draft. Each edit finds its entry by id. If another window changed the same value, the
// user chooses.
import type { Edit, FileView } from "./api";
import { Draft, get, idOf, join, tokens } from "./pointer";

/** A step of a path: a key, or a list item by id, or by index if it has no unique id. */
type Step = string | { id: string | number } | { index: number; of: number };

/** The state before an edit. */
export interface Origin {
  path: Step[];
  /** Value that the edit replaces or removes. */
  was?: unknown;
  /** Item after an inserted or moved one; missing at the end. */
  next?: Step;
}

/** Edits that are sent together. */
export interface Batch {
  id: string;
  edits?: Edit[];
  /** One for each edit. */
  origins?: Origin[];
  text?: string;
  /** The digests of the texts that `text` replaces: that of the server, and those sent before it. */
  was?: string[];
  /** Rewrites the part of the file that cannot keep its formatting. */
  rewrite?: boolean;
}

/** A place of a pending edit that another window changed too. */
export interface EditClash {
  place: string;
  path: Step[];
  theirs: unknown;
  /** Typed value, if the entry was removed. */
  lost?: unknown;
}

export const placeOf = ({ path }: { path: Step[] }): string =>
  path.map((step) => (typeof step === "string" ? step : "id" in step ? step.id : step.index)).join("/");

/** The origins of consecutive edits. */
export function originsOf(value: unknown, edits: readonly Edit[]): Origin[] {
  const draft = new Draft(value);
  return edits.map((edit) => {
    const origin = originOf(draft, edit);
    draft.make(edit);
    return origin;
  });
}

function originOf(draft: Draft, edit: Edit): Origin {
  const path = tokens(edit.pointer);
  const above = path.slice(0, -1);
  const list = get(draft.value, join("", ...above));
  if (edit.op === "insert" && Array.isArray(list)) return { path: stepsOf(draft, above), next: stepAt(draft, list, path.at(-1)) };
  const origin: Origin = { path: stepsOf(draft, path) };
  if (edit.op === "set" || edit.op === "remove") origin.was = get(draft.value, edit.pointer);
  if (edit.op === "move") {
    const to = tokens(edit.to).at(-1);
    // `to` is an index of the list without the item.
    const next = Number(to) < Number(path.at(-1)) ? to : String(Number(to) + 1);
    origin.next = Array.isArray(list) ? stepAt(draft, list, next) : to;
    if (typeof origin.next === "object" && "index" in origin.next) origin.next = { index: Number(to), of: origin.next.of - 1 };
  }
  return origin;
}

function stepsOf(draft: Draft, path: readonly string[]): Step[] {
  let { value } = draft;
  return path.map((token) => {
    const step = stepAt(draft, value, token) ?? token;
    value = get(value, join("", token));
    return step;
  });
}

function stepAt(draft: Draft, value: unknown, token: string | undefined): Step | undefined {
  if (!Array.isArray(value)) return token;
  const index = Number(token);
  if (!(index < value.length)) return undefined;
  const id = idOf(value[index]);
  return id !== undefined && draft.count(value, id) === 1 ? { id } : { index, of: value.length };
}

const firstIndex = (list: readonly unknown[], id: string | number) => list.findIndex((item) => idOf(item) === id);

/** The pointer of a path in a value. */
export function find(
  value: unknown,
  path: readonly Step[],
  indexOf: (list: readonly unknown[], id: string | number, depth: number) => number = firstIndex,
): string | undefined {
  let pointer = "";
  for (const [depth, step] of path.entries()) {
    let token: string | number = -1;
    if (typeof step === "string") token = Array.isArray(value) ? -1 : step;
    else if (Array.isArray(value)) {
      if ("id" in step) token = indexOf(value, step.id, depth);
      else if (value.length === step.of) token = step.index;
    }
    if (token === -1) return undefined;
    pointer = join(pointer, token);
    value = get(value, join("", token));
  }
  return pointer;
}

/** Finds the path of an edit in a draft, from where the edit was made. */
function findIn(draft: Draft, path: readonly Step[], { pointer }: Edit): string | undefined {
  const before = tokens(pointer);
  return find(draft.value, path, (list, id, depth) => draft.indexOf(list, id, Number(before[depth])));
}

/** Rebases batches on a draft; returns them with the clashing places. `seen` is the previous draft: a value that is the
 * same in both does not clash. */
export function rebase(batches: readonly Batch[], view: FileView, seen: FileView | undefined) {
  const clashes = new Map<string, EditClash>();
  const draft = new Draft(view.value);
  const before = new Draft(seen?.value ?? view.value);
  /** The values that this window sets, by place. */
  const own = new Map<string, unknown[]>();
  for (const { edits = [], origins = [] } of batches) {
    for (const [at, edit] of edits.entries()) {
      if (edit.op !== "set" || !origins[at]) continue;
      const place = placeOf(origins[at]);
      const others = own.get(place);
      if (others) others.push(edit.value);
      else own.set(place, [edit.value]);
    }
  }
  const replaced = batches.some(({ text }) => text !== undefined) ? [digest(view.text)] : [];
  const rebased = batches.map((batch): Batch => {
    if (batch.text !== undefined) {
      const isNews = view.text !== seen?.text && !batch.was?.includes(digest(view.text));
      const isOwn = batches.some(({ text }) => text === view.text);
      if (isNews && !isOwn) clashes.set("", { place: "", path: [], theirs: view.text });
      const was = [...replaced];
      replaced.push(digest(batch.text));
      return { ...batch, was };
    }
    const next: Batch = { ...batch, edits: [], origins: [] };
    batch.edits?.forEach((edit, at) => {
      const origin = batch.origins?.[at] ?? originOf(before, edit);
      const place = placeOf(origin);
      const found = moved(edit, origin, draft);
      if (!found) {
        // It was removed already.
        if (edit.op === "remove") return;
        clashes.set(place, { place, path: origin.path, theirs: undefined, lost: writtenBy(edit) });
        return;
      }
      // The response to this insertion may have been lost.
      if (found.op === "insert" && has(draft, found) && !(seen && edit.op === "insert" && has(before, edit))) return;
      const theirs = get(draft.value, found.pointer);
      const isChecked = edit.op === "set" || edit.op === "remove";
      const isSeen = () => {
        const known = seen && findIn(before, origin.path, edit);
        return known !== undefined && isSame(theirs, get(before.value, known));
      };
      const isFree =
        !isChecked || isSame(theirs, origin.was) || isSeen() || own.get(place)?.some((value) => isSame(value, theirs));
      if (!isFree) clashes.set(place, { place, path: origin.path, theirs });
      draft.make(found);
      next.edits?.push(found);
      next.origins?.push(isChecked ? { ...origin, was: theirs } : origin);
    });
    return next;
  });
  return { batches: rebased.filter(({ edits, text }) => text !== undefined || edits?.length), clashes: [...clashes.values()] };
}

/** The same edit of another value; undefined if its entry was removed. */
function moved(edit: Edit, { path, next }: Origin, draft: Draft): Edit | undefined {
  const pointer = findIn(draft, path, edit);
  if (pointer === undefined) return undefined;
  const target = get(draft.value, pointer);
  if (edit.op === "insert" && Array.isArray(target)) {
    const at = next === undefined ? undefined : indexIn(draft, target, next, edit.pointer);
    return { ...edit, pointer: join(pointer, at ?? "-") };
  }
  const list = pointer.slice(0, Math.max(0, pointer.lastIndexOf("/")));
  const parent = get(draft.value, list);
  if ((edit.op === "set" ? parent : target) === undefined) return undefined;
  if (edit.op !== "move") return { ...edit, pointer };
  if (!Array.isArray(parent)) return { ...edit, pointer, to: join(list, typeof next === "string" ? next : 0) };
  const from = Number(tokens(pointer).at(-1));
  if (next && typeof next === "object" && "index" in next)
    return { ...edit, pointer, to: join(list, parent.length - 1 === next.of ? next.index : parent.length - 1) };
  const at = next === undefined ? undefined : indexIn(draft, parent, next, edit.to);
  return { ...edit, pointer, to: join(list, at === undefined ? parent.length - 1 : at > from ? at - 1 : at) };
}

/** Index of the item after an inserted or moved one. */
function indexIn(draft: Draft, list: readonly unknown[], step: Step, pointer: string): number | undefined {
  const found = find(list, [step], (_, id) => draft.indexOf(list, id, Number(tokens(pointer).at(-1))));
  return found === undefined ? undefined : Number(tokens(found)[0]);
}

function has(draft: Draft, edit: Edit & { op: "insert" }): boolean {
  const list = get(draft.value, edit.pointer.slice(0, edit.pointer.lastIndexOf("/")));
  return Array.isArray(list) && draft.contains(list, edit.value);
}

function writtenBy(edit: Edit): unknown {
  return edit.op === "set" || edit.op === "insert" ? edit.value : edit.op === "rename" ? edit.name : undefined;
}

export function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** A short hash (FNV-1a): `localStorage` is too small for two versions of a text. */
export function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return `${text.length}-${hash >>> 0}`;
}
