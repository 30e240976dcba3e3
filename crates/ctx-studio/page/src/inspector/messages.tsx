// The rows of the request in order; what is not sent stands struck at its place, with its reason.
import { useEffect } from "preact/hooks";
import type { Row } from "../api";
import type { Shown } from "../preview";
import { focusedEntry } from "../focused-entry";
import { figure, t } from "../language";
import { Icon } from "../ui/icon";
import { Paged } from "../ui/paged";
import { Button, IconButton } from "../ui/button";
import { pinPreview } from "../compare/state";
import { MessageRow } from "./message-row";
import { kindClass, kindName, KINDS } from "./kinds";
import { areDisabledShown, identified, openRows, plainKinds, toggled, type IdentifiedRow } from "./state";

export function Messages({ shown }: { shown: Shown }) {
  const enabled = shown.rows.filter(({ isDisabled }) => !isDisabled);
  const disabled = shown.rows.length - enabled.length;
  const rows = areDisabledShown.value ? shown.rows : enabled;
  const focused = focusedEntry.value;
  const focusedAt = focused === undefined ? -1 : rows.findIndex(({ entries }) => entries?.includes(focused));
  const isFound = focusedAt >= 0;
  useEffect(() => {
    // The list shows the page with the row first.
    if (isFound) requestAnimationFrame(reveal);
  }, [focused, isFound]);
  return (
    <>
      <div class="inspector-bar">
        <Legend rows={shown.rows} />
        <span class="gap" />
        {disabled > 0 && (
          <label class="check">
            <input
              type="checkbox"
              checked={areDisabledShown.value}
              onChange={() => (areDisabledShown.value = !areDisabledShown.value)}
              data-test="show-disabled"
            />
            <span>{t().inspector.showDisabled(disabled)}</span>
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
      <Paged count={rows.length} label={t().tabs.messages} wanted={isFound ? focusedAt : undefined}>
        {(from, to) => (
          <List
            rows={identified(rows.slice(from, to))}
            focused={rows[focusedAt]}
            shown={shown}
            before={from}
            isLast={to === rows.length}
          />
        )}
      </Paged>
    </>
  );
}

/** Scrolls the preview to the row of the entry that is being edited, unless it is in view. */
function reveal(): void {
  const line = document.querySelector<HTMLElement>(".row[aria-current] > .line");
  const panel = line?.closest<HTMLElement>(".panel");
  if (!line || !panel) return;
  const [row, view] = [line.getBoundingClientRect(), panel.getBoundingClientRect()];
  const bar = panel.querySelector(".inspector-bar")?.getBoundingClientRect().height ?? 0;
  if (row.top < view.top + bar || row.bottom > view.bottom) panel.scrollTop += row.top - view.top - view.height / 3;
}

function List({
  rows,
  focused,
  shown,
  before,
  isLast,
}: {
  rows: IdentifiedRow[];
  focused: Row | undefined;
  shown: Shown;
  before: number;
  /** Whether these are the last rows. */
  isLast: boolean;
}) {
  const { stable, prefix } = shown;
  const sent = shown.rows.filter(({ n }) => n !== undefined).length;
  /** The lines above a message; a dropped row in between does not matter. */
  const linesAt = (n: number) => [
    ...(n > 0 && prefix?.messages === n ? [<RepeatedLine key="repeated" />] : []),
    ...(stable?.messages === n ? [<CacheLine key="cache" stable={stable} />] : []),
  ];
  return (
    <ol class="rows" aria-label={t().tabs.messages} start={before + 1}>
      {rows.flatMap((one) => [
        ...(one.row.n === undefined ? [] : linesAt(one.row.n)),
        <MessageRow key={one.id} id={one.id} row={one.row} isFocused={one.row === focused} />,
      ])}
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
