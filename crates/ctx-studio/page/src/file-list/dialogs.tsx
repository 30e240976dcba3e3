// Asks for the name of a file, or whether to delete it. The dialog shows the error of the server.
import { useEffect, useState } from "preact/hooks";
import { CallError } from "../transport";
import { FindingList } from "../inspector/finding-list";
import { t } from "../language";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Field } from "../ui/field";
import { answer, losses, nameOf, question, stemOf, type Question } from "./actions";

export function FileDialogs() {
  const asked = question.value;
  const lost = losses.value;
  return (
    <>
      {asked && <Ask key={"file" in asked ? `${asked.kind} ${asked.file.id}` : asked.kind} asked={asked} />}
      {lost && (
        <Dialog title={t().fileList.exportLosses(lost.name)} onClose={() => (losses.value = undefined)}>
          <FindingList findings={lost.findings} />
        </Dialog>
      )}
    </>
  );
}

function Ask({ asked }: { asked: Question }) {
  const texts = t().fileList;
  const path = "file" in asked ? asked.file.path : "";
  const old = stemOf(path);
  const isDelete = asked.kind === "delete";
  const [name, setName] = useState(asked.kind === "duplicate" ? `${old}${t().copySuffix}` : old);
  const [failure, fail] = useState<CallError | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const close = () => (question.value = undefined);
  // Typing replaces the suggested name.
  useEffect(() => {
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.select();
  }, []);
  const isReady = !isBusy && (isDelete || (name.trim() !== "" && !(asked.kind === "rename" && name === old)));
  const submit = async () => {
    if (!isReady) return;
    setBusy(true);
    try {
      await answer(asked, name);
      close();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      fail(error);
      setBusy(false);
    }
  };
  const ending = "file" in asked ? /\.[^.]+$/.exec(path)?.[0] ?? "" : asked.kind === "worldbook" || asked.kind === "conversation" ? ".json" : ".yaml";
  const title =
    asked.kind === "rename" || asked.kind === "duplicate" || asked.kind === "delete"
      ? texts[asked.kind](nameOf(path))
      : texts.createKind(texts.kinds[asked.kind]);
  return (
    <Dialog
      title={title}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>{texts.cancel}</Button>
          <Button kind={isDelete ? "danger" : "main"} isDisabled={!isReady} onClick={() => void submit()} testId="answer">
            {isDelete ? t().delete : asked.kind === "rename" ? t().rename : asked.kind === "duplicate" ? t().duplicate : texts.createNow}
          </Button>
        </>
      }
    >
      {isDelete ? (
        <p>{texts.deleteHelp(path)}</p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <Field
            label={texts.name}
            value={name}
            help={texts.nameHelp(ending)}
            isAutofocused
            size="wide"
            onInput={(next) => {
              setName(next);
              fail(undefined);
            }}
            testId="file-name"
          />
        </form>
      )}
      {asked.kind === "rename" && <p class="soft">{texts.renameHelp}</p>}
      {asked.kind === "worldbook" && <p class="soft">{texts.folderHelp}</p>}
      {failure && (
        <p class="wrong" role="alert" data-test="refused">
          {failure.message || t().offline} {failure.failure.help}
        </p>
      )}
    </Dialog>
  );
}
