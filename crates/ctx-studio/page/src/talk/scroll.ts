// Who is at the end of a conversation goes on seeing the end; who reads further up keeps the place.
import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { first, talkId, wanted } from "./state";

/** So near to the end, in pixels, somebody is at it. */
const NEAR = 64;

/** Whether there is text below that was not seen. */
export const hasNewText = signal(false);
let isFollowing = true;

const scroller = () => document.getElementById("page");

/** Shows the end, and what is added to it. */
export function goToEnd(): void {
  first.value = wanted.value = undefined;
  isFollowing = true;
  scrollDown();
}

function scrollDown(): void {
  hasNewText.value = false;
  const page = scroller();
  if (page) page.scrollTop = page.scrollHeight;
}

const isAtTail = () => first.peek() === undefined && wanted.peek() === undefined;

/** Follows the end of a list; `stamp` changes with its text. A conversation opens at its end. */
export function useEnd(list: RefObject<HTMLElement | null>, stamp: string): void {
  const before = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const id = talkId.peek() ?? "";
    const isOpened = before.current !== id;
    before.current = id;
    if (!list.current || !isAtTail()) return;
    if (isOpened) isFollowing = true;
    if (isFollowing) scrollDown();
    else hasNewText.value = true;
  }, [stamp]);
  useEffect(() => {
    const page = scroller();
    if (!page) return;
    const note = () => {
      isFollowing = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR;
      if (isFollowing) hasNewText.value = false;
    };
    // Rows get their height only when they come near the window.
    const sized = new ResizeObserver(() => isFollowing && isAtTail() && scrollDown());
    page.addEventListener("scroll", note, { passive: true });
    if (list.current) sized.observe(list.current);
    return () => {
      page.removeEventListener("scroll", note);
      sized.disconnect();
    };
  }, [list.current]);
}
