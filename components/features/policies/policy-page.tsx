"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import Link from "next/link";
import { useEffect, useState, type ReactNode } from "react";
import { useForm, useWatch } from "react-hook-form";
import { useMay } from "@/components/features/projects/use-project";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { LoadingRows } from "@/components/ui/skeleton";
import { dropDraft, readDraft, saveDraft, type DraftBase } from "./draft";
import { DryRunCard, type TriedDraft } from "./dry-run/dry-run-card";
import { PolicyEditor } from "./editor/policy-editor";
import { HistoryCard } from "./history-card";
import { ReadOnlyNote } from "./policies-page";
import { isSame, policyForm, typedRules, valuesOf } from "./policy-form";
import { RuleList } from "./rule-list";
import { isOf, SCOPE_WORDS, subjectOf, type PolicySubject } from "./subject";
import { usePolicySetup, type PolicySetup } from "./use-policy-setup";
import type { Policy } from "./use-policies";

/** One policy: its limits, the editor beside a dry run, and its history. */
export const PolicyPage = ({ subject: param }: { readonly subject: string }): ReactNode => {
  const state = usePolicySetup();
  const subject = subjectOf(param);
  const title = subject === null || state.state !== "ready" ? "Policy" : titleOf(subject, state.setup);
  return (
    <>
      <PageHeader
        title={title}
        description={subject === null ? undefined : DESCRIPTIONS[subject.scope]}
        actions={
          <Link href="/settings/policies" className={buttonLooks()}>
            All policies
          </Link>
        }
      />
      {subject === null ? (
        <Card flush>
          <EmptyState title="There is no such policy">Policies limit the project, a wallet or an API key.</EmptyState>
        </Card>
      ) : state.state === "loading" ? (
        <Card flush>
          <LoadingRows what="the policy" rows={6} />
        </Card>
      ) : state.state === "failed" ? (
        <Card flush>
          <ErrorState error={state.error} money="The policy still applies." onRetry={state.retry} />
        </Card>
      ) : (
        <Ready key={param} setup={state.setup} subject={subject} />
      )}
    </>
  );
};

const DESCRIPTIONS = {
  project: "Applies to every wallet and every API key of the project.",
  wallet: "Applies to money that leaves this wallet, beside the policy of the whole project.",
  key: "Applies to what this API key moves, beside the policy of the whole project and what the key itself asks for.",
} as const;

const titleOf = (subject: PolicySubject, { nameOf }: PolicySetup): string =>
  subject.scope === "project" ? "Policy of the whole project" : `Policy of ${nameOf(subject)}`;

interface ReadyProps {
  readonly setup: PolicySetup;
  readonly subject: PolicySubject;
}

const Ready = ({ setup, subject }: ReadyProps): ReactNode => {
  const mayChange = useMay("policies:manage");
  const policy = setup.policies.policies.find((one) => isOf(one, subject));
  const [editing, setEditing] = useState(() => readDraft(subject, draftBase(setup, policy)) !== null);
  const end = (): void => {
    dropDraft(subject);
    setEditing(false);
  };
  if (editing && mayChange) return <Editing setup={setup} subject={subject} policy={policy} onEnd={end} />;
  return (
    <Sides
      left={
        <>
          {mayChange ? null : <ReadOnlyNote />}
          <LimitsCard
            setup={setup}
            subject={subject}
            policy={policy}
            onEdit={mayChange ? () => setEditing(true) : null}
          />
        </>
      }
      right={<DryRunCard setup={setup} subject={subject} draft={null} />}
      below={<HistoryCard subject={subject} names={setup.names} />}
    />
  );
};

interface SidesProps {
  readonly left: ReactNode;
  readonly right: ReactNode;
  /** Under the left side; on phones it comes last. */
  readonly below?: ReactNode;
}

/** Limits left, dry run right; below each other where there is no room. */
const Sides = ({ left, right, below = null }: SidesProps): ReactNode => (
  <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-12 lg:grid-rows-[auto_1fr]">
    <div className="flex min-w-0 flex-col gap-4 lg:col-span-7">{left}</div>
    <div className="min-w-0 lg:sticky lg:top-16 lg:col-span-5 lg:row-span-2">{right}</div>
    {below === null ? null : <div className="min-w-0 lg:col-span-7 lg:col-start-1">{below}</div>}
  </div>
);

interface LimitsCardProps extends ReadyProps {
  readonly policy: Policy | undefined;
  /** Null where the person may not change it. */
  readonly onEdit: (() => void) | null;
}

const LimitsCard = ({ setup, subject, policy, onEdit }: LimitsCardProps): ReactNode => (
  <Card
    title="Limits"
    description={policy === undefined ? SCOPE_WORDS[subject.scope] : `Version ${String(policy.version)}`}
    actions={
      onEdit === null || policy === undefined ? null : (
        <Button size="sm" variant="primary" onClick={onEdit}>
          Change limits
        </Button>
      )
    }
  >
    {policy === undefined ? (
      <EmptyState
        title="No limit yet"
        action={
          onEdit === null ? undefined : (
            <Button variant="primary" onClick={onEdit}>
              Set limits
            </Button>
          )
        }
      >
        {subject.scope === "project"
          ? "Everything that roles and API keys allow may move."
          : "The policy of the whole project applies."}
      </EmptyState>
    ) : (
      <RuleList rules={policy.rules} names={setup.names} label="Limits" />
    )}
  </Card>
);

interface EditingProps extends ReadyProps {
  readonly policy: Policy | undefined;
  readonly onEnd: () => void;
}

/** Names what a draft belongs to. */
const draftBase = ({ wallets }: PolicySetup, policy: Policy | undefined): DraftBase => ({
  owner: wallets.find(({ kind }) => kind === "treasury")?.id ?? "",
  version: policy?.version ?? 0,
});

const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const Editing = ({ setup, subject, policy, onEnd }: EditingProps): ReactNode => {
  // The version that the form was filled from; one that is stored meanwhile is not overwritten.
  const [base] = useState({ rules: policy?.rules ?? {}, ...draftBase(setup, policy) });
  const [first] = useState(() => readDraft(subject, base) ?? valuesOf(base.rules, zoneHere()));
  const form = useForm({ resolver: zodResolver(policyForm), defaultValues: first });
  const values = useWatch({ control: form.control, compute: (typed) => typed });
  useEffect(() => saveDraft(subject, { owner: base.owner, version: base.version }, values), [subject, base, values]);
  const rules = typedRules(values);
  const draft: TriedDraft = { rules, isChanged: rules === null || !isSame(rules, base.rules) };
  return (
    <Sides
      left={
        <PolicyEditor
          form={form}
          setup={setup}
          subject={subject}
          base={base}
          isChanged={draft.isChanged}
          onEnd={onEnd}
        />
      }
      right={<DryRunCard setup={setup} subject={subject} draft={draft} />}
    />
  );
};
