// Restores the scroll position of the list after Back and after a reload.
import { useLayoutEffect } from "preact/hooks";
import type { RefObject } from "preact";
import { isObject } from "../pointer";
import { store, stored } from "./stored";

/** The first visible row, and its distance above the edge. A distance from the top would be wrong: the heights of
 * rows that were never drawn are estimates. */
interface Place {
  index: number;
  above: number;
}

export function useKeptScroll(list: RefObject<HTMLElement | null>, file: string, isElsewhereWanted: boolean): void {
  useLayoutEffect(() => {
    const scroller = list.current?.closest("main");
    if (!scroller) return;
    const place = stored("scroll", file, sessionStorage);
    if (!isElsewhereWanted) {
      scroller.scrollTop = 0;
      if (isPlace(place)) goTo(scroller, list.current, place);
    }
    const onScroll = () => store("scroll", file, placeOf(scroller, list.current), sessionStorage);
    scroller.addEventListener("scroll", onScroll, { passive: true });
    return () => scroller.removeEventListener("scroll", onScroll);
  }, [file]);
}

function isPlace(value: unknown): value is Place {
  return isObject(value) && typeof value["index"] === "number" && typeof value["above"] === "number";
}

function rows(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>(":scope > [data-entry]:not([hidden])") ?? [])];
}

/** Returns null at the top of the list. */
function placeOf(scroller: Element, list: HTMLElement | null): Place | null {
  const edge = scroller.getBoundingClientRect().top;
  const all = rows(list);
  // Binary search: reading a position forces a layout.
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle]?.getBoundingClientRect().bottom ?? 0) <= edge) low = middle + 1;
    else high = middle;
  }
  const first = all[low];
  if (!first || scroller.scrollTop === 0) return null;
  return { index: Number(first.dataset["index"]), above: edge - first.getBoundingClientRect().top };
}

function goTo(scroller: Element, list: HTMLElement | null, { index, above }: Place): void {
  const row = rows(list).findLast((one) => Number(one.dataset["index"]) <= index);
  if (!row) return;
  scroller.scrollTop += row.getBoundingClientRect().top - scroller.getBoundingClientRect().top + above;
}
