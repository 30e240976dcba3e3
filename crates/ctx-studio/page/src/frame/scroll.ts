// Keeps the scroll position of each page, also after Back and a reload.
import { effect } from "@preact/signals";
import { address, route, type PageName } from "../route";
import { project } from "../transport";

/** Pages that choose the scroll position themselves. */
const OWN: PageName[] = ["preset", "talk"];

const key = () => `ctx-studio/${project}/scroll`;

function read(): Record<string, number> {
  try {
    return (JSON.parse(sessionStorage.getItem(key()) ?? "{}") ?? {}) as Record<string, number>;
  } catch {
    return {};
  }
}

let stop: (() => void) | undefined;

/** The `ref` of the element that scrolls: it is watched while it is shown. */
export function keepScroll(page: HTMLElement | null): void {
  stop?.();
  stop = page ? watch(page) : undefined;
}

function watch(page: HTMLElement): () => void {
  const places = read();
  let shown: string | undefined;
  let place = 0;
  let written = 0;
  const onScroll = () => {
    if (shown === undefined) return;
    // Only what a person did counts: not `restore`, and not the end of a page that became shorter.
    const end = page.scrollHeight - page.clientHeight;
    if (page.scrollTop === written || (page.scrollTop < place && page.scrollTop > end - 2)) return;
    written = NaN;
    place = page.scrollTop;
    places[shown] = place;
    sessionStorage.setItem(key(), JSON.stringify(places));
  };
  const restore = () => {
    if (shown === undefined) return;
    page.scrollTop = place;
    written = page.scrollTop;
  };
  const sizes = new ResizeObserver(restore);
  const observe = () => {
    sizes.disconnect();
    for (const child of page.children) sizes.observe(child);
  };
  const children = new MutationObserver(observe);
  children.observe(page, { childList: true });
  observe();
  const end = effect(() => {
    const { page: name } = route.value;
    const next = address(name);
    if (next === shown) return;
    shown = OWN.includes(name) ? undefined : next;
    place = places[next] ?? 0;
    restore();
  });
  page.addEventListener("scroll", onScroll, { passive: true });
  return () => {
    end();
    sizes.disconnect();
    children.disconnect();
    page.removeEventListener("scroll", onScroll);
  };
}
