/** Stores chat channels and the messages that wait for them. */
import type { Database } from "@/lib/platform/db/client";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { int, table } from "@/lib/platform/db/table";
import type { EncryptedRows } from "@/lib/platform/encryption/service";
import type { Sealed } from "@/lib/platform/ports/encryption";
import { insertJobOn } from "@/lib/platform/jobs/service";
import {
  type Channel,
  type ChannelKey,
  channelKeys,
  type ChannelMessage,
  channelMessages,
  channels,
  type ChannelSettings,
  newChannels,
  sealedAddresses,
  type SubscribedChannel,
  subscribedChannels,
} from "./channel-rows";

/** Associated data of the encryption: the ciphertext cannot be decrypted in another row. */
export const addressContext = ({ projectId, id }: ChannelKey): string =>
  JSON.stringify(["notification-channel", projectId, id]);

export interface NewChannel extends ChannelKey, ChannelSettings {
  readonly sealed: Sealed;
  readonly createdBy: string;
  readonly createdAt: Date;
}

export const insertChannel = async (
  db: Sql,
  { sealed, ...channel }: NewChannel,
): Promise<void> => {
  const row = {
    ...channel,
    encrypted: sealed.bytes,
    kekId: sealed.kekId,
    updatedAt: channel.createdAt,
  };
  await db.change(sql`
    INSERT INTO notification_channel (${newChannels.names}) VALUES (${newChannels.values(row)})`);
};

/** The project's channels, oldest first. */
export const listChannels = (db: SqlReader, projectId: string): Promise<Channel[]> =>
  channels.all(
    db,
    sql`
      SELECT ${channels.columns()} FROM notification_channel
      WHERE project_id = ${projectId}
      ORDER BY id`,
  );

export const findChannel = (
  db: SqlReader,
  { projectId, id }: ChannelKey,
): Promise<Channel | null> =>
  channels.first(
    db,
    sql`
      SELECT ${channels.columns()} FROM notification_channel
      WHERE project_id = ${projectId} AND id = ${id}`,
  );

const counts = table({ count: int });

export const countChannels = async (db: SqlReader, projectId: string): Promise<number> => {
  const counted = await counts.first(
    db,
    sql`
      SELECT count(*)::int AS count FROM notification_channel
      WHERE project_id = ${projectId}`,
  );
  return counted?.count ?? 0;
};

/** The address, encrypted; null when the channel was removed. */
export const readAddress = async (
  db: SqlReader,
  { projectId, id }: ChannelKey,
): Promise<Sealed | null> => {
  const stored = await sealedAddresses.first(
    db,
    sql`
      SELECT ${sealedAddresses.columns()} FROM notification_channel
      WHERE project_id = ${projectId} AND id = ${id}`,
  );
  return stored === null ? null : { bytes: stored.encrypted, kekId: stored.kekId };
};

/**
 * Changes a channel by compare-and-set. Turning a channel on clears its failures.
 * @returns false when the channel was changed since that version was read
 */
export const updateChannel = async (
  db: Sql,
  { projectId, id, version, status: before }: Channel,
  { sealed, at, ...after }: ChannelSettings & { readonly sealed: Sealed | null; at: Date },
): Promise<boolean> => {
  const isTurnedOn = after.status === "active" && before !== "active";
  const changed = await db.change(sql`
    UPDATE notification_channel SET
      name = ${after.name},
      kinds = ${after.kinds}::text[],
      include_amounts = ${after.includeAmounts},
      status = ${after.status},
      disabled_reason = ${after.disabledReason},
      shown_address = ${after.shownAddress},
      encrypted = coalesce(${sealed === null ? null : Buffer.from(sealed.bytes)}::bytea, encrypted),
      kek_id = coalesce(${sealed?.kekId ?? null}, kek_id),
      failing_since = CASE WHEN ${isTurnedOn}::boolean THEN NULL ELSE failing_since END,
      next_at = CASE WHEN ${isTurnedOn}::boolean THEN NULL ELSE next_at END,
      updated_at = ${at}::timestamptz,
      version = version + 1
    WHERE project_id = ${projectId} AND id = ${id} AND version = ${version}::int`);
  return changed === 1;
};

/** Deletes the channel with its address and its messages. */
export const deleteChannel = async (
  db: Sql,
  { projectId, id }: ChannelKey,
): Promise<boolean> => {
  const deleted = await db.change(sql`
    DELETE FROM notification_channel WHERE project_id = ${projectId} AND id = ${id}`);
  return deleted === 1;
};

/** Active channels of the projects. */
export const readSubscribed = (
  db: SqlReader,
  projectIds: readonly string[],
): Promise<SubscribedChannel[]> =>
  subscribedChannels.all(
    db,
    sql`
      SELECT ${subscribedChannels.columns()} FROM notification_channel
      WHERE project_id = ANY (${projectIds}::text[]) AND status = 'active'
      ORDER BY project_id, id`,
  );

const CHANNEL_QUEUE = "notification_channel";

/** Id of the job that sends a message. */
const jobIdOf = ({ projectId, channelId, id }: ChannelMessage): string =>
  `${projectId}/${channelId}/${id}`;

/** Stores messages with the jobs that send them. */
export const insertMessages = async (
  db: Sql,
  messages: readonly ChannelMessage[],
): Promise<void> => {
  if (messages.length === 0) return;
  await db.change(sql`
    INSERT INTO notification_channel_message (${channelMessages.names})
    SELECT ${channelMessages.names} FROM ${channelMessages.list(messages)} AS message`);
  for (const message of messages)
    await insertJobOn(db, {
      id: jobIdOf(message),
      queue: CHANNEL_QUEUE,
      runAt: message.createdAt,
    });
};

export const hasMessage = async (
  db: SqlReader,
  { projectId, channelId, id }: Pick<ChannelMessage, "projectId" | "channelId" | "id">,
): Promise<boolean> => {
  const found = await counts.first(
    db,
    sql`
      SELECT count(*)::int AS count FROM notification_channel_message
      WHERE project_id = ${projectId} AND channel_id = ${channelId} AND id = ${id}`,
  );
  return (found?.count ?? 0) > 0;
};

/**
 * Reserves the channel until `until`, unless the channel has to wait or another job has reserved
 * it.
 * @returns null when the channel cannot be reserved now
 */
export const reserveChannel = (
  db: Sql,
  { projectId, id }: ChannelKey,
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<ChannelKey | null> =>
  channelKeys.first(
    db,
    sql`
      UPDATE notification_channel SET next_at = ${until}::timestamptz
      WHERE project_id = ${projectId}
        AND id = ${id}
        AND (next_at IS NULL OR next_at <= ${now}::timestamptz)
      RETURNING ${channelKeys.columns()}`,
  );

/** The waiting messages of a channel, oldest first. */
export const listMessages = (
  db: SqlReader,
  { projectId, id }: ChannelKey,
  limit: number,
): Promise<ChannelMessage[]> =>
  channelMessages.all(
    db,
    sql`
      SELECT ${channelMessages.columns()} FROM notification_channel_message
      WHERE project_id = ${projectId} AND channel_id = ${id}
      ORDER BY id
      LIMIT ${limit}::int`,
  );

/** Deletes messages of a channel by their ids, or all its messages when `ids` is null. */
export const deleteMessages = async (
  db: Sql,
  { projectId, id }: ChannelKey,
  ids: readonly string[] | null,
): Promise<void> => {
  await db.change(sql`
    DELETE FROM notification_channel_message
    WHERE project_id = ${projectId}
      AND channel_id = ${id}
      AND (${ids}::text[] IS NULL OR id = ANY (${ids}::text[]))`);
};

export interface ChannelResult {
  readonly at: Date;
  readonly statusCode: number | null;
  /** Null when the message was accepted. */
  readonly error: string | null;
}

/** Stores the result of the newest request. */
export const recordResult = async (
  db: Sql,
  { projectId, id }: ChannelKey,
  { at, statusCode, error }: ChannelResult,
): Promise<void> => {
  await db.change(sql`
    UPDATE notification_channel SET
      last_at = ${at}::timestamptz,
      last_status = ${statusCode}::int,
      last_error = ${error}
    WHERE project_id = ${projectId} AND id = ${id}`);
};

const failures = channels.pick("failingSince");

/**
 * Sets since when the channel fails, and when the next message may be sent.
 * @returns since when every attempt has failed; null when the last one succeeded
 */
export const settleChannel = async (
  db: Sql,
  { projectId, id }: ChannelKey,
  { failedAt, nextAt }: { readonly failedAt: Date | null; readonly nextAt: Date },
): Promise<Date | null> => {
  const settled = await failures.first(
    db,
    sql`
      UPDATE notification_channel SET
        next_at = ${nextAt}::timestamptz,
        failing_since = CASE
          WHEN ${failedAt}::timestamptz IS NOT NULL
          THEN coalesce(failing_since, ${failedAt}::timestamptz)
        END
      WHERE project_id = ${projectId} AND id = ${id}
      RETURNING ${failures.columns()}`,
  );
  return settled?.failingSince ?? null;
};

/**
 * Disables an active channel by compare-and-set. Returns false when the channel is no longer
 * active.
 */
export const disableChannel = async (
  db: Sql,
  { projectId, id }: ChannelKey,
  { reason, at }: { readonly reason: "gone" | "failing"; readonly at: Date },
): Promise<boolean> => {
  const disabled = await db.change(sql`
    UPDATE notification_channel SET
      status = 'disabled',
      disabled_reason = ${reason},
      updated_at = ${at}::timestamptz,
      version = version + 1
    WHERE project_id = ${projectId} AND id = ${id} AND status = 'active'`);
  return disabled === 1;
};

/**
 * The encrypted addresses of chat channels. `npm run keys:rotate` encrypts each of them again
 * under the newest key.
 */
export const encryptedChannelAddresses = ({
  prisma,
}: Pick<Database, "prisma">): EncryptedRows => ({
  name: "addresses of chat channels",
  count: async () => {
    const groups = await prisma.notificationChannel.groupBy({ by: ["kekId"], _count: true });
    return new Map(groups.map(({ kekId, _count }) => [kekId, _count]));
  },
  keyIds: async () => {
    const groups = await prisma.notificationChannel.groupBy({ by: ["kekId"] });
    return groups.map(({ kekId }) => kekId);
  },
  batch: async ({ kekId, afterId, limit }) => {
    const rows = await prisma.notificationChannel.findMany({
      where: { kekId, id: { gt: afterId } },
      orderBy: { id: "asc" },
      take: limit,
    });
    return rows.map((row) => ({
      id: row.id,
      context: addressContext(row),
      sealed: { kekId, bytes: row.encrypted },
    }));
  },
  replace: async ({ id, sealed }, next) => {
    const { count } = await prisma.notificationChannel.updateMany({
      where: { id, kekId: sealed.kekId, encrypted: Uint8Array.from(sealed.bytes) },
      data: { kekId: next.kekId, encrypted: Uint8Array.from(next.bytes) },
    });
    return count === 1;
  },
});
