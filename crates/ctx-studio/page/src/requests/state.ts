// The request logs of the folder, the analysis of one of them, and the two requests that are compared.
import { computed, signal } from "@preact/signals";
import type { LogCause, LogFile, LogList, LogPair, LogRequest, LogView } from "../api";
import { announce } from "../announce";
import { t } from "../language";
import { call, CallError } from "../transport";

/** Logs of the folder; undefined until they are listed. */
export const logs = signal<LogFile[] | undefined>(undefined);
export const hasMoreLogs = signal(false);
/** The open log. A dropped log has no id. */
export const shown = signal<{ name: string; id?: string; view: LogView } | undefined>(undefined);
/** Name of the log that is being analyzed. */
export const analyzing = signal<string | undefined>(undefined);
export const failure = signal<string | undefined>(undefined);
/** Position of the selected cause. */
export const cause = signal<number | undefined>(undefined);
export const onlyBreaks = signal(false);
/** Index of the open request. */
export const opened = signal<number | undefined>(undefined);
export const pair = signal<LogPair | undefined>(undefined);
export const pairFailure = signal<string | undefined>(undefined);

/** Maximum size of a dropped log. The server rejects larger ones. */
const MOST = 64 << 20;
const TIMEOUT = 60_000;
let asked = 0;
let askedPair = 0;
/** Lines of the dropped log. */
let lines: string[] = [];

export const rows = computed<LogRequest[]>(() => {
  const view = shown.value?.view;
  const wanted = cause.value === undefined ? undefined : view?.causes[cause.value];
  const isShown = (request: LogRequest) => (wanted ? isOfCause(request, wanted) : !onlyBreaks.value || request.break !== undefined);
  return view?.requests.filter(isShown) ?? [];
});

function isOfCause({ break: found }: LogRequest, wanted: LogCause): boolean {
  return found?.in === wanted.in && found.change === wanted.change && found.subject === wanted.subject;
}

const reason = (error: unknown) => (error instanceof CallError ? error.message || t().offline : String(error));

export async function loadLogs(): Promise<void> {
  failure.value = undefined;
  try {
    const list = await call<LogList>("GET", "logs");
    logs.value = list.logs;
    hasMoreLogs.value = list.isCut === true;
    const [first] = list.logs;
    if (first && list.logs.length === 1 && !shown.value && !analyzing.value) await openLog(first);
  } catch (error) {
    failure.value = reason(error);
  }
}

export function openLog({ id, path }: LogFile): Promise<void> {
  return analyze(path, id, () => call<LogView>("GET", `logs/${id}`, { timeout: TIMEOUT }));
}

/** Analyzes a file that is not in the folder. */
export function openDropped(file: File): Promise<void> {
  return analyze(file.name, undefined, async () => {
    if (file.size > MOST) throw new CallError(413, { code: "too-large", message: t().requests.tooLarge(file.name) });
    const view = await call<LogView>("POST", "log", { bytes: file, timeout: TIMEOUT });
    lines = (await file.text()).split("\n");
    return view;
  });
}

async function analyze(name: string, id: string | undefined, ask: () => Promise<LogView>): Promise<void> {
  const mine = ++asked;
  analyzing.value = name;
  failure.value = undefined;
  try {
    const view = await ask();
    if (mine !== asked) return;
    shown.value = { name, id, view };
    cause.value = undefined;
    onlyBreaks.value = false;
    close();
    announce(t().requests.analyzed(view.total.requests));
  } catch (error) {
    if (mine === asked) failure.value = `${name}: ${reason(error)}`;
  }
  if (mine === asked) analyzing.value = undefined;
}

/** Compares a request with the previous request, or closes the comparison. */
export async function toggle({ index, line, before }: LogRequest): Promise<void> {
  if (opened.value === index) return close();
  close();
  opened.value = index;
  const log = shown.value;
  if (before === undefined || !log) return;
  const mine = ++askedPair;
  try {
    const found = log.id
      ? await call<LogPair>("GET", `logs/${log.id}/pair?before=${before}&after=${line}`, { timeout: TIMEOUT })
      : await call<LogPair>("POST", "log/pair", { bytes: new Blob([`${lines[before - 1]}\n${lines[line - 1]}`]), timeout: TIMEOUT });
    if (mine === askedPair) pair.value = found;
  } catch (error) {
    if (mine === askedPair) pairFailure.value = reason(error);
  }
}

export function close(): void {
  askedPair++;
  opened.value = undefined;
  pair.value = undefined;
  pairFailure.value = undefined;
}
