// Names of logged operations without message ids.
import { t } from "../language";

export function stepName(label: string): string {
  const { steps, stepCompress } = t().talk;
  const compressed = /^compress (\d+) messages?$/.exec(label);
  if (compressed) return stepCompress(Number(compressed[1]));
  const known = Object.keys(steps).find((start) => label.startsWith(start));
  return known === undefined ? label : (steps[known] ?? label);
}
