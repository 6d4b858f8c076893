"use client";

import type { ReactNode } from "react";
import { SignInCard } from "@/components/features/factors/sign-in-card";
import { ParkedJobsCard } from "@/components/features/jobs/parked-jobs-card";
import { ChannelsCard } from "@/components/features/notifications/channels-card";
import { NotificationPreferencesCard } from "@/components/features/notifications/preferences-card";
import { PushCard } from "@/components/features/notifications/push-card";
import { ReportingCard } from "@/components/features/reporting/reporting-card";
import { SponsorBudgetsCard } from "@/components/features/sponsorship/sponsor-budgets-card";
import { QueryPanel } from "@/components/ui/states";
import { SessionsCard } from "./sessions-card";
import { SettingsPage } from "./settings-page";
import { useMe } from "./use-me";

export const SecuritySettings = (): ReactNode => (
  <SettingsPage
    title="Sign-in and sessions"
    description="How you sign in and approve, and where you are signed in."
  >
    <SignInCard />
    <SessionsCard />
  </SettingsPage>
);

export const NotificationSettings = (): ReactNode => (
  <SettingsPage title="Notification settings" description="Which events are sent to you.">
    <NotificationPreferencesCard />
    <PushCard />
    <ChannelsCard />
  </SettingsPage>
);

export const SponsorSettings = (): ReactNode => (
  <SettingsPage
    title="Sponsor budgets"
    description="What the project's sponsor pays for network fees."
  >
    <QueryPanel query={useMe()} what="the sponsor's budgets" rows={3}>
      {({ sponsorBudgets }) => <SponsorBudgetsCard budgets={sponsorBudgets} />}
    </QueryPanel>
  </SettingsPage>
);

export const ReportingSettings = (): ReactNode => (
  <SettingsPage title="Reporting" description="How the project reads its figures.">
    <ReportingCard />
  </SettingsPage>
);

export const StoppedWork = (): ReactNode => (
  <SettingsPage title="Stopped work" description="Work of the service that waits for a person.">
    <ParkedJobsCard />
  </SettingsPage>
);
