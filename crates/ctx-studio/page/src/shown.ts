// What somebody waits for comes first on the screen: a step, a jump. Whoever computes or asks for more waits for it.

/** How long, in milliseconds, a window that nobody sees is waited for: it paints nothing. */
const MOST = 100;

const awaited = new Set<Promise<unknown>>();

/** Notes that somebody waits for this. */
export function soon<T>(work: Promise<T>): Promise<T> {
  awaited.add(work);
  const over = () => awaited.delete(work);
  work.then(over, over);
  return work;
}

/** Ends when nothing is waited for, and what came is on the screen. */
export async function shown(): Promise<void> {
  if (awaited.size === 0) return;
  while (awaited.size > 0) await Promise.allSettled(awaited);
  await painted();
}

/** Ends when what was drawn is on the screen. */
export function painted(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, MOST);
    requestAnimationFrame(() => setTimeout(resolve));
  });
}
