// Starts the page: the token, the folder, the preview, the notices.
import { render } from "preact";
import { access, enter } from "./transport";
import { identify, leftBehind } from "./unsent";
import { followLanguage, resume } from "./files";
import { followRegistry, loadProject } from "./project";
import { followPreview } from "./preview";
import { listen } from "./notices";
import { followTitle } from "./title";
import { Frame } from "./frame/frame";

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
  if (access.value !== "open") return;
  resume(await leftBehind());
  await loadProject();
  followTitle();
  followLanguage();
  followRegistry();
  followPreview();
  listen();
}

void start();
