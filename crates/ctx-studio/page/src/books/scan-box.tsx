// Above the table while the test is on: the text that is scanned, the budget, and the states to list.
import { useState } from "preact/hooks";
import type { ScanView } from "../api";
import { figure, t } from "../language";
import { Icon } from "../ui/icon";
import { filters, isScanning, scan, scanFailure, setFilters, tested, typed } from "./state";

export function ScanBox() {
  const failure = scanFailure.value;
  return (
    <section class="scan-box" aria-label={t().books.test} aria-busy={isScanning.value} data-test="scan-box">
      <Searched />
      {failure && (
        <p class="bar-note error" role="alert">
          <Icon name="circle-alert" />
          {failure.message || t().offline}
        </p>
      )}
      {scan.value && <Figures found={scan.value} />}
      <States />
    </section>
  );
}

/** The conversation of the turn, or a typed text. */
function Searched() {
  const [kept, keep] = useState("");
  const { searched, conversation, conversationHelp, ownText } = t().books;
  const isOwn = typed.value !== undefined;
  return (
    <fieldset class="searched">
      <legend class="hidden">{searched}</legend>
      <label class="check" title={conversationHelp}>
        <input type="radio" name="searched" checked={!isOwn} onChange={() => (typed.value = undefined)} />
        <span>{conversation}</span>
      </label>
      <label class="check">
        <input type="radio" name="searched" checked={isOwn} data-test="own-text" onChange={() => (typed.value = kept)} />
        <span>{ownText}</span>
      </label>
      {isOwn && (
        <textarea
          rows={2}
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

/** Budget of all worldbooks, passes, and timed effects on request. */
function Figures({ found }: { found: ScanView }) {
  const { passes, passKinds, others, budgetOf, noLimit, budgetLabel, timed, timedKept } = t().books;
  const own = tested.value;
  const elsewhere = found.entries.filter(({ state, pointer }) => state === "active" && !own.has(pointer ?? "")).length;
  const tokens = `${found.isExact ? "" : "~"}${figure(found.tokens)}`;
  const words = found.budget === undefined ? noLimit(tokens) : budgetOf(tokens, figure(found.budget));
  const whole = Math.max(found.budget ?? found.tokens, found.tokens, 1);
  return (
    <>
      <div class="meter" data-test="book-budget" data-tokens={found.tokens} data-budget={found.budget}>
        <svg
          class="bar"
          role="img"
          aria-label={t().labeled(budgetLabel, words)}
          viewBox="0 0 1000 10"
          preserveAspectRatio="none"
        >
          <rect class="kind-worldbook" x="0" y="0" width={(found.tokens / whole) * 1000} height="10" />
        </svg>
        <span class="figures">{words}</span>
      </div>
      <p class="soft">
        {t().listed([
          passes(found.passes.map((pass) => passKinds[pass] ?? pass)),
          ...(elsewhere > 0 ? [others(elsewhere)] : []),
        ])}
      </p>
      <Timed lines={found.kept} title={timedKept} testId="timed-kept" />
      <Timed lines={found.timed} title={timed} testId="timed-after" />
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

/** The states of this book's entries; pressed ones are listed alone. */
function States() {
  const { states, onlyState } = t().books;
  const chosen = filters.value.states;
  const counts = new Map<string, number>(chosen.map((state) => [state, 0]));
  for (const { state } of tested.value.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
  return (
    <div class="filters" role="group" aria-label={onlyState}>
      {[...counts].map(([state, count]) => (
        <button
          key={state}
          type="button"
          class="filter"
          aria-pressed={chosen.includes(state)}
          data-test={`state-${state}`}
          onClick={() =>
            setFilters({
              states: chosen.includes(state) ? chosen.filter((one) => one !== state) : [...chosen, state],
            })
          }
        >
          {states[state] ?? state} {figure(count)}
        </button>
      ))}
    </div>
  );
}
