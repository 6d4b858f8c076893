"use client";

import { useTheme } from "next-themes";
import type { ReactNode } from "react";
import { PoliciesCard } from "@/components/features/policies/settings-card";
import { LimitCard } from "@/components/features/policies/limit-card";
import { VotesCard } from "@/components/features/policies/votes-card";
import { ParkedJobsCard } from "@/components/features/jobs/parked-jobs-card";
import { Address, PublicId } from "@/components/ui/address";
import { ErrorState } from "@/components/ui/error-state";
import { Field } from "@/components/ui/field";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { Fact, Facts, Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import { SponsorBudgetsCard } from "@/components/features/sponsorship/sponsor-budgets-card";
import { NotificationPreferencesCard } from "@/components/features/notifications/preferences-card";
import { SignInCard } from "@/components/features/factors/sign-in-card";
import { EmailCard } from "./email-card";
import { SettingsIndex } from "./settings-index";
import { SessionsCard } from "./sessions-card";
import { useMe, type Me } from "./use-me";

export const Settings = (): ReactNode => {
  const { data, error, isPending, refetch } = useMe();
  const isManager = data?.projects.some(({ role }) => role === "owner" || role === "admin") === true;
  return (
    <>
      <PageHeader title="Settings" />
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,48rem)_minmax(11rem,1fr)] lg:gap-8">
        <SettingsIndex isManager={isManager} />
        <div className="flex min-w-0 flex-col gap-4 *:scroll-mt-16">
          <Card title="Profile" id="profile" flush>
            {isPending ? (
              <LoadingRows what="your profile" rows={3} />
            ) : data === undefined ? (
              <ErrorState error={error} onRetry={() => void refetch()} />
            ) : (
              <Profile me={data} />
            )}
          </Card>
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
