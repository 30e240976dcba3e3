// A (pinned) beside B (live): what both share, where they part, and what that costs.
import { useEffect, useState } from "preact/hooks";
import type { Compared, ComparedRow, Row } from "../api";
import type { Shown } from "../preview";
import { agentId, agents, current } from "../project";
import { turn } from "../turn";
import { figure, roleName, t } from "../language";
import { Button } from "../ui/button";
import { Field, Select } from "../ui/field";
import { Icon } from "../ui/icon";
import { Paged } from "../ui/paged";
import { Scrollable } from "../ui/scrollable";
import { kindClass, kindName } from "../inspector/kinds";
import { a, compared, compareFailure, followComparison, pinPreview, unpin } from "./state";

export function ComparePage() {
  useEffect(() => followComparison(), []);
  const first = a.value;
  const now = compared.value;
  return (
    <section class="compare-page" aria-labelledby="compare-title">
      <h1 id="compare-title">{t().pageNames.compare}</h1>
      <p class="soft">{t().compareHelp}</p>
      <Choice />
      {!first && <p class="empty soft">{t().nothingPinned}</p>}
      {first && (
        <p class="pinned">
          <span class="letter">A</span> <b>{first.label}</b>{" "}
          <Button kind="quiet" icon="x" onClick={unpin}>
            {t().unpin}
          </Button>
          <span class="letter">B</span> <b>{t().live}</b> <span class="soft">{current.value?.server.value?.path}</span>
        </p>
      )}
      {compareFailure.value && (
        <p class="wrong" role="alert">
          {compareFailure.value}
        </p>
      )}
      {first && now && now.a === first.shown && <Result value={now.value} first={now.a} second={now.b} />}
    </section>
  );
}

/** What A can be. */
function Choice() {
  const [model, setModel] = useState("");
  const [budget, setBudget] = useState("");
  const others = agents.value.filter(({ id }) => id !== agentId.value);
  return (
    <div class="choose-a" role="group" aria-label={t().chooseA}>
      <Button icon="pin" kind="main" onClick={() => void pinPreview()} testId="pin-now">
        {t().pinAsA}
      </Button>
      <Button icon="file-text" onClick={() => void pinPreview(t().savedFile, { saved: true })} testId="pin-saved">
        {t().savedFile}
      </Button>
      {others.length > 0 && (
        <Select
          label={t().otherAgent}
          value=""
          options={[{ value: "", label: "–" }, ...others.map(({ id, path }) => ({ value: id, label: path }))]}
          onChange={(id) => id && void pinPreview(others.find((one) => one.id === id)?.path, { agent: id })}
        />
      )}
      <Field
        label={t().otherModel}
        value={model}
        list="models"
        isLazy
        onInput={(next) => {
          setModel(next);
          if (next) void pinPreview(next, { turn: { ...turn.value, model: next } });
        }}
      />
      <Field
        label={t().otherBudget}
        size="short"
        value={budget}
        isLazy
        inputMode="numeric"
        onInput={(next) => {
          setBudget(next);
          if (/^\d+$/.test(next))
            void pinPreview(`${figure(Number(next))} ${t().tokens}`, {
              turn: { ...turn.value, contextTokens: Number(next) },
            });
        }}
      />
    </div>
  );
}

function Result({ value, first, second }: { value: Compared; first: Shown; second: Shown }) {
  const isEqual = !value.difference && value.rows.every(({ kind }) => kind === "same");
  const [all, setAll] = useState(false);
  const rows = all ? value.rows : value.rows.filter(({ kind }) => kind !== "same");
  return (
    <>
      {isEqual && (
        <p class="equal" role="status" data-test="equal">
          <Icon name="check" />
          {t().areEqual}
        </p>
      )}
      <Shared value={value} />
      <dl class="figures">
        <div>
          <dt>{t().messagesLabel}</dt>
          <dd>
            {figure(value.messages[0])} <Icon name="arrow-right" /> {figure(value.messages[1])}
          </dd>
        </div>
        {value.tokens && (
          <div>
            <dt>{t().tokens}</dt>
            <dd>
              {figure(value.tokens[0])} <Icon name="arrow-right" /> {figure(value.tokens[1])}
            </dd>
          </div>
        )}
        {value.again !== undefined && (
          <div>
            <dt>{t().billedAgain}</dt>
            <dd>{figure(value.again)}</dd>
          </div>
        )}
      </dl>
      {value.difference && <Difference difference={value.difference} />}
      {!isEqual && (
        <label class="check">
          <input type="checkbox" checked={all} onChange={() => setAll(!all)} />
          <span>{t().showSame}</span>
        </label>
      )}
      <Paged count={rows.length} label={t().tabs.messages}>
        {(from, to) => (
          <ol class="compared">
            {rows.slice(from, to).map((row, index) => (
              <Pair key={from + index} row={row} first={first} second={second} />
            ))}
          </ol>
        )}
      </Paged>
    </>
  );
}

/** How much of B begins like A. */
function Shared({ value }: { value: Compared }) {
  const whole = Math.max(1, value.tokens?.[1] ?? value.messages[1]);
  const part = Math.min(whole, value.tokens ? (value.sharedTokens ?? 0) : value.sharedMessages);
  const text = t().shared(
    value.sharedMessages,
    value.sharedTokens === undefined ? undefined : figure(value.sharedTokens),
  );
  return (
    <div class="shared">
      <svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label={text}>
        <rect class="kind-history" x="0" y="0" width={(part / whole) * 1000} height="10" />
        <rect class="kind-rule" x={(part / whole) * 1000} y="0" width={1000 - (part / whole) * 1000} height="10" />
      </svg>
      <p data-test="shared">{text}</p>
    </div>
  );
}

function Difference({ difference }: { difference: NonNullable<Compared["difference"]> }) {
  const [ownerA, ownerB] = difference.owners;
  return (
    <section class="difference" data-test="difference">
      <h2>{t().firstDifference}</h2>
      <p>{t().differsAt(difference.message + 1, difference.at)}</p>
      <div class="both">
        <div>
          <span class="letter">A</span> <b>{kindName(ownerA ?? t().nothing)}</b>
          {difference.excerpts && <pre tabIndex={0}>{difference.excerpts[0] || t().nothing}</pre>}
        </div>
        <div>
          <span class="letter">B</span> <b>{kindName(ownerB ?? t().nothing)}</b>
          {difference.excerpts && <pre tabIndex={0}>{difference.excerpts[1] || t().nothing}</pre>}
        </div>
      </div>
    </section>
  );
}

function Pair({ row, first, second }: { row: ComparedRow; first: Shown; second: Shown }) {
  const before = row.a === undefined ? undefined : first.rows[row.a];
  const after = row.b === undefined ? undefined : second.rows[row.b];
  const shown = after ?? before;
  const [from, to] = [numberOf(before), numberOf(after)];
  return (
    <li class={row.kind}>
      <div class="line">
        <span class="kind">{t().changes[row.kind]}</span>
        <span class="number" title={t().inspector.fromTo(from, to)}>
          {from} <Icon name="arrow-right" /> {to}
        </span>
        {shown && (
          <>
            <span class={`role ${shown.role}`}>{roleName(shown.role)}</span>
            <span class={`source piece ${kindClass(shown.source)}`} title={shown.code}>
              {shown.name || kindName(shown.source)}
            </span>
            <span class="gap" />
            <span class="tokens">{shown.tokens === undefined ? "" : figure(shown.tokens)}</span>
          </>
        )}
      </div>
      {row.words && row.words.length > 0 ? (
        <Scrollable class="words" label={t().inspector.messageText}>
          {row.words.map((word, index) =>
            word.kind === "removed" ? (
              <del key={index}>{word.text}</del>
            ) : word.kind === "added" ? (
              <ins key={index}>{word.text}</ins>
            ) : (
              <span key={index}>{word.text}</span>
            ),
          )}
        </Scrollable>
      ) : (
        <p class="head">
          {row.kind === "removed" ? (
            <del>{shown?.head}</del>
          ) : row.kind === "added" ? (
            <ins>{shown?.head}</ins>
          ) : (
            shown?.head
          )}
        </p>
      )}
      {row.dropped !== undefined && <p class="why">{t().inspector.removedBecause(row.dropped)}</p>}
    </li>
  );
}

/** The number of a message in its request. */
function numberOf(row: Row | undefined): string {
  return row?.n === undefined ? "–" : figure(row.n + 1);
}
