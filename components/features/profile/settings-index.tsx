import type { ReactNode } from "react";

interface Section {
  /** Of the card. */
  readonly id: string;
  readonly title: string;
}

const OWN: readonly Section[] = [
  { id: "profile", title: "Profile" },
  { id: "email", title: "E-mail" },
  { id: "sign-in", title: "Sign-in and approval" },
  { id: "sessions", title: "Sessions" },
  { id: "notifications", title: "Notifications" },
  { id: "looks", title: "Looks" },
];
const PROJECT: readonly Section[] = [
  { id: "policies", title: "Policies" },
  { id: "limits", title: "Daily cap of API keys" },
  { id: "votes", title: "Approval by several people" },
  { id: "sponsor-budgets", title: "Sponsor budgets" },
];
const STOPPED: Section = { id: "stopped-work", title: "Stopped work" };

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
      {sections.map(({ id, title: name }) => (
        <li key={id}>
          <a
            href={`#${id}`}
            className="inline-flex min-h-7 items-center text-fg-2 hover:text-fg hover:underline max-sm:min-h-11"
          >
            {name}
          </a>
        </li>
      ))}
    </ul>
  </div>
);
