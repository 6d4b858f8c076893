"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import Link from "next/link";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { useQuery } from "@tanstack/react-query";
import { z } from "zod";
import { ReadAs } from "@/components/features/money-flow/read-as";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi, useCache } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Form, TextField } from "@/components/ui/form";
import { Select } from "@/components/ui/select";
import { QueryCard } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { getNotificationPreferences } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import {
  MAIL_TIMES,
  putNotificationPreferences,
  type MailTime,
} from "@/lib/contracts/notifications";
import { readAmount, readOrTyped, typedAmount } from "@/lib/core/read-amount";
import { KINDS } from "./kinds";

type Preferences = ResponseOf<typeof getNotificationPreferences>;
type Choice = Pick<Preferences["kinds"][number], "kind" | "inApp" | "mail" | "push">;

const MAILS: Readonly<Record<MailTime, string>> = {
  off: "No mail",
  at_once: "At once",
  daily: "Once a day",
};
const MAIL_OPTIONS = MAIL_TIMES.map((value) => ({ value, label: MAILS[value] }));

const isMail = (text: string): text is MailTime =>
  (MAIL_TIMES as readonly string[]).includes(text);

const preferencesQuery = apiQuery(getNotificationPreferences, {});

/**
 * Number of loading rows. They are as high as the loaded card, so that the cards below do not
 * move.
 */
const LOADING_ROWS = 14;

export const NotificationPreferencesCard = (): ReactNode => {
  const query = useQuery(preferencesQuery);
  return (
    <QueryCard
      id="notifications"
      title="Notifications"
      description="Choose which events of this project notify you, here, by push or by mail. A change is saved at once, for you alone."
      query={query}
      what="your notification settings"
      rows={LOADING_ROWS}
      compact
    >
      {(data) => <Matrix preferences={data} />}
    </QueryCard>
  );
};

const useSave = () => {
  const api = useApi();
  const cache = useCache();
  return async (body: { kinds: Choice[]; largeDepositUsd?: string }): Promise<void> => {
    try {
      cache.set(preferencesQuery, await api.call(putNotificationPreferences, { body }));
    } catch (error) {
      toast.error(error instanceof Error ? error.message : "It was not saved. Try again.");
      await cache.refresh(preferencesQuery);
    }
  };
};

const Matrix = ({ preferences }: { readonly preferences: Preferences }): ReactNode => {
  const save = useSave();
  return (
    <>
      {preferences.mailAddress === null ? (
        <Alert tone="info" className="m-4">
          <Link href="/settings#email" className="link">
            Verify an e-mail address
          </Link>{" "}
          to get mail.
        </Alert>
      ) : null}
      <ul className="divide-y" aria-label="Kinds of notifications">
        {preferences.kinds
          .filter(({ allowed }) => allowed)
          .map(({ kind, inApp, mail, push }) => (
            <KindLine
              key={kind}
              choice={{ kind, inApp, mail, push }}
              onChange={(choice) => void save({ kinds: [choice] })}
            />
          ))}
      </ul>
      <div className="border-t p-4">
        <LargeDeposit
          key={preferences.largeDepositUsd}
          value={preferences.largeDepositUsd}
          onSave={(largeDepositUsd) => save({ kinds: [], largeDepositUsd })}
        />
      </div>
    </>
  );
};

interface KindLineProps {
  readonly choice: Choice;
  readonly onChange: (choice: Choice) => void;
}

const KindLine = ({ choice, onChange }: KindLineProps): ReactNode => {
  const { label, hint } = KINDS[choice.kind];
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2.5">
      <div className="min-w-48 flex-1 max-sm:basis-full">
        <p className="font-medium">{label}</p>
        <p className="text-sm text-fg-3">{hint}</p>
      </div>
      <label className="flex min-h-6 items-center gap-2 touch-target">
        <input
          type="checkbox"
          aria-label={`${label}: in the dashboard`}
          checked={choice.inApp}
          onChange={({ target }) => onChange({ ...choice, inApp: target.checked })}
          className="size-4 shrink-0 accent-accent"
        />
        <span>Dashboard</span>
      </label>
      <label className="flex min-h-6 items-center gap-2 touch-target">
        <input
          type="checkbox"
          aria-label={`${label}: push`}
          checked={choice.push}
          onChange={({ target }) => onChange({ ...choice, push: target.checked })}
          className="size-4 shrink-0 accent-accent"
        />
        <span>Push</span>
      </label>
      <Select
        label={`${label}: mail`}
        className="w-32 sm:w-36"
        value={choice.mail}
        options={MAIL_OPTIONS}
        onValueChange={(mail) => {
          if (isMail(mail)) onChange({ ...choice, mail });
        }}
      />
    </li>
  );
};

const largeDepositForm = z.object({
  largeDepositUsd: z
    .string()
    .transform((text) => readOrTyped(text))
    .refine(
      (text) =>
        text !== "" &&
        putNotificationPreferences.body.shape.largeDepositUsd.safeParse(text).success,
      "Enter an amount such as 10,000.",
    ),
});

interface LargeDepositProps {
  readonly value: string;
  readonly onSave: (value: string) => Promise<void>;
}

const LargeDeposit = ({ value, onSave }: LargeDepositProps): ReactNode => {
  const form = useForm({
    resolver: zodResolver(largeDepositForm),
    defaultValues: { largeDepositUsd: typedAmount(value) },
    mode: "onChange",
  });
  const { isDirty, isSubmitting, isValid } = form.formState;
  const typed = form.watch("largeDepositUsd");
  return (
    <Form
      form={form}
      onSubmit={({ largeDepositUsd }) => onSave(largeDepositUsd)}
      className="flex flex-wrap items-end gap-3"
    >
      <TextField
        control={form.control}
        name="largeDepositUsd"
        label="A large deposit is at least (US dollars)"
        hint={<ReadAs value={typed} read={readAmount(typed)} symbol="USD" />}
        className="max-w-72"
        input={{ inputMode: "decimal" }}
      />
      <Button type="submit" disabled={!isValid || !isDirty} loading={isSubmitting}>
        Save
      </Button>
    </Form>
  );
};
