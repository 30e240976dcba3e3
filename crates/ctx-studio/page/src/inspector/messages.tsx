// The rows of the request in order; what is not sent stands struck at its place, with its reason.
import type { Row } from "../api";
import type { Shown } from "../preview";
import { figure, t } from "../language";
import { Icon } from "../ui/icon";
import { Paged } from "../ui/paged";
import { Button, IconButton } from "../ui/button";
import { pinPreview } from "../compare/state";
import { MessageRow } from "./message-row";
import { kindClass, kindName, KINDS } from "./kinds";
import { areDroppedShown, openRows, plainKinds, toggled } from "./state";

export function Messages({ shown }: { shown: Shown }) {
  const rows = areDroppedShown.value ? shown.rows : shown.rows.filter(({ n }) => n !== undefined);
  const dropped = shown.rows.filter(({ n }) => n === undefined).length;
  return (
    <>
      <div class="inspector-bar">
        <Legend rows={shown.rows} />
        <span class="gap" />
        {dropped > 0 && (
          <label class="check">
            <input
              type="checkbox"
              checked={areDroppedShown.value}
              onChange={() => (areDroppedShown.value = !areDroppedShown.value)}
            />
            <span>{t().showDropped(dropped)}</span>
          </label>
        )}
        {openRows.value.size > 0 && (
          <IconButton icon="minus" label={t().closeAll} onClick={() => (openRows.value = new Set())} />
        )}
        <Button icon="pin" kind="quiet" onClick={() => void pinPreview()} testId="pin">
          {t().pinAsA}
        </Button>
      </div>
      {rows.length === 0 && <p class="empty soft">{t().nothingSent}</p>}
      <Paged count={rows.length} label={t().tabs.messages}>
        {(from, to) => (
          <List rows={rows.slice(from, to)} shown={shown} before={from} isLast={to === rows.length} />
        )}
      </Paged>
    </>
  );
}

function List({
  rows,
  shown,
  before,
  isLast,
}: {
  rows: Row[];
  shown: Shown;
  before: number;
  /** Whether these are the last rows. */
  isLast: boolean;
}) {
  const seen = new Map<string, number>();
  const { stable, prefix } = shown;
  const sent = shown.rows.filter(({ n }) => n !== undefined).length;
  /** The lines above a message; a dropped row in between does not matter. */
  const linesAt = (n: number) => [
    ...(n > 0 && prefix?.messages === n ? [<RepeatedLine key="repeated" />] : []),
    ...(stable?.messages === n ? [<CacheLine key="cache" stable={stable} />] : []),
  ];
  return (
    <ol class="rows" aria-label={t().tabs.messages} start={before + 1}>
      {rows.flatMap((row) => {
        // Two rows may be equal in all that they show.
        const count = seen.get(row.key) ?? 0;
        seen.set(row.key, count + 1);
        return [...(row.n === undefined ? [] : linesAt(row.n)), <MessageRow key={`${row.key}/${count}`} row={row} />];
      })}
      {isLast && sent > 0 && linesAt(sent)}
    </ol>
  );
}

/** Where the part ends that repeats the previous request. */
function RepeatedLine() {
  return (
    <li class="cache repeated" data-test="repeated">
      <span>{t().repeatedUpToHere}</span>
    </li>
  );
}

/** Where the part ends that the next turn sends again unchanged. */
function CacheLine({ stable }: { stable: NonNullable<Shown["stable"]> }) {
  const text =
    stable.messages === 0
      ? t().nothingCached
      : t().cached(stable.messages, stable.tokens === undefined ? undefined : figure(stable.tokens));
  return (
    <li class="cache" data-test="cache">
      <span>
        {text}
        {stable.reason && (
          <>
            {" "}
            <span class="soft">{stable.reason}</span>
          </>
        )}
      </span>
    </li>
  );
}

function Legend({ rows }: { rows: Row[] }) {
  const there = new Set(rows.map(({ source }) => source));
  const kinds = [
    ...KINDS.filter((kind) => there.has(kind)),
    ...["macro", "variable"].filter((kind) => !there.has(kind)),
  ];
  return (
    <span class="legend" role="group" aria-label={t().colours}>
      {kinds.map((kind) => {
        const isOn = !plainKinds.value.has(kind);
        return (
          <button
            key={kind}
            type="button"
            aria-pressed={isOn}
            onClick={() => (plainKinds.value = toggled(plainKinds.value, kind))}
            title={t().toggleColour}
          >
            <span class={`sample ${isOn ? `piece ${kindClass(kind)}` : ""}`}>
              {isOn ? <Icon name="check" /> : null}
              {kindName(kind)}
            </span>
          </button>
        );
      })}
    </span>
  );
}
