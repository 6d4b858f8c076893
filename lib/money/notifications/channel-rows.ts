import { z } from "zod";
import { CHANNEL_SERVICES } from "@/lib/contracts/notification-channels";
import {
  arrayOf,
  bool,
  bytes,
  int,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";

/** Settings of a channel. */
const SETTINGS = {
  service: oneOf(z.enum(CHANNEL_SERVICES)),
  name: text,
  /** Not parsed, because another version of the service may have stored unknown kinds. */
  kinds: arrayOf(text),
  includeAmounts: bool,
  status: oneOf(z.enum(["active", "paused", "disabled"])),
  disabledReason: nullable(oneOf(z.enum(["gone", "failing"]))),
  /** Host and last characters of the address. */
  shownAddress: text,
};

const CHANNEL = {
  projectId: text,
  id: text,
  ...SETTINGS,
  /** Since when every attempt has failed; null when the last one succeeded. */
  failingSince: nullable(time),
  lastAt: nullable(time),
  lastStatus: nullable(int),
  lastError: nullable(text),
  version: int,
  createdBy: text,
  createdAt: time,
  updatedAt: time,
};

/** Table `notification_channel`. */
export const channels = table(CHANNEL);

export type Channel = RowOf<typeof channels>;

export const channelKeys = channels.pick("projectId", "id");

export type ChannelKey = RowOf<typeof channelKeys>;

export const channelSettings = table(SETTINGS);

export type ChannelSettings = RowOf<typeof channelSettings>;

/** The encrypted address. */
const SEALED = { encrypted: bytes, kekId: text };

export const newChannels = table({
  projectId: text,
  id: text,
  ...SETTINGS,
  ...SEALED,
  createdBy: text,
  createdAt: time,
  updatedAt: time,
});

export const sealedAddresses = table({ projectId: text, id: text, ...SEALED });

/** An active channel to which a new notification may be posted. */
export const subscribedChannels = channels.pick(
  "projectId",
  "id",
  "kinds",
  "includeAmounts",
  "createdAt",
);

export type SubscribedChannel = RowOf<typeof subscribedChannels>;

/** Table `notification_channel_message`. */
export const channelMessages = table({
  projectId: text,
  channelId: text,
  id: text,
  title: text,
  detail: nullable(text),
  path: text,
  createdAt: time,
});

export type ChannelMessage = RowOf<typeof channelMessages>;
