// The entries in the order of the file, with headers where a group begins.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useSignalEffect } from "@preact/signals";
import type { Finding } from "../api";
import { focusedEntry } from "../focused-entry";
import { lang, t } from "../language";
import { droppedBy, preview } from "../preview";
import { registry } from "../project";
import { Button } from "../ui/button";
import { MOST, Paged } from "../ui/paged";
import { wantedEntry } from "../inspector/state";
import { beginRange, choose, chooseRange, endChoice } from "./choose";
import { EntryRow, reasonOf, type EntryRowProps } from "./entry-row";
import { GroupHeader } from "./group-header";
import { move, movedWith } from "./commands";
import { startDrag } from "./drag";
import { fold } from "./folds";
import { isHeading } from "./headings";
import { filter, isFiltered, lines, query, showAll, shownEntries, sort } from "./list-view";
import { useKeptScroll } from "./kept-scroll";
import type { EntryLine } from "./section-lines";
import { expanded, focusedKey, focusEntry, isSelecting, open, preset, selected } from "./state";
import type { Preset } from "./actions";
import { anchorType, type Entry } from "./entries";

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
    const others = all.get(pointer);
    if (others) others.push(finding);
    else all.set(pointer, [finding]);
  }
  return all;
}

export function EntryList({ of }: { of: Preset }) {
  const list = useRef<HTMLOListElement>(null);
  // A paged list omits hidden rows. Otherwise pages would have gaps.
  const isLong = lines.value.length > MOST;
  const all = isLong ? lines.value.filter(({ isHidden }) => !isHidden) : lines.value;
  const wanted = wantedEntry.value;
  const place = wanted ? all.findIndex((line) => "entry" in line && isAt(wanted.pointer, line.entry)) : -1;
  useEffect(() => {
    const entry = wanted && of.entries.find((one) => isAt(wanted.pointer, one));
    if (!entry) return;
    if (!shownEntries.peek().includes(entry)) {
      reveal(of, entry);
      // The page of a long list is known once the entry is a line of it.
      if (isLong) return;
    }
    wantedEntry.value = undefined;
    open(entry.key, true);
    focusEntry(entry.key);
  }, [wanted, place]);
  useKeptScroll(list, of.file.id, wanted !== undefined);
  useFocusedEntry();
  useListScroll(list);

  const whyNotDragged = sort.value === "file" ? undefined : t().preset.fileOrderOnly;
  const grab = (event: PointerEvent, entry: Entry) => {
    if (!list.current || of.file.isReadOnly.value || sort.peek() !== "file") return;
    const moved = movedWith(of, entry);
    startDrag(event, {
      list: list.current,
      keys: new Set(moved.map(({ key }) => key)),
      onDrop: (to) => move(of, moved, to),
      onEnd: () => focusEntry(entry.key),
    });
  };

  const entryTokens = preview.value?.entryTokens;
  const dropped = droppedBy.value;
  const found = findingsByEntry(of);
  // Rows know only what they show; so most of them are not drawn again when something changes.
  const shown = ({ entry, group, section, isInside, isHidden }: EntryLine): Omit<EntryRowProps, "grab"> => {
    const tokens = entryTokens?.[entry.pointer];
    const isOpen = expanded.value.has(entry.key);
    return {
      entry,
      group,
      section,
      isInside,
      isHidden,
      isOpen,
      tokens,
      isSelecting: isSelecting.value,
      isSelected: selected.value.has(entry.key),
      isFixed: of.file.isReadOnly.value,
      whyNotDragged,
      count: of.entries.length,
      lang: `${lang.value}${registry.value.anchors.length}`,
      why: tokens === undefined ? reasonOf(entry, group, dropped) : undefined,
      findings: found.get(entry.pointer) ?? NONE,
      of: isOpen || anchorType(entry) !== undefined ? of : undefined,
    };
  };

  if (of.entries.length === 0 && of.groups.length === 0) return <p class="empty soft">{t().emptyList}</p>;
  return (
    <>
      {shownEntries.value.length === 0 && isFiltered.value && (
        <div class="empty" data-test="no-match">
          <p>{t().preset.noMatch}</p>
          <Button onClick={showAll}>{t().preset.showAll}</Button>
        </div>
      )}
      <Paged count={all.length} label={t().entriesLabel} wanted={place >= 0 ? place : undefined}>
        {(from, to) => (
          // Chromium leaves moved rows empty if they were out of view: another order gets new rows.
          <ol
            key={sort.value}
            ref={list}
            class={`entries ${isFiltered.value || sort.value !== "file" ? "flat" : ""}`}
            aria-label={t().entriesLabel}
            onKeyDown={(event) => onListKey(event, list.current)}
            onFocusIn={(event) => onListFocus(event, list.current)}
          >
            {all
              .slice(from, to)
              .map((line) =>
                "entry" in line ? (
                  <EntryRow key={line.key} {...shown(line)} grab={grab} />
                ) : (
                  <GroupHeader
                    key={line.key}
                    of={of}
                    group={line.group}
                    isContinued={line.isContinued}
                    isInside={line.isInside}
                    isHidden={line.isHidden}
                    count={line.count}
                  />
                ),
              )}
          </ol>
        )}
      </Paged>
    </>
  );
}

/** Clears the filter, and unfolds the section and the group of an entry. */
function reveal(of: Preset, entry: Entry): void {
  showAll();
  const heading = of.entries.slice(0, entry.index).findLast(isHeading);
  const line = lines.peek().find(({ key }) => key === heading?.key);
  const section = line && "entry" in line ? line.section?.id : undefined;
  const group = entry.value["groupId"];
  fold([...(section === undefined ? [] : [section]), ...(typeof group === "string" ? [group] : [])], false);
}

/** A new search or order starts at its top. Its end shows the focused entry among the others. */
function useListScroll(list: RefObject<HTMLElement | null>): void {
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    const row = list.current?.querySelector(`[data-entry="${focusedKey.peek()}"]`);
    const scroller = list.current?.closest("main");
    if (isFirst.current) isFirst.current = false;
    else if (row && !isFiltered.peek()) row.scrollIntoView({ block: "center" });
    else if (scroller) scroller.scrollTop = 0;
  }, [query.value, filter.value, sort.value]);
}

/** Tells the preview which entry has the focus. */
function useFocusedEntry(): void {
  useSignalEffect(() => {
    focusedEntry.value = preset.value?.entries.find(({ key }) => key === focusedKey.value)?.pointer;
  });
  useEffect(
    () => () => {
      focusedKey.value = undefined;
      focusedEntry.value = undefined;
    },
    [],
  );
}

function keyAt(element: EventTarget | null): string | undefined {
  return element instanceof Element ? element.closest<HTMLElement>("[data-entry]")?.dataset["entry"] : undefined;
}

function onListFocus({ target, relatedTarget }: FocusEvent, list: HTMLElement | null): void {
  const key = keyAt(target);
  focusedKey.value = key;
  const isFromOutside = !(relatedTarget instanceof Node && list?.contains(relatedTarget));
  if (key !== undefined && isFromOutside && relatedTarget !== null) beginRange(key);
}

/** Up and Down move the focus, Shift extends the selection, Left and Right fold and unfold. */
function onListKey(event: KeyboardEvent, list: HTMLElement | null): void {
  const target = event.target as HTMLElement;
  const part = target.dataset["part"];
  const key = keyAt(target);
  if (event.altKey || !list || !["main", "group", "pick"].includes(part ?? "")) return;
  const places = [...list.querySelectorAll<HTMLElement>(`li:not([hidden]) :is([data-part=main], [data-part=group])`)];
  const at = places.findIndex((place) => place.closest("li") === target.closest("li"));
  if (event.ctrlKey || event.metaKey) {
    if (event.key.toLowerCase() !== "a" || event.shiftKey) return;
    choose(shownEntries.peek().map((entry) => entry.key));
  } else if (event.key === "Escape" && isSelecting.peek()) {
    endChoice();
    places[at]?.focus();
  } else if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && part === "main") {
    const section = target.closest("li")?.querySelector<HTMLElement>("[data-part=fold]");
    const isFolded = section?.getAttribute("aria-expanded") === "false";
    if (!section || isFolded !== (event.key === "ArrowRight")) return;
    section.click();
  } else {
    const next = { ArrowDown: places[at + 1], ArrowUp: places[at - 1], Home: places[0], End: places.at(-1) }[event.key];
    if (!next) return;
    const nextKey = keyAt(next);
    if (event.shiftKey && key !== undefined) chooseRange(nextKey ?? key, key);
    next.focus();
    if (!event.shiftKey && nextKey !== undefined) beginRange(nextKey);
  }
  event.preventDefault();
}
