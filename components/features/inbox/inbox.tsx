"use client";

import { CircleCheck } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Actor } from "@/components/features/names/names";
import { useLiveQuery } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { EmptyState, QueryCard } from "@/components/ui/states";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { PageHeader } from "@/components/ui/page-header";
import { Time } from "@/components/ui/time";
import { INBOX_LOOKS, type InboxItem, inboxQuery } from "./looks";

export const InboxPage = (): ReactNode => {
  const query = useLiveQuery(inboxQuery);
  const { data, error } = query;
  return (
    <>
      <PageHeader
        title="Inbox"
        description="Everything that waits for a person. Your own tasks come first."
      />
      {data !== undefined && error !== null ? (
        <Alert tone="warning" className="mb-4">
          The inbox cannot be read at the moment; this is what was there.
        </Alert>
      ) : null}
      <QueryCard
        query={query}
        what="the inbox"
        money="No money moves without you."
        empty={
          <EmptyState icon={CircleCheck} title="Nothing waits for you">
            Payments that need your approval, and work that needs a look, appear here
            automatically.
          </EmptyState>
        }
      >
        {(data) => (
          <ul className="divide-y" aria-label="Inbox">
            {data.data.map((item) => (
              <ItemLine key={`${item.kind} ${item.id}`} item={item} />
            ))}
          </ul>
        )}
      </QueryCard>
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
