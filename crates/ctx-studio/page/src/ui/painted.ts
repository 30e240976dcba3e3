// Waiting for the screen.

/** How long, in milliseconds, a window that nobody sees is waited for: it paints nothing. */
const MOST = 100;

/** Ends when what was drawn is on the screen. */
export function painted(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, MOST);
    requestAnimationFrame(() => setTimeout(resolve));
  });
}
