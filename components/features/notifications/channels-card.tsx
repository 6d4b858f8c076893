"use client";

import { Ban, CircleCheck, MessageSquare, Pause, Plus, TriangleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { useMay } from "@/components/features/projects/use-project";
import { apiQuery } from "@/components/features/session/api-query";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ActionDialog } from "@/components/ui/dialog";
import { ActionError, EmptyState, QueryCard } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import {
  deleteNotificationChannel,
  listNotificationChannels,
  testNotificationChannel,
  updateNotificationChannel,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { ChannelDialog } from "./channel-dialog";
import { type Channel, SERVICE_NAMES } from "./channel";
import { KINDS } from "./kinds";

type Channels = ResponseOf<typeof listNotificationChannels>;

/** The chats of the project. Only people who may change them see the card. */
export const ChannelsCard = (): ReactNode =>
  useMay("webhooks:manage") ? <ManagedChannels /> : null;

const ManagedChannels = (): ReactNode => {
  const query = useQuery(apiQuery(listNotificationChannels, {}));
  const [editing, setEditing] = useState<Channel | "new" | null>(null);
  const add = (
    <Button size="sm" onClick={() => setEditing("new")}>
      <Plus aria-hidden /> Add a chat
    </Button>
  );
  return (
    <>
      <QueryCard
        id="chats"
        title="Slack and Microsoft Teams"
        description="Notifications of this project in your team's chat. Everybody in that chat reads them."
        query={query}
        what="the chats of this project"
        rows={1}
        compact
        actions={add}
      >
        {({ data }: Channels) =>
          data.length === 0 ? (
            <EmptyState icon={MessageSquare} title="No chat yet">
              Create an incoming webhook in Slack, or a workflow with a webhook in Teams, and
              add its address here.
            </EmptyState>
          ) : (
            <ul className="divide-y" aria-label="Chats">
              {data.map((channel) => (
                <ChannelLine
                  key={channel.id}
                  channel={channel}
                  onEdit={() => setEditing(channel)}
                />
              ))}
            </ul>
          )
        }
      </QueryCard>
      {editing === null ? null : (
        <ChannelDialog
          channel={editing === "new" ? null : editing}
          onClose={() => setEditing(null)}
        />
      )}
    </>
  );
};

const StateBadge = ({ channel }: { readonly channel: Channel }): ReactNode => {
  if (channel.status === "paused")
    return (
      <Badge tone="neutral" icon={Pause}>
        Off
      </Badge>
    );
  if (channel.status === "disabled")
    return (
      <Badge tone="danger" icon={Ban}>
        Turned off
      </Badge>
    );
  return channel.failingSince === null ? (
    <Badge tone="success" icon={CircleCheck}>
      On
    </Badge>
  ) : (
    <Badge tone="warning" icon={TriangleAlert}>
      Failing
    </Badge>
  );
};

const WHY_OFF = {
  gone: "Turned off by the service: the address does not exist any more. Set another one.",
  failing: "Turned off by the service: every attempt of five days failed.",
} as const;

const LastResult = ({ channel }: { readonly channel: Channel }): ReactNode => {
  const { lastResult, disabledReason } = channel;
  if (lastResult === null) return <p className="text-sm text-fg-3">Nothing was posted yet.</p>;
  return (
    <>
      {disabledReason === null ? null : (
        <p className="text-sm text-danger">{WHY_OFF[disabledReason]}</p>
      )}
      <p className="text-sm break-words text-fg-3">
        {lastResult.error === null ? "Last message accepted" : "Last message not accepted"}{" "}
        <Time value={lastResult.at} />
        {lastResult.error === null ? "" : `: ${lastResult.error}`}
      </p>
    </>
  );
};

interface ChannelLineProps {
  readonly channel: Channel;
  readonly onEdit: () => void;
}

const ChannelLine = ({ channel, onEdit }: ChannelLineProps): ReactNode => {
  const cache = useCache();
  const test = useApiMutation(testNotificationChannel);
  const update = useApiMutation(updateNotificationChannel);
  const params = { id: channel.id };
  const isOn = channel.status === "active";
  const sendTest = async (): Promise<void> => {
    const { lastResult } = await test.mutateAsync({ params });
    if (lastResult?.error == null) toast.success(`A test was posted to ${channel.name}.`);
    else toast.error(`${channel.name} did not accept the test. ${lastResult.error}`);
    await cache.refresh(listNotificationChannels);
  };
  const turn = async (): Promise<void> => {
    await update.mutateAsync({ params, body: { status: isOn ? "paused" : "active" } });
    await cache.refresh(listNotificationChannels);
  };
  // The error is ignored here, because the line shows the error of the mutation.
  const settle = (work: Promise<void>): void => void work.catch(() => undefined);
  return (
    <li className="flex flex-col gap-2 px-4 py-3">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <h3 className="min-w-0 font-medium break-words">{channel.name}</h3>
        <StateBadge channel={channel} />
      </div>
      <div className="min-w-0">
        <p className="text-sm break-words text-fg-2">
          {SERVICE_NAMES[channel.service]}, {channel.address}.{" "}
          {channel.kinds.map((kind) => KINDS[kind].label).join(", ")}.{" "}
          {channel.includeAmounts ? "With amounts." : "Without amounts."}
        </p>
        <LastResult channel={channel} />
      </div>
      <ActionError error={test.error ?? update.error} money="Nothing was changed." />
      <div className="flex flex-wrap gap-2">
        <Button size="sm" loading={test.isPending} onClick={() => settle(sendTest())}>
          Send a test
        </Button>
        <Button size="sm" loading={update.isPending} onClick={() => settle(turn())}>
          {isOn ? "Turn off" : "Turn on"}
        </Button>
        <Button size="sm" onClick={onEdit}>
          Change
        </Button>
        <RemoveButton channel={channel} />
      </div>
    </li>
  );
};

const RemoveButton = ({ channel }: { readonly channel: Channel }): ReactNode => {
  const cache = useCache();
  const remove = useApiMutation(deleteNotificationChannel);
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button size="sm" variant="ghost" onClick={() => setAsking(true)}>
        Remove
      </Button>
      <ActionDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Remove ${channel.name}?`}
        description="Notifications are not posted there any more. The stored address is deleted."
        confirmLabel="Remove"
        action={remove}
        onConfirm={async () => {
          await remove.mutateAsync({ params: { id: channel.id } });
          await cache.refresh(listNotificationChannels);
        }}
      />
    </>
  );
};
