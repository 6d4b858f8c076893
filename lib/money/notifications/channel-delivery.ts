/** Posts waiting messages to chat channels; run by workers. */
import { addSeconds, type Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf, sqlOn } from "@/lib/platform/db/sql";
import { recordAuditOn } from "@/lib/news/audit/service";
import { FAILING_MAX_MS, retryAfterMs } from "@/lib/money/webhooks/service";
import type { WebhookAnswer, WebhookSender } from "@/lib/money/ports/webhook-sender";
import { quoted } from "@/lib/trust/proofs/service";
import type { OwnerNotice, ProjectsService } from "@/lib/trust/projects/service";
import { bodyFor, type Post } from "./channel-message";
import {
  addressContext,
  type ChannelResult,
  deleteMessages,
  disableChannel,
  findChannel,
  hasMessage,
  listMessages,
  readAddress,
  recordResult,
  reserveChannel,
  settleChannel,
} from "./channel-repository";
import type { Channel, ChannelKey } from "./channel-rows";
import { readProjectName } from "./repository";

export interface ChannelSendingDeps {
  readonly database: Database;
  readonly keys: {
    open(sealed: { kekId: string; bytes: Uint8Array }, context: string): Buffer;
  };
  readonly sender: WebhookSender;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

const SYSTEM = "notifications";
const ERROR_LENGTH_MAX = 300;

const acceptedOf = ({ statusCode }: WebhookAnswer): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

/**
 * The error of an answer, with the text that the chat sent, such as `no_team`. Null when the chat
 * accepted the message.
 */
const errorOf = (answer: WebhookAnswer): string | null => {
  if (acceptedOf(answer)) return null;
  if (answer.statusCode === null) return answer.error;
  const said = answer.body.replace(/\s+/g, " ").trim();
  return `It answered ${String(answer.statusCode)}${said === "" ? "" : `: ${said}`}`.slice(
    0,
    ERROR_LENGTH_MAX,
  );
};

/**
 * Sends one message to a channel's address, unless webhooks may not call that address.
 * @returns null when the channel was removed
 */
export const postTo = async (
  deps: Omit<ChannelSendingDeps, "projects">,
  channel: Channel,
  { lines, signal }: Pick<Post, "lines"> & { readonly signal: AbortSignal },
): Promise<{ readonly answer: WebhookAnswer; readonly result: ChannelResult } | null> => {
  const { database, keys, sender, publicUrl, clock } = deps;
  const reader = sqlOn(database.pool);
  const [sealed, project] = await Promise.all([
    readAddress(reader, channel),
    readProjectName(reader, channel.projectId),
  ]);
  if (sealed === null) return null;
  const answer = await sender.send({
    url: keys.open(sealed, addressContext(channel)).toString("utf8"),
    headers: {
      "content-type": "application/json",
      "user-agent": "Causeway-Notifications/1.0",
    },
    body: bodyFor(channel.service, { project, lines, publicUrl }),
    signal,
  });
  const { statusCode } = answer;
  return { answer, result: { at: clock.now(), statusCode, error: errorOf(answer) } };
};

type Turn = { readonly done: true } | { readonly done: false; readonly againInMs: number };
const DONE: Turn = { done: true };

/**
 * Seconds for which a job reserves the channel. A request takes less time than this, so that no
 * other job posts to the channel meanwhile.
 */
const RESERVED_SECONDS = 60;
/** Seconds between two posts to a channel, because chats accept about one message a second. */
const PAUSE_SECONDS = 1;
const TOGETHER_MAX = 10;
const RETRY_MIN_MS = 5000;
const RETRY_MAX_MS = 3_600_000;
const BUSY_MS = 1500;
const GONE: ReadonlySet<number> = new Set([404, 410]);

/**
 * Milliseconds until the next try. The pause equals the age of the message, so it doubles with
 * each try.
 */
const waitOf = (ageMs: number): number => Math.min(RETRY_MAX_MS, Math.max(RETRY_MIN_MS, ageMs));

const WHY = {
  gone: "its address does not exist any more (404 or 410)",
  failing: "every attempt of the last five days failed",
} as const;

const disabledNotice = (
  { projectId, name, shownAddress }: Channel,
  { reason, publicUrl }: { readonly reason: keyof typeof WHY; readonly publicUrl: string },
): OwnerNotice => ({
  projectId,
  subject: "A chat channel was turned off",
  text: (project) =>
    [
      `A chat channel of your project ${quoted(project)} at ${publicUrl} was turned off, because ${WHY[reason]}:`,
      "",
      `- Name: ${quoted(name)}`,
      `- Address: ${shownAddress}`,
      "",
      `Notifications are not posted there. Set another address, or turn it on again, at ${publicUrl}/settings/notifications.`,
    ].join("\n"),
});

const partsOf = (jobId: string): { key: ChannelKey; messageId: string } => {
  const [projectId = "", id = "", messageId = ""] = jobId.split("/");
  return { key: { projectId, id }, messageId };
};

/** Turns a channel off, drops its messages, and mails the owners, in one transaction. */
const turnOff = (
  { database, projects, publicUrl, clock }: ChannelSendingDeps,
  channel: Channel,
  reason: keyof typeof WHY,
): Promise<void> =>
  database.transaction(async (tx) => {
    const at = clock.now();
    const sql = sqlOf(tx);
    if (!(await disableChannel(sql, channel, { reason, at }))) return;
    await deleteMessages(sql, channel, null);
    await recordAuditOn(sql, {
      projectId: channel.projectId,
      actor: SYSTEM,
      action: "notification_channel.disabled",
      subject: channel.id,
      data: { address: channel.shownAddress, reason },
      request: null,
      at,
    });
    await projects.tellOwners(tx, disabledNotice(channel, { reason, publicUrl }));
  });

export const createChannelDelivery = (deps: ChannelSendingDeps) => {
  const { database, clock } = deps;
  const reader = sqlOn(database.pool);

  /**
   * Posts the oldest messages of a reserved channel. Storing the result also ends the reservation.
   */
  const postOldest = async (channel: Channel, signal: AbortSignal): Promise<Turn> => {
    const lines = await listMessages(reader, channel, TOGETHER_MAX);
    const [oldest] = lines;
    const posted = oldest === undefined ? null : await postTo(deps, channel, { lines, signal });
    if (oldest === undefined || posted === null) return DONE;
    const { answer, result } = posted;
    // The worker stops, so the outcome is unknown. Another turn posts again after the reservation.
    if (signal.aborted && answer.statusCode === null)
      return { done: false, againInMs: RESERVED_SECONDS * 1000 };
    const isAccepted = result.error === null;
    const now = clock.now();
    const waitMs = isAccepted
      ? PAUSE_SECONDS * 1000
      : Math.max(
          retryAfterMs(answer.headers["retry-after"], now) ?? 0,
          waitOf(now.getTime() - oldest.createdAt.getTime()),
        );
    const failingSince = await database.rawTransaction(async (sql) => {
      if (isAccepted)
        await deleteMessages(
          sql,
          channel,
          lines.map(({ id }) => id),
        );
      await recordResult(sql, channel, result);
      return settleChannel(sql, channel, {
        failedAt: isAccepted ? null : now,
        nextAt: new Date(now.getTime() + waitMs),
      });
    });
    if (isAccepted) return DONE;
    if (answer.statusCode !== null && GONE.has(answer.statusCode)) {
      await turnOff(deps, channel, "gone");
      return DONE;
    }
    if (failingSince !== null && now.getTime() - failingSince.getTime() >= FAILING_MAX_MS) {
      await turnOff(deps, channel, "failing");
      return DONE;
    }
    return { done: false, againInMs: waitMs };
  };

  return {
    /**
     * One turn of a message's job. The turn posts up to `TOGETHER_MAX` waiting messages of the
     * channel together, so that the jobs of the other posted messages have nothing left to do. When
     * the process crashes after posting and before recording it, the messages are posted again, so
     * none is lost.
     */
    deliver: async (jobId: string, signal: AbortSignal): Promise<Turn> => {
      const { key, messageId } = partsOf(jobId);
      const message = { projectId: key.projectId, channelId: key.id, id: messageId };
      if (!(await hasMessage(reader, message))) return DONE;
      const channel = await findChannel(reader, key);
      if (channel === null) return DONE;
      if (channel.status !== "active") {
        await database.rawTransaction((sql) => deleteMessages(sql, key, null));
        return DONE;
      }
      const now = clock.now();
      const until = addSeconds(now, RESERVED_SECONDS);
      const isReserved = await database.rawTransaction((sql) =>
        reserveChannel(sql, key, { now, until }),
      );
      if (isReserved === null) return { done: false, againInMs: BUSY_MS };
      const turn = await postOldest(channel, signal);
      // The turn may end without posting this job's message, when more messages wait than fit into
      // one post. The job then continues.
      return turn.done && (await hasMessage(reader, message))
        ? { done: false, againInMs: BUSY_MS }
        : turn;
    },
  };
};
