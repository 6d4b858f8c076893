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
import { listWebhookEndpoints } from "@/lib/contracts/webhook-endpoints";
import { CreateEndpointDialog } from "./create-endpoint-dialog";
import { shortUrl, type Endpoint, type NewEndpoint } from "./endpoint";
import { EndpointBadge } from "./endpoint-badge";
import { EventTail } from "./event-tail";
import { SigningSecretDialog } from "./signing-secret-dialog";

const REFRESH_MS = 5000;

const eventsOf = ({ events }: Endpoint): string => (events.includes("*") ? "All events" : events.join(", "));

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    id: "url",
    header: "Endpoint",
    phone: "title",
    cell: (endpoint) => <RowLink href={`/webhooks/${endpoint.id}`}>{shortUrl(endpoint.url)}</RowLink>,
  },
  {
    id: "events",
    header: "Events",
    phone: "hidden",
    priority: "medium",
    cell: (endpoint) => <span className="break-words">{eventsOf(endpoint)}</span>,
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
        description="Send events to your own servers. Events are numbered, so a receiver notices when one is missing."
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
