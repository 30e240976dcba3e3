// The text of a message, as formatted Markdown or as plain text.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { copyText } from "../copy";
import { t } from "../language";
import { Button } from "../ui/button";
import { MAX_LENGTH, parseMarkdown, type Block, type Span } from "./markdown";

const KEY = "ctx-studio/markdown";
/** Whether this browser shows Markdown. */
export const isFormatted = signal(localStorage.getItem(KEY) !== "plain");

export function showFormatted(next: boolean): void {
  isFormatted.value = next;
  localStorage.setItem(KEY, next ? "markdown" : "plain");
}

export function FormattedText({ text, testId }: { text: string; testId?: string }) {
  const isPlain = !isFormatted.value || text.length > MAX_LENGTH;
  const drawn = useMemo(() => (isPlain ? text : drawBlocks(parseMarkdown(text))), [text, isPlain]);
  return (
    <div class={isPlain ? "text" : "text markdown"} data-test={testId}>
      {drawn}
    </div>
  );
}

const drawBlocks = (blocks: Block[]) => blocks.map((block, at) => <BlockView key={at} block={block} />);
const drawSpans = (spans: Span[]): ComponentChildren => spans.map((span, at) => <SpanView key={at} span={span} />);

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "paragraph":
      return <p>{drawSpans(block.spans)}</p>;
    case "heading":
      // One level for all: those of a message need not begin at the first one.
      return <h2 class={`level-${block.level}`}>{drawSpans(block.spans)}</h2>;
    case "code":
      return (
        <div class="code-block">
          <div class="code-head">
            <span class="soft">{block.language}</span>
            <Button class="small" kind="quiet" icon="copy" onClick={() => void copyText(block.text)} testId="copy-code">
              {t().copy}
            </Button>
          </div>
          <pre>
            <code>{block.text}</code>
          </pre>
        </div>
      );
    case "quote":
      return <blockquote>{drawBlocks(block.blocks)}</blockquote>;
    case "list": {
      const items = block.items.map((item, at) => <li key={at}>{drawBlocks(item)}</li>);
      return block.start === undefined ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case "table":
      return (
        <table class="list">
          <thead>
            <tr>
              {block.head.map((cell, at) => (
                <th key={at} scope="col">
                  {drawSpans(cell)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {block.rows.map((row, at) => (
              <tr key={at}>
                {row.map((cell, column) => (
                  <td key={column}>{drawSpans(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      );
    case "rule":
      return <hr />;
  }
}

function SpanView({ span }: { span: Span }): ComponentChildren {
  switch (span.kind) {
    case "text":
      return span.text;
    case "code":
      return <code>{span.text}</code>;
    case "strong":
      return <strong>{drawSpans(span.spans)}</strong>;
    case "em":
      return <em>{drawSpans(span.spans)}</em>;
    case "del":
      return <del>{drawSpans(span.spans)}</del>;
    case "link":
      return (
        <a href={span.href} target="_blank" rel="noopener noreferrer">
          {drawSpans(span.spans)}
        </a>
      );
    case "break":
      return <br />;
  }
}
