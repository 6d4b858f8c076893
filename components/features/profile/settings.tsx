"use client";

import { useTheme } from "next-themes";
import type { ReactNode } from "react";
import { Address, PublicId } from "@/components/ui/address";
import { Card, Fact, Facts } from "@/components/ui/card";
import { Field } from "@/components/ui/field";
import { QueryCard } from "@/components/ui/states";
import { Select } from "@/components/ui/select";
import { Time } from "@/components/ui/time";
import { EmailCard } from "./email-card";
import { NameForm } from "./name-form";
import { SettingsPage } from "./settings-page";
import { type Me, useMe } from "./use-me";

/** The profile of the person: the first section of the settings. */
export const ProfileSettings = (): ReactNode => {
  const query = useMe();
  const { data } = query;
  return (
    <SettingsPage title="Settings">
      <QueryCard title="Profile" id="profile" query={query} what="your profile" rows={4}>
        {(data) => (
          <>
            <NameForm key={data.name} me={data} />
            <Profile me={data} />
          </>
        )}
      </QueryCard>
      {data === undefined ? null : <EmailCard me={data} />}
      <Card title="Appearance" id="looks">
        <ThemeField />
      </Card>
    </SettingsPage>
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
