// Light, dark, or as the system has it.
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const KEY = "ctx-studio/theme";
const ORDER: Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>(ORDER.find((known) => known === localStorage.getItem(KEY)) ?? "system");

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});

export function nextTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? "system";
  localStorage.setItem(KEY, theme.value);
}
