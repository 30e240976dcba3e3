// Long lists stand in the page by parts: more rows than this would make every browser slow.
import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { figure, t } from "../language";
import { Button } from "./button";
import { Field } from "./field";

/** Longer lists are shown in pages. */
export const MOST = 900;
export const PAGE = 200;

export function Paged({
  count,
  label,
  wanted,
  children,
}: {
  count: number;
  label: string;
  /** A row that must be seen. */
  wanted?: number;
  children: (from: number, to: number) => ComponentChildren;
}) {
  const [start, setStart] = useState(0);
  useEffect(() => {
    if (wanted !== undefined && wanted >= 0)
      setStart((now) => (wanted >= now && wanted < now + PAGE ? now : Math.max(0, wanted - PAGE / 4)));
  }, [wanted]);
  if (count <= MOST) return <>{children(0, count)}</>;
  const from = Math.max(0, Math.min(start, count - 1));
  const to = Math.min(count, from + PAGE);
  const jump = (next: number) => setStart(Math.max(0, Math.min(next, count - PAGE)));
  return (
    <>
      <Pager from={from} to={to} count={count} label={label} jump={jump} />
      {children(from, to)}
    </>
  );
}

/** Moves through a list of which a page shows a part. */
export function Pager({
  from,
  to,
  count,
  label,
  jump,
}: {
  from: number;
  to: number;
  count: number;
  label: string;
  jump: (next: number) => void;
}) {
  return (
    <nav class="pager" aria-label={label}>
      <Button isDisabled={from === 0} onClick={() => jump(0)}>
        {t().first}
      </Button>
      <Button isDisabled={from === 0} onClick={() => jump(from - PAGE)}>
        {t().earlier}
      </Button>
      <span role="status">{t().rowsOf(figure(from + 1), figure(to), figure(count))}</span>
      <Button isDisabled={to === count} onClick={() => jump(from + PAGE)}>
        {t().later}
      </Button>
      <Button isDisabled={to === count} onClick={() => jump(count)}>
        {t().last}
      </Button>
      <Field
        label={t().goToRow}
        size="short"
        isLazy
        value=""
        inputMode="numeric"
        onInput={(text) => /^\d+$/.test(text) && jump(Number(text) - 1)}
      />
      <input
        class="strip"
        type="range"
        min={0}
        max={count - PAGE}
        step={1}
        value={from}
        aria-label={t().wholeLength}
        onInput={(event) => jump(Number(event.currentTarget.value))}
      />
    </nav>
  );
}
