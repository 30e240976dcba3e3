// The border between the page and the preview: dragged, or moved by the arrow keys.
import { signal } from "@preact/signals";
import { t } from "../language";

const KEY = "ctx-studio/split";
const [LEAST, MOST, USUAL, STEP] = [25, 75, 53, 2];

function stored(): number {
  const share = Number(localStorage.getItem(KEY));
  return share >= LEAST && share <= MOST ? share : USUAL;
}

/** The share of the page in the width of both, in percent. */
const share = signal(stored());

/** The columns of the page and the preview. */
export function columns(): Record<string, string> {
  return { "--page": `${share.value}fr`, "--preview": `${100 - share.value}fr` };
}

function set(next: number): void {
  share.value = Math.round(Math.min(MOST, Math.max(LEAST, next)));
  localStorage.setItem(KEY, String(share.value));
}

export function Splitter() {
  const drag = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const splitter = event.currentTarget;
    if (!splitter.hasPointerCapture(event.pointerId)) return;
    const preview = splitter.parentElement;
    const left = preview?.previousElementSibling?.getBoundingClientRect().left ?? 0;
    const right = preview?.getBoundingClientRect().right ?? 0;
    if (right > left) set(((event.clientX - left) / (right - left)) * 100);
  };
  return (
    <div
      class="splitter"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={t().frame.splitter}
      aria-controls="page"
      aria-valuenow={share.value}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      title={t().frame.splitterHelp}
      data-test="splitter"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.focus();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={drag}
      onDblClick={() => set(USUAL)}
      onKeyDown={(event) => {
        const next = {
          ArrowLeft: share.value - STEP,
          ArrowRight: share.value + STEP,
          Home: LEAST,
          End: MOST,
          Enter: USUAL,
        }[event.key];
        if (next === undefined) return;
        event.preventDefault();
        set(next);
      }}
    />
  );
}
