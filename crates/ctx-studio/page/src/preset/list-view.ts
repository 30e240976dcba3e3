// Lines of the entry list: all entries with groups and sections, or a filtered or sorted list.
import { computed, signal } from "@preact/signals";
import { preview } from "../preview";
import { current } from "../project";
import { anchorType, isOn, roleOf, type Entry, type Group } from "./entries";
import type { Preset } from "./actions";
import { folded } from "./folds";
import { isPlaceholder, labelOf } from "./label";
import { isChanged } from "../saved-entries";
import { lower } from "../ui/marked";
import { hasText } from "./search";
import { groupsById, sectionLines, type EntryLine, type Line } from "./section-lines";
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

function flatLines(now: Preset): EntryLine[] {
  const groups = groupsById(now);
  return sorted(now.entries).map((entry) => {
    const group = groups.get(entry.value["groupId"]);
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
