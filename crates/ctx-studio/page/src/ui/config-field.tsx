// One setting as a form has it: made of its description alone, so that whoever describes one gets a form.
import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { ConfigField } from "../api";
import { t } from "../language";
import { Field, Select, useId } from "./field";

interface InputProps {
  field: ConfigField;
  value: unknown;
  onChange: (next: unknown) => void;
  isDisabled?: boolean;
  /** Beside it: where the value comes from. */
  children?: ComponentChildren;
}

export function ConfigInput(props: InputProps) {
  const { field, children } = props;
  return (
    <div class={`setting of-${field.type}`} data-field={field.key}>
      <Control {...props} />
      {children}
      {field.description && <small class="soft about">{field.description}</small>}
    </div>
  );
}

function Control({ field, value, onChange, isDisabled }: InputProps) {
  switch (field.type) {
    case "boolean":
      return (
        <label class="check">
          <input
            type="checkbox"
            checked={value === true}
            disabled={isDisabled}
            onChange={(event) => onChange(event.currentTarget.checked)}
          />
          <span>{field.label}</span>
        </label>
      );
    case "select": {
      // The values may be of any type; their places are texts.
      const options = field.options ?? [];
      const same = (one: unknown) => JSON.stringify(one) === JSON.stringify(value);
      const at = options.findIndex((option) => same(option.value));
      return (
        <Select
          label={field.label}
          value={at >= 0 ? String(at) : JSON.stringify(value)}
          options={options.map(({ label }, index) => ({ value: String(index), label }))}
          isDisabled={isDisabled}
          onChange={(next) => onChange(options[Number(next)]?.value)}
        />
      );
    }
    case "number":
      return (
        <Checked
          field={field}
          shown={value === undefined || value === null ? "" : String(value)}
          isDisabled={isDisabled}
          read={(text) => numberOf(field, text)}
          onChange={onChange}
        />
      );
    case "list":
      return <Lines field={field} value={value} onChange={onChange} isDisabled={isDisabled} />;
    case "text":
      return isLong(field, value) ? (
        <Lines field={field} value={value} onChange={onChange} isDisabled={isDisabled} />
      ) : (
        <Checked
          field={field}
          shown={shownText(value)}
          isDisabled={isDisabled}
          read={(text) => textOf(field, textIn(text))}
          onChange={onChange}
        />
      );
  }
}

type Read = { value: unknown } | { wrong: string };

/** A field of one line; what it does not take stays in it, and is told. */
function Checked({
  field,
  shown,
  isDisabled,
  read,
  onChange,
}: {
  field: ConfigField;
  shown: string;
  isDisabled?: boolean;
  read: (text: string) => Read;
  onChange: (next: unknown) => void;
}) {
  const [refused, refuse] = useState<{ text: string; why: string } | undefined>(undefined);
  useEffect(() => refuse(undefined), [shown]);
  return (
    <Field
      label={field.label}
      value={refused?.text ?? shown}
      placeholder={field.placeholder}
      isLazy
      size={field.type === "number" ? "short" : "normal"}
      inputMode={field.type === "number" ? "numeric" : "text"}
      isDisabled={isDisabled}
      isInvalid={refused !== undefined}
      help={refused?.why}
      onInput={(text) => {
        const got = read(text);
        if ("wrong" in got) return refuse({ text, why: got.wrong });
        refuse(undefined);
        onChange(got.value);
      }}
    />
  );
}

/** A text of several lines, or a list as JSON. */
function Lines({ field, value, onChange, isDisabled }: InputProps) {
  const id = useId();
  const isList = field.type === "list";
  const shown = isList ? (value === undefined ? "[]" : JSON.stringify(value, null, 2)) : String(value ?? "");
  const [wrong, tell] = useState<string | undefined>(undefined);
  const [text, setText] = useState(shown);
  useEffect(() => {
    setText(shown);
    tell(undefined);
  }, [shown]);
  const leave = (next: string) => {
    const got = isList ? listOf(next) : textOf(field, next);
    if ("wrong" in got) return tell(got.wrong);
    tell(undefined);
    if (next !== shown) onChange(got.value);
  };
  return (
    <label class="field wide" for={id}>
      <span class="label">{field.label}</span>
      <textarea
        id={id}
        rows={Math.min(12, Math.max(2, text.split("\n").length))}
        value={text}
        disabled={isDisabled}
        spellcheck={false}
        aria-invalid={wrong ? "true" : undefined}
        aria-describedby={wrong ? `${id}-wrong` : undefined}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={(event) => leave(event.currentTarget.value)}
      />
      {wrong && (
        <small id={`${id}-wrong`} class="wrong">
          {wrong}
        </small>
      )}
    </label>
  );
}

function numberOf({ minimum, maximum, isWhole }: ConfigField, text: string): Read {
  const number = Number(text.trim());
  const isNumber = text.trim() !== "" && Number.isFinite(number) && !(isWhole && !Number.isInteger(number));
  const isInside = (minimum === undefined || number >= minimum) && (maximum === undefined || number <= maximum);
  if (isNumber && isInside) return { value: number };
  return { wrong: t().form.number(isWhole === true, minimum, maximum) };
}

function textOf({ isRequired }: ConfigField, text: string): Read {
  return isRequired && text.trim() === "" ? { wrong: t().form.required } : { value: text };
}

function listOf(text: string): Read {
  try {
    const value: unknown = JSON.parse(text.trim() === "" ? "[]" : text);
    return Array.isArray(value) ? { value } : { wrong: t().form.list };
  } catch {
    return { wrong: t().form.list };
  }
}

function isLong(field: ConfigField, value: unknown): boolean {
  return [value, field.default].some((one) => typeof one === "string" && one.length > 80);
}

/** A short text may be a separator, whose line ends would not be seen in one line. */
function shownText(value: unknown): string {
  return String(value ?? "")
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replaceAll("\t", "\\t");
}

function textIn(shown: string): string {
  return shown.replace(/\\([\\nt])/g, (_, letter: string) => ({ n: "\n", t: "\t" })[letter] ?? "\\");
}
