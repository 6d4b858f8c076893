"use client";

import { CircleCheck } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Actor } from "@/components/features/names/actor";
import { useApiQuery } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { useHideableText } from "@/components/ui/hideable-text";
import { PageHeader } from "@/components/ui/page-header";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import { readProjectInbox } from "@/lib/api-client/calls.gen";
import { INBOX_LOOKS, type InboxItem } from "./looks";

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
  const { label, tone } = INBOX_LOOKS[item.kind];
  const hideable = useHideableText();
  return (
    <li className="px-4 py-2">
      <div className="flex items-start justify-between gap-x-4">
        <Link href={item.path} className="link min-w-0 font-medium wrap-anywhere">
          {hideable(item.title)}
        </Link>
        <span className="shrink-0">
          <Badge tone={item.mine ? tone : "neutral"}>{label}</Badge>
        </span>
      </div>
      <div className="flex flex-wrap items-center gap-x-4">
        <p className="text-fg-2">{item.toDo}</p>
        <p className="flex max-w-full min-w-0 flex-wrap items-center gap-x-3 text-sm text-fg-3">
          {item.by === null ? null : <Actor id={item.by} />}
          <Time value={item.since} />
          {item.until === null ? null : (
            <span>
              ends <Time value={item.until} />
            </span>
          )}
        </p>
      </div>
    </li>
  );
};
