// The language of the page, and its texts.
import { computed, effect, signal } from "@preact/signals";
import { en } from "./texts/en";
import { zh } from "./texts/zh";

export type Lang = "en" | "zh";
/** Every catalogue has every text of the English one: a missing key does not compile. */
export type Texts = typeof en;

const KEY = "ctx-studio/lang";
const stored = localStorage.getItem(KEY);
export const lang = signal<Lang>(stored === "zh" || stored === "en" ? stored : preferred());
const texts = computed<Texts>(() => (lang.value === "zh" ? zh : en));

effect(() => {
  document.documentElement.lang = lang.value === "zh" ? "zh-CN" : "en";
});

/** The texts in the language of now; read it while rendering, so that a change of language is seen. */
export function t(): Texts {
  return texts.value;
}

/** The name of a role; of an unknown one, the word in the file. */
export function roleName(role: string): string {
  const { roles } = t();
  return Object.hasOwn(roles, role) ? (roles[role] ?? role) : role;
}

export function chooseLang(next: Lang): void {
  localStorage.setItem(KEY, next);
  lang.value = next;
}

/** The server's language, unless this browser has chosen one. */
export function suggestLang(next: Lang): void {
  if (!localStorage.getItem(KEY)) lang.value = next;
}

function preferred(): Lang {
  return navigator.language.startsWith("zh") ? "zh" : "en";
}

// Made once: a number's own method makes one for each call.
const groups = new Intl.NumberFormat("en-US");

/** A figure with its digits in groups. */
export function figure(value: number): string {
  return groups.format(value);
}
