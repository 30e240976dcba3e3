// The commands of the list: each edits the file, says what it did, and leaves the focus where it belongs.
import type { AnchorInfo } from "../api";
import { announce } from "../announce";
import { t } from "../language";
import {
  copiesOf,
  groupEdits,
  insertEdits,
  moveEdits,
  newAnchor,
  newGroupEdits,
  newMessage,
  removeEdits,
  switchEdits,
  type Preset,
} from "./actions";
import { anchorType, type Entry } from "./entries";
import { isHeading, sectionOf } from "./headings";
import { labelOf } from "./label";
import { lines, shownEntries, sort } from "./list-view";
import { expanded, focusEntry, fresh, open, preset, selected } from "./state";

// Entries are given in the order of the file.

/** Moves entries before the place `to` of the list as it is. Between two of one group, they join it. */
export function move(of: Preset, chosen: readonly Entry[], to: number): void {
  const edits = moveEdits(of, chosen, to);
  const [first] = chosen;
  if (edits.length === 0 || !first) return;
  of.file.edit(edits);
  const now = preset.value;
  if (!now) return;
  const keys = new Set(chosen.map(({ key }) => key));
  const moved = now.entries.filter(({ key }) => keys.has(key));
  const start = moved[0]?.index ?? 0;
  const before = now.entries[start - 1]?.value["groupId"];
  const after = now.entries[start + moved.length]?.value["groupId"];
  const group = before === after ? now.groups.find(({ id }) => id === before) : undefined;
  const joins = group ? groupEdits(moved, group.id) : [];
  if (joins.length > 0) now.file.edit(joins);
  const place = t().moved(
    chosen.length === 1 ? labelOf(first) : t().entries(chosen.length),
    start + 1,
    now.entries.length,
  );
  announce(group && joins.length > 0 ? `${place} ${t().joined(group.name)}` : place);
}

/** Entries that move together with `entry`: the selection, or a folded section. */
export function movedWith(of: Preset, entry: Entry): Entry[] {
  if (selected.peek().has(entry.key)) return of.entries.filter(({ key }) => selected.peek().has(key));
  return isFoldedHeading(entry) ? [entry, ...sectionOf(of.entries, entry)] : [entry];
}

function isFoldedHeading(entry: Entry): boolean {
  const line = isHeading(entry) ? lines.peek().find(({ key }) => key === entry.key) : undefined;
  return line !== undefined && "entry" in line && line.section?.isFolded === true;
}

/** Moves an entry up or down by one shown entry. */
export function step(of: Preset, entry: Entry, by: -1 | 1, part: string): void {
  if (sort.value !== "file") return announce(t().preset.fileOrderOnly);
  const chosen = movedWith(of, entry);
  const moving = new Set(chosen);
  const shown = shownEntries.peek().filter((other) => !moving.has(other));
  const first = chosen[0]?.index ?? 0;
  const last = chosen.at(-1)?.index ?? 0;
  const next = by < 0 ? shown.findLast(({ index }) => index < first) : shown.find(({ index }) => index > last);
  if (!next) return announce(t().atTheEdge);
  const below = by > 0 && isFoldedHeading(next) ? sectionOf(of.entries, next).length : 0;
  const edge = by < 0 ? next.index : next.index + 1 + below;
  move(of, chosen, edge);
  focusEntry(entry.key, part);
}

function insert(of: Preset, value: Record<string, unknown>, after: Entry | undefined): void {
  of.file.edit(...insertEdits(of, value, after));
  const index = after ? after.index + 1 : of.entries.length;
  const added = preset.value?.entries[index];
  if (!added) return;
  const isMessage = anchorType(added) === undefined;
  // A message's editor takes the focus by itself, once it is there; of an anchor the entry has it.
  fresh.value = isMessage ? added.key : undefined;
  open(added.key, true);
  announce(t().added(labelOf(added)));
  if (!isMessage) focusEntry(added.key);
}

export function addMessage(of: Preset, after?: Entry): void {
  const group = typeof after?.value["groupId"] === "string" ? after.value["groupId"] : undefined;
  insert(of, newMessage(group), after);
}

export function addAnchor(of: Preset, anchor: AnchorInfo, after?: Entry, id?: string): void {
  insert(of, newAnchor(anchor, id), after);
}

export function duplicate(of: Preset, chosen: readonly Entry[]): void {
  const last = chosen.at(-1);
  if (!last) return;
  const copies = copiesOf(chosen, of.entries, t().copySuffix);
  of.file.edit(
    copies.map((value, offset) => ({
      op: "insert" as const,
      pointer: `${of.list}/${last.index + 1 + offset}`,
      value,
    })),
  );
  announce(t().duplicated(copies.length));
  const added = preset.value?.entries[last.index + 1];
  if (added) focusEntry(added.key);
}

export function remove(of: Preset, chosen: readonly Entry[]): void {
  const first = chosen[0]?.index ?? 0;
  of.file.edit(removeEdits(chosen));
  const gone = new Set(chosen.map(({ key }) => key));
  selected.value = new Set([...selected.value].filter((key) => !gone.has(key)));
  expanded.value = new Set([...expanded.value].filter((key) => !gone.has(key)));
  announce(t().deleted(chosen.length));
  const next = preset.value?.entries[first] ?? preset.value?.entries.at(-1);
  if (next) focusEntry(next.key);
}

export function switchAll(of: Preset, chosen: readonly Entry[], isTo: boolean): void {
  const edits = switchEdits(of, chosen, isTo);
  if (edits.length > 0) of.file.edit(edits);
  announce(isTo ? t().switchedOn(chosen.length) : t().switchedOff(chosen.length));
}

export function putIntoGroup(of: Preset, chosen: readonly Entry[], group: string | undefined): void {
  const edits = groupEdits(chosen, group);
  if (edits.length > 0) of.file.edit(edits);
}

/** Makes a group of entries and brings them together, after the first of them. */
export function makeGroup(of: Preset, chosen: readonly Entry[], name: string): void {
  const { id, edits } = newGroupEdits(of, name);
  of.file.edit(edits, groupEdits(chosen, id));
  const now = preset.value;
  const [first, ...rest] = chosen;
  if (!now || !first || rest.length === 0) return;
  const keys = new Set(rest.map(({ key }) => key));
  const home = now.entries.find(({ key }) => key === first.key);
  const others = now.entries.filter(({ key }) => keys.has(key));
  const moves = home ? moveEdits(now, others, home.index + 1) : [];
  if (moves.length > 0) now.file.edit(moves);
}
