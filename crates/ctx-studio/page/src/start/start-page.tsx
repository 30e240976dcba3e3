// An empty folder: two ways to begin. Nothing is written before a button is pressed.
import { useState } from "preact/hooks";
import type { ImportWritten } from "../api";
import { call, CallError } from "../transport";
import { projectInfo } from "../project";
import { toast } from "../announce";
import { t } from "../language";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { askName } from "../file-list/actions";
import { address, go } from "../route";
import { ImportButton } from "../import/import-button";
import { opened } from "../import/state";

export function StartPage() {
  const [isBusy, setBusy] = useState(false);
  const isFixed = projectInfo.value?.isReadOnly === true;
  const start = async () => {
    setBusy(true);
    try {
      await opened(await call<ImportWritten>("POST", "start", { body: {} }));
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      toast(error.message || t().offline, "error", error.failure.help);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="start-page" aria-labelledby="start-title">
      <h1 id="start-title">{t().startTitle}</h1>
      <p class="soft">{t().startHelp(projectInfo.value?.name ?? "")}</p>
      <div class="ways-in">
        <div class="way">
          <Icon name="rocket" />
          <h2>{t().sample}</h2>
          <p>{t().sampleHelp}</p>
          <Button kind="main" isDisabled={isFixed || isBusy} onClick={() => void start()} testId="write-sample">
            {t().writeSample}
          </Button>
        </div>
        <div class="way">
          <Icon name="upload" />
          <h2>{t().bring}</h2>
          <p>{t().bringHelp}</p>
          <ImportButton isDisabled={isFixed} />
        </div>
        <div class="way">
          <Icon name="user" />
          <h2>{t().frame.newAgent}</h2>
          <p>{t().frame.newAgentHelp}</p>
          <Button
            isDisabled={isFixed}
            onClick={() => askName({ kind: "agent", then: ({ id }) => go("agent", id) })}
            testId="start-agent"
          >
            {t().frame.createAgent}
          </Button>
        </div>
      </div>
      <p>
        <a href={address("requests")}>{t().requests.explain}</a>
      </p>
      {isFixed && (
        <p class="bar-note warning">
          <Icon name="triangle-alert" />
          {t().readOnlyFolder}
        </p>
      )}
    </section>
  );
}
