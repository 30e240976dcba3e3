// The preview: what is sent, by what it was made, and what was decided on the way.
import { allFindings, isWorking, preview, previewFailure } from "../preview";
import { current } from "../project";
import { t } from "../language";
import { Icon } from "../ui/icon";
import { Tabs, type Tab } from "../ui/tabs";
import { BodyTab } from "./body-tab";
import { Decisions } from "./decisions";
import { FindingList } from "./finding-list";
import { Messages } from "./messages";
import { PrefixNote } from "./prefix-note";
import { Stages, SwitchesNote } from "./stages";
import { inspectorTab, type InspectorTab } from "./state";

export function Inspector({ isAlone }: { isAlone?: boolean }) {
  const Title = isAlone ? "h1" : "h2";
  const shown = preview.value;
  const failure = previewFailure.value;
  const file = current.value;
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
