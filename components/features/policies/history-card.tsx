"use client";

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
import { RuleChanges } from "./rule-changes";
import { RuleList } from "./rule-list";
import type { PolicyNames } from "./rule-words";
import type { PolicySubject } from "./subject";
import { usePolicyVersions, type Policy } from "./use-policies";

interface HistoryCardProps {
  readonly subject: PolicySubject;
  readonly names: PolicyNames;
}

/** Every version of a policy, with its changes, their author and time. */
export const HistoryCard = ({ subject, names }: HistoryCardProps): ReactNode => {
  const versions = usePolicyVersions(subject);
  const actorName = useActorNames();
  const { data, error, isPending } = versions;
  return (
    <Card title="History" description="Each change made a version. Versions are never changed." flush>
      {isPending ? (
        <LoadingRows what="the history" rows={2} />
      ) : data === undefined ? (
        <ErrorState error={error} money="The policy still applies." onRetry={() => void versions.refetch()} />
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
