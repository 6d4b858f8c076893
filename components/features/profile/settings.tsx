"use client";

import { useTheme } from "next-themes";
import Link from "next/link";
import type { ReactNode } from "react";
import { SignInCard } from "@/components/features/factors/sign-in-card";
import { ParkedJobsCard } from "@/components/features/jobs/parked-jobs-card";
import { NotificationPreferencesCard } from "@/components/features/notifications/preferences-card";
import {
  LimitCard,
  PoliciesCard,
  VotesCard,
} from "@/components/features/policies/settings-cards";
import { SponsorBudgetsCard } from "@/components/features/sponsorship/sponsor-budgets-card";
import { Address, PublicId } from "@/components/ui/address";
import { Card, Fact, Facts } from "@/components/ui/card";
import { Field } from "@/components/ui/field";
import { PageHeader } from "@/components/ui/page-header";
import { QueryCard } from "@/components/ui/states";
import { Select } from "@/components/ui/select";
import { Time } from "@/components/ui/time";
import { EmailCard } from "./email-card";
import { SessionsCard } from "./sessions-card";
import { type Me, useMe } from "./use-me";

export const Settings = (): ReactNode => {
  const query = useMe();
  const { data } = query;
  const isManager =
    data?.projects.some(({ role }) => role === "owner" || role === "admin") === true;
  return (
    <>
      <PageHeader title="Settings" />
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,48rem)_minmax(11rem,1fr)] lg:gap-8">
        <SettingsIndex isManager={isManager} />
        <div className="flex min-w-0 flex-col gap-4">
          <QueryCard title="Profile" id="profile" query={query} what="your profile" rows={3}>
            {(data) => <Profile me={data} />}
          </QueryCard>
          {data === undefined ? null : <EmailCard me={data} />}
          <SignInCard />
          <SessionsCard />
          <NotificationPreferencesCard />
          <Card title="Appearance" id="looks">
            <ThemeField />
          </Card>
          <PoliciesCard />
          <LimitCard />
          <VotesCard />
          {data === undefined ? null : <SponsorBudgetsCard budgets={data.sponsorBudgets} />}
          {isManager ? <ParkedJobsCard /> : null}
        </div>
      </div>
    </>
  );
};

const Profile = ({ me }: { readonly me: Me }): ReactNode => (
  <Facts className="px-4">
    <Fact label="Address">
      <Address value={me.address} full />
    </Fact>
    <Fact label="Your id">
      <PublicId value={me.id} />
    </Fact>
    <Fact label="Since">
      <Time value={me.createdAt} absolute />
    </Fact>
    {me.projects.map((project) => (
      <Fact key={project.id} label="Project">
        <span className="inline-flex flex-wrap items-center justify-end gap-x-2">
          {project.name}, {project.role} <PublicId value={project.id} />
        </span>
      </Fact>
    ))}
  </Facts>
);

const ThemeField = (): ReactNode => {
  const { theme, setTheme } = useTheme();
  return (
    <Field label="Theme" className="max-w-60">
      <Select
        value={theme ?? "system"}
        onValueChange={setTheme}
        options={[
          { value: "system", label: "Same as system" },
          { value: "light", label: "Light" },
          { value: "dark", label: "Dark" },
        ]}
      />
    </Field>
  );
};

interface Section {
  /** The anchor of a card on this page, or another page. */
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

/** Links to the sections of the settings: beside the sections, or above them on narrow screens. */
const SettingsIndex = ({ isManager }: { readonly isManager: boolean }): ReactNode => (
  <nav aria-label="Sections" className="flex flex-col gap-3 lg:sticky lg:top-16 lg:order-2">
    <Group title="Yours" sections={OWN} />
    <Group title="Project" sections={isManager ? [...PROJECT, STOPPED] : PROJECT} />
  </nav>
);

const Group = ({
  title,
  sections,
}: {
  readonly title: string;
  readonly sections: readonly Section[];
}): ReactNode => (
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
