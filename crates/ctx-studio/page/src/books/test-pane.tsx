// What a turn makes of its worldbooks: for each entry its state, the key and where it stands, the pass and the tokens.
import { useState } from "preact/hooks";
import type { ScannedEntry, ScanView } from "../api";
import { figure, t } from "../language";
import { go } from "../route";
import { Icon } from "../ui/icon";
import { Paged } from "../ui/paged";
import { toggled } from "../inspector/state";
import { Marked } from "./marked";
import { bookView, hiddenStates, isScanning, openEntries, scan, scanFailure, shownKey, typed } from "./state";

export function TestPane() {
  const failure = scanFailure.value;
  return (
    <div class="test-pane" aria-busy={isScanning.value}>
      <Searched />
      {failure && (
        <p class="bar-note error" role="alert">
          <Icon name="circle-alert" />
          {failure.message || t().offline}
        </p>
      )}
      {scan.value && <Found found={scan.value} />}
    </div>
  );
}

/** The conversation of the turn, or a text of one's own. */
function Searched() {
  const [kept, keep] = useState("");
  const { searched, conversation, ownText } = t().books;
  const isOwn = typed.value !== undefined;
  return (
    <fieldset class="searched">
      <legend>{searched}</legend>
      <label class="check">
        <input type="radio" name="searched" checked={!isOwn} onChange={() => (typed.value = undefined)} />
        <span>{conversation}</span>
      </label>
      <label class="check">
        <input
          type="radio"
          name="searched"
          checked={isOwn}
          data-test="own-text"
          onChange={() => (typed.value = kept)}
        />
        <span>{ownText}</span>
      </label>
      {isOwn && (
        <textarea
          rows={3}
          aria-label={ownText}
          value={typed.value}
          data-test="searched-text"
          onInput={(event) => {
            const text = event.currentTarget.value;
            keep(text);
            typed.value = text;
          }}
        />
      )}
    </fieldset>
  );
}

function Found({ found }: { found: ScanView }) {
  const { states, columns, passes, testTable, timed, timedKept } = t().books;
  const rows = found.entries.filter(({ state }) => !hiddenStates.value.has(state));
  const shown = shownKey.value;
  const open = shown && found.entries.find(({ book, id }) => shown.entry === `${book}/${id}`);
  const hit = open?.hits[shown?.hit ?? 0];
  return (
    <>
      <Budget found={found} />
      <p class="soft">{passes(found.passes.map((pass) => t().books.passKinds[pass] ?? pass))}</p>
      <Timed lines={found.kept} title={timedKept} testId="timed-kept" />
      <Timed lines={found.timed} title={timed} testId="timed-after" />
      <div class="filters" role="group" aria-label={t().filter}>
        {[...new Set(found.entries.map(({ state }) => state))].map((state) => (
          <button
            key={state}
            type="button"
            class="filter"
            aria-pressed={!hiddenStates.value.has(state)}
            onClick={() => (hiddenStates.value = toggled(hiddenStates.value, state))}
          >
            {states[state] ?? state} {found.entries.filter((entry) => entry.state === state).length}
          </button>
        ))}
      </div>
      {hit && <Marked found={found} hit={hit} />}
      <Paged count={rows.length} label={testTable}>
        {(from, to) => (
          <div class="wide">
            <table class="list" aria-label={testTable} data-test="scan">
              <thead>
                <tr>
                  <th scope="col">{columns.name}</th>
                  <th scope="col">{columns.state}</th>
                  <th scope="col" class="number">
                    {columns.pass}
                  </th>
                  <th scope="col" class="number">
                    {columns.tokens}
                  </th>
                  <th scope="col">{columns.found}</th>
                  <th scope="col">{columns.place}</th>
                  <th scope="col">{columns.why}</th>
                </tr>
              </thead>
              <tbody>
                {rows.slice(from, to).map((entry) => (
                  <Line key={`${entry.book}/${entry.id}`} entry={entry} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Paged>
    </>
  );
}

/** Entries that stay, or rest, for a number of messages. */
function Timed({ lines, title, testId }: { lines: string[]; title: (count: number) => string; testId: string }) {
  if (lines.length === 0) return null;
  return (
    <details data-test={testId}>
      <summary>{title(lines.length)}</summary>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </details>
  );
}

/** How much of their budget the entries use. */
function Budget({ found }: { found: ScanView }) {
  const { budgetOf, noLimit } = t().books;
  const mark = found.isExact ? "" : "~";
  const words =
    found.budget === undefined
      ? noLimit(`${mark}${figure(found.tokens)}`)
      : budgetOf(`${mark}${figure(found.tokens)}`, figure(found.budget));
  const whole = Math.max(found.budget ?? found.tokens, found.tokens, 1);
  return (
    <div class="meter" data-test="book-budget" data-tokens={found.tokens} data-budget={found.budget}>
      <svg class="bar" role="img" aria-label={words} viewBox="0 0 1000 10" preserveAspectRatio="none">
        <rect class="kind-worldbook" x="0" y="0" width={(found.tokens / whole) * 1000} height="10" />
      </svg>
      <span class="figures">{words}</span>
    </div>
  );
}

function Line({ entry }: { entry: ScannedEntry }) {
  const { states, showPlace } = t().books;
  const name = `${entry.book}/${entry.id}`;
  return (
    <tr class={entry.state === "active" ? "active" : "off"} data-id={entry.id} data-state={entry.state}>
      <th scope="row">
        {entry.file && entry.pointer ? (
          <button type="button" class="link" onClick={() => edit(entry)}>
            {entry.title ?? entry.id}
          </button>
        ) : (
          (entry.title ?? entry.id)
        )}
      </th>
      <td>
        <span class={`state ${entry.state === "active" ? "active" : ""}`}>{states[entry.state] ?? entry.state}</span>
      </td>
      <td class="number">{entry.pass ?? "–"}</td>
      <td class="number">{entry.tokens === undefined ? "–" : figure(entry.tokens)}</td>
      <td>
        {entry.hits.map((hit, at) =>
          hit.text === undefined ? (
            <code key={at}>{hit.key}</code>
          ) : (
            <button
              key={at}
              type="button"
              class="link"
              title={showPlace}
              aria-expanded={shownKey.value?.entry === name && shownKey.value.hit === at}
              onClick={() => (shownKey.value = { entry: name, hit: at })}
            >
              {hit.key}
            </button>
          ),
        )}
      </td>
      <td>{entry.place}</td>
      <td>{entry.why}</td>
    </tr>
  );
}

function edit({ file, pointer }: ScannedEntry): void {
  bookView.value = "entries";
  if (pointer) openEntries.value = new Set([...openEntries.value, pointer]);
  go("books", file);
}
