import { signal } from "@preact/signals";

export const focusedEntry = signal<string | undefined>();
