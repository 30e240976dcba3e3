// Dragging with pointer events: mouse, pen and finger alike. The keyboard has Alt+Up, Alt+Down and "Move to…".

/** Where a drag would drop: before the row with this index; the number of rows means the end. */
export interface DragOptions {
  list: HTMLElement;
  /** The keys of the rows that move. */
  keys: ReadonlySet<string>;
  onDrop: (to: number) => void;
  onEnd: () => void;
}

const EDGE = 48;
const SLOP = 4;

/** Begins to watch a pointer that was pressed on a handle. */
export function startDrag(event: PointerEvent, { list, keys, onDrop, onEnd }: DragOptions): void {
  if (event.button !== 0) return;
  event.preventDefault();
  const handle = event.currentTarget as HTMLElement;
  handle.setPointerCapture(event.pointerId);
  const scroller = scrollerOf(list);
  const line = document.createElement("div");
  line.className = "drop-line";
  const startY = event.clientY;
  let y = startY;
  let isMoving = false;
  let to: number | undefined;
  let frame = 0;

  const rows = () => [...list.querySelectorAll<HTMLElement>(":scope > [data-entry]:not([hidden])")];

  const draw = () => {
    const all = rows();
    let target = all.findIndex((row) => {
      const box = row.getBoundingClientRect();
      return y < box.top + Math.min(box.height, 120) / 2;
    });
    if (target < 0) target = all.length;
    const last = all.at(-1)?.dataset;
    to = Number(all[target]?.dataset["index"] ?? last?.["end"] ?? Number(last?.["index"] ?? -1) + 1);
    const edge = all[target]?.getBoundingClientRect().top ?? all.at(-1)?.getBoundingClientRect().bottom ?? 0;
    line.style.top = `${edge - list.getBoundingClientRect().top}px`;
  };

  const scroll = () => {
    const box = scroller.getBoundingClientRect();
    const top = Math.max(0, box.top);
    const bottom = Math.min(innerHeight, box.bottom);
    const by = y < top + EDGE ? y - top - EDGE : y > bottom - EDGE ? y - bottom + EDGE : 0;
    if (by !== 0) scroller.scrollBy(0, by / 4);
    draw();
    frame = requestAnimationFrame(scroll);
  };

  const onMove = (move: PointerEvent) => {
    y = move.clientY;
    if (isMoving || Math.abs(y - startY) < SLOP) return;
    isMoving = true;
    list.append(line);
    list.classList.add("dragging");
    for (const row of rows()) row.classList.toggle("dragged", keys.has(row.dataset["entry"] ?? ""));
    frame = requestAnimationFrame(scroll);
  };

  const end = (isDropped: boolean) => {
    cancelAnimationFrame(frame);
    if (isMoving && isDropped) draw();
    line.remove();
    list.classList.remove("dragging");
    for (const row of rows()) row.classList.remove("dragged");
    handle.removeEventListener("pointermove", onMove);
    handle.removeEventListener("pointerup", onUp);
    handle.removeEventListener("pointercancel", onCancel);
    document.removeEventListener("keydown", onKey, true);
    if (isMoving && isDropped && to !== undefined) onDrop(to);
    onEnd();
  };
  const onUp = () => end(true);
  const onCancel = () => end(false);
  const onKey = (key: KeyboardEvent) => {
    if (key.key !== "Escape") return;
    key.stopPropagation();
    end(false);
  };
  handle.addEventListener("pointermove", onMove);
  handle.addEventListener("pointerup", onUp);
  handle.addEventListener("pointercancel", onCancel);
  document.addEventListener("keydown", onKey, true);
}

function scrollerOf(element: HTMLElement): Element {
  for (let at = element.parentElement; at; at = at.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(at).overflowY) && at.scrollHeight > at.clientHeight) return at;
  }
  return document.scrollingElement ?? document.documentElement;
}
