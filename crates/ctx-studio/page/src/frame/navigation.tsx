// The pages.
import { address, route, type PageName } from "../route";
import { t } from "../language";
import { Icon } from "../ui/icon";

const ITEMS: { page: PageName; icon: string }[] = [
  { page: "preset", icon: "list-ordered" },
  { page: "preview", icon: "eye" },
  { page: "compare", icon: "columns-2" },
  { page: "import", icon: "file-input" },
];

export function Navigation() {
  return (
    <nav class="pages" aria-label={t().pages}>
      <ul>
        {ITEMS.map(({ page, icon }) => (
          <li key={page} class={`to-${page}`}>
            <a href={address(page)} aria-current={route.value.page === page ? "page" : undefined}>
              <Icon name={icon} />
              <span>{t().pageNames[page]}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
