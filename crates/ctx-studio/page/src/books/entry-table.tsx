// The entries of a book, one a row; an open one has its editor below.
import { Fragment } from "preact";
import type { Finding } from "../api";
import type { OpenFile } from "../files";
import { figure, t } from "../language";
import { Switch } from "../ui/button";
import { Icon } from "../ui/icon";
import { Paged } from "../ui/paged";
import { toggled } from "../inspector/state";
import { AT_DEPTH, flag, keysAt, numberAt, positionOf, setAll, titleOf, type BookEntry } from "./entries";
import { EntryEditor } from "./entry-editor";
import { chosen, openEntries, tested } from "./state";

const COLUMNS = 8;

export function EntryTable({ file, entries }: { file: OpenFile; entries: BookEntry[] }) {
  const { columns, table, all } = t().books;
  const isAll = entries.length > 0 && entries.every(({ pointer }) => chosen.value.has(pointer));
  const findings = file.server.value?.findings ?? [];
  return (
    <Paged count={entries.length} label={table}>
      {(from, to) => (
        <div class="wide">
          <table class="list book-entries" aria-label={table}>
            <thead>
              <tr>
                <th scope="col">
                  <input
                    type="checkbox"
                    aria-label={all}
                    checked={isAll}
                    data-test="choose-all"
                    onChange={() => (chosen.value = new Set(isAll ? [] : entries.map(({ pointer }) => pointer)))}
                  />
                </th>
                <th scope="col">{columns.on}</th>
                <th scope="col">{columns.name}</th>
                <th scope="col">{columns.keys}</th>
                <th scope="col">{columns.place}</th>
                <th scope="col" class="number">
                  {columns.order}
                </th>
                <th scope="col" class="number">
                  {columns.tokens}
                </th>
                <th scope="col">{columns.state}</th>
              </tr>
            </thead>
            <tbody>
              {entries.slice(from, to).map((entry) => (
                <EntryLines
                  key={entry.pointer}
                  file={file}
                  entry={entry}
                  findings={findings.filter(({ pointer }) => isAt(pointer, entry))}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Paged>
  );
}

function isAt(pointer: string | undefined, entry: BookEntry): boolean {
  return pointer === entry.pointer || pointer?.startsWith(`${entry.pointer}/`) === true;
}

function EntryLines({ file, entry, findings }: { file: OpenFile; entry: BookEntry; findings: Finding[] }) {
  const { states, positions, atDepth, constant, always } = t().books;
  const isOpen = openEntries.value.has(entry.pointer);
  const title = titleOf(entry);
  const found = tested.value.get(entry.pointer);
  const position = positionOf(entry);
  const isOn = !flag(entry, "disable");
  const probability = flag(entry, "useProbability") || !("useProbability" in entry.value);
  const chance = probability ? numberAt(entry, "probability") : undefined;
  return (
    <Fragment>
      <tr class={`${isOn ? "" : "off"} ${found?.state === "active" ? "active" : ""}`} data-uid={entry.uid}>
        <td>
          <input
            type="checkbox"
            checked={chosen.value.has(entry.pointer)}
            aria-label={t().selectOne(title)}
            onChange={() => (chosen.value = toggled(chosen.value, entry.pointer))}
          />
        </td>
        <td>
          <Switch
            isOn={isOn}
            label={t().switchOne(title)}
            isDisabled={file.isReadOnly.value}
            onChange={(next) => file.edit(...setAll([entry], "disable", !next))}
          />
        </td>
        <th scope="row">
          <button
            type="button"
            class="link"
            aria-expanded={isOpen}
            onClick={() => (openEntries.value = toggled(openEntries.value, entry.pointer))}
          >
            {title}
          </button>
          {findings.length > 0 && (
            <span class={`mark ${findings[0]?.severity}`}>
              <Icon name="triangle-alert" /> {findings.length}
            </span>
          )}
        </th>
        <td class="keys">{flag(entry, "constant") ? <i>{constant}</i> : t().listed(keysAt(entry, "key"))}</td>
        <td>{position === AT_DEPTH ? atDepth(numberAt(entry, "depth") ?? 4) : positions[position]}</td>
        <td class="number">{numberAt(entry, "order") ?? 100}</td>
        <td class="number">{found?.tokens === undefined ? "–" : figure(found.tokens)}</td>
        <td title={found?.why}>
          {found ? <span class={`state ${found.state === "active" ? "active" : ""}`}>{states[found.state] ?? found.state}</span> : "–"}
          {chance !== undefined && chance < always && <small class="soft"> {chance} %</small>}
        </td>
      </tr>
      {isOpen && (
        <tr class="opened">
          <td colSpan={COLUMNS}>
            <EntryEditor file={file} entry={entry} findings={findings} />
          </td>
        </tr>
      )}
    </Fragment>
  );
}
