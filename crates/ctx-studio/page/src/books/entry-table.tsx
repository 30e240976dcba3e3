// The entries of a book, one line each.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Finding, ScannedEntry } from "../api";
import type { OpenFile } from "../files";
import { figure, roleName, t } from "../language";
import { Switch } from "../ui/button";
import { Icon } from "../ui/icon";
import { lower, Marked } from "../ui/marked";
import { memo } from "../ui/memo";
import { Paged } from "../ui/paged";
import {
  AT_DEPTH,
  ROLES,
  findingsByEntry,
  flag,
  keysAt,
  numberAt,
  positionOf,
  probabilityOf,
  setAll,
  titleOf,
  type BookEntry,
} from "./entries";
import { focusEntryEditor } from "./entry-side";
import { State } from "./state-label";
import { choose, chosen, filters, isTesting, memoryOf, openEntry, tested } from "./state";

/** Limit for rows rendered at once. The others follow after a paint: typing must not wait for them. */
const ROWS_AT_ONCE = 80;
/** As in the style sheet. */
const ROW_HEIGHT = 32;

export function EntryTable({ file, entries }: { file: OpenFile; entries: BookEntry[] }) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (list.current) list.current.scrollTop = memoryOf(file.id).scroll;
  }, []);
  const rendered = useGrowing(entries.length);
  const { columns, table, all } = t().books;
  const isAll = entries.length > 0 && entries.every(({ pointer }) => chosen.value.has(pointer));
  const findings = findingsByEntry(file.server.value?.findings ?? []);
  const query = lower(filters.value.query.trim());
  const chooseAll = () => {
    const next = new Set(chosen.value);
    for (const { pointer } of entries) {
      if (isAll) next.delete(pointer);
      else next.add(pointer);
    }
    chosen.value = next;
  };
  return (
    <div
      ref={list}
      class={`book-list ${entries.length === 0 ? "is-empty" : ""}`}
      tabIndex={-1}
      data-test="book-list"
      onScroll={(event) => (memoryOf(file.id).scroll = event.currentTarget.scrollTop)}
    >
      <Paged
        count={entries.length}
        label={table}
        wanted={entries.findIndex(({ pointer }) => pointer === openEntry.value)}
      >
        {(from, to) => (
          <table class={`book-entries ${isTesting.value ? "testing" : ""}`} aria-label={table} onKeyDown={onKeyDown}>
            <thead>
              <tr>
                <th scope="col" class="pick-cell">
                  <input
                    type="checkbox"
                    class="pick"
                    aria-label={all}
                    checked={isAll}
                    data-test="choose-all"
                    onChange={chooseAll}
                  />
                </th>
                <th scope="col" class="on-cell">
                  <span class="hidden">{columns.on}</span>
                </th>
                <th scope="col">{columns.name}</th>
                <th scope="col" class="keys">
                  {columns.keys}
                </th>
                <th scope="col" class="place">
                  {columns.place}
                </th>
                <th scope="col" class="number order">
                  {columns.order}
                </th>
                <th scope="col" class="number tokens">
                  {columns.tokens}
                </th>
                {isTesting.value && (
                  <>
                    <th scope="col" class="state-cell">
                      {columns.state}
                    </th>
                    <th scope="col" class="match">
                      {columns.found}
                    </th>
                    <th scope="col" class="number pass">
                      {columns.pass}
                    </th>
                  </>
                )}
              </tr>
            </thead>
            <tbody>
              {entries.slice(from, Math.min(to, from + rendered)).map((entry) => (
                <Row
                  key={entry.pointer}
                  file={file}
                  entry={entry}
                  found={tested.value.get(entry.pointer)}
                  findings={findings.get(entry.pointer)}
                  query={query}
                  isChosen={chosen.value.has(entry.pointer)}
                  isOpen={openEntry.value === entry.pointer}
                  isTesting={isTesting.value}
                  isFixed={file.isReadOnly.value}
                />
              ))}
              {from + rendered < to && (
                <tr aria-hidden="true">
                  <td style={{ height: `${(to - from - rendered) * ROW_HEIGHT}px` }} />
                </tr>
              )}
            </tbody>
          </table>
        )}
      </Paged>
    </div>
  );
}

/** The number of rows to render, which grows to the count. */
function useGrowing(count: number): number {
  const [limit, setLimit] = useState(ROWS_AT_ONCE);
  const now = Math.min(limit, Math.max(count, ROWS_AT_ONCE));
  useEffect(() => {
    if (now >= count) return setLimit(now);
    const timer = setTimeout(() => setLimit(now + ROWS_AT_ONCE));
    return () => clearTimeout(timer);
  }, [now, count]);
  return now;
}

interface RowProps {
  file: OpenFile;
  entry: BookEntry;
  found?: ScannedEntry;
  findings?: Finding[];
  query: string;
  isChosen: boolean;
  isOpen: boolean;
  isTesting: boolean;
  isFixed: boolean;
}

const Row = memo(EntryRow, (before, after) => {
  const { entry, found, findings, ...rest } = before;
  const isSame = (Object.keys(rest) as (keyof typeof rest)[]).every((name) => before[name] === after[name]);
  return (
    isSame &&
    entry.pointer === after.entry.pointer &&
    entry.value === after.entry.value &&
    findings?.length === after.findings?.length &&
    shownOf(found) === shownOf(after.found)
  );
});

/** The shown part of a scan result. */
function shownOf(found: ScannedEntry | undefined): string {
  return JSON.stringify([found?.state, found?.tokens, found?.pass, found?.why, found?.hits.map(({ key }) => key)]);
}

function EntryRow({ file, entry, found, findings, query, isChosen, isOpen, isTesting, isFixed }: RowProps) {
  const { books } = t();
  const title = titleOf(entry);
  const isOn = !flag(entry, "disable");
  const probability = probabilityOf(entry);
  const { short, long } = placeOf(entry);
  const act = (event: MouseEvent) => {
    if (event.shiftKey || event.ctrlKey || event.metaKey) return choose(entry.pointer, event.shiftKey);
    openEntry.value = isOpen ? undefined : entry.pointer;
    // A click by keyboard has no count.
    if (!isOpen && event.detail === 0) focusEntryEditor();
  };
  return (
    <tr
      class={`${isOn ? "" : "off"} ${isOpen ? "open" : ""} ${isChosen ? "chosen" : ""}`}
      data-uid={entry.uid}
      data-state={found?.state}
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
      onClick={(event) => {
        if (event.target instanceof Element && !event.target.closest("button, input")) act(event);
      }}
    >
      <td class="pick-cell">
        <input
          type="checkbox"
          class="pick"
          checked={isChosen}
          aria-label={t().selectOne(title)}
          onClick={(event) => choose(entry.pointer, event.shiftKey)}
        />
      </td>
      <td class="on-cell">
        <Switch
          isOn={isOn}
          label={t().switchOne(title)}
          isDisabled={isFixed}
          onChange={(next) => file.edit(...setAll([entry], "disable", !next))}
        />
      </td>
      <th scope="row">
        <span class="name">
          <button type="button" title={title} aria-expanded={isOpen} onClick={act}>
            <Marked text={title} wanted={query} />
          </button>
          {findings && (
            <span class={`mark ${findings[0]?.severity}`}>
              <Icon name="triangle-alert" /> {findings.length}
            </span>
          )}
          {probability !== undefined && (
            <span class="key-chip" title={books.probabilityOf(probability)}>
              {books.probability(probability)}
            </span>
          )}
        </span>
      </th>
      <td class="keys">
        <Keys entry={entry} />
      </td>
      <td class="place" title={long}>
        <span aria-hidden="true">{short}</span>
        <span class="hidden">{long}</span>
      </td>
      <td class="number order">{numberAt(entry, "order") ?? 100}</td>
      <td class="number tokens">{found?.tokens === undefined ? "–" : figure(found.tokens)}</td>
      {isTesting && (
        <>
          <td class="state-cell" title={found?.why}>
            {found ? <State of={found} /> : "–"}
          </td>
          <td class="match">{found?.hits[0] && <span class="key-chip">{found.hits[0].key}</span>}</td>
          <td class="number pass">{found?.pass ?? "–"}</td>
        </>
      )}
    </tr>
  );
}

/** A position in a few letters, and in words. */
function placeOf(entry: BookEntry): { short: string; long: string } {
  const { positions, shortPositions, position, atDepth, shortAtDepth } = t().books;
  const at = positionOf(entry);
  if (at === AT_DEPTH) {
    const depth = numberAt(entry, "depth") ?? 4;
    const role = ROLES[numberAt(entry, "role") ?? 0];
    return { short: shortAtDepth(depth), long: position(atDepth(depth), role && roleName(role)) };
  }
  return { short: shortPositions[at] ?? String(at), long: positions[at] ?? String(at) };
}

/** Limit for the letters of a row's keys. */
const MOST_LETTERS = 28;

function Keys({ entry }: { entry: BookEntry }) {
  const { constant, andMore } = t().books;
  if (flag(entry, "constant")) return <span class="key-chip constant">{constant}</span>;
  const keys = keysAt(entry, "key").filter((key) => key !== "");
  let letters = 0;
  const fits = keys.findIndex((key, at) => (letters += key.length + 2) > MOST_LETTERS && at > 0);
  const shown = fits < 0 ? keys : keys.slice(0, fits);
  return (
    <span class="key-chips" title={t().listed(keys)}>
      {shown.map((key, at) => (
        <span key={at} class="key-chip">
          {key}
        </span>
      ))}
      {shown.length < keys.length && <span class="more-keys">{andMore(keys.length - shown.length)}</span>}
    </span>
  );
}

/** Up and Down move in a column; with Shift they choose rows too. */
function onKeyDown(event: KeyboardEvent): void {
  const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" } as const;
  const cell = event.target instanceof Element ? event.target.closest<HTMLTableCellElement>("td, th") : null;
  const row = cell?.parentElement;
  if (!cell || !row || !(event.key in step) || row.parentElement?.tagName !== "TBODY") return;
  const next = row[step[event.key as keyof typeof step]];
  const target = next?.children[cell.cellIndex]?.querySelector<HTMLElement>("button, input");
  if (!next || !target) return;
  event.preventDefault();
  if (event.shiftKey) {
    const picks = [row, next].map((one) => one.querySelector<HTMLInputElement>(".pick"));
    for (const pick of picks) if (pick && !pick.checked) pick.click();
  }
  target.focus();
}
