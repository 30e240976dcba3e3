// The entries where the request has them, between the messages of the conversation.
import type { Row } from "../api";
import { preview } from "../preview";
import { figure, t } from "../language";
import { openEntry } from "../inspector/state";
import { kindClass } from "../inspector/kinds";
import { Paged } from "../ui/paged";
import { view } from "./state";
import { placeName } from "./place-name";
import { placementOf } from "./placement";
import { labelOf } from "./commands";
import type { Preset } from "./actions";

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

export function PlacedView({ of }: { of: Preset }) {
  const all = lines(preview.value?.rows ?? []);
  if (all.length === 0) return <p class="empty soft">{t().loading}</p>;
  return (
    <Paged count={all.length} label={t().views.placed}>
      {(from, to) => (
        <ol class="placed" aria-label={t().views.placed}>
          {all.slice(from, to).map((line, index) => {
            if ("messages" in line) {
              return <li key={line.key} class="kind-history"><span class="name">{t().messages(line.messages)}</span><span class="tokens">{figure(line.tokens)}</span></li>;
            }
            const { row } = line;
            const entry = of.entries.find(({ pointer }) => pointer === row.pointer);
            return (
              <li key={`${row.key}${index}`} class={kindClass(row.source)}>
                {entry
                  ? <button type="button" class="link name" onClick={() => { view.value = "list"; openEntry(entry.pointer); }}>{labelOf(entry)}</button>
                  : <span class="name">{row.name}</span>}
                <span class="fact role">{row.role}</span>
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
