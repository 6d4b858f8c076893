"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState, type ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation, useApiQuery } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { CopyButton } from "@/components/ui/copy-button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { MiddleText } from "@/components/ui/middle-text";
import { PageHeader } from "@/components/ui/page-header";
import { LoadingRows } from "@/components/ui/skeleton";
import {
  deleteWebhookEndpoint,
  getWebhookEndpoint,
  listDeliveries,
  listWebhookEndpoints,
  rotateWebhookSecret,
  testWebhookEndpoint,
  updateWebhookEndpoint,
} from "@/lib/api-client/calls.gen";
import { Deliveries } from "./deliveries";
import { endpointName, shortUrl, type Endpoint, type NewEndpoint } from "./endpoint";
import { EndpointBadge } from "./endpoint-badge";
import { ReplayForm } from "./replay-form";
import { SigningSecretDialog } from "./signing-secret-dialog";

const REFRESH_MS = 3000;

const WHY = {
  gone: "It answered 410 Gone. Nothing was lost: set it to active, then replay what it missed.",
  failing: "Every attempt of five days failed. Nothing was lost: set it to active, then replay what it missed.",
} as const;

export const EndpointPage = ({ endpointId }: { readonly endpointId: string }): ReactNode => {
  const params = { id: endpointId };
  const { data, error, isPending, refetch } = useApiQuery(
    getWebhookEndpoint,
    { params },
    { refetchIntervalMs: REFRESH_MS },
  );
  if (isPending) return <LoadingRows what="the endpoint" />;
  if (data === undefined)
    return (
      <ErrorState
        error={error}
        money="Deliveries go on; only this page could not be read."
        onRetry={() => void refetch()}
      />
    );
  return <OpenEndpoint endpoint={data} />;
};

/** The actions on an endpoint; each ends with a message and fresh data. */
const useActions = (endpoint: Endpoint) => {
  const queryClient = useQueryClient();
  const params = { id: endpoint.id };
  const [update, test] = [useApiMutation(updateWebhookEndpoint), useApiMutation(testWebhookEndpoint)];
  const [rotate, remove] = [useApiMutation(rotateWebhookSecret), useApiMutation(deleteWebhookEndpoint)];
  const done = async (text: string): Promise<void> => {
    toast.success(text);
    const stale = [getWebhookEndpoint, listWebhookEndpoints, listDeliveries];
    await Promise.all(stale.map((contract) => queryClient.invalidateQueries({ queryKey: queryKeyOf(contract) })));
  };
  const failed = (error: unknown): void => {
    toast.error(describeError(error).message);
  };
  return {
    setStatus: (status: "active" | "paused"): void =>
      void update
        .mutateAsync({ params, body: { status } })
        .then(() => done(status === "active" ? "The endpoint is active." : "The endpoint is paused."), failed),
    test: (): void => void test.mutateAsync({ params }).then(() => done("A test event is on its way."), failed),
    rotate: async (): Promise<NewEndpoint> => {
      const made = await rotate.mutateAsync({ params, body: {} });
      await done("The old secret signs beside the new one for 24 hours.");
      return made;
    },
    remove: async (): Promise<void> => {
      await remove.mutateAsync({ params });
      await done("The endpoint was deleted.");
    },
    failed,
  };
};

const OpenEndpoint = ({ endpoint }: { readonly endpoint: Endpoint }): ReactNode => {
  const actions = useActions(endpoint);
  const router = useRouter();
  const [asking, setAsking] = useState<"rotate" | "delete" | null>(null);
  const [made, setMade] = useState<NewEndpoint | null>(null);
  const isActive = endpoint.status === "active";
  const [name, url] = [endpointName(endpoint), shortUrl(endpoint.url)];
  return (
    <>
      <PageHeader
        title={
          <span className="flex items-center gap-1">
            {name === url ? <MiddleText text={url} full={endpoint.url} /> : name}
            {name === url ? <CopyButton value={endpoint.url} label="Copy URL" /> : null}
          </span>
        }
        description={
          <>
            {name === url ? null : (
              <span className="flex items-center gap-1">
                <MiddleText text={url} full={endpoint.url} />
                <CopyButton value={endpoint.url} label="Copy URL" />
              </span>
            )}
            <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <EndpointBadge endpoint={endpoint} />
              <span>
                {endpoint.events.includes("*") ? "Every event" : endpoint.events.join(", ")},{" "}
                <span className="num">{endpoint.pending}</span> waiting
              </span>
            </span>
          </>
        }
        actions={
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => actions.setStatus(isActive ? "paused" : "active")}>
              {isActive ? "Pause" : "Set active"}
            </Button>
            <Button onClick={() => setAsking("rotate")}>Rotate secret</Button>
            <Button onClick={() => setAsking("delete")}>Delete</Button>
            <Button variant="primary" disabled={endpoint.status === "disabled"} onClick={actions.test}>
              Send test event
            </Button>
          </div>
        }
      />
      <div className="flex flex-col gap-4">
        {endpoint.disabledReason === null ? null : (
          <Alert tone="danger" title="Nothing is sent here">
            {WHY[endpoint.disabledReason]}
          </Alert>
        )}
        <Deliveries endpointId={endpoint.id} />
        <ReplayForm endpointId={endpoint.id} disabled={endpoint.status === "disabled"} />
      </div>
      <ConfirmDialog
        open={asking === "rotate"}
        onOpenChange={() => setAsking(null)}
        title="Make a new signing secret?"
        description="The current secret keeps signing beside the new one for 24 hours. Give the new one to your receiver within that time."
        confirmLabel="Rotate secret"
        onConfirm={() => actions.rotate().then(setMade, actions.failed)}
      />
      <ConfirmDialog
        open={asking === "delete"}
        onOpenChange={() => setAsking(null)}
        title="Delete this endpoint?"
        description="Waiting events are not sent to it. They stay readable with GET /events."
        confirmLabel="Delete endpoint"
        tone="danger"
        onConfirm={() => actions.remove().then(() => router.push("/webhooks"), actions.failed)}
      />
      <SigningSecretDialog made={made} onClose={() => setMade(null)} />
    </>
  );
};
