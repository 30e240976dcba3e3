// The entries in the order of the file, with headers where a group begins.
import { useEffect, useRef } from "preact/hooks";
import type { Finding } from "../api";
import { lang, t } from "../language";
import { droppedBy, preview } from "../preview";
import { registry } from "../project";
import { Paged } from "../ui/paged";
import { wantedEntry } from "../inspector/state";
import { EntryRow, reasonOf, type EntryRowProps } from "./entry-row";
import { GroupHeader } from "./group-header";
import { move } from "./commands";
import { startDrag } from "./drag";
import { chosenEntries, expanded, focusEntry, folded, isSelecting, open, selected } from "./state";
import type { Preset } from "./actions";
import { anchorType, type Entry, type Group } from "./entries";

type Line =
  { key: string; group: Group; isContinued: boolean; count: number } | { key: string; entry: Entry; group?: Group };

/** Headers and entries as one flat list, so that an entry that moves stays the same element. */
function lines({ entries, groups }: Preset, areFolded: ReadonlySet<string>): Line[] {
  const all: Line[] = [];
  const seen = new Set<string>();
  let before: string | undefined;
  for (const entry of entries) {
    const group = groups.find(({ id }) => id === entry.value["groupId"]);
    if (group && group.id !== before) {
      const count = entries.filter(({ value }) => value["groupId"] === group.id).length;
      all.push({
        key: `${group.id}/${seen.has(group.id) ? entry.key : ""}`,
        group,
        isContinued: seen.has(group.id),
        count,
      });
      seen.add(group.id);
    }
    before = group?.id;
    if (!group || !areFolded.has(group.id)) all.push({ key: entry.key, entry, group });
  }
  // A group without entries would otherwise be out of reach.
  for (const group of groups)
    if (!seen.has(group.id)) all.push({ key: `${group.id}/`, group, isContinued: false, count: 0 });
  return all;
}

function isAt(pointer: string, entry: Entry): boolean {
  return pointer === entry.pointer || pointer.startsWith(`${entry.pointer}/`);
}

const NONE: Finding[] = [];

/** The findings of the file, by the entry that they are in. */
function findingsByEntry({ file, list }: Preset): Map<string, Finding[]> {
  const all = new Map<string, Finding[]>();
  for (const finding of file.server.value?.findings ?? NONE) {
    if (!finding.pointer?.startsWith(`${list}/`)) continue;
    const pointer = `${list}/${finding.pointer.slice(list.length + 1).split("/")[0]}`;
    all.set(pointer, [...(all.get(pointer) ?? NONE), finding]);
  }
  return all;
}

export function EntryList({ of }: { of: Preset }) {
  const list = useRef<HTMLOListElement>(null);
  const all = lines(of, folded.value);
  const wanted = wantedEntry.value;
  const place = wanted ? all.findIndex((line) => "entry" in line && isAt(wanted.pointer, line.entry)) : -1;
  useEffect(() => {
    const entry = wanted && of.entries.find((one) => isAt(wanted.pointer, one));
    if (!entry) return;
    wantedEntry.value = undefined;
    const group = entry.value["groupId"];
    if (typeof group === "string" && folded.value.has(group))
      folded.value = new Set([...folded.value].filter((id) => id !== group));
    open(entry.key, true);
    focusEntry(entry.key);
  }, [wanted]);

  const grab = (event: PointerEvent, entry: Entry) => {
    if (!list.current || of.file.isReadOnly.value) return;
    const chosen = selected.value.has(entry.key) ? chosenEntries(of) : [entry];
    startDrag(event, {
      list: list.current,
      keys: new Set(chosen.map(({ key }) => key)),
      onDrop: (to) => move(of, chosen, to),
      onEnd: () => focusEntry(entry.key),
    });
  };

  /** Up and Down go from entry to entry. */
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = event.target as HTMLElement;
    if (target.dataset["part"] !== "main" && target.dataset["part"] !== "group") return;
    const places = [...(list.current?.querySelectorAll<HTMLElement>("[data-part=main], [data-part=group]") ?? [])];
    const at = places.indexOf(target);
    const next = { ArrowDown: places[at + 1], ArrowUp: places[at - 1], Home: places[0], End: places.at(-1) }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };

  const entryTokens = preview.value?.entryTokens;
  const dropped = droppedBy.value;
  const found = findingsByEntry(of);
  // Rows know only what they show; so most of them are not drawn again when something changes.
  const shown = (entry: Entry, group?: Group): Omit<EntryRowProps, "grab"> => {
    const tokens = entryTokens?.[entry.pointer];
    const isOpen = expanded.value.has(entry.key);
    return {
      entry,
      group,
      isOpen,
      tokens,
      isSelecting: isSelecting.value,
      isSelected: selected.value.has(entry.key),
      isFixed: of.file.isReadOnly.value,
      count: of.entries.length,
      lang: `${lang.value}${registry.value.anchors.length}`,
      why: tokens === undefined ? reasonOf(entry, group, dropped) : undefined,
      findings: found.get(entry.pointer) ?? NONE,
      of: isOpen || anchorType(entry) !== undefined ? of : undefined,
    };
  };

  if (of.entries.length === 0 && of.groups.length === 0) return <p class="empty soft">{t().emptyList}</p>;
  return (
    <Paged count={all.length} label={t().entriesLabel} wanted={place >= 0 ? place : undefined}>
      {(from, to) => (
        <ol ref={list} class="entries" aria-label={t().entriesLabel} onKeyDown={onKeyDown}>
          {all
            .slice(from, to)
            .map((line) =>
              "entry" in line ? (
                <EntryRow key={line.key} {...shown(line.entry, line.group)} grab={grab} />
              ) : (
                <GroupHeader
                  key={line.key}
                  of={of}
                  group={line.group}
                  isContinued={line.isContinued}
                  count={line.count}
                />
              ),
            )}
        </ol>
      )}
    </Paged>
  );
}
