// A stands still while B follows the page.
import { effect, signal } from "@preact/signals";
import type { Compared } from "../api";
import { call, CallError } from "../transport";
import { pinned, preview, type Instead, type Shown } from "../preview";
import { announce, toast } from "../announce";
import { t } from "../language";

export interface Pinned {
  label: string;
  shown: Shown;
}
export const a = signal<Pinned | undefined>(undefined);
export const compared = signal<{ value: Compared; a: Shown; b: Shown } | undefined>(undefined);
export const compareFailure = signal<string | undefined>(undefined);

let asked = 0;

/** Pins what the preview shows, or what it would show for something else. */
export async function pinPreview(label = "", instead: Instead = {}): Promise<void> {
  try {
    const shown = await pinned(instead);
    const time = new Date().toLocaleTimeString(document.documentElement.lang);
    a.value = { label: label || t().pinnedAt(time), shown };
    announce(t().pinnedNow);
    if (!label) toast(t().pinnedNow);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    toast(error.message || t().previewFailed, "error", error.failure.help);
  }
}

export function unpin(): void {
  a.value = undefined;
  compared.value = undefined;
}

/** Compares again whenever A or B is another. Runs while the page Compare is shown. */
export function followComparison(): () => void {
  return effect(() => {
    const first = a.value?.shown;
    const second = preview.value;
    if (!first || !second) return;
    const mine = ++asked;
    call<Compared>("POST", "compare", { body: { a: first.id, b: second.id } }).then(
      (value) => {
        if (mine !== asked) return;
        compared.value = { value, a: first, b: second };
        compareFailure.value = undefined;
      },
      (error: unknown) => {
        if (mine !== asked) return;
        compareFailure.value = error instanceof CallError ? error.message || t().offline : String(error);
      },
    );
  });
}
