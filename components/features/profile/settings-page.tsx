"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import type { ReactNode } from "react";
import { PageHeader } from "@/components/ui/page-header";
import { useMe } from "./use-me";

interface SettingsPageProps {
  readonly title: string;
  readonly description?: string;
  readonly children: ReactNode;
}

/** A section of the settings, beside the links to the other sections. */
export const SettingsPage = ({
  title,
  description,
  children,
}: SettingsPageProps): ReactNode => (
  <>
    <PageHeader title={title} description={description} />
    <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[11rem_minmax(0,48rem)] lg:gap-8">
      <SettingsIndex />
      <div className="flex min-w-0 flex-col gap-4">{children}</div>
    </div>
  </>
);

interface Section {
  readonly href: string;
  readonly title: string;
}

const OWN: readonly Section[] = [
  { href: "/settings", title: "Profile" },
  { href: "/settings/security", title: "Sign-in and sessions" },
  { href: "/settings/notifications", title: "Notifications" },
];
const PROJECT: readonly Section[] = [
  { href: "/settings/policies", title: "Policies" },
  { href: "/settings/reporting", title: "Reporting" },
  { href: "/settings/sponsor-budgets", title: "Sponsor budgets" },
  { href: "/contacts", title: "Contacts" },
];
const STOPPED: Section = { href: "/settings/stopped-work", title: "Stopped work" };

/** Links to the sections: beside the section, or above it on narrow screens. */
const SettingsIndex = (): ReactNode => {
  const { data } = useMe();
  const isManager =
    data?.projects.some(({ role }) => role === "owner" || role === "admin") === true;
  return (
    <nav aria-label="Sections" className="flex flex-col gap-3 lg:sticky lg:top-16">
      <Group title="Yours" sections={OWN} />
      <Group title="Project" sections={isManager ? [...PROJECT, STOPPED] : PROJECT} />
    </nav>
  );
};

const Group = ({
  title,
  sections,
}: {
  readonly title: string;
  readonly sections: readonly Section[];
}): ReactNode => {
  const here = usePathname();
  return (
    <div>
      <h2 className="text-sm font-medium text-fg-3">{title}</h2>
      <ul className="flex flex-wrap gap-x-4 lg:flex-col">
        {sections.map(({ href, title: name }) => (
          <li key={href}>
            <Link
              href={href}
              aria-current={href === here ? "page" : undefined}
              className="inline-flex min-h-7 items-center text-fg-2 hover:text-fg hover:underline aria-[current=page]:font-medium aria-[current=page]:text-accent max-sm:min-h-11"
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
};
