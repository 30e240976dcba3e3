// Words and figures of requests.
import type { LogCause } from "../api";
import { t } from "../language";

export function dollars(amount: number): string {
  return `$${amount.toFixed(amount >= 100 ? 2 : 4)}`;
}

export function percent(part: number, whole: number): string {
  return `${whole > 0 ? Math.min(100, Math.floor((part * 100) / whole)) : 0}%`;
}

/** Name of a change, such as `edited`. */
export function changeText(change: string): string {
  const { changes } = t().requests;
  return Object.hasOwn(changes, change) ? (changes[change] ?? change) : change;
}

/** Part of a request, such as `tools`, with the name of the tool or parameter. */
export function causeText({ in: section, subject, change }: LogCause): string {
  const { sections } = t().requests;
  const name = Object.hasOwn(sections, section) ? sections[section] : section;
  return `${name}${subject === undefined ? "" : ` ${subject}`}${t().requests.colon}${changeText(change)}`;
}

/** Place of a block or change, such as `message 3`. */
export function placeText(section: string, number?: number, name?: string): string {
  const { sections, places } = t().requests;
  const place = Object.hasOwn(places, section) && number !== undefined ? places[section]?.(number) : sections[section];
  return name === undefined ? (place ?? section) : `${place ?? section} ${name}`;
}
