// The pages.
import { useEffect, useRef } from "preact/hooks";
import { agentId, bookId, currentKind } from "../project";
import { inputs } from "../turn";
import { address, route, type PageName } from "../route";
import { t } from "../language";
import { Icon } from "../ui/icon";

const ITEMS: { page: PageName; icon: string }[] = [
  { page: "preset", icon: "list-ordered" },
  { page: "agent", icon: "user" },
  { page: "pipeline", icon: "layers" },
  { page: "talk", icon: "message-square" },
  { page: "books", icon: "book-open" },
  { page: "preview", icon: "eye" },
  { page: "compare", icon: "columns-2" },
  { page: "requests", icon: "activity" },
  { page: "import", icon: "file-input" },
  { page: "files", icon: "folder" },
];

/** The file of the address goes along, if the page can show it. */
function fileFor(page: PageName): string | undefined {
  if (page === "books") return bookId.value;
  if (page === "talk") return inputs.value.conversation || undefined;
  const isOther = currentKind.value === "worldbook" || route.value.page === "talk";
  return isOther && page !== "preview" ? agentId.value : route.value.file;
}

export function Navigation() {
  const list = useRef<HTMLElement>(null);
  const { page: now } = route.value;
  // In a narrow window the list scrolls.
  useEffect(() => list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [now]);
  return (
    <nav class="pages" aria-label={t().pages} ref={list}>
      <ul>
        {ITEMS.map(({ page, icon }) => (
          <li key={page} class={`to-${page}`}>
            <a href={address(page, fileFor(page))} aria-current={now === page ? "page" : undefined}>
              <Icon name={icon} />
              <span>{t().pageNames[page]}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
