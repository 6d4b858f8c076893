"use client";

import { Minus, Plus, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { useActorNames } from "@/components/features/audit/use-actor-names";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import { RuleList } from "./rule-list";
import { changesOf, type PolicyNames } from "./rule-words";
import type { PolicySubject } from "./subject";
import { usePolicyVersions, type Policy } from "./use-policies";

interface HistoryCardProps {
  readonly subject: PolicySubject;
  readonly names: PolicyNames;
}

/** Every version of a policy: what changed, by whom, when. */
export const HistoryCard = ({ subject, names }: HistoryCardProps): ReactNode => {
  const versions = usePolicyVersions(subject);
  const actorName = useActorNames();
  const { data, error, isPending } = versions;
  return (
    <Card title="History" description="Each change made a version. Versions are never changed." flush>
      {isPending ? (
        <LoadingRows what="the history" rows={2} />
      ) : data === undefined ? (
        <ErrorState error={error} money="The policy goes on to apply." onRetry={() => void versions.refetch()} />
      ) : data.length === 0 ? (
        <EmptyState title="No changes yet">The first limits that are saved become version 1.</EmptyState>
      ) : (
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
      {versions.hasNextPage ? (
        <div className="border-t px-4 py-3">
          <Button loading={versions.isFetchingNextPage} onClick={() => void versions.fetchNextPage()}>
            Show older versions
          </Button>
        </div>
      ) : null}
      {data !== undefined && error !== null ? (
        <Alert tone="warning">The history cannot be read at the moment; this is what was there.</Alert>
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
  const { removed, added } = changesOf(before?.rules ?? {}, rules, names);
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
      ) : removed.length + added.length === 0 ? (
        <p className="text-fg-2">{version === 1 ? "No limit." : "The same limits as before."}</p>
      ) : (
        <ul aria-label={`Changes of version ${String(version)}`} className="flex flex-col gap-0.5">
          {removed.map((text) => (
            <Change key={text} icon={Minus} word="Removed" text={text} />
          ))}
          {added.map((text) => (
            <Change key={text} icon={Plus} word="Added" text={text} />
          ))}
        </ul>
      )}
    </li>
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
