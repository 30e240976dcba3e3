// The entries where the request has them, between the messages of the conversation.
import { useEffect, useState } from "preact/hooks";
import type { Row } from "../api";
import { preview, textOf } from "../preview";
import { figure, roleName, t } from "../language";
import { openEntry } from "../inspector/state";
import { kindClass, kindName } from "../inspector/kinds";
import { Paged } from "../ui/paged";
import { view } from "./state";
import { placeName } from "./place-name";
import { placementOf } from "./placement";
import { labelOf } from "./label";
import type { Preset } from "./actions";
import type { Entry } from "./entries";

type Line = { row: Row } | { messages: number; tokens: number; key: string };

/** Neighbouring messages of the conversation stand as one line. */
function lines(rows: readonly Row[]): Line[] {
  const all: Line[] = [];
  for (const row of rows) {
    if (row.n === undefined) continue;
    const last = all.at(-1);
    if (row.pointer !== undefined || row.source !== "history") all.push({ row });
    else if (last && "messages" in last) {
      last.messages++;
      last.tokens += row.tokens ?? 0;
    } else all.push({ messages: 1, tokens: row.tokens ?? 0, key: row.key });
  }
  return all;
}

/** A message that was joined of several: the entries that it has, in their order. */
function Joined({ of, row }: { of: Preset; row: Row }) {
  const [pointers, setPointers] = useState<string[]>([]);
  const id = preview.value?.id ?? "";
  useEffect(() => {
    let isGone = false;
    textOf(id, row).then(
      ({ pieces }) => {
        if (!isGone) setPointers([...new Set(pieces.flatMap(({ pointer }) => pointer ?? []))]);
      },
      () => {
        // The name of the row says enough.
      },
    );
    return () => {
      isGone = true;
    };
  }, [row.key]);
  const entries = pointers.flatMap((pointer) => of.entries.find((entry) => entry.pointer === pointer) ?? []);
  if (entries.length === 0) return <span class="name">{row.name}</span>;
  return (
    <span class="name">
      {entries.map((entry) => (
        <Link key={entry.key} entry={entry} />
      ))}
    </span>
  );
}

function Link({ entry }: { entry: Entry }) {
  return (
    <button
      type="button"
      class="link name"
      onClick={() => {
        view.value = "list";
        openEntry(entry.pointer);
      }}
    >
      {labelOf(entry)}
    </button>
  );
}

export function PlacedView({ of }: { of: Preset }) {
  const all = lines(preview.value?.rows ?? []);
  if (all.length === 0) return <p class="empty soft">{t().loading}</p>;
  return (
    <Paged count={all.length} label={t().views.placed}>
      {(from, to) => (
        <ol class="placed" aria-label={t().views.placed}>
          {all.slice(from, to).map((line, index) => {
            if ("messages" in line) {
              return (
                <li key={line.key} class="kind-history">
                  <span class="name">{t().messages(line.messages)}</span>
                  <span class="tokens">{figure(line.tokens)}</span>
                </li>
              );
            }
            const { row } = line;
            const entry = of.entries.find(({ pointer }) => pointer === row.pointer);
            return (
              <li key={`${row.key}${index}`} class={kindClass(row.source)} title={kindName(row.source)}>
                {entry ? <Link entry={entry} /> : <Joined of={of} row={row} />}
                <span class="fact role">{roleName(row.role)}</span>
                <span class="fact">{entry ? placeName(placementOf(entry)) : row.place}</span>
                <span class="head">{row.head}</span>
                <span class="tokens">{row.tokens === undefined ? "" : figure(row.tokens)}</span>
              </li>
            );
          })}
        </ol>
      )}
    </Paged>
  );
}
