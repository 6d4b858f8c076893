"use client";

import { Send } from "lucide-react";
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { CodeBlock } from "@/components/ui/code-block";
import { describeError } from "@/components/ui/describe-error";
import { Dialog } from "@/components/ui/dialog";
import { useHideableJson } from "@/components/ui/hidden-amounts";
import { FilterSelect } from "@/components/ui/select";
import { EmptyState, QueryContent } from "@/components/ui/states";
import { Shortened } from "@/components/ui/shortened";
import { type Column, Pager, RowName, Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import { getDelivery, listDeliveries, resendDelivery } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { DELIVERY_STATUSES } from "@/lib/contracts/webhook-deliveries";
import { type Delivery, deliveriesQuery } from "./endpoint";
import { DeliveryBadge, prettyJson } from "./endpoint-parts";

const REFRESH_MS = 2000;
const FILTERS = [
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
    cell: ({ type }) => <RowName className="font-mono text-sm font-normal">{type}</RowName>,
  },
  {
    id: "sequence",
    header: "Number",
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: ({ sequence }) => <span className="num">{sequence === 0 ? "–" : sequence}</span>,
  },
  {
    id: "status",
    header: "Status",
    phone: "aside",
    cell: (delivery) => <DeliveryBadge delivery={delivery} />,
  },
  {
    id: "answer",
    header: "Last answer",
    bare: true,
    priority: "medium",
    cell: (delivery) => (
      <Shortened className="inline-block max-w-60 align-middle">{answerOf(delivery)}</Shortened>
    ),
  },
  {
    id: "attempts",
    header: "Attempts",
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: ({ attempts }) => <span className="num">{attempts}</span>,
  },
  {
    id: "at",
    header: "Created",
    bare: true,
    cell: ({ createdAt }) => <Time value={createdAt} />,
  },
  {
    id: "open",
    header: <span className="sr-only">Details</span>,
    align: "right",
    cell: ({ id, type }) => (
      <Button
        size="sm"
        variant="ghost"
        aria-label={`Details of ${type}`}
        onClick={() => onOpen(id)}
      >
        Details
      </Button>
    ),
  },
];

export const Deliveries = ({ endpointId }: { readonly endpointId: string }): ReactNode => {
  const [{ status, delivery, cursor }, set] = useQueryStates({
    status: parseAsStringLiteral(DELIVERY_STATUSES),
    delivery: parseAsString,
    cursor: parseAsString,
  });
  const query = { status: status ?? undefined, cursor: cursor ?? undefined };
  const list = useQuery({ ...deliveriesQuery(endpointId, query), refetchInterval: REFRESH_MS });
  const { data } = list;
  const filter = (
    <FilterSelect
      label="Which deliveries"
      className="w-44"
      all="All deliveries"
      options={FILTERS}
      value={status}
      onValueChange={(next) => void set({ status: next, cursor: null })}
    />
  );
  return (
    <Card flush title="Deliveries" description="Kept for 30 days." actions={filter}>
      <QueryContent
        query={list}
        what="deliveries"
        money="Deliveries go on."
        empty={
          <EmptyState icon={Send} title="No deliveries here">
            Send a test event, or wait until something happens.
          </EmptyState>
        }
      >
        {(data) => (
          <Table
            caption="Deliveries"
            columns={columnsOf((id) => void set({ delivery: id }))}
            rows={data.data}
            rowKey={({ id }) => id}
          />
        )}
      </QueryContent>
      <Pager
        cursor={cursor}
        nextCursor={data?.nextCursor}
        onCursor={(next) => void set({ cursor: next })}
      />
      {delivery === null ? null : (
        <DeliveryDialog deliveryId={delivery} onClose={() => void set({ delivery: null })} />
      )}
    </Card>
  );
};

type Attempt = ResponseOf<typeof getDelivery>["requests"][number];

interface DeliveryDialogProps {
  readonly deliveryId: string;
  readonly onClose: () => void;
}

const DELIVERY_REFRESH_MS = 2000;

const requestOf = ({ request }: Attempt): string => {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${request.url}`, ...headers, "", prettyJson(request.body)].join("\n");
};

const responseOf = ({ response, error }: Attempt): string => {
  if (response === null) return error ?? "There was no answer.";
  const headers = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP ${String(response.statusCode)}`, ...headers, "", response.body].join("\n");
};

const AttemptView = ({ attempt }: { readonly attempt: Attempt }): ReactNode => {
  const hideable = useHideableJson();
  return (
    <section className="flex flex-col gap-2" aria-label={`Attempt ${String(attempt.number)}`}>
      <h3 className="font-medium">
        Attempt {attempt.number}{" "}
        <span className="font-normal text-fg-3">· {attempt.durationMs} ms · </span>
        <Time value={attempt.at} />
      </h3>
      <CodeBlock
        wrap
        label={`request of attempt ${String(attempt.number)}`}
        code={hideable(requestOf(attempt))}
      />
      <CodeBlock
        wrap
        label={`answer to attempt ${String(attempt.number)}`}
        code={hideable(responseOf(attempt))}
      />
    </section>
  );
};

const DeliveryDialog = ({ deliveryId, onClose }: DeliveryDialogProps): ReactNode => {
  const cache = useCache();
  const resend = useApiMutation(resendDelivery);
  const params = { id: deliveryId };
  const query = useQuery({
    ...apiQuery(getDelivery, { params }),
    refetchInterval: DELIVERY_REFRESH_MS,
  });
  const again = async (): Promise<void> => {
    await resend.mutateAsync({ params });
    toast.success("It is sent again, under the same id.");
    onClose();
    await cache.refresh(listDeliveries);
  };
  return (
    <Dialog
      onClose={onClose}
      title={query.data?.type ?? "Delivery"}
      size="lg"
      footer={
        <Button
          loading={resend.isPending}
          disabled={query.data === undefined}
          onClick={() =>
            void again().catch((reason: unknown) => toast.error(describeError(reason).message))
          }
        >
          Resend
        </Button>
      }
    >
      <QueryContent
        query={query}
        what="the delivery"
        compact
        money="Only this detail could not be read."
      >
        {({ requests }) =>
          requests.length === 0 ? (
            <p className="text-fg-2">It was not tried yet.</p>
          ) : (
            <div className="flex flex-col gap-4">
              {[...requests].reverse().map((attempt) => (
                <AttemptView key={attempt.number} attempt={attempt} />
              ))}
            </div>
          )
        }
      </QueryContent>
    </Dialog>
  );
};
