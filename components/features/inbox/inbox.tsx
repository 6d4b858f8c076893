"use client";

import { CircleCheck } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Actor } from "@/components/features/names/actor";
import { useApiQuery } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Badge, type Tone } from "@/components/ui/badge";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { useHideableText } from "@/components/ui/hideable-text";
import { PageHeader } from "@/components/ui/page-header";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import type { ResponseOf } from "@/lib/contracts/contract";
import { readProjectInbox } from "@/lib/contracts/inbox";

type InboxItem = ResponseOf<typeof readProjectInbox>["data"][number];

const KINDS: Readonly<Record<InboxItem["kind"], { readonly label: string; readonly tone: Tone }>> = {
  decision: { label: "Needs votes", tone: "info" },
  operation: { label: "Needs a code", tone: "info" },
  payout: { label: "Needs a code", tone: "info" },
  schedule: { label: "Needs a code", tone: "info" },
  deposit: { label: "In quarantine", tone: "warning" },
  contact: { label: "Proposed", tone: "info" },
  refund: { label: "Refund unclear", tone: "warning" },
  stopped_work: { label: "Stopped", tone: "danger" },
  failure: { label: "Failed", tone: "warning" },
};

/** Everything of the project that waits for a person, of every kind. */
export const InboxPage = (): ReactNode => {
  const { data, error, isPending, refetch } = useApiQuery(readProjectInbox, {}, { live: true });
  return (
    <>
      <PageHeader title="Inbox" description="Everything that waits for a person. Your own tasks come first." />
      {data !== undefined && error !== null ? (
        <Alert tone="warning" className="mb-4">
          The inbox cannot be read at the moment; this is what was there.
        </Alert>
      ) : null}
      <Card flush>
        {isPending ? (
          <LoadingRows what="the inbox" />
        ) : data === undefined ? (
          <ErrorState error={error} money="No money moves without you." onRetry={() => void refetch()} />
        ) : data.data.length === 0 ? (
          <EmptyState icon={CircleCheck} title="Nothing waits for you">
            Payments that need your approval, and work that needs a look, appear here automatically.
          </EmptyState>
        ) : (
          <ul className="divide-y" aria-label="Inbox">
            {data.data.map((item) => (
              <ItemLine key={`${item.kind} ${item.id}`} item={item} />
            ))}
          </ul>
        )}
      </Card>
    </>
  );
};

const ItemLine = ({ item }: { readonly item: InboxItem }): ReactNode => {
  const { label, tone } = KINDS[item.kind];
  const hideable = useHideableText();
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1 px-4 py-3">
      <div className="min-w-0">
        <Link href={item.path} className="link font-medium wrap-anywhere">
          {hideable(item.title)}
        </Link>
        <p className="text-fg-2">{item.toDo}</p>
        <p className="flex flex-wrap items-baseline gap-x-2 text-sm text-fg-3">
          <span>
            Since <Time value={item.since} />
          </span>
          {item.until === null ? null : (
            <span>
              until <Time value={item.until} />
            </span>
          )}
          {item.by === null ? null : (
            <span className="inline-flex max-w-full min-w-0 gap-1">
              by <Actor id={item.by} />
            </span>
          )}
        </p>
      </div>
      <Badge tone={item.mine ? tone : "neutral"}>{label}</Badge>
    </li>
  );
};
