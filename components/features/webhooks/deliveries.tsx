"use client";

import { Send } from "lucide-react";
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { ReactNode } from "react";
import { useApiQuery } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Pager } from "@/components/ui/pager";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { listDeliveries } from "@/lib/api-client/calls.gen";
import { DELIVERY_STATUSES } from "@/lib/contracts/webhook-deliveries";
import { DeliveryDialog } from "./delivery-dialog";
import type { Delivery } from "./endpoint";
import { DeliveryBadge } from "./endpoint-badge";

const REFRESH_MS = 2000;
const ALL = "all";
const FILTERS = [
  { value: ALL, label: "All deliveries" },
  { value: "pending", label: "Waiting" },
  { value: "delivered", label: "Delivered" },
  { value: "failed", label: "Failed" },
] as const;

const answerOf = ({ statusCode, error }: Delivery): string =>
  statusCode === null ? (error ?? "–") : `HTTP ${String(statusCode)}`;

const columnsOf = (onOpen: (id: string) => void): readonly Column<Delivery>[] => [
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
    phone: "hidden",
    priority: "low",
    cell: ({ sequence }) => <span className="num">{sequence === 0 ? "–" : sequence}</span>,
  },
  { id: "status", header: "Status", phone: "aside", cell: (delivery) => <DeliveryBadge delivery={delivery} /> },
  { id: "answer", header: "Last answer", bare: true, priority: "medium", cell: answerOf },
  {
    id: "attempts",
    header: "Attempts",
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: ({ attempts }) => <span className="num">{attempts}</span>,
  },
  { id: "at", header: "Created", bare: true, cell: ({ createdAt }) => <Time value={createdAt} /> },
  {
    id: "open",
    header: <span className="sr-only">Details</span>,
    align: "right",
    cell: ({ id, type }) => (
      <Button size="sm" variant="ghost" aria-label={`Details of ${type}`} onClick={() => onOpen(id)}>
        Details
      </Button>
    ),
  },
];

/** The deliveries to an endpoint, newest first, with each request and its answer. */
export const Deliveries = ({ endpointId }: { readonly endpointId: string }): ReactNode => {
  const [{ status, delivery, cursor }, set] = useQueryStates({
    status: parseAsStringLiteral(DELIVERY_STATUSES),
    delivery: parseAsString,
    cursor: parseAsString,
  });
  const query = { ...(status === null ? {} : { status }), ...(cursor === null ? {} : { cursor }) };
  const { data, error, isPending, refetch } = useApiQuery(
    listDeliveries,
    { params: { id: endpointId }, query },
    { refetchIntervalMs: REFRESH_MS },
  );
  const filter = (
    <Select
      label="Which deliveries"
      className="w-44"
      options={FILTERS}
      value={status ?? ALL}
      onValueChange={(value) =>
        void set({ status: DELIVERY_STATUSES.find((one) => one === value) ?? null, cursor: null })
      }
    />
  );
  return (
    <Card flush title="Deliveries" description="Kept for 30 days." actions={filter}>
      {isPending ? (
        <LoadingRows what="deliveries" />
      ) : data === undefined ? (
        <ErrorState error={error} money="Deliveries go on." onRetry={() => void refetch()} />
      ) : data.data.length === 0 ? (
        <EmptyState icon={Send} title="No deliveries here">
          Send a test event, or wait until something happens.
        </EmptyState>
      ) : (
        <Table
          caption="Deliveries"
          columns={columnsOf((id) => void set({ delivery: id }))}
          rows={data.data}
          rowKey={({ id }) => id}
        />
      )}
      <Pager cursor={cursor} nextCursor={data?.nextCursor} onCursor={(next) => void set({ cursor: next })} />
      {delivery === null ? null : <DeliveryDialog deliveryId={delivery} onClose={() => void set({ delivery: null })} />}
    </Card>
  );
};
