"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { type ReactNode, useState } from "react";
import {
  type DefaultValues,
  type FieldPath,
  useForm,
  type UseFormReturn,
} from "react-hook-form";
import { z } from "zod";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { ReadAs } from "@/components/features/money-flow/read-as";
import { useApi, useCache } from "@/components/features/session/use-api";
import { Usd } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Form, FormError, TextField } from "@/components/ui/form";
import { QueryCard } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import type { BodyInput } from "@/lib/contracts/contract";
import { updatePolicies } from "@/lib/contracts/policies";
import { readAmount, readOrTyped, typedAmount } from "@/lib/core/read-amount";
import { CHOOSE_VOTERS, rolesIn, voterValues, voterValuesOf } from "./policy-form";
import { type Policies, policiesQuery, usePolicies } from "./use-policies";
import { VoterFields } from "./voter-fields";

interface SettingsCardProps {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Noun for the setting while it loads, for screen readers. */
  readonly what: string;
  readonly children: (policies: Policies) => ReactNode;
}

const SettingsCard = (props: SettingsCardProps): ReactNode => (
  <QueryCard {...props} flush={false} query={usePolicies()} rows={1} compact />
);

interface SettingProps {
  readonly shown: ReactNode;
  readonly changeLabel: string;
  readonly form: (onEnd: () => void) => ReactNode;
}

/** Shows a setting, or its form while the person changes it. */
const Setting = ({ shown, changeLabel, form }: SettingProps): ReactNode => {
  const [editing, setEditing] = useState(false);
  if (editing) return form(() => setEditing(false));
  return (
    <div className="flex flex-wrap items-center justify-between gap-2">
      <span>{shown}</span>
      <Button size="sm" aria-label={changeLabel} onClick={() => setEditing(true)}>
        Change
      </Button>
    </div>
  );
};

type SettingsChange = Pick<BodyInput<typeof updatePolicies>, "dailyCapUsd" | "approvals">;

interface SettingFormProps<Values extends object> {
  /** Key under which this tab stores a change that waits for an approval. */
  readonly keptAs: string;
  readonly schema: z.ZodType<Values, Values>;
  readonly defaultValues: DefaultValues<Values>;
  readonly changeOf: (values: Values) => SettingsChange;
  /**
   * Maps the path of a field in an API error to the form's field, for fields whose names differ.
   */
  readonly fieldOf?: Readonly<Record<string, FieldPath<Values>>>;
  readonly done: string;
  /** Text after an error: the old setting still applies. */
  readonly money: string;
  readonly onEnd: () => void;
  readonly children: (form: UseFormReturn<Values>) => ReactNode;
}

const SettingForm = <Values extends object>(props: SettingFormProps<Values>): ReactNode => {
  const { keptAs, schema, defaultValues, done, onEnd } = props;
  const api = useApi();
  const cache = useCache();
  const form = useForm({ resolver: zodResolver(schema), defaultValues });
  const change = useApprovable<SettingsChange>(keptAs, async (settings, proof) => {
    cache.set(
      policiesQuery,
      await api.call(updatePolicies, { body: { ...settings, ...proof } }),
    );
    toast.success(done);
    onEnd();
  });
  if (change.asked !== null) return <ApprovalStep asked={change.asked} change={change} />;
  return (
    <Form
      form={form}
      error={change.error}
      fieldOf={props.fieldOf}
      onSubmit={(values) => change.start(props.changeOf(values))}
      className="flex flex-col gap-3"
    >
      {props.children(form)}
      <FormError money={props.money} />
      <div className="flex gap-2">
        <Button type="submit" variant="primary" loading={change.busy}>
          Save
        </Button>
        <Button disabled={change.busy} onClick={onEnd}>
          Cancel
        </Button>
      </div>
    </Form>
  );
};

/** Accepts the same amounts as the API contract, but with an example in the message. */
const capForm = z.object({
  dailyCapUsd: z
    .string()
    .refine(
      (text) => updatePolicies.body.shape.dailyCapUsd.safeParse(readOrTyped(text)).success,
      "Enter an amount such as 2,500.",
    ),
});

export const LimitCard = (): ReactNode => (
  <SettingsCard
    id="limits"
    title="Daily cap of API keys"
    description="API keys that are exempt from codes together move at most this much in a UTC day. Above it, they need a code."
    what="the daily cap"
  >
    {({ dailyCapUsd, spentTodayUsd }) => (
      <Setting
        shown={
          <>
            <Usd value={dailyCapUsd} /> a day
            <span className="text-fg-2">
              , of which <Usd value={spentTodayUsd} /> moved today
            </span>
          </>
        }
        changeLabel="Change the daily cap"
        form={(onEnd) => <CapForm dailyCapUsd={dailyCapUsd} onEnd={onEnd} />}
      />
    )}
  </SettingsCard>
);

interface CapFormProps {
  readonly dailyCapUsd: string;
  readonly onEnd: () => void;
}

const CapForm = ({ dailyCapUsd, onEnd }: CapFormProps): ReactNode => (
  <SettingForm
    keptAs="daily_cap"
    schema={capForm}
    defaultValues={{ dailyCapUsd: typedAmount(dailyCapUsd) }}
    changeOf={(values) => ({ dailyCapUsd: readOrTyped(values.dailyCapUsd) })}
    done="The daily cap was changed."
    money="The cap is as it was."
    onEnd={onEnd}
  >
    {(form) => {
      const typed = form.watch("dailyCapUsd");
      return (
        <TextField
          control={form.control}
          name="dailyCapUsd"
          label="Daily cap (US dollars)"
          hint={
            <>
              Lowering it counts at once; raising it needs your approval.{" "}
              <ReadAs value={typed} read={readAmount(typed)} symbol="USD" />
            </>
          }
          className="max-w-72"
          input={{ numeric: true, autoFocus: true }}
        />
      );
    }}
  </SettingForm>
);

type Requirement = Policies["approvals"];

const COUNT_MAX = 20;

export const VotesCard = (): ReactNode => (
  <SettingsCard
    id="votes"
    title="Approval by several people"
    description="Everything that leaves managed wallets, accounts and private wallets waits until this many other people have approved it."
    what="the setting"
  >
    {({ approvals }) => (
      <Setting
        shown={inWords(approvals)}
        changeLabel="Change approval by several people"
        form={(onEnd) => <VotesForm required={approvals} onEnd={onEnd} />}
      />
    )}
  </SettingsCard>
);

const inWords = (required: Requirement): string => {
  if (required === null) return "Off: the code of one person approves.";
  const maker = required.excludeMaker ? ", without the person who asked" : "";
  const keys = required.exemptKeys
    ? " API keys that are exempt from codes need no votes within their daily caps."
    : " API keys that are exempt from codes need the votes too.";
  return `${String(required.count)} of: ${required.roles.join(", ")}${maker}.${keys}`;
};

const votesForm = voterValues
  .extend({
    count: z
      .string()
      .refine(
        (text) => /^\s*\d{1,2}\s*$/.test(text) && Number(text) <= COUNT_MAX,
        "Enter a number from 0 to 20.",
      ),
  })
  .refine((values) => Number(values.count) === 0 || rolesIn(values).length > 0, {
    message: CHOOSE_VOTERS,
    path: ["count"],
  });

const requirementOf = (values: z.infer<typeof votesForm>): Requirement => {
  const count = Number(values.count);
  if (count === 0) return null;
  return {
    count,
    roles: rolesIn(values),
    excludeMaker: values.excludeMaker,
    exemptKeys: values.exemptKeys,
  };
};

interface VotesFormProps {
  readonly required: Requirement;
  readonly onEnd: () => void;
}

const VotesForm = ({ required, onEnd }: VotesFormProps): ReactNode => (
  <SettingForm
    keptAs="votes"
    schema={votesForm}
    defaultValues={{ count: String(required?.count ?? 0), ...voterValuesOf(required) }}
    changeOf={(values) => ({ approvals: requirementOf(values) })}
    fieldOf={{ "approvals.count": "count" }}
    done="The setting was changed."
    money="The setting is as it was."
    onEnd={onEnd}
  >
    {({ control, register }) => (
      <>
        <TextField
          control={control}
          name="count"
          label="People who must approve"
          hint="0 turns it off. More counts at once; fewer needs your approval."
          className="max-w-72"
          input={{ numeric: true, autoFocus: true }}
        />
        <VoterFields register={register} />
        <p className="text-sm text-fg-3">Only an owner turns this on, with an approval.</p>
      </>
    )}
  </SettingForm>
);
