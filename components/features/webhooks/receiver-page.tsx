"use client";

import { CircleCheck, CircleX, Clock, Radio, type LucideIcon } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button, CopyButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { CodeBlock } from "@/components/ui/code-block";
import { describeError } from "@/components/ui/describe-error";
import { useHideableJson } from "@/components/ui/hidden-amounts";
import { PageHeader } from "@/components/ui/page-header";
import { EmptyState, QueryPanel } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import {
  createWebhookEndpoint,
  listWebhookEndpoints,
  readWebhookReceiver,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { useEndpoints } from "./endpoint";
import { prettyJson } from "./endpoint-parts";

type Receiver = ResponseOf<typeof readWebhookReceiver>;
type Received = Receiver["data"][number];

const REFRESH_MS = 2000;

const SIGNATURES = {
  valid: { word: "Signature valid", tone: "success", icon: CircleCheck },
  invalid: { word: "Signature invalid", tone: "danger", icon: CircleX },
  too_old: { word: "Signature too old", tone: "warning", icon: Clock },
  missing: { word: "Not signed", tone: "neutral", icon: CircleX },
} as const satisfies Record<
  Received["signature"],
  { word: string; tone: Tone; icon: LucideIcon }
>;

const typeOf = (body: string): string => {
  try {
    const { type } = JSON.parse(body) as { type?: unknown };
    return typeof type === "string" ? type : "Request";
  } catch {
    return "Request";
  }
};

const headersOf = ({ headers }: Received): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

const RequestView = ({ request }: { readonly request: Received }): ReactNode => {
  const hideable = useHideableJson();
  const { word, tone, icon } = SIGNATURES[request.signature];
  const type = typeOf(request.body);
  return (
    <Card
      title={type}
      description={<Time value={request.receivedAt} />}
      actions={
        <Badge tone={tone} icon={icon}>
          {word}
        </Badge>
      }
    >
      <div className="flex flex-col gap-2">
        <CodeBlock wrap label={`body of ${type}`} code={hideable(prettyJson(request.body))} />
        <details>
          <summary className="cursor-pointer py-1 text-fg-2">Headers</summary>
          <CodeBlock wrap label={`headers of ${type}`} code={headersOf(request)} />
        </details>
      </div>
    </Card>
  );
};

const Address = ({ receiver }: { readonly receiver: Receiver }): ReactNode => {
  const cache = useCache();
  const create = useApiMutation(createWebhookEndpoint);
  const endpoints = useEndpoints().data?.data ?? [];
  const nameOf = (id: string): string =>
    endpoints.find((endpoint) => endpoint.id === id)?.description ??
    "an endpoint without a name";
  const { url, endpointIds } = receiver;
  const make = async (): Promise<void> => {
    await create.mutateAsync({ body: { url, events: ["*"], description: "Local receiver" } });
    await cache.refresh(readWebhookReceiver, listWebhookEndpoints);
    toast.success("Events of this project arrive here from now on.");
  };
  return (
    <Card
      title="URL"
      description="It exists in development only, and only this machine reaches it."
    >
      <div className="flex flex-col items-start gap-3">
        <div className="flex w-full items-start gap-2">
          <code className="min-w-0 font-mono text-sm break-all">{url}</code>
          <CopyButton value={url} label="Copy URL" />
        </div>
        {endpointIds.length === 0 ? (
          <Button
            variant="primary"
            loading={create.isPending}
            onClick={() =>
              void make().catch((reason: unknown) => toast.error(describeError(reason).message))
            }
          >
            Create an endpoint that sends here
          </Button>
        ) : (
          <ul aria-label="Endpoints that send here" className="flex flex-col gap-1">
            {endpointIds.map((id) => (
              <li key={id}>
                Used by{" "}
                <Link href={`/webhooks/${id}`} className="link" title={id}>
                  {nameOf(id)}
                </Link>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Card>
  );
};

export const ReceiverPage = (): ReactNode => {
  const query = useQuery({ ...apiQuery(readWebhookReceiver, {}), refetchInterval: REFRESH_MS });
  return (
    <>
      <PageHeader
        title="Webhook receiver"
        description="Shows the webhooks that arrive at a URL of this service. Newest first; new ones appear automatically."
      />
      <QueryPanel query={query} what="requests" money="Deliveries go on.">
        {(data) => (
          <div className="flex flex-col gap-4">
            <Address receiver={data} />
            {data.data.length === 0 ? (
              <Card flush>
                <EmptyState icon={Radio} title="Nothing has arrived yet">
                  Send a test event from an endpoint that sends here. The last 50 requests are
                  kept until the service stops.
                </EmptyState>
              </Card>
            ) : (
              <ul className="flex flex-col gap-3" aria-label="Requests">
                {data.data.map((request) => (
                  <li key={request.id}>
                    <RequestView request={request} />
                  </li>
                ))}
              </ul>
            )}
          </div>
        )}
      </QueryPanel>
    </>
  );
};
