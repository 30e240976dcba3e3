// What stands around every page: the file, the turn, the pages, the preview.
import { access, isOutdated, isReachable } from "../transport";
import { announcement, closeToast, toasts } from "../announce";
import { refusals } from "../files";
import { current, projectFailure, projectInfo } from "../project";
import { route } from "../route";
import { t } from "../language";
import { Button, IconButton } from "../ui/button";
import { Icon } from "../ui/icon";
import { Header } from "./header";
import { Navigation } from "./navigation";
import { TurnBar } from "./turn-bar";
import { Closed } from "./closed";
import { ConflictBar } from "./conflict";
import { SaveDialog } from "./save";
import { keepScroll } from "./scroll";
import { Shortcuts } from "./shortcuts";
import { columns, Splitter } from "./splitter";
import { AgentPage } from "../agent/agent-page";
import { BooksPage } from "../books/books-page";
import { PipelinePage } from "../pipeline/pipeline-page";
import { TalkPage } from "../talk/talk-page";
import { PresetPage } from "../preset/preset-page";
import { Inspector } from "../inspector/inspector";
import { ComparePage } from "../compare/compare-page";
import { FileDialogs } from "../file-list/dialogs";
import { FilesPage } from "../file-list/files-page";
import { ImportPage } from "../import/import-page";
import { DropZone } from "../import/drop";
import { RequestsPage } from "../requests/requests-page";
import { StartPage } from "../start/start-page";

export function Frame() {
  if (access.value === "closed") return <Closed />;
  const { page } = route.value;
  const isStart = page === "start";
  return (
    <>
      <a
        class="skip"
        href="#page"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("page")?.focus();
        }}
      >
        {t().skip}
      </a>
      <Header />
      {!isStart && page !== "requests" && <TurnBar />}
      <Bars />
      <div class={`body on-${page}`} style={columns()}>
        {!isStart && <Navigation />}
        <main id="page" ref={keepScroll} tabIndex={-1} class={page === "preview" ? "beside" : ""}>
          {page === "preview" && <Inspector isAlone />}
          {page === "preset" && <PresetPage />}
          {page === "agent" && <AgentPage />}
          {page === "pipeline" && <PipelinePage />}
          {page === "talk" && <TalkPage />}
          {page === "books" && <BooksPage />}
          {page === "compare" && <ComparePage />}
          {page === "requests" && <RequestsPage />}
          {page === "import" && <ImportPage />}
          {page === "files" && <FilesPage />}
          {isStart && <StartPage />}
        </main>
        {!isStart && page !== "preview" && page !== "requests" && (
          <aside class="beside" aria-label={t().preview}>
            <Splitter />
            <Inspector />
          </aside>
        )}
      </div>
      <DropZone />
      <Shortcuts />
      <FileDialogs />
      <SaveDialog />
      <Toasts />
      <div class="hidden" role="status" aria-live="polite" data-test="announcement">
        {announcement.value}
      </div>
    </>
  );
}

/** What must be known before anything else is done. */
function Bars() {
  return (
    <>
      {isOutdated.value && (
        <p class="bar-note warning" role="alert">
          <Icon name="refresh-cw" />
          {t().outdated}
          <Button onClick={() => location.reload()}>{t().reload}</Button>
        </p>
      )}
      {!isReachable.value && (
        <p class="bar-note warning" role="alert">
          <Icon name="triangle-alert" />
          {t().unreachable}
        </p>
      )}
      {projectFailure.value && (
        <p class="bar-note error" role="alert">
          <Icon name="circle-alert" />
          {projectFailure.value.message || t().failed}
          <Button onClick={() => location.reload()}>{t().tryAgain}</Button>
        </p>
      )}
      {projectInfo.value?.isCut && <p class="bar-note">{t().tooManyFiles(projectInfo.value.files.length)}</p>}
      {current.value && <ConflictBar key={current.value.id} file={current.value} />}
      {refusals.value
        .filter((file) => file !== current.value)
        .map((file) => (
          <ConflictBar key={file.id} file={file} />
        ))}
    </>
  );
}

function Toasts() {
  return (
    <section class="toasts" aria-label={t().notices}>
      {toasts.value.map((toast) => (
        <div key={toast.id} class={`toast ${toast.kind}`} role={toast.kind === "error" ? "alert" : "status"}>
          <Icon name={toast.kind === "error" ? "circle-alert" : "info"} />
          <span>
            {toast.text}
            {toast.help && <small>{toast.help}</small>}
          </span>
          {toast.action && (
            <Button
              onClick={() => {
                closeToast(toast.id);
                toast.action?.run();
              }}
            >
              {toast.action.label}
            </Button>
          )}
          <IconButton label={t().close} icon="x" onClick={() => closeToast(toast.id)} />
        </div>
      ))}
    </section>
  );
}
