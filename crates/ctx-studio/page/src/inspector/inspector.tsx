// The preview: what is sent, by what it was made, and what was decided on the way.
import { useLayoutEffect } from "preact/hooks";
import { previewedImport } from "../import/previewed";
import { allFindings, isWorking, preview, previewFailure } from "../preview";
import { current } from "../project";
import { go } from "../route";
import { t } from "../language";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { Tabs, type Tab } from "../ui/tabs";
import { BodyTab } from "./body-tab";
import { Decisions } from "./decisions";
import { FindingList } from "./finding-list";
import { Messages } from "./messages";
import { PrefixNote } from "./prefix-note";
import { Stages, SwitchesNote } from "./stages";
import { inspectorTab, scrolls, type InspectorTab } from "./state";

export function Inspector({ isAlone }: { isAlone?: boolean }) {
  const Title = isAlone ? "h1" : "h2";
  const shown = preview.value;
  const failure = previewFailure.value;
  const file = current.value;
  useScroll(inspectorTab.value, shown !== undefined);
  const isUnread = file !== undefined && !file.server.value && !file.failure.value;
  const isBusy = isWorking.value || isUnread || (file?.pending.value.length ?? 0) > 0;
  const tabs: Tab<InspectorTab>[] = [
    { name: "messages", label: t().tabs.messages, count: shown?.rows.filter(({ n }) => n !== undefined).length },
    { name: "stages", label: t().tabs.stages },
    { name: "decisions", label: t().tabs.decisions, count: shown?.decisions.length },
    { name: "body", label: t().tabs.body },
    { name: "findings", label: t().tabs.findings, count: allFindings.value.length },
  ];
  return (
    <section class="inspector" aria-labelledby="inspector-title" aria-busy={isBusy}>
      <Title id="inspector-title" class="hidden">
        {t().preview}
      </Title>
      <Tabs
        label={t().preview}
        id="inspector"
        tabs={tabs}
        chosen={inspectorTab.value}
        choose={(next) => (inspectorTab.value = next)}
      >
        {previewedImport.value && <ImportNote isAlone={isAlone} />}
        <SwitchesNote />
        {failure && (
          <p class="bar-note error" role="alert">
            <Icon name="circle-alert" />
            <span>
              {failure.message || t().previewFailed} {failure.failure.help}
            </span>
          </p>
        )}
        {shown?.infeasible && (
          <p class="bar-note error" role="alert">
            <Icon name="triangle-alert" />
            <span>{shown.infeasible.message}</span>
          </p>
        )}
        <PrefixNote />
        {inspectorTab.value === "findings" ? (
          <FindingList findings={allFindings.value} file={file} hasPlaces emptyText={t().noFindings} />
        ) : !shown ? (
          !failure && <p class="empty soft">{t().loading}</p>
        ) : inspectorTab.value === "messages" ? (
          <Messages shown={shown} />
        ) : inspectorTab.value === "stages" ? (
          <Stages shown={shown} />
        ) : inspectorTab.value === "decisions" ? (
          <Decisions shown={shown} />
        ) : (
          <BodyTab shown={shown} />
        )}
      </Tabs>
    </section>
  );
}

/** Keeps how far each tab is scrolled, from preview to preview and from page to page. */
function useScroll(tab: InspectorTab, isShown: boolean): void {
  useLayoutEffect(() => {
    const panel = document.getElementById("inspector-panel");
    if (!panel || !isShown) return;
    const place = scrolls.get(tab) ?? 0;
    const note = () => scrolls.set(tab, panel.scrollTop);
    panel.scrollTop = place;
    // Rows have their real heights, and open ones their texts, when they were drawn.
    const frame = requestAnimationFrame(() => {
      panel.scrollTop = place;
      panel.addEventListener("scroll", note, { passive: true });
    });
    return () => {
      cancelAnimationFrame(frame);
      panel.removeEventListener("scroll", note);
    };
  }, [tab, isShown]);
}

function ImportNote({ isAlone }: { isAlone?: boolean }) {
  return (
    <p class="bar-note" data-test="import-note">
      <Icon name="info" />
      <span>{t().imports.isPreview}</span>
      {isAlone && <Button onClick={() => go("import")}>{t().imports.back}</Button>}
    </p>
  );
}
