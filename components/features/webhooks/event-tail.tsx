"use client";

import { Activity } from "lucide-react";
import type { ReactNode } from "react";
import { useApiQuery } from "@/components/features/session/use-api";
import { PublicId } from "@/components/ui/address";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import type { ResponseOf } from "@/lib/contracts/contract";
import { listEvents } from "@/lib/api-client/calls.gen";

type Event = ResponseOf<typeof listEvents>["data"][number];

const SHOWN = 20;
const REFRESH_MS = 2000;

const COLUMNS: readonly Column<Event>[] = [
  {
    id: "type",
    header: "Event",
    phone: "title",
    cell: ({ type }) => <code className="font-mono text-sm">{type}</code>,
  },
  {
    id: "sequence",
    header: "Number",
    align: "right",
    phone: "aside",
    cell: ({ sequence }) => <span className="num">{sequence}</span>,
  },
  {
    id: "object",
    header: "Object",
    bare: true,
    cell: ({ objectId }) => (objectId === undefined ? "private" : <PublicId value={objectId} />),
  },
  {
    id: "at",
    header: "When",
    align: "right",
    bare: true,
    cell: ({ createdAt }) => (createdAt === undefined ? "–" : <Time value={createdAt} />),
  },
];

/** The newest events, as they happen. */
export const EventTail = (): ReactNode => {
  const newest = useApiQuery(listEvents, { query: { limit: 1 } }, { refetchIntervalMs: REFRESH_MS });
  const last = newest.data?.lastSequence ?? 0;
  const query = { after: Math.max(0, last - SHOWN), limit: SHOWN };
  const { data, error, isPending, refetch } = useApiQuery(
    listEvents,
    { query },
    { enabled: newest.data !== undefined },
  );
  const rows = [...(data?.data ?? [])].reverse();
  return (
    <Card flush title="Latest events" description="Events that endpoints can receive, newest first.">
      {isPending ? (
        <LoadingRows what="events" />
      ) : data === undefined ? (
        <ErrorState error={error} money="Nothing is lost; the events are stored." onRetry={() => void refetch()} />
      ) : rows.length === 0 ? (
        <EmptyState icon={Activity} title="Nothing has happened yet">
          An event appears with the first transfer, payout or API key.
        </EmptyState>
      ) : (
        <Table caption="Latest events" columns={COLUMNS} rows={rows} rowKey={({ id }) => id} />
      )}
    </Card>
  );
};
