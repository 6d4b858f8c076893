"use client";

import { useState, type ReactNode } from "react";
import { AddressBookDialog } from "@/components/features/contacts/address-book-dialog";
import { walletOption } from "@/components/features/wallets/wallet-name";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Combobox } from "@/components/ui/combobox";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { chainOption, tokenOption } from "@/components/ui/marked-options";
import type { PolicySubject } from "../subject";
import type { PolicySetup } from "../use-policy-setup";
import { movementErrors, movementOf, type MovementValues } from "./movement";
import { useDryRun } from "./use-dry-run";
import { useMovement } from "./use-movement";
import { ContactHint, Verdict } from "./verdict";

/** The rules that are edited beside the dry run. */
export interface TriedDraft {
  /** Null while a field is wrong. */
  readonly rules: PolicyRules | null;
  /** Whether they differ from the stored ones. */
  readonly isChanged: boolean;
}

interface DryRunCardProps {
  readonly setup: PolicySetup;
  readonly subject: PolicySubject;
  /** Null while nothing is edited. */
  readonly draft: TriedDraft | null;
}

const PERSON = "person";

/** Tries a movement: shows the decision of the present policies, and of those with the changes that are typed beside. Nothing is moved or counted. */
export const DryRunCard = ({ setup, subject, draft }: DryRunCardProps): ReactNode => {
  const { values, change } = useMovement(setup, subject);
  const body = movementOf(values);
  const { scope, subjectId } = subject;
  const rules = draft?.isChanged === true ? draft.rules : null;
  const now = useDryRun(body);
  const then = useDryRun(
    body === null || rules === null
      ? null
      : { ...body, draft: { scope, ...(subjectId === undefined ? {} : { subjectId }), rules } },
  );
  const shown = then.evaluation ?? now.evaluation;
  return (
    <Card title="Try a movement" description="A dry run: nothing is moved, and nothing is counted.">
      <div className="flex flex-col gap-4">
        <MovementFields setup={setup} values={values} change={change} />
        {body === null ? (
          <p className="text-fg-2">Enter an amount and a recipient to see what the policies say.</p>
        ) : null}
        {draft?.rules === null && body !== null ? (
          <Alert tone="warning">A limit is not right yet, so only the stored policy is tried.</Alert>
        ) : null}
        {then.evaluation === undefined ? null : (
          <Verdict title="With your changes" evaluation={then.evaluation} isOutdated={then.isOutdated} />
        )}
        {now.evaluation === undefined ? null : (
          <Verdict
            title={then.evaluation === undefined ? "Now" : "Now, before your changes"}
            evaluation={now.evaluation}
            isOutdated={now.isOutdated}
          />
        )}
        {shown === undefined ? null : <ContactHint evaluation={shown} />}
        {(then.error ?? now.error) == null ? null : (
          <ErrorState
            compact
            error={then.error ?? now.error}
            money="Nothing is moved by a dry run."
            onRetry={then.error == null ? now.retry : then.retry}
          />
        )}
      </div>
    </Card>
  );
};

interface MovementFieldsProps {
  readonly setup: PolicySetup;
  readonly values: MovementValues;
  readonly change: (part: Partial<MovementValues>) => void;
}

const MovementFields = ({ setup, values, change }: MovementFieldsProps): ReactNode => {
  const errors = movementErrors(values);
  const tokens = setup.tokens.filter(({ chainId }) => String(chainId) === values.chain);
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
      <Field label="From wallet">
        <Select
          value={values.wallet}
          onValueChange={(wallet) => change({ wallet })}
          options={setup.wallets.map((wallet) => ({
            ...walletOption(wallet),
            value: wallet.id,
          }))}
          placeholder="Choose …"
        />
      </Field>
      <Field label="Moved by">
        <Select
          value={values.key === "" ? PERSON : values.key}
          onValueChange={(key) => change({ key: key === PERSON ? "" : key })}
          options={[
            { value: PERSON, label: "A person" },
            ...setup.keys.map(({ id, name }) => ({ value: id, label: `Key ${name}` })),
          ]}
        />
      </Field>
      <Field label="Chain">
        <Select
          value={values.chain}
          onValueChange={(chain) => change({ chain })}
          options={setup.chains.map(chainOption)}
          placeholder="Choose …"
        />
      </Field>
      <Field label="Token">
        <Combobox
          options={tokens.map(({ address, symbol, name }) => ({
            ...tokenOption(symbol, address),
            description: name,
            keywords: [symbol, name],
          }))}
          value={values.token}
          onValueChange={(token) => change({ token })}
          placeholder="Choose a token"
          searchPlaceholder="Symbol or name"
          emptyText="No such token on this chain."
        />
      </Field>
      <Field label="Amount" error={errors.amount}>
        <Input
          numeric
          placeholder="0.0"
          value={values.amount}
          onChange={({ target }) => change({ amount: target.value })}
        />
      </Field>
      <RecipientField value={values.to} error={errors.to} onChange={(to) => change({ to })} />
    </div>
  );
};

interface RecipientFieldProps {
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (to: string) => void;
}

const RecipientField = ({ value, error, onChange }: RecipientFieldProps): ReactNode => {
  const [bookOpen, setBookOpen] = useState(false);
  return (
    <>
      <Field
        label="Recipient"
        error={error}
        aside={
          <Button variant="link" size="sm" className="h-auto" onClick={() => setBookOpen(true)}>
            Address book
          </Button>
        }
      >
        <Input
          mono
          className="text-sm"
          placeholder="0x…"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      </Field>
      <AddressBookDialog open={bookOpen} onOpenChange={setBookOpen} onChoose={(contact) => onChange(contact.address)} />
    </>
  );
};
