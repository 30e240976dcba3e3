// The one way to the server: every request of the page is a `call`.
import type { Failure, LoggedIn } from "./api";
import { lang } from "./language";
import { signal } from "@preact/signals";

/** What a request ends with if it fails: the server's failure, or one of the page's own codes. */
export class CallError extends Error {
  constructor(
    readonly status: number,
    readonly failure: Failure,
  ) {
    super(failure.message);
  }
  /** The request did not reach the server, no answer came, or the server began anew: it can be sent again. */
  get isOffline(): boolean {
    return this.status === 0 || this.status === 401 || this.status === 503;
  }
  get isConflict(): boolean {
    return this.status === 409;
  }
}

export interface CallOptions {
  body?: unknown;
  /** Bytes instead of JSON. */
  bytes?: Blob;
  ifMatch?: string;
  timeout?: number;
  /** It is sent even if the window is closed meanwhile. */
  outlives?: boolean;
  /** It counts from what this run of the server has told: with the token of another run it is not sent again. */
  isOfRun?: boolean;
}

const TIMEOUT = 30_000;
const LAST = "ctx-studio/last";

/** Identifies this window in notices, so that it does not hear of its own edits. */
let windowId = "";
let token: string | undefined;
let build: string | undefined;
/** The id of the project; all that the page stores carries it, as two projects may follow on one port. */
export let project = "";

export const access = signal<"unknown" | "open" | "closed">("unknown");
/** The server was replaced by another version: this page should be loaded anew. */
export const isOutdated = signal(false);
export const isReachable = signal(true);
/** The socket stands: the server has been there without a break. */
export const isConnected = signal(false);

export function setWindowId(id: string): void {
  windowId = id;
}
export function thisWindow(): string {
  return windowId;
}
export function socketProtocols(): string[] {
  return ["ctx", token ?? ""];
}

export async function call<T>(method: "GET" | "POST" | "DELETE", path: string, options: CallOptions = {}): Promise<T> {
  const headers: Record<string, string> = { "accept-language": lang.value, "x-ctx-window": windowId };
  const sent = token;
  if (sent) headers["authorization"] = `Bearer ${sent}`;
  if (options.ifMatch !== undefined) headers["if-match"] = `"${options.ifMatch}"`;
  let body: BodyInit | undefined;
  if (options.bytes) {
    headers["content-type"] = "application/octet-stream";
    body = options.bytes;
  } else if (method === "POST") {
    headers["content-type"] = "application/json";
    body = JSON.stringify(options.body ?? {});
  }
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), options.timeout ?? TIMEOUT);
  try {
    const response = await fetch(`/api/${path}`, { method, headers, body, signal: ending.signal, cache: "no-store", keepalive: options.outlives });
    isReachable.value = true;
    noticeBuild(response.headers.get("x-ctx-build"));
    if (response.ok) return (await response.json()) as T;
    if (response.status === 401 && path !== "login") {
      // A new link was opened while this was on its way.
      const isNew = token !== sent;
      if (isNew && !options.isOfRun) return await call<T>(method, path, options);
      if (!isNew) access.value = "closed";
    }
    throw new CallError(response.status, await failureOf(response));
  } catch (error) {
    if (error instanceof CallError) throw error;
    if (!ending.signal.aborted) isReachable.value = false;
    const code = ending.signal.aborted ? "timeout" : "offline";
    throw new CallError(0, { code, message: "" });
  } finally {
    clearTimeout(timer);
  }
}

async function failureOf(response: Response): Promise<Failure> {
  try {
    const failure = (await response.json()) as Failure;
    if (typeof failure.message === "string") return failure;
  } catch {
    // A failure without JSON is told by its status.
  }
  return { code: `HTTP ${response.status}`, message: response.statusText };
}

function noticeBuild(now: string | null): void {
  if (!now) return;
  if (build && build !== now) isOutdated.value = true;
  build ??= now;
}

/** Takes the one-time code out of the address, trades it for a token, or finds the token of before. */
export async function enter(): Promise<void> {
  const code = takeCode();
  if (code) {
    try {
      const { token: fresh, project: id } = await call<LoggedIn>("POST", "login", { body: { code } });
      token = fresh;
      project = id;
      localStorage.setItem(LAST, id);
      localStorage.setItem(`ctx-studio/${id}/token`, fresh);
      access.value = "open";
      return;
    } catch (error) {
      if (!(error instanceof CallError) || error.isOffline) throw error;
      // A used code is no harm if this browser already has a token.
    }
  }
  project = localStorage.getItem(LAST) ?? "";
  token = localStorage.getItem(`ctx-studio/${project}/token`) ?? undefined;
  if (token) access.value = "open";
  else access.value = "closed";
}

/** The link of a server that began anew, opened in this very tab, only changes the address. */
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#code=")) location.reload();
});

/** A server that began anew has another token. Where another window has opened its link, this one goes on with it. */
addEventListener("storage", ({ key, newValue }) => {
  if (!newValue || key !== `ctx-studio/${project}/token` || newValue === token) return;
  token = newValue;
  // Who follows hears that it began anew, also where nothing was asked of it meanwhile.
  access.value = "closed";
  access.value = "open";
});

function takeCode(): string | undefined {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  // The address must not keep it: bookmarks and screenshots would show it.
  if (code) history.replaceState(null, "", location.pathname);
  return code;
}
