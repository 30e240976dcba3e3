// Follows the end of a conversation, unless the reader scrolled up.
import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { first, talkId, wanted } from "./state";

/** Maximum distance from the end to follow it, in pixels. */
const NEAR = 64;

/** Whether new text arrived below the visible part. */
export const hasNewText = signal(false);
let isFollowing = true;

const scroller = () => document.getElementById("page");

/** Scrolls to the end and follows it. */
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

/** Scrolling closes an open menu. */
const isMenuOpen = () => document.querySelector("[role=menu]") !== null;
const isAtTail = () => first.peek() === undefined && wanted.peek() === undefined;

/**
 * Follows the end of a list. A conversation opens at its end. `stamp` changes with the text, and `length` grows with new
 * text.
 */
export function useEnd(list: RefObject<HTMLElement | null>, stamp: string, length: number): void {
  const before = useRef<string | undefined>(undefined);
  const lengthBefore = useRef(0);
  useLayoutEffect(() => {
    const id = talkId.peek() ?? "";
    const isOpened = before.current !== id;
    before.current = id;
    const isLonger = length > lengthBefore.current;
    lengthBefore.current = length;
    if (!list.current || !isAtTail()) return;
    if (isOpened) isFollowing = true;
    if (isFollowing && !isMenuOpen()) scrollDown();
    else if (isLonger) hasNewText.value = true;
  }, [stamp]);
  useEffect(() => {
    const page = scroller();
    if (!page) return;
    const note = () => {
      isFollowing = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR;
      if (isFollowing) hasNewText.value = false;
    };
    // Rows get their real height only near the visible part.
    const sized = new ResizeObserver(() => isFollowing && isAtTail() && !isMenuOpen() && scrollDown());
    page.addEventListener("scroll", note, { passive: true });
    if (list.current) sized.observe(list.current);
    return () => {
      page.removeEventListener("scroll", note);
      sized.disconnect();
    };
  }, [list.current]);
}
