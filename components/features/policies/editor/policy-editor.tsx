"use client";

import { type LucideIcon, Minus, Plus, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import {
  type Control,
  Controller,
  useFieldArray,
  type UseFormReturn,
  useWatch,
} from "react-hook-form";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useApi, useCache } from "@/components/features/session/use-api";
import type { TokenInfo } from "@/components/features/swap/tokens";
import { Button, IconButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Combobox } from "@/components/ui/combobox";
import { ControlField, Form, FormError, TextField } from "@/components/ui/form";
import { tokenOption } from "@/components/ui/marks";
import { RadioCards } from "@/components/ui/radio-cards";
import { toast } from "@/components/ui/toast";
import {
  evaluatePolicies,
  getPolicies,
  listPolicyVersions,
  putPolicy,
} from "@/lib/api-client/calls.gen";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { type PolicyValues, rulesOf } from "../policy-form";
import { changesOf, type PolicyNames } from "../rule-words";
import type { PolicySetup, PolicySubject } from "../use-policies";
import { VoterFields } from "../voter-fields";
import { ChainFields, HourFields, RecipientFields } from "./place-and-hour-fields";
import { Section, SwitchedSection } from "./section";

interface PolicyEditorProps {
  readonly form: UseFormReturn<PolicyValues>;
  readonly setup: PolicySetup;
  readonly subject: PolicySubject;
  /** The version that the change starts from; version 0 when there is no policy. */
  readonly base: { readonly version: number; readonly rules: PolicyRules };
  readonly isChanged: boolean;
  readonly onEnd: () => void;
}

/** The form's field for each path in the API's errors. */
const FIELD_OF = {
  "rules.perOperation.usd": "perOperationUsd",
  "rules.perDay.usd": "perDayUsd",
  "rules.newRecipientHours": "newRecipientHours",
  "rules.hours.timeZone": "timeZone",
  "rules.approvals.aboveUsd": "approvalsAboveUsd",
  "rules.approvals.count": "approvalsCount",
  "rules.approvals.roles": "approvalsCount",
} as const;

const UNCHANGED = "The policy was not changed and still applies.";

const useSave = ({ subject, base, onEnd }: PolicyEditorProps) => {
  const api = useApi();
  const cache = useCache();
  const { scope, subjectId } = subject;
  return useApprovable<PolicyRules>(
    `policy ${scope} ${subjectId ?? ""}`,
    async (rules, proof) => {
      await api.call(putPolicy, {
        body: {
          scope,
          subjectId,
          baseVersion: base.version,
          rules,
          ...proof,
        },
      });
      await cache.refresh(getPolicies);
      void cache.refresh(listPolicyVersions, evaluatePolicies);
      toast.success("The policy was saved. It applies from now on.");
      onEnd();
    },
  );
};

/** Edits the rules of a policy. Saving asks for an approval of exactly these rules. */
export const PolicyEditor = (props: PolicyEditorProps): ReactNode => {
  const { form, setup, base, isChanged, onEnd } = props;
  const change = useSave(props);
  const { control } = form;
  if (change.asked !== null)
    return (
      <Card title="Approve the change">
        <div className="flex flex-col gap-4">
          <RuleChanges
            before={base.rules}
            after={rulesOf(form.getValues())}
            names={setup.names}
            label="What the change does"
          />
          <ApprovalStep asked={change.asked} change={change} />
        </div>
      </Card>
    );
  return (
    <Card title="Limits" description="An empty field is no limit." flush>
      <Form
        form={form}
        error={change.error}
        fieldOf={FIELD_OF}
        aria-label="Limits"
        onSubmit={(values) => change.start(rulesOf(values))}
        className="flex flex-col divide-y [&_button]:scroll-mb-20 [&_input]:scroll-mb-20"
      >
        <CapFields control={control} tokens={setup.tokens} />
        <RecipientFields control={control} />
        <ChainFields control={control} setup={setup} />
        <HourFields control={control} />
        <CodeFields control={control} />
        <VoteFields control={control} />
        <div className="sticky bottom-0 z-1 flex flex-col gap-3 rounded-b-card bg-surface px-4 py-3 max-md:static">
          <FormError money={UNCHANGED} />
          <div className="flex flex-wrap items-center gap-2">
            <Button type="submit" variant="primary" loading={change.busy} disabled={!isChanged}>
              Save limits
            </Button>
            <Button disabled={change.busy} onClick={onEnd}>
              Cancel
            </Button>
            <span className="text-sm text-fg-3">
              {isChanged ? "Saving asks for your approval." : "Nothing is changed yet."}
            </span>
          </div>
        </div>
      </Form>
    </Card>
  );
};

interface ApprovalFieldsProps {
  readonly control: Control<PolicyValues>;
}

const CODES = [
  {
    value: "none",
    label: "Not asked for here",
    description: "Only what people and API keys need anyway.",
  },
  { value: "always", label: "Always", description: "Each movement needs a code." },
  {
    value: "above",
    label: "Above an amount",
    description: "Each movement that is worth more needs a code.",
  },
  {
    value: "exempt",
    label: "Above an amount a day",
    description: "Movements beyond it on one UTC day need a code.",
  },
] as const;

const AMOUNT_LABEL = {
  above: "A code above (USD)",
  exempt: "Without a code, in a day (USD)",
} as const;

const CodeFields = ({ control }: ApprovalFieldsProps): ReactNode => {
  const mode = useWatch({ control, name: "code" });
  return (
    <Section
      title="One-time codes"
      hint="Beside what an API key itself asks for. Signed-in people always need one."
    >
      <Controller
        control={control}
        name="code"
        render={({ field }) => (
          <RadioCards
            label="One-time codes"
            value={field.value}
            onValueChange={field.onChange}
            options={CODES}
          />
        )}
      />
      {mode === "above" || mode === "exempt" ? (
        <TextField
          control={control}
          name="codeUsd"
          label={AMOUNT_LABEL[mode]}
          className="max-w-80"
          input={{ numeric: true, placeholder: "0.00" }}
        />
      ) : null}
    </Section>
  );
};

const VoteFields = ({ control }: ApprovalFieldsProps): ReactNode => (
  <SwitchedSection
    title="Approval by other people"
    control={control}
    name="hasApprovals"
    label="Other people approve above an amount"
    off="Off: nobody else has to approve."
  >
    <Votes control={control} />
  </SwitchedSection>
);

const Votes = ({ control }: ApprovalFieldsProps): ReactNode => (
  <>
    <div className="grid grid-cols-1 gap-x-6 gap-y-3 sm:grid-cols-2">
      <TextField
        control={control}
        name="approvalsAboveUsd"
        label="Above (USD)"
        hint="0: every movement."
        input={{ numeric: true, placeholder: "0.00" }}
      />
      <TextField
        control={control}
        name="approvalsCount"
        label="People who must approve"
        hint="1 to 10."
        input={{ numeric: true }}
      />
    </div>
    <VoterFields register={(name) => control.register(name)} />
    <p className="text-sm text-fg-3">Only an owner turns this exception on.</p>
  </>
);

interface CapFieldsProps {
  readonly control: Control<PolicyValues>;
  readonly tokens: readonly TokenInfo[];
}

const NO_LIMIT = { numeric: true, placeholder: "No limit" } as const;

const CapFields = ({ control, tokens }: CapFieldsProps): ReactNode => (
  <Section
    title="Amounts"
    hint="A day is a UTC day. An amount whose worth is not known counts as above every US dollar limit."
  >
    <div className="grid grid-cols-1 gap-x-6 gap-y-3 sm:grid-cols-2">
      <div className="flex flex-col gap-3">
        <TextField
          control={control}
          name="perOperationUsd"
          label="Most in one operation (USD)"
          input={NO_LIMIT}
        />
        <AssetCaps
          control={control}
          tokens={tokens}
          name="perOperationAssets"
          of="in one operation"
        />
      </div>
      <div className="flex flex-col gap-3">
        <TextField
          control={control}
          name="perDayUsd"
          label="Most in a day (USD)"
          input={NO_LIMIT}
        />
        <AssetCaps control={control} tokens={tokens} name="perDayAssets" of="in a day" />
      </div>
    </div>
  </Section>
);

interface AssetCapsProps extends CapFieldsProps {
  readonly name: "perOperationAssets" | "perDayAssets";
  readonly of: string;
}

const AssetCaps = ({ control, tokens, name, of }: AssetCapsProps): ReactNode => {
  const { fields, append, remove } = useFieldArray({ control, name });
  const assets = [...new Map(tokens.map((token) => [token.assetId, token])).values()];
  return (
    <>
      {fields.map((field, index) => (
        <div key={field.id} className="flex items-start gap-2">
          <ControlField
            control={control}
            name={`${name}.${index}.assetId`}
            label={`Asset ${String(index + 1)} ${of}`}
            labelHidden
            className="min-w-0 flex-1"
          >
            {({ value, onValueChange }) => (
              <Combobox
                options={assets.map(({ assetId, symbol, name: title }) => ({
                  ...tokenOption(symbol, assetId),
                  description: title,
                  keywords: [symbol, title],
                }))}
                value={value}
                onValueChange={onValueChange}
                placeholder="Asset"
                searchPlaceholder="Symbol or name"
              />
            )}
          </ControlField>
          <TextField
            control={control}
            name={`${name}.${index}.amount`}
            label={`Most of asset ${String(index + 1)} ${of}`}
            labelHidden
            className="min-w-0 flex-1"
            input={{ numeric: true, placeholder: "0.0" }}
          />
          <IconButton
            label={`Remove asset ${String(index + 1)} ${of}`}
            size="md"
            onClick={() => remove(index)}
          >
            <Trash2 aria-hidden />
          </IconButton>
        </div>
      ))}
      <div>
        <Button size="sm" variant="ghost" onClick={() => append({ assetId: "", amount: "" })}>
          <Plus aria-hidden /> Limit one asset <span className="sr-only">{of}</span>
        </Button>
      </div>
    </>
  );
};

interface RuleChangesProps {
  readonly before: PolicyRules;
  readonly after: PolicyRules;
  readonly names: PolicyNames;
  readonly label: string;
}

export const RuleChanges = ({ before, after, names, label }: RuleChangesProps): ReactNode => {
  const { removed, added } = changesOf(before, after, names);
  if (removed.length + added.length === 0)
    return <p className="text-fg-2">The limits stay the same.</p>;
  return (
    <ul aria-label={label} className="flex flex-col gap-0.5">
      {removed.map((text) => (
        <Change key={text} icon={Minus} word="Removed" text={text} />
      ))}
      {added.map((text) => (
        <Change key={text} icon={Plus} word="Added" text={text} />
      ))}
    </ul>
  );
};

interface ChangeProps {
  readonly icon: LucideIcon;
  readonly word: "Removed" | "Added";
  readonly text: string;
}

const Change = ({ icon: Icon, word, text }: ChangeProps): ReactNode => (
  <li className="flex items-start gap-2">
    <Icon className="mt-1 size-3.5 shrink-0 text-fg-3" aria-hidden />
    <span className="min-w-0 wrap-anywhere">
      <span className="sr-only">{word}: </span>
      <span className={word === "Removed" ? "text-fg-2 line-through" : undefined}>{text}</span>
    </span>
  </li>
);
