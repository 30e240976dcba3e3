// Keeps the scroll position of each page, also after Back and a reload.
import { effect } from "@preact/signals";
import { address, route, type PageName } from "../route";
import { project } from "../transport";

/** Pages that choose the scroll position themselves. */
const OWN: PageName[] = ["preset", "talk"];
/** Frames until a page that stays shorter than before is no longer scrolled. */
const FRAMES = 300;

const key = () => `ctx-studio/${project}/scroll`;

function read(): Record<string, number> {
  try {
    return (JSON.parse(sessionStorage.getItem(key()) ?? "{}") ?? {}) as Record<string, number>;
  } catch {
    return {};
  }
}

/** Notes and restores the place of the page. Runs while the frame is shown. */
export function keepScroll(): () => void {
  const places = read();
  let shown: string | undefined;
  let isRestoring = 0;
  const onScroll = (event: Event) => {
    const page = event.target;
    if (!(page instanceof HTMLElement) || page.id !== "page" || isRestoring > 0 || shown === undefined) return;
    places[shown] = page.scrollTop;
    sessionStorage.setItem(key(), JSON.stringify(places));
  };
  const restore = (place: number, frames: number) => {
    const page = document.getElementById("page");
    if (page) page.scrollTop = place;
    const isThere = page && Math.abs(page.scrollTop - place) < 2;
    if (isThere || frames === 0) isRestoring = 0;
    else isRestoring = requestAnimationFrame(() => restore(place, frames - 1));
  };
  // A person who scrolls knows better.
  const onWheel = () => {
    cancelAnimationFrame(isRestoring);
    isRestoring = 0;
  };
  const end = effect(() => {
    const { page } = route.value;
    const next = address(page);
    if (next === shown) return;
    cancelAnimationFrame(isRestoring);
    shown = OWN.includes(page) ? undefined : next;
    if (shown === undefined) return void (isRestoring = 0);
    const place = places[next] ?? 0;
    isRestoring = requestAnimationFrame(() => restore(place, FRAMES));
  });
  document.addEventListener("scroll", onScroll, true);
  document.addEventListener("wheel", onWheel, { capture: true, passive: true });
  document.addEventListener("keydown", onWheel, true);
  return () => {
    end();
    document.removeEventListener("scroll", onScroll, true);
    document.removeEventListener("wheel", onWheel, true);
    document.removeEventListener("keydown", onWheel, true);
  };
}
