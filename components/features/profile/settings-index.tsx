import Link from "next/link";
import type { ReactNode } from "react";

interface Section {
  /** Of a card on this page, or another page. */
  readonly href: string;
  readonly title: string;
}

const OWN: readonly Section[] = [
  { href: "#profile", title: "Profile" },
  { href: "#email", title: "E-mail" },
  { href: "#sign-in", title: "Sign-in and approval" },
  { href: "#sessions", title: "Sessions" },
  { href: "#notifications", title: "Notifications" },
  { href: "#looks", title: "Appearance" },
];
const PROJECT: readonly Section[] = [
  { href: "#policies", title: "Policies" },
  { href: "#limits", title: "Daily cap of API keys" },
  { href: "#votes", title: "Approval by several people" },
  { href: "#sponsor-budgets", title: "Sponsor budgets" },
  { href: "/contacts", title: "Contacts" },
];
const STOPPED: Section = { href: "#stopped-work", title: "Stopped work" };

/** Links to the sections of the settings: a column beside them, or a block above them where there is no room. */
export const SettingsIndex = ({ isManager }: { readonly isManager: boolean }): ReactNode => (
  <nav aria-label="Sections" className="flex flex-col gap-3 lg:sticky lg:top-16 lg:order-2">
    <Group title="Yours" sections={OWN} />
    <Group title="Project" sections={isManager ? [...PROJECT, STOPPED] : PROJECT} />
  </nav>
);

const Group = ({ title, sections }: { readonly title: string; readonly sections: readonly Section[] }): ReactNode => (
  <div>
    <h2 className="text-sm font-medium text-fg-3">{title}</h2>
    <ul className="flex flex-wrap gap-x-4 lg:flex-col">
      {sections.map(({ href, title: name }) => (
        <li key={href}>
          <Link
            href={href}
            className="inline-flex min-h-7 items-center text-fg-2 hover:text-fg hover:underline max-sm:min-h-11"
          >
            {name}
          </Link>
        </li>
      ))}
    </ul>
  </div>
);
