// Rebases pending edits on a newer draft. Each edit finds its entry by id. If another window changed the same value, the
// user chooses.
import type { Edit, FileView } from "./api";
import { apply, get, isObject, join, tokens } from "./pointer";

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
  return edits.map((edit) => {
    const origin = originOf(value, edit);
    value = apply(value, [edit]);
    return origin;
  });
}

function originOf(value: unknown, edit: Edit): Origin {
  const path = tokens(edit.pointer);
  const above = join("", ...path.slice(0, -1));
  const list = get(value, above);
  if (edit.op === "insert" && Array.isArray(list))
    return { path: stepsOf(value, path.slice(0, -1)), next: stepAt(list, path.at(-1)) };
  const origin: Origin = { path: stepsOf(value, path), was: get(value, edit.pointer) };
  if (edit.op === "move") origin.next = stepAt(get(apply(value, [{ op: "remove", pointer: edit.pointer }]), above), tokens(edit.to).at(-1));
  return origin;
}

function stepsOf(value: unknown, path: readonly string[]): Step[] {
  return path.map((token) => {
    const step = stepAt(value, token) ?? token;
    value = get(value, join("", token));
    return step;
  });
}

function stepAt(value: unknown, token: string | undefined): Step | undefined {
  if (!Array.isArray(value)) return token;
  const index = Number(token);
  if (!(index < value.length)) return undefined;
  const id = idOf(value[index]);
  return id !== undefined && value.filter((item) => idOf(item) === id).length === 1 ? { id } : { index, of: value.length };
}

/** The pointer of a path in a value. */
export function find(value: unknown, path: readonly Step[]): string | undefined {
  let pointer = "";
  for (const step of path) {
    let token: string | number = -1;
    if (typeof step === "string") token = Array.isArray(value) ? -1 : step;
    else if (Array.isArray(value)) {
      if ("id" in step) token = value.findIndex((item) => idOf(item) === step.id);
      else if (value.length === step.of) token = step.index;
    }
    if (token === -1) return undefined;
    pointer = join(pointer, token);
    value = get(value, join("", token));
  }
  return pointer;
}

function idOf(value: unknown): string | number | undefined {
  const id = isObject(value) ? (value["id"] ?? value["uid"]) : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** Rebases batches on a draft; returns them with the clashing places. `seen` is the previous draft: a value that is the
 * same in both does not clash. */
export function rebase(batches: readonly Batch[], view: FileView, seen: FileView | undefined) {
  const clashes: EditClash[] = [];
  const own = batches.flatMap(({ edits = [], origins = [] }) =>
    edits.flatMap((edit, at) => (edit.op === "set" && origins[at] ? [{ place: placeOf(origins[at]), value: edit.value }] : [])),
  );
  const replaced = batches.some(({ text }) => text !== undefined) ? [digest(view.text)] : [];
  let { value } = view;
  const rebased = batches.map((batch): Batch => {
    if (batch.text !== undefined) {
      const isNews = view.text !== seen?.text && !batch.was?.includes(digest(view.text));
      const isOwn = batches.some(({ text }) => text === view.text);
      if (isNews && !isOwn) clashes.push({ place: "", path: [], theirs: view.text });
      const was = [...replaced];
      replaced.push(digest(batch.text));
      return { ...batch, was };
    }
    const next: Batch = { ...batch, edits: [], origins: [] };
    batch.edits?.forEach((edit, at) => {
      const origin = batch.origins?.[at] ?? originOf(seen?.value ?? view.value, edit);
      const place = placeOf(origin);
      const found = moved(edit, origin, value);
      if (!found) {
        // It was removed already.
        if (edit.op === "remove") return;
        const before = clashes.findIndex((one) => one.place === place);
        if (before >= 0) clashes.splice(before, 1);
        clashes.push({ place, path: origin.path, theirs: undefined, lost: writtenBy(edit) });
        return;
      }
      // The response to this insertion may have been lost.
      if (found.op === "insert" && has(value, found) && !(seen && edit.op === "insert" && has(seen.value, edit))) return;
      const theirs = get(value, found.pointer);
      const isChecked = edit.op === "set" || edit.op === "remove";
      const known = seen && find(seen.value, origin.path);
      const isFree =
        !isChecked ||
        isSame(theirs, origin.was) ||
        (known !== undefined && isSame(theirs, get(seen?.value, known))) ||
        own.some((one) => one.place === place && isSame(one.value, theirs));
      if (!isFree) clashes.push({ place, path: origin.path, theirs });
      value = apply(value, [found]);
      next.edits?.push(found);
      next.origins?.push(isChecked ? { ...origin, was: theirs } : origin);
    });
    return next;
  });
  return { batches: rebased.filter(({ edits, text }) => text !== undefined || edits?.length), clashes };
}

/** The same edit of another value; undefined if its entry was removed. */
function moved(edit: Edit, { path, next }: Origin, value: unknown): Edit | undefined {
  const pointer = find(value, path);
  if (pointer === undefined) return undefined;
  if (edit.op === "insert" && Array.isArray(get(value, pointer))) {
    const at = next && find(get(value, pointer), [next]);
    return { ...edit, pointer: `${pointer}${at ?? "/-"}` };
  }
  const needed = edit.op === "set" ? pointer.slice(0, Math.max(0, pointer.lastIndexOf("/"))) : pointer;
  if (get(value, needed) === undefined) return undefined;
  if (edit.op !== "move") return { ...edit, pointer };
  const list = pointer.slice(0, pointer.lastIndexOf("/"));
  const rest = get(apply(value, [{ op: "remove", pointer }]), list);
  const at = next && find(rest, [next]);
  return { ...edit, pointer, to: at === undefined ? join(list, Array.isArray(rest) ? rest.length : 0) : `${list}${at}` };
}

function has(value: unknown, edit: Edit & { op: "insert" }): boolean {
  const list = get(value, edit.pointer.slice(0, edit.pointer.lastIndexOf("/")));
  return Array.isArray(list) && list.some((item) => isSame(item, edit.value));
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
