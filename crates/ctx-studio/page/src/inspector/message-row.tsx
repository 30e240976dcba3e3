// One row: closed a line, open its text with the sources, and its life.
import { memo } from "../ui/memo";
import { useEffect, useState } from "preact/hooks";
import type { LifeView, Row, RowText } from "../api";
import { CallError } from "../transport";
import { lifeOf, preview, textOf } from "../preview";
import { figure, roleName, t } from "../language";
import { go } from "../route";
import { Icon } from "../ui/icon";
import { Pieces } from "../ui/pieces";
import { view } from "../preset/state";
import { kindClass, kindName } from "./kinds";
import { openEntry, openRows, plainKinds, toggled } from "./state";

interface RowProps {
  id: string;
  row: Row;
  /** Whether the entry that is being edited is in it. */
  isFocused: boolean;
}

export const MessageRow = memo(
  function MessageRow({ id, row, isFocused }: RowProps) {
    const isOpen = openRows.value.has(id);
    const isDropped = row.n === undefined;
    const isPlain = plainKinds.value.has(row.source);
    return (
      <li
        class={`row ${isDropped ? "dropped" : ""} ${isOpen ? "open" : ""}`}
        aria-current={isFocused ? "true" : undefined}
        data-n={row.n}
        data-tokens={row.tokens}
      >
        <button
          type="button"
          class="line"
          aria-expanded={isOpen}
          onClick={() => (openRows.value = toggled(openRows.value, id))}
        >
          <span class="number">{row.n === undefined ? <Icon name="minus" /> : row.n + 1}</span>
          <span class={`role ${row.role}`}>{roleName(row.role)}</span>
          <span
            class={`source ${isPlain ? "" : `piece ${kindClass(row.source)}`}`}
            title={t().labeled(kindName(row.source), row.code)}
          >
            {row.name || kindName(row.source)}
          </span>
          <span class="place soft">{row.place}</span>
          <span class="tokens">{row.tokens === undefined ? "" : figure(row.tokens)}</span>
          <span class="head">{isDropped ? <s>{row.head}</s> : row.head}</span>
          {isDropped && (
            <span class="why">
              <span class="hidden">{t().notSent}: </span>
              {row.dropped}
            </span>
          )}
        </button>
        {isOpen && <Opened row={row} />}
      </li>
    );
    // Equal keys show the same, so one keystroke draws only what it changed.
  },
  (before: RowProps, after: RowProps) =>
    before.id === after.id &&
    before.isFocused === after.isFocused &&
    before.row.key === after.row.key &&
    before.row.n === after.row.n &&
    before.row.row === after.row.row,
);

function Opened({ row }: { row: Row }) {
  const id = preview.value?.id ?? "";
  const [text, setText] = useState<RowText | undefined>(undefined);
  const [life, setLife] = useState<LifeView | undefined>(undefined);
  const [failure, fail] = useState<string | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    const failed = (error: unknown) => {
      if (!isGone) fail(error instanceof CallError ? error.message || t().offline : String(error));
    };
    textOf(id, row).then((answer) => {
      if (!isGone) {
        setText(answer);
        fail(undefined);
      }
    }, failed);
    lifeOf(id, row).then((answer) => {
      if (!isGone) setLife(answer);
    }, failed);
    return () => {
      isGone = true;
    };
  }, [id, row.key, row.row]);
  return (
    <div class="opened">
      {failure && <p class="wrong">{failure}</p>}
      {text && text.pieces.length > 0 && <Pieces pieces={text.pieces} hidden={plainKinds.value} choose={show} />}
      {text && text.pieces.length === 0 && <p class="soft">{t().noText}</p>}
      {text?.isCut && <p class="soft">{t().cut}</p>}
      {text && text.pieces.length > 1 && <SourceTable text={text} />}
      {row.pointer !== undefined && (
        <p>
          <button type="button" class="link" onClick={() => row.pointer !== undefined && show(row.pointer)}>
            {t().openEntry}
          </button>
        </p>
      )}
      {life && <LifeList life={life} />}
    </div>
  );
}

function show(pointer: string): void {
  view.value = "list";
  go("preset");
  openEntry(pointer);
}

/** How much of the text comes from where. */
function SourceTable({ text }: { text: RowText }) {
  const sums = new Map<string, { source: string; name: string; bytes: number }>();
  for (const piece of text.pieces) {
    const key = `${piece.source} ${piece.name}`;
    const sum = sums.get(key) ?? { source: piece.source, name: piece.name, bytes: 0 };
    sum.bytes += new TextEncoder().encode(piece.text).length;
    sums.set(key, sum);
  }
  return (
    <details>
      <summary>{t().sources(sums.size)}</summary>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">{t().kind}</th>
            <th scope="col">{t().name}</th>
            <th scope="col" class="number">
              {t().bytes}
            </th>
          </tr>
        </thead>
        <tbody>
          {[...sums.values()].map(({ source, name, bytes }) => (
            <tr key={`${source} ${name}`}>
              <td>
                <span class={`swatch ${kindClass(source)}`} /> {kindName(source)}
              </td>
              <td>{name}</td>
              <td class="number">{figure(bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function LifeList({ life }: { life: LifeView }) {
  if (life.events.length === 0 && life.why.length === 0) return null;
  return (
    <details class="life" open>
      <summary>{t().life}</summary>
      <ol class="steps" data-test="life">
        {life.events.map((event, index) => (
          <li key={index}>
            <b>{event.stage}</b> <span class="badge">{t().events[event.kind] ?? event.kind}</span> {event.text}
          </li>
        ))}
      </ol>
      {life.why.length > 0 && (
        <ul class="why">
          {life.why.map((why, index) => (
            <li key={index}>{why}</li>
          ))}
        </ul>
      )}
    </details>
  );
}
