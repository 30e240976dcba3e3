// What can be done to the entries of a preset, as edits of its file.
import type { AnchorInfo, Edit } from "../api";
import type { OpenFile } from "../files";
import { isObject, join } from "../pointer";
import { isOn, type Entry, type Group } from "./entries";

/** A preset as it is shown: the file, where its list stands, and what is in it. */
export interface Preset {
  file: OpenFile;
  list: string;
  entries: Entry[];
  groups: Group[];
}

/** Moves entries to the place before `to` in the list as it stands (`entries.length`: to the end). */
export function moveEdits({ list, entries }: Preset, chosen: readonly Entry[], to: number): Edit[] {
  const edits: Edit[] = [];
  const keys = new Set(chosen.map(({ key }) => key));
  let target = to;
  while (target < entries.length && keys.has(entries[target]?.key ?? "")) target++;
  const start = target;
  let above = 0;
  for (const { index } of [...chosen].sort((a, b) => a.index - b.index)) {
    // Each one from above leaves its place to the next; each one from below moves the target on.
    const [from, at] = index < start ? [index - above++, start - 1] : [index, target++];
    if (from !== at) edits.push({ op: "move", pointer: join(list, from), to: join(list, at) });
  }
  return edits;
}

export function insertEdits({ list, entries }: Preset, value: unknown, after: Entry | undefined): Edit[] {
  return [{ op: "insert", pointer: join(list, after ? after.index + 1 : entries.length), value }];
}

export function newMessage(group?: string): Record<string, unknown> {
  return { role: "system", content: "", ...(group ? { groupId: group } : {}) };
}

export function newAnchor(anchor: AnchorInfo, id?: string): Record<string, unknown> {
  if (anchor.id === "placeholder") return { id: id ?? "place", type: "placeholder" };
  if (anchor.kind === "placeholder") return { type: anchor.id };
  return { type: anchor.id, role: anchor.role || "system", content: anchor.template ?? "" };
}

/** Copies with ids and names of their own. */
export function copiesOf(chosen: readonly Entry[], entries: readonly Entry[], suffix: string): Record<string, unknown>[] {
  const ids = new Set(entries.map(({ value }) => value["id"]));
  /** The next number of each id. */
  const next = new Map<string, number>();
  return chosen.map(({ value }) => {
    const copy = structuredClone(value);
    if (typeof copy["id"] === "string") {
      const base = copy["id"].replace(/-\d+$/, "");
      let count = next.get(base) ?? 2;
      while (ids.has(`${base}-${count}`)) count++;
      next.set(base, count + 1);
      copy["id"] = `${base}-${count}`;
    }
    if (typeof copy["name"] === "string") copy["name"] = `${copy["name"]}${suffix}`;
    return copy;
  });
}

/** Removes from the end, so that the indices before stay right. */
export function removeEdits(chosen: readonly Entry[]): Edit[] {
  return [...chosen].sort((a, b) => b.index - a.index).map(({ pointer }) => ({ op: "remove", pointer }));
}

/** Switches entries; in a radio group, the others go off. */
export function switchEdits({ entries, groups }: Preset, chosen: readonly Entry[], isTo: boolean): Edit[] {
  const changed = new Set(chosen.filter((entry) => isOn(entry) !== isTo));
  const radios = new Set(groups.flatMap(({ id, isRadio }) => (isRadio && isTo ? [id] : [])));
  const used = new Set([...changed].map(({ value }) => value["groupId"]).filter((id) => radios.has(id as string)));
  const others = entries.filter((entry) => used.has(entry.value["groupId"]) && isOn(entry) && !changed.has(entry));
  /** Whether a file writes that an entry is on; otherwise it says so by saying nothing. */
  const isHabit = {
    enabled: entries.some(({ value }) => value["enabled"] === true),
    isEnabled: entries.some(({ value }) => value["isEnabled"] === true),
  };
  const edit = (entry: Entry, isTo: boolean): Edit => {
    const name = entry.value["enabled"] === false && entry.value["isEnabled"] !== false ? "enabled" : "isEnabled";
    const pointer = join(entry.pointer, name);
    return isTo && !isHabit[name] ? { op: "remove", pointer } : { op: "set", pointer, value: isTo };
  };
  return [...[...changed].map((entry) => edit(entry, isTo)), ...others.map((entry) => edit(entry, false))];
}

export function groupEdits(chosen: readonly Entry[], group: string | undefined): Edit[] {
  return chosen.flatMap((entry): Edit[] => {
    const pointer = join(entry.pointer, "groupId");
    if (group !== undefined) return entry.value["groupId"] === group ? [] : [{ op: "set", pointer, value: group }];
    return entry.value["groupId"] === undefined ? [] : [{ op: "remove", pointer }];
  });
}

/** Adds a group with this name; a file that is a bare list has no room for groups. */
export function newGroupEdits(preset: Preset, name: string): { id: string; edits: Edit[] } {
  const ids = new Set(preset.groups.map(({ id }) => id));
  const stem =
    name
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-|-$/g, "") || "group";
  let id = stem;
  for (let count = 2; ids.has(id); count++) id = `${stem}-${count}`;
  const base = join(preset.list.replace(/\/[^/]*$/, ""), "presetGroups");
  const group = { id, name, selectionMode: "checkbox" };
  const there = parentGroups(preset);
  const edit: Edit = Array.isArray(there)
    ? { op: "insert", pointer: join(base, there.length), value: group }
    : { op: "set", pointer: base, value: [group] };
  return { id, edits: [edit] };
}

function parentGroups(preset: Preset): unknown {
  const value = preset.file.value.value;
  const inner =
    preset.list.startsWith("/agents/0") && isObject(value) && Array.isArray(value["agents"])
      ? value["agents"][0]
      : value;
  return isObject(inner) ? inner["presetGroups"] : undefined;
}

export function canGroup(preset: Preset): boolean {
  return preset.list !== "";
}
