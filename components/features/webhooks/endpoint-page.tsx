"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import { useQuery } from "@tanstack/react-query";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ConfirmChangeDialog } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useReopen } from "@/components/features/approvals/kept-approval";
import { SuspendedNotice } from "@/components/features/session-made/made-things";
import { useApi, useApiMutation, useCache } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button, CopyButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { describeError } from "@/components/ui/describe-error";
import { ActionDialog } from "@/components/ui/dialog";
import { Form, FormError, TextField } from "@/components/ui/form";
import { PageHeader } from "@/components/ui/page-header";
import { QueryContent } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { Tooltip } from "@/components/ui/tooltip";
import {
  deleteWebhookEndpoint,
  getWebhookEndpoint,
  listDeliveries,
  listWebhookEndpoints,
  replayWebhookEvents,
  rotateWebhookSecret,
  testWebhookEndpoint,
  updateWebhookEndpoint,
} from "@/lib/api-client/calls.gen";
import { Deliveries } from "./deliveries";
import {
  type Endpoint,
  endpointName,
  type NewEndpoint,
  shortUrl,
  endpointQuery,
} from "./endpoint";
import { EndpointBadge, SigningSecretDialog } from "./endpoint-parts";

const REFRESH_MS = 3000;

const WHY = {
  gone: "It answered 410 Gone. Nothing was lost: set it to active, then replay what it missed.",
  maker_left:
    "Whoever made it is no owner or admin of the project any more. If the URL is yours, set it to active, then replay what it missed; else delete it.",
  failing:
    "Every attempt of five days failed. Nothing was lost: set it to active, then replay what it missed.",
} as const;

export const EndpointPage = ({ endpointId }: { readonly endpointId: string }): ReactNode => {
  const query = useQuery({ ...endpointQuery(endpointId), refetchInterval: REFRESH_MS });
  return (
    <QueryContent
      query={query}
      what="the endpoint"
      money="Deliveries go on; only this page could not be read."
    >
      {(endpoint) => <OpenEndpoint endpoint={endpoint} />}
    </QueryContent>
  );
};

const useActions = (endpoint: Endpoint) => {
  const cache = useCache();
  const params = { id: endpoint.id };
  const [update, test] = [
    useApiMutation(updateWebhookEndpoint),
    useApiMutation(testWebhookEndpoint),
  ];
  const remove = useApiMutation(deleteWebhookEndpoint);
  const done = async (text: string): Promise<void> => {
    toast.success(text);
    await cache.refresh(getWebhookEndpoint, listWebhookEndpoints, listDeliveries);
  };
  const failed = (error: unknown): void => {
    toast.error(describeError(error).message);
  };
  return {
    setStatus: (status: "active" | "paused"): void =>
      void update
        .mutateAsync({ params, body: { status } })
        .then(
          () =>
            done(status === "active" ? "The endpoint is active." : "The endpoint is paused."),
          failed,
        ),
    test: (): void =>
      void test.mutateAsync({ params }).then(() => done("A test event is on its way."), failed),
    remove: async (): Promise<void> => {
      await remove.mutateAsync({ params });
      await done("The endpoint was deleted.");
    },
    failed,
  };
};

interface EndpointProps {
  readonly endpoint: Endpoint;
}

const CopiedUrl = ({ endpoint }: EndpointProps): ReactNode => (
  <span className="flex items-center gap-1">
    <MiddleText text={shortUrl(endpoint.url)} full={endpoint.url} />
    <CopyButton value={endpoint.url} label="Copy URL" />
  </span>
);

const isNamedByUrl = (endpoint: Endpoint): boolean =>
  endpointName(endpoint) === shortUrl(endpoint.url);

const EndpointTitle = ({ endpoint }: EndpointProps): ReactNode =>
  isNamedByUrl(endpoint) ? <CopiedUrl endpoint={endpoint} /> : endpointName(endpoint);

const EndpointSummary = ({ endpoint }: EndpointProps): ReactNode => (
  <>
    {isNamedByUrl(endpoint) ? null : <CopiedUrl endpoint={endpoint} />}
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <EndpointBadge endpoint={endpoint} />
      <span>
        {endpoint.events.includes("*") ? "Every event" : endpoint.events.join(", ")},{" "}
        <span className="num">{endpoint.pending}</span> waiting
      </span>
    </span>
  </>
);

const OpenEndpoint = ({ endpoint }: EndpointProps): ReactNode => {
  const actions = useActions(endpoint);
  const router = useRouter();
  const [asking, setAsking] = useState<"rotate" | "delete" | null>(null);
  const [made, setMade] = useState<NewEndpoint | null>(null);
  useReopen(`webhook_endpoint.rotate ${endpoint.id}`, () => setAsking("rotate"));
  const isActive = endpoint.status === "active";
  return (
    <>
      <PageHeader
        title={<EndpointTitle endpoint={endpoint} />}
        description={<EndpointSummary endpoint={endpoint} />}
        actions={
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => actions.setStatus(isActive ? "paused" : "active")}>
              {isActive ? "Pause" : "Set active"}
            </Button>
            <Button onClick={() => setAsking("rotate")}>Rotate secret</Button>
            <Button onClick={() => setAsking("delete")}>Delete</Button>
            <Button
              variant="primary"
              disabled={endpoint.status === "disabled"}
              onClick={actions.test}
            >
              Send test event
            </Button>
          </div>
        }
      />
      <div className="flex flex-col gap-4">
        <SuspendedNotice
          thing={{ kind: "webhook_endpoint", id: endpoint.id }}
          suspendedAt={endpoint.suspendedAt}
        >
          Events wait until you restore it.
        </SuspendedNotice>
        {endpoint.disabledReason === null ? null : (
          <Alert tone="danger" title="Nothing is sent here">
            {WHY[endpoint.disabledReason]}
          </Alert>
        )}
        <Deliveries endpointId={endpoint.id} />
        <ReplayForm endpointId={endpoint.id} disabled={endpoint.status === "disabled"} />
      </div>
      {asking === "rotate" ? (
        <RotateSecretDialog
          endpointId={endpoint.id}
          onClose={() => setAsking(null)}
          onRotated={(rotated) => {
            setAsking(null);
            setMade(rotated);
          }}
        />
      ) : null}
      <DeleteDialog
        open={asking === "delete"}
        onClose={() => setAsking(null)}
        onConfirm={() => actions.remove().then(() => router.push("/webhooks"), actions.failed)}
      />
      <SigningSecretDialog made={made} onClose={() => setMade(null)} />
    </>
  );
};

interface DeleteDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => Promise<void>;
}

const DeleteDialog = ({ open, onClose, onConfirm }: DeleteDialogProps): ReactNode => (
  <ActionDialog
    open={open}
    onClose={onClose}
    title="Delete this endpoint?"
    description="Waiting events are not sent to it. They stay readable with GET /events."
    confirmLabel="Delete endpoint"
    tone="danger"
    onConfirm={onConfirm}
  />
);

interface ReplayFormProps {
  readonly endpointId: string;
  readonly disabled: boolean;
}

const numberOf = (text: string): number =>
  /^[1-9]\d{0,14}$/.test(text.trim()) ? Number(text) : 0;

const eventNumber = z
  .string()
  .transform(numberOf)
  .refine((number) => number > 0, "Enter a number above zero.");

const rangeForm = z
  .object({ from: eventNumber, to: eventNumber })
  .refine(({ from, to }) => from <= to, {
    path: ["to"],
    message: "Enter the larger number here.",
  });

/** Sends a range of events again, for a receiver that has missed events. */
const ReplayForm = ({ endpointId, disabled }: ReplayFormProps): ReactNode => {
  const cache = useCache();
  const replay = useApiMutation(replayWebhookEvents);
  const form = useForm({
    resolver: zodResolver(rangeForm),
    defaultValues: { from: "", to: "" },
  });
  const submit = async (body: z.infer<typeof rangeForm>): Promise<void> => {
    const { queued } = await replay.mutateAsync({ params: { id: endpointId }, body });
    toast.success(
      queued === 0
        ? "This endpoint gets none of these events."
        : `${String(queued)} events are sent again.`,
    );
    await cache.refresh(listDeliveries);
  };
  const typed = form.watch();
  return (
    <Card
      title="Replay"
      description="Sends the events of a range of numbers again, under the same ids. A receiver finds a gap by the numbers."
    >
      <Form form={form} error={replay.error} onSubmit={submit} className="flex flex-col gap-3">
        <div className="flex flex-wrap items-start gap-3">
          <TextField
            control={form.control}
            name="from"
            label="From number"
            className="w-32"
            input={{ numeric: true }}
          />
          <TextField
            control={form.control}
            name="to"
            label="To number"
            className="w-32"
            input={{ numeric: true }}
          />
          <Button type="submit" className="mt-6" disabled={disabled} loading={replay.isPending}>
            Replay
          </Button>
        </div>
        <FormError money="Nothing was sent." />
        <ApiSnippet
          call={replayWebhookEvents}
          params={{ id: endpointId }}
          auth="bearer"
          body={{ from: numberOf(typed.from) || 1, to: numberOf(typed.to) || 100 }}
        />
      </Form>
    </Card>
  );
};

interface RotateSecretDialogProps {
  readonly endpointId: string;
  readonly onRotated: (made: NewEndpoint) => void;
  readonly onClose: () => void;
}

const RotateSecretDialog = ({
  endpointId,
  onRotated,
  onClose,
}: RotateSecretDialogProps): ReactNode => {
  const api = useApi();
  const cache = useCache();
  const rotate = useApprovable<null>(
    `webhook_endpoint.rotate ${endpointId}`,
    async (_, proof) => {
      const made = await api.call(rotateWebhookSecret, {
        params: { id: endpointId },
        body: proof,
      });
      toast.success("The old secret signs beside the new one for 24 hours.");
      onRotated(made);
      await cache.refresh(getWebhookEndpoint);
    },
  );
  return (
    <ConfirmChangeDialog
      change={rotate}
      onClose={onClose}
      title="Make a new signing secret?"
      description="The current secret keeps signing beside the new one for 24 hours. Give the new one to your receiver within that time."
      input={null}
      money="The secret is as it was."
      act="Rotate secret"
    />
  );
};

interface MiddleTextProps {
  readonly text: string;
  /** The full value, for the tooltip and for copying. */
  readonly full: string;
}

const TAIL = 10;

/**
 * A text on one line that is shortened in the middle when there is no room, because its beginning
 * and end distinguish it.
 */
const MiddleText = ({ text, full }: MiddleTextProps): ReactNode => (
  <Tooltip content={full}>
    <span
      className="flex min-w-0 cursor-help rounded-tag"
      tabIndex={0}
      onCopy={(event) => {
        event.clipboardData.setData("text/plain", full);
        event.preventDefault();
      }}
    >
      <span className="sr-only">{text}</span>
      <span aria-hidden className="truncate">
        {text.slice(0, -TAIL)}
      </span>
      <span aria-hidden className="shrink-0">
        {text.slice(-TAIL)}
      </span>
    </span>
  </Tooltip>
);
