"use client";

import { parseAsString, useQueryStates } from "nuqs";
import type { ReactNode } from "react";
import { AddressBookField } from "@/components/features/contacts/address-book-field";
import { walletOption } from "@/components/features/wallets/use-wallets";
import { Alert } from "@/components/ui/alert";
import { Card } from "@/components/ui/card";
import { Combobox } from "@/components/ui/combobox";
import { ErrorState } from "@/components/ui/states";
import { Field, Input } from "@/components/ui/field";
import { chainOption, tokenOption } from "@/components/ui/marks";
import { Select } from "@/components/ui/select";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import type { PolicySetup, PolicySubject } from "../use-policies";
import { movementErrors, movementOf, type MovementValues } from "./movement";
import { Verdict, ContactHint, useDryRun } from "./verdict";

export interface TriedDraft {
  /** Null while a field has an error. */
  readonly rules: PolicyRules | null;
  /** Whether the rules differ from the stored rules. */
  readonly isChanged: boolean;
}

interface DryRunCardProps {
  readonly setup: PolicySetup;
  readonly subject: PolicySubject;
  /** Null while the policy is not edited. */
  readonly draft: TriedDraft | null;
}

const PERSON = "person";

/**
 * Shows the policies' decision about a movement, with and without the edited rules. Nothing is
 * moved or counted.
 */
export const DryRunCard = ({ setup, subject, draft }: DryRunCardProps): ReactNode => {
  const movement = useMovement(setup, subject);
  const body = movementOf(movement.values);
  const { scope, subjectId } = subject;
  const rules = draft?.isChanged === true ? draft.rules : null;
  const now = useDryRun(body);
  const then = useDryRun(
    body === null || rules === null ? null : { ...body, draft: { scope, subjectId, rules } },
  );
  const failed = then.error == null ? now : then;
  const shown = then.evaluation ?? now.evaluation;
  return (
    <Card
      title="Try a movement"
      description="A dry run: nothing is moved, and nothing is counted."
    >
      <div className="flex flex-col gap-4">
        <MovementFields setup={setup} {...movement} />
        {body === null ? (
          <p className="text-fg-2">
            Enter an amount and a recipient to see what the policies say.
          </p>
        ) : null}
        {draft?.rules === null && body !== null ? (
          <Alert tone="warning">
            A limit is not right yet, so only the stored policy is tried.
          </Alert>
        ) : null}
        {then.evaluation === undefined ? null : (
          <Verdict
            title="With your changes"
            evaluation={then.evaluation}
            isOutdated={then.isOutdated}
          />
        )}
        {now.evaluation === undefined ? null : (
          <Verdict
            title={then.evaluation === undefined ? "Now" : "Now, before your changes"}
            evaluation={now.evaluation}
            isOutdated={now.isOutdated}
          />
        )}
        {shown === undefined ? null : <ContactHint evaluation={shown} />}
        {failed.error == null ? null : (
          <ErrorState
            compact
            error={failed.error}
            money="Nothing is moved by a dry run."
            onRetry={failed.retry}
          />
        )}
      </div>
    </Card>
  );
};

interface MovementFieldsProps extends Movement {
  readonly setup: PolicySetup;
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
      <AddressBookField
        label="Recipient"
        error={errors.to}
        input={{ value: values.to, onChange: ({ target }) => change({ to: target.value }) }}
        onChoose={(to) => change({ to })}
      />
    </div>
  );
};

const FIELDS = {
  wallet: parseAsString,
  chain: parseAsString,
  token: parseAsString,
  amount: parseAsString,
  to: parseAsString,
  key: parseAsString,
};

interface Movement {
  readonly values: MovementValues;
  readonly change: (part: Partial<MovementValues>) => void;
}

/**
 * The movement to try. It is stored in the page's address, and starts with the policy's subject and
 * the first chain and token.
 */
const useMovement = (
  { wallets, keys, chains, tokens }: PolicySetup,
  subject: PolicySubject,
): Movement => {
  const [stored, store] = useQueryStates(FIELDS);
  const treasury = wallets.find(({ kind }) => kind === "treasury") ?? wallets[0];
  const key = stored.key ?? (subject.scope === "key" ? (subject.subjectId ?? "") : "");
  const chain = stored.chain ?? String(chains[0]?.id ?? "");
  const there = tokens.filter(({ chainId }) => String(chainId) === chain);
  const first = there.find(({ symbol }) => symbol === "USDC") ?? there[0];
  const token = there.some(({ address }) => address === stored.token)
    ? stored.token
    : first?.address;
  return {
    values: {
      wallet:
        stored.wallet ?? (subject.scope === "wallet" ? subject.subjectId : treasury?.id) ?? "",
      chain,
      token: token ?? "",
      amount: stored.amount ?? "",
      to: stored.to ?? "",
      key: keys.some(({ id }) => id === key) ? key : "",
    },
    change: (part) => void store(part),
  };
};
