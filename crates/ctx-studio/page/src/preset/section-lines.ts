// Lines of the entry list in the order of the file, with groups and sections.
import type { Preset } from "./actions";
import { isOn, textField, type Entry, type Group } from "./entries";
import { isHeading } from "./headings";

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

/** Groups by id; the first one of an id counts. */
export function groupsById({ groups }: Pick<Preset, "groups">): ReadonlyMap<unknown, Group> {
  return new Map(groups.toReversed().map((group) => [group.id, group]));
}

export function sectionLines(now: Pick<Preset, "entries" | "groups">, areFolded: ReadonlySet<string>): Line[] {
  const all: Line[] = [];
  const groups = groupsById(now);
  const counts = new Map<unknown, number>();
  for (const { value } of now.entries) counts.set(value["groupId"], (counts.get(value["groupId"]) ?? 0) + 1);
  const seen = new Set<string>();
  const ids = new Map<string, number>();
  let section: Section | undefined;
  let before: string | undefined;
  for (const entry of now.entries) {
    const group = groups.get(entry.value["groupId"]);
    const isHead = isHeading(entry);
    const isEntryHidden = group !== undefined && areFolded.has(group.id);
    if (isHead) section = undefined;
    const isInside = section !== undefined;
    const isHidden = section?.isFolded === true;
    if (group && group.id !== before) {
      const isContinued = seen.has(group.id);
      const count = counts.get(group.id) ?? 0;
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
