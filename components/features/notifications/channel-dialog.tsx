"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { Controller, type UseFormReturn, useForm } from "react-hook-form";
import { z } from "zod";
import { ChangeForm } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useApi, useCache } from "@/components/features/session/use-api";
import { Checkbox } from "@/components/ui/field";
import { RadioField, TextField } from "@/components/ui/form";
import { toast } from "@/components/ui/toast";
import {
  createNotificationChannel,
  listNotificationChannels,
  updateNotificationChannel,
} from "@/lib/api-client/calls.gen";
import { CHANNEL_SERVICES } from "@/lib/contracts/notification-channels";
import { NOTIFICATION_KINDS } from "@/lib/contracts/notifications";
import { type Channel, SERVICE_NAMES } from "./channel";
import { KINDS } from "./kinds";

const ADDRESS_MAX = 2000;
const NAME_MAX = 60;

const channelForm = z.object({
  service: z.enum(CHANNEL_SERVICES),
  name: z.string().trim().min(1, "Enter a name, such as #treasury.").max(NAME_MAX),
  address: z.string().trim().max(ADDRESS_MAX),
  kinds: z.array(z.enum(NOTIFICATION_KINDS)).min(1, "Choose at least one kind."),
  includeAmounts: z.boolean(),
});

/**
 * Form of a new channel, which needs an address. For a stored channel an empty field leaves the
 * address unchanged, because the page never shows the stored address.
 */
const newChannelForm = channelForm.refine(({ address }) => address !== "", {
  message: "Enter the address of the incoming webhook.",
  path: ["address"],
});

type ChannelValues = z.infer<typeof channelForm>;

const DEFAULTS: ChannelValues = {
  service: "slack",
  name: "",
  address: "",
  kinds: ["approval_waiting", "operation_failed", "gas_low"],
  includeAmounts: false,
};

const valuesOf = (channel: Channel | null): ChannelValues =>
  channel === null ? DEFAULTS : { ...channel, address: "" };

const SERVICES = [
  {
    value: "slack",
    label: SERVICE_NAMES.slack,
    description: "An incoming webhook of your workspace",
  },
  {
    value: "teams",
    label: SERVICE_NAMES.teams,
    description: "A workflow that posts webhook requests",
  },
] as const;

interface ChannelDialogProps {
  /** Null for a new channel. */
  readonly channel: Channel | null;
  readonly onClose: () => void;
}

const useChange = ({ channel, onClose }: ChannelDialogProps) => {
  const api = useApi();
  const cache = useCache();
  return useApprovable<ChannelValues>(
    channel === null ? "notification_channel.add" : `notification_channel ${channel.id}`,
    async ({ service, address, ...fields }, proof) => {
      if (channel === null)
        await api.call(createNotificationChannel, {
          body: { service, address, ...fields, ...proof },
        });
      else
        await api.call(updateNotificationChannel, {
          params: { id: channel.id },
          body: { ...fields, ...(address === "" ? {} : { address }), ...proof },
        });
      await cache.refresh(listNotificationChannels);
      toast.success(channel === null ? "The chat was added." : "The chat was changed.");
      onClose();
    },
  );
};

/** Adds or changes a chat. A new address, or showing amounts in the chat, needs an approval. */
export const ChannelDialog = (props: ChannelDialogProps): ReactNode => {
  const { channel, onClose } = props;
  const change = useChange(props);
  const form = useForm<ChannelValues>({
    resolver: zodResolver(channel === null ? newChannelForm : channelForm),
    defaultValues: valuesOf(channel),
  });
  return (
    <ChangeForm
      change={change}
      onClose={onClose}
      title={channel === null ? "Add a chat" : `Change ${channel.name}`}
      description="A new address, and amounts, need your approval. Owners get a mail about it."
      size="lg"
      form={form}
      onSubmit={change.start}
      money={channel === null ? "No chat was added." : "The chat is as it was."}
      act={channel === null ? "Add chat" : "Save"}
      long
    >
      {channel === null ? (
        <RadioField control={form.control} name="service" label="Chat" options={SERVICES} />
      ) : null}
      <ChannelFields form={form} shown={channel?.address ?? null} />
    </ChangeForm>
  );
};

interface ChannelFieldsProps {
  readonly form: UseFormReturn<ChannelValues>;
  /** The stored address, masked; null for a new channel. */
  readonly shown: string | null;
}

const ChannelFields = ({ form, shown }: ChannelFieldsProps): ReactNode => (
  <>
    <TextField
      control={form.control}
      name="name"
      label="Name"
      input={{ placeholder: "#treasury", maxLength: NAME_MAX }}
    />
    <TextField
      control={form.control}
      name="address"
      label="Address of the incoming webhook"
      hint={
        shown === null
          ? "Whoever has this address can post to the chat. It is stored encrypted and not shown again."
          : `Empty: it stays ${shown}.`
      }
      input={{ type: "url", maxLength: ADDRESS_MAX, autoComplete: "off", spellCheck: false }}
    />
    <Controller
      control={form.control}
      name="kinds"
      render={({ field, fieldState }) => (
        <fieldset className="flex flex-col gap-1">
          <legend className="text-sm font-medium text-fg-2">Notifications</legend>
          {NOTIFICATION_KINDS.map((kind) => (
            <Checkbox
              key={kind}
              label={KINDS[kind].label}
              checked={field.value.includes(kind)}
              onChange={({ target }) =>
                field.onChange(
                  NOTIFICATION_KINDS.filter((one) =>
                    one === kind ? target.checked : field.value.includes(one),
                  ),
                )
              }
            />
          ))}
          {fieldState.error === undefined ? null : (
            <p role="alert" className="text-sm text-danger">
              {fieldState.error.message}
            </p>
          )}
        </fieldset>
      )}
    />
    <Checkbox
      label="Include amounts and details: everybody in the chat can read them"
      {...form.register("includeAmounts")}
    />
  </>
);
