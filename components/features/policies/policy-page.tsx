"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import Link from "next/link";
import { parseAsString, useQueryState } from "nuqs";
import { type ReactNode, useEffect, useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import { z } from "zod";
import { useActorNames } from "@/components/features/audit/names";
import { useMay } from "@/components/features/projects/use-project";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { EmptyState, QueryContent, QueryPanel } from "@/components/ui/states";
import { PageHeader } from "@/components/ui/page-header";
import { Time } from "@/components/ui/time";
import { tabStore } from "@/components/ui/tab-store";
import { DryRunCard, type TriedDraft } from "./dry-run/dry-run-card";
import { PolicyEditor, RuleChanges } from "./editor/policy-editor";
import { ReadOnlyNote } from "./policies-page";
import {
  isSame,
  policyForm,
  policyValues,
  type PolicyValues,
  typedRules,
  valuesOf,
} from "./policy-form";
import { RuleList } from "./rule-list";
import type { PolicyNames } from "./rule-words";
import { type PolicyTemplate, templateOf, withTemplate } from "./templates";
import {
  isOf,
  pathOfSubject,
  type Policy,
  type PolicySetup,
  type PolicySubject,
  SCOPE_WORDS,
  subjectOf,
  usePolicySetup,
  usePolicyVersions,
} from "./use-policies";

export const PolicyPage = ({ subject: param }: { readonly subject: string }): ReactNode => {
  const query = usePolicySetup();
  const subject = subjectOf(param);
  return (
    <>
      <PageHeader
        title={titleOf(subject, query.data)}
        description={subject === null ? undefined : DESCRIPTIONS[subject.scope]}
        actions={
          <Link href="/settings/policies" className={buttonLooks()}>
            All policies
          </Link>
        }
      />
      {subject === null ? (
        <Card flush>
          <EmptyState title="There is no such policy">
            Policies limit the project, a wallet or an API key.
          </EmptyState>
        </Card>
      ) : (
        <QueryPanel query={query} what="the policy" rows={6} money="The policy still applies.">
          {(setup) => <Ready key={param} setup={setup} subject={subject} />}
        </QueryPanel>
      )}
    </>
  );
};

const DESCRIPTIONS = {
  project: "Applies to every wallet and every API key of the project.",
  wallet: "Applies to money that leaves this wallet, beside the policy of the whole project.",
  key: "Applies to what this API key moves, beside the policy of the whole project and what the key itself asks for.",
} as const;

const titleOf = (subject: PolicySubject | null, setup: PolicySetup | undefined): string => {
  if (subject === null || setup === undefined) return "Policy";
  if (subject.scope === "project") return "Policy of the whole project";
  return `Policy of ${setup.nameOf(subject)}`;
};

interface ReadyProps {
  readonly setup: PolicySetup;
  readonly subject: PolicySubject;
}

const Ready = ({ setup, subject }: ReadyProps): ReactNode => {
  const mayChange = useMay("policies:manage");
  const policy = setup.policies.policies.find((one) => isOf(one, subject));
  const [templateId, setTemplateId] = useQueryState("template", parseAsString);
  const template = templateOf(templateId);
  const [editing, setEditing] = useState(
    () => template !== null || readDraft(subject, draftBase(setup, policy)) !== null,
  );
  const end = (): void => {
    draftOf(subject).drop();
    void setTemplateId(null, { history: "replace" });
    setEditing(false);
  };
  if (editing && mayChange)
    return (
      <Editing
        setup={setup}
        subject={subject}
        policy={policy}
        template={template}
        onTaken={() => void setTemplateId(null, { history: "replace" })}
        onEnd={end}
      />
    );
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
  readonly below?: ReactNode;
}

const Sides = ({ left, right, below = null }: SidesProps): ReactNode => (
  <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-12 lg:grid-rows-[auto_1fr]">
    <div className="flex min-w-0 flex-col gap-4 lg:col-span-7">{left}</div>
    <div className="min-w-0 lg:sticky lg:top-16 lg:col-span-5 lg:row-span-2">{right}</div>
    {below === null ? null : (
      <div className="min-w-0 lg:col-span-7 lg:col-start-1">{below}</div>
    )}
  </div>
);

interface LimitsCardProps extends ReadyProps {
  readonly policy: Policy | undefined;
  /** Null when the person may not change the policy. */
  readonly onEdit: (() => void) | null;
}

const LimitsCard = ({ setup, subject, policy, onEdit }: LimitsCardProps): ReactNode => (
  <Card
    title="Limits"
    description={
      policy === undefined ? SCOPE_WORDS[subject.scope] : `Version ${String(policy.version)}`
    }
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
  /** Fills the form; null when the page was opened without a template. */
  readonly template: PolicyTemplate | null;
  /**
   * Called when the form contains the template's rules. From then on, they are a draft like typed
   * rules.
   */
  readonly onTaken: () => void;
  readonly onEnd: () => void;
}

/** The project and the version that a draft starts from. */
const draftBase = ({ wallets }: PolicySetup, policy: Policy | undefined): DraftBase => ({
  owner: wallets.find(({ kind }) => kind === "treasury")?.id ?? "",
  version: policy?.version ?? 0,
});

const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const Editing = ({
  setup,
  subject,
  policy,
  template,
  onTaken,
  onEnd,
}: EditingProps): ReactNode => {
  // The version from which the form was filled. Saving refers to it, so that a version stored
  // meanwhile is not overwritten.
  const [base] = useState({ rules: policy?.rules ?? {}, ...draftBase(setup, policy) });
  const [first] = useState(() =>
    template === null
      ? (readDraft(subject, base) ?? valuesOf(base.rules, zoneHere()))
      : valuesOf(withTemplate(base.rules, template), zoneHere()),
  );
  const form = useForm({ resolver: zodResolver(policyForm), defaultValues: first });
  const values = useWatch({ control: form.control, compute: (typed) => typed });
  useEffect(
    () => draftOf(subject).save({ owner: base.owner, version: base.version, values }),
    [subject, base, values],
  );
  useEffect(() => {
    if (template !== null) onTaken();
  }, [template, onTaken]);
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

const draft = z.object({ owner: z.string(), version: z.number(), values: policyValues });

interface DraftBase {
  /** Id of the project's treasury. A draft with another treasury belongs to another project. */
  readonly owner: string;
  readonly version: number;
}

const draftOf = (subject: PolicySubject) =>
  tabStore(`causeway.policy.draft.${pathOfSubject(subject)}`, draft);

/**
 * Returns the limits that were typed in this tab before it was reloaded; null when there are none,
 * or when the policy has a newer version.
 */
const readDraft = (subject: PolicySubject, base: DraftBase): PolicyValues | null => {
  const found = draftOf(subject).read();
  return found?.owner === base.owner && found.version === base.version ? found.values : null;
};

interface HistoryCardProps {
  readonly subject: PolicySubject;
  readonly names: PolicyNames;
}

const HistoryCard = ({ subject, names }: HistoryCardProps): ReactNode => {
  const versions = usePolicyVersions(subject);
  const actorName = useActorNames();
  return (
    <Card
      title="History"
      description="Each change made a version. Versions are never changed."
      flush
    >
      <QueryContent
        query={versions}
        what="the history"
        rows={2}
        money="The policy still applies."
        empty={
          <EmptyState title="No changes yet">
            The first limits that are saved become version 1.
          </EmptyState>
        }
      >
        {({ data }) => (
          <ol className="divide-y" aria-label="Versions">
            {data.map((policy, index) => (
              <Version
                key={policy.id}
                policy={policy}
                before={data[index + 1]}
                by={actorName(policy.createdBy)}
                names={names}
              />
            ))}
          </ol>
        )}
      </QueryContent>
      {versions.hasNextPage ? (
        <div className="border-t px-4 py-3">
          <Button
            loading={versions.isFetchingNextPage}
            onClick={() => void versions.fetchNextPage()}
          >
            Show older versions
          </Button>
        </div>
      ) : null}
      {versions.data !== undefined && versions.error !== null ? (
        <Alert tone="warning">
          The history cannot be read at the moment; this is what was there.
        </Alert>
      ) : null}
    </Card>
  );
};

interface VersionProps {
  readonly policy: Policy;
  readonly before: Policy | undefined;
  readonly by: string;
  readonly names: PolicyNames;
}

const Version = ({ policy, before, by, names }: VersionProps): ReactNode => {
  const { version, rules, createdAt } = policy;
  return (
    <li className="flex flex-col gap-1 px-4 py-3">
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <Badge>Version {version}</Badge>
        <span>{by}</span>
        <span className="text-sm text-fg-3">
          <Time value={createdAt} />
        </span>
      </p>
      {before === undefined && version > 1 ? (
        <RuleList rules={rules} names={names} label={`Limits of version ${String(version)}`} />
      ) : (
        <RuleChanges
          before={before?.rules ?? {}}
          after={rules}
          names={names}
          label={`Changes of version ${String(version)}`}
        />
      )}
    </li>
  );
};
