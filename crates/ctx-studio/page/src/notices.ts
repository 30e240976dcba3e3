// One WebSocket for the notices of other windows and programs.
import { effect, signal } from "@preact/signals";
import type { Notice } from "./api";
import { access, isConnected, socketProtocols, thisWindow } from "./transport";
import { openFiles } from "./files";
import { loadProject, projectInfo } from "./project";
import { shown } from "./shown";

/** Counts up when a file changed that this window did not change: what is computed from it is stale. */
export const outside = signal(0);

/** Counts up when the server tells of an answer that is being written. */
export const turnTold = signal(0);

let socket: WebSocket | undefined;
let last: { run: string; seq: number } | undefined;
let wait = 500;
let retry: ReturnType<typeof setTimeout> | undefined;

export function listen(): void {
  effect(() => {
    const first = projectInfo.value;
    // Whatever was read, was read after it.
    last ??= first && { run: first.run, seq: first.seq };
  });
  effect(() => {
    if (access.value === "open") connect();
  });
  // A sleeping tab loses its socket without hearing of it.
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && access.value === "open" && socket?.readyState !== WebSocket.OPEN)
      connect();
  });
}

function connect(): void {
  clearTimeout(retry);
  if (socket && socket.readyState <= WebSocket.OPEN) return;
  const since = last ? `?since=${last.seq}&run=${encodeURIComponent(last.run)}` : "";
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const opened = new WebSocket(`${scheme}://${location.host}/api/events${since}`, socketProtocols());
  socket = opened;
  let hadOpened = false;
  opened.onopen = () => {
    hadOpened = true;
    wait = 500;
    isConnected.value = true;
  };
  opened.onmessage = (event) => {
    if (typeof event.data === "string") hear(JSON.parse(event.data) as Notice);
  };
  opened.onclose = () => {
    if (socket === opened) {
      socket = undefined;
      isConnected.value = false;
    }
    if (access.value !== "open") return;
    // Why a socket does not open is not told: a server that began anew, which wants another link, says so when asked.
    if (!hadOpened) void loadProject();
    retry = setTimeout(connect, wait);
    wait = Math.min(wait * 2, 15_000);
  };
}

function hear(notice: Notice): void {
  last = { run: notice.run, seq: notice.seq };
  if (notice.by && notice.by === thisWindow()) return;
  if (notice.type === "turn") return void turnTold.value++;
  void shown().then(() => follow(notice));
}

function follow(notice: Notice): void {
  if (notice.type === "resync") {
    void loadProject();
    for (const file of openFiles()) void file.load();
  } else if (notice.type === "project") {
    void loadProject();
  } else {
    for (const file of openFiles()) {
      const isNews =
        file.id === notice.id && (notice.type === "file" || notice.revision !== file.server.value?.revision);
      if (isNews) void file.load();
    }
    if (notice.type === "file") void loadProject();
  }
  outside.value++;
}
