// Tells people who do not see the page what has happened.
import { signal } from "@preact/signals";

export const announcement = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

export function announce(text: string): void {
  // The same text twice would not be read again: it is taken away for a moment.
  announcement.value = "";
  clearTimeout(timer);
  timer = setTimeout(() => (announcement.value = text), 60);
}

export interface Toast {
  id: number;
  kind: "info" | "error";
  text: string;
  help?: string;
  /** What can be done about it; with that, a notice stays until it is closed. */
  action?: { label: string; run: () => void };
}
export const toasts = signal<Toast[]>([]);
let lastToast = 0;

/** A short notice at the lower edge. Errors stay until they are closed. */
export function toast(text: string, kind: Toast["kind"] = "info", help?: string, action?: Toast["action"]): number {
  const id = ++lastToast;
  toasts.value = [...toasts.value.slice(-3), { id, kind, text, help, action }];
  if (kind === "info" && !action) setTimeout(() => closeToast(id), 5000);
  return id;
}

export function closeToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
