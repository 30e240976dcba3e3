// Adds a message by hand; no model is asked.
import { useState } from "preact/hooks";
import { t } from "../language";
import { Button } from "../ui/button";
import { Select } from "../ui/field";
import { isBusy, take } from "./state";

const ROLES = ["user", "assistant", "system"];

export function Composer() {
  const [text, setText] = useState("");
  const [role, setRole] = useState("user");
  const { addMessage, messageHint } = t().talk;
  const add = async () => {
    if (text.trim() !== "" && (await take({ kind: "append", role, text }))) setText("");
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <Select
        label={t().role}
        isLabelHidden
        value={role}
        size="short"
        options={ROLES.map((value) => ({ value, label: value }))}
        onChange={setRole}
      />
      <textarea
        rows={2}
        value={text}
        aria-label={addMessage}
        placeholder={messageHint}
        data-test="composer"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Enter that confirms a candidate of an input method does not send.
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) void add();
        }}
      />
      <Button icon="plus" kind="main" isDisabled={text.trim() === "" || isBusy.value} onClick={() => void add()} testId="add-message">
        {t().add}
      </Button>
    </form>
  );
}
