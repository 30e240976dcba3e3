import { signal } from "@preact/signals";

/** Pointer of the preset entry that has the focus, as in the sources of the preview's rows. */
export const focusedEntry = signal<string | undefined>();
