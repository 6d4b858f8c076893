"use client";

import { Plus, Webhook } from "lucide-react";
import Link from "next/link";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { useApiQuery } from "@/components/features/session/use-api";
import { usePublicConfig } from "@/components/providers/public-config";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { RowLink } from "@/components/ui/row-link";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { listWebhookEndpoints } from "@/lib/api-client/calls.gen";
import { CreateEndpointDialog } from "./create-endpoint-dialog";
import { endpointName, shortUrl, type Endpoint, type NewEndpoint } from "./endpoint";
import { EndpointBadge } from "./endpoint-badge";
import { EventTail } from "./event-tail";
import { SigningSecretDialog } from "./signing-secret-dialog";

const REFRESH_MS = 5000;

const eventsOf = ({ events }: Endpoint): string => (events.includes("*") ? "All events" : events.join(", "));

/** The whole URL stands on the endpoint's own page, and in the title. */
const NameAndUrl = ({ endpoint }: { readonly endpoint: Endpoint }): ReactNode => {
  const [name, url] = [endpointName(endpoint), shortUrl(endpoint.url)];
  return (
    <span className="flex min-w-0 items-baseline gap-x-3" title={endpoint.url}>
      <RowLink href={`/webhooks/${endpoint.id}`} className="truncate">
        {name}
      </RowLink>
      {name === url ? null : <span className="min-w-0 flex-1 truncate text-sm text-fg-3">{url}</span>}
    </span>
  );
};

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    id: "url",
    header: "Endpoint",
    phone: "title",
    className: "@min-[40rem]:w-full @min-[40rem]:max-w-0",
    cell: (endpoint) => <NameAndUrl endpoint={endpoint} />,
  },
  {
    id: "events",
    header: "Events",
    phone: "hidden",
    priority: "medium",
    cell: (endpoint) => (
      <span className="block max-w-60 truncate" title={eventsOf(endpoint)}>
        {eventsOf(endpoint)}
      </span>
    ),
  },
  { id: "status", header: "Status", phone: "aside", cell: (endpoint) => <EndpointBadge endpoint={endpoint} /> },
  {
    id: "pending",
    header: "Waiting",
    align: "right",
    cell: (endpoint) => <span className="num">{endpoint.pending}</span>,
  },
  {
    id: "created",
    header: "Created",
    phone: "hidden",
    priority: "low",
    className: "whitespace-nowrap",
    cell: (endpoint) => <Time value={endpoint.createdAt} />,
  },
];

export const Webhooks = (): ReactNode => {
  const { data, error, isPending, refetch } = useApiQuery(listWebhookEndpoints, {}, { refetchIntervalMs: REFRESH_MS });
  const { env } = usePublicConfig();
  const [creating, setCreating] = useQueryState("create", parseAsStringLiteral(["1"]));
  const [made, setMade] = useState<NewEndpoint | null>(null);
  const create = (
    <Button variant="primary" onClick={() => void setCreating("1")}>
      <Plus aria-hidden /> New endpoint
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Send events to your own servers. Their numbers show a receiver when one is missing."
        actions={create}
      />
      <div className="flex flex-col gap-4">
        <Card flush title="Endpoints">
          {isPending ? (
            <LoadingRows what="endpoints" />
          ) : data === undefined ? (
            <ErrorState
              error={error}
              money="Deliveries go on; only this list could not be read."
              onRetry={() => void refetch()}
            />
          ) : data.data.length === 0 ? (
            <EmptyState icon={Webhook} title="No endpoints yet" action={create}>
              Add the URL of a server of yours, and choose which events it gets.
              {env === "development" ? (
                <>
                  {" "}
                  Without a server, use the{" "}
                  <Link href="/dev/webhooks" className="link">
                    local receiver
                  </Link>
                  .
                </>
              ) : null}
            </EmptyState>
          ) : (
            <Table caption="Endpoints" columns={COLUMNS} rows={data.data} rowKey={({ id }) => id} />
          )}
        </Card>
        {env === "development" ? <EventTail /> : null}
        <ApiSnippet method="GET" path="/events?after=0" auth="bearer" />
      </div>
      <CreateEndpointDialog
        open={creating === "1"}
        onOpenChange={(open) => void setCreating(open ? "1" : null)}
        onCreated={(endpoint) => {
          void setCreating(null);
          setMade(endpoint);
        }}
      />
      <SigningSecretDialog made={made} onClose={() => setMade(null)} />
    </>
  );
};
