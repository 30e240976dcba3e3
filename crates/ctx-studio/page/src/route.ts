// The page that a window shows: `#/preset/FILE`. Every view has an address, so that Back works.
import { signal } from "@preact/signals";

export const PAGES = ["preset", "agent", "pipeline", "talk", "books", "preview", "compare", "requests", "import", "files", "start"] as const;
export type PageName = (typeof PAGES)[number];
/** Pages whose address is not their name, which leads to them too. */
const ADDRESSES: Partial<Record<PageName, string>> = { talk: "chat" };
export interface Route {
  page: PageName;
  file?: string;
}

function read(): Route {
  const [page, file] = location.hash.replace(/^#\/?/, "").split("/");
  const known = page === ADDRESSES.talk ? "talk" : (PAGES.find((name) => name === page) ?? "preset");
  return { page: known, file: file ? decodeURIComponent(file) : undefined };
}

export const route = signal<Route>(read());

addEventListener("hashchange", () => (route.value = read()));

export function address(page: PageName, file = route.value.file): string {
  const name = ADDRESSES[page] ?? page;
  return file ? `#/${name}/${encodeURIComponent(file)}` : `#/${name}`;
}

export function go(page: PageName, file = route.value.file, isReplaced = false): void {
  const next = address(page, file);
  if (isReplaced) {
    history.replaceState(null, "", next);
    route.value = read();
  } else if (location.hash !== next) {
    location.hash = next;
  }
}
