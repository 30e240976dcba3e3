// Starts the page: the token, the folder, the preview, the notices.
import { render } from "preact";
import { access, enter } from "./transport";
import { prune } from "./storage";
import { identify, leftBehind, openWindows } from "./unsent";
import { followLanguage, openFiles, resume } from "./files";
import { followRegistry, loadProject, projectInfo } from "./project";
import { followPreview } from "./preview";
import { listen, outside } from "./notices";
import { followPipeline } from "./pipeline/state";
import { followAnswer } from "./talk/answer";
import { followAttached } from "./talk/attached";
import { followDrafts } from "./talk/drafts";
import { followTalk } from "./talk/state";
import { followScan } from "./books/state";
import { followTitle } from "./title";
import { Frame } from "./frame/frame";
import { followPin } from "./frame/pin";

async function start(): Promise<void> {
  await identify();
  try {
    await enter();
  } catch {
    // Not reachable: the frame says so, and offers to try again.
    access.value = "closed";
  }
  const root = document.getElementById("app");
  if (root) render(<Frame />, root);
  if (access.value !== "open") {
    // Another window may open a new link: this one begins with its token then.
    return void access.subscribe((now) => now === "open" && location.reload());
  }
  const alive = await openWindows();
  await loadProject();
  // Behind it, since it tells from where on this window hears of changes; and before anything is shown to be edited.
  resume(leftBehind(alive));
  if (projectInfo.value?.isCut === false) prune(new Set(projectInfo.value.files.map(({ id }) => id)));
  followPin();
  followTitle();
  followLanguage();
  followAccess();
  followRegistry();
  followPreview();
  followScan();
  followPipeline();
  followDrafts();
  followTalk();
  followAnswer();
  followAttached();
  listen();
}

/** When a server that began anew is open again, it gets what it has missed, and all is read again. */
function followAccess(): void {
  let before = access.value;
  access.subscribe((now) => {
    const isBack = before === "closed" && now === "open";
    before = now;
    if (!isBack) return;
    void loadProject();
    for (const file of openFiles()) void file.reopen();
    outside.value++;
  });
}

void start();
