// Lines of the entry list: all entries with groups and sections, or a filtered or sorted list.
import { computed, signal } from "@preact/signals";
import { preview } from "../preview";
import { current } from "../project";
import { anchorType, isOn, roleOf, textField, type Entry, type Group } from "./entries";
import type { Preset } from "./actions";
import { folded } from "./folds";
import { isHeading } from "./headings";
import { isPlaceholder, labelOf } from "./label";
import { isChanged } from "./saved-entries";
import { hasText, lower } from "./search";
import { preset } from "./state";

export type SortName = "file" | "name" | "tokens";
export interface Filter {
  state: "" | "on" | "off";
  type: "" | "entry" | "anchor";
  role: string;
  isChanged: boolean;
}

const NO_FILTER: Filter = { state: "", type: "", role: "", isChanged: false };
export const query = signal("");
/** The search text in lower case. */
export const needle = computed(() => lower(query.value.trim()));
export const filter = signal<Filter>(NO_FILTER);
export const sort = signal<SortName>("file");
export const filterCount = computed(() => Object.values(filter.value).filter(Boolean).length);
export const isFiltered = computed(() => needle.value !== "" || filterCount.value > 0);

export function showAll(): void {
  query.value = "";
  filter.value = NO_FILTER;
}

/** State of a heading entry. */
export interface Section {
  id: string;
  count: number;
  enabled: number;
  isFolded: boolean;
}
export interface EntryLine {
  key: string;
  entry: Entry;
  group?: Group;
  section?: Section;
  /** Whether it is below a heading. */
  isInside: boolean;
  isHidden: boolean;
}
export interface GroupLine {
  key: string;
  group: Group;
  isContinued: boolean;
  count: number;
  isInside: boolean;
  isHidden: boolean;
}
export type Line = EntryLine | GroupLine;

/** One flat list: a moved entry keeps its element. Folded and filtered rows are hidden, not removed. Creating rows on
 * each keystroke of a search would be slow. */
export const lines = computed<readonly Line[]>(() => {
  const now = preset.value;
  if (!now) return [];
  return isFiltered.value || sort.value !== "file" ? flatLines(now) : sectionLines(now, folded.value);
});

/** Visible entries in list order. */
export const shownEntries = computed<readonly Entry[]>(() =>
  lines.value.flatMap((line) => ("entry" in line && !line.isHidden ? [line.entry] : [])),
);

/** Ids of all sections and groups. */
export const foldIds = computed<readonly string[]>(() =>
  lines.value.flatMap((line) => ("entry" in line ? (line.section?.id ?? []) : line.group.id)),
);

function groupOf({ groups }: Preset, entry: Entry): Group | undefined {
  return groups.find(({ id }) => id === entry.value["groupId"]);
}

function flatLines(now: Preset): EntryLine[] {
  return sorted(now.entries).map((entry) => {
    const group = groupOf(now, entry);
    return { key: entry.key, entry, group, isInside: false, isHidden: !isMatch(now, entry, group) };
  });
}

function sorted(entries: Entry[]): Entry[] {
  const places = ranks.value;
  if (!places) return entries;
  const placeOf = ({ key }: Entry) => places.get(key) ?? places.size;
  return entries.toSorted((a, b) => placeOf(a) - placeOf(b));
}

const isReady = computed(() => preset.value !== undefined && preview.value !== undefined);

/** Positions of the entries by name or tokens. They stay when an entry changes: it must not move while it is edited. */
const ranks = computed<ReadonlyMap<string, number> | undefined>(() => {
  void [isReady.value, current.value?.id];
  const by = sort.value;
  const entries = preset.peek()?.entries;
  if (by === "file" || !entries) return undefined;
  const tokens = preview.peek()?.entryTokens;
  const tokensOf = ({ pointer }: Entry) => tokens?.[pointer] ?? -1;
  const all = entries.toSorted(
    by === "name" ? (a, b) => collator.compare(labelOf(a), labelOf(b)) : (a, b) => tokensOf(b) - tokensOf(a),
  );
  return new Map(all.map(({ key }, place) => [key, place]));
});

const collator = new Intl.Collator(undefined, { numeric: true });

function isMatch({ file }: Preset, entry: Entry, group: Group | undefined): boolean {
  const { state, type, role, isChanged: wantsChanged } = filter.value;
  if (state !== "" && (state === "on") !== (isOn(entry) && group?.isEnabled !== false)) return false;
  if (type !== "" && (type === "anchor") !== (anchorType(entry) !== undefined)) return false;
  if (role !== "" && (isPlaceholder(entry) || roleOf(entry) !== role)) return false;
  const view = file.server.value;
  if (wantsChanged && view && isChanged(view, entry) !== true) return false;
  return needle.value === "" || hasText(entry, needle.value);
}

function sectionLines(now: Preset, areFolded: ReadonlySet<string>): Line[] {
  const all: Line[] = [];
  const seen = new Set<string>();
  const ids = new Map<string, number>();
  let section: Section | undefined;
  let before: string | undefined;
  for (const entry of now.entries) {
    const group = groupOf(now, entry);
    const isHead = isHeading(entry);
    const isEntryHidden = group !== undefined && areFolded.has(group.id);
    if (isHead) section = undefined;
    const isInside = section !== undefined;
    const isHidden = section?.isFolded === true;
    if (group && group.id !== before) {
      const isContinued = seen.has(group.id);
      const count = now.entries.filter(({ value }) => value["groupId"] === group.id).length;
      const key = `${group.id}/${isContinued ? entry.key : ""}`;
      all.push({ key, group, isContinued, count, isInside, isHidden });
      seen.add(group.id);
    }
    before = group?.id;
    if (section) {
      section.count++;
      if (isOn(entry) && group?.isEnabled !== false) section.enabled++;
    }
    if (isHead) {
      const name = textField(entry, "name");
      const count = (ids.get(name) ?? 0) + 1;
      ids.set(name, count);
      // The name identifies the heading across reloads. Ids may be missing.
      const id = `#${count === 1 ? "" : count} ${name}`;
      section = { id, count: 0, enabled: 0, isFolded: areFolded.has(id) };
    }
    all.push({
      key: entry.key,
      entry,
      group,
      section: isHead ? section : undefined,
      isInside,
      isHidden: isHidden || isEntryHidden,
    });
  }
  // A group without entries would otherwise be out of reach.
  for (const group of now.groups) {
    if (seen.has(group.id)) continue;
    all.push({ key: `${group.id}/`, group, isContinued: false, count: 0, isInside: false, isHidden: false });
  }
  return all;
}
