/** Chat channels to which a project's notifications are posted; owners and admins manage them. */
import { createHash } from "node:crypto";
import type { ChannelService } from "@/lib/contracts/notification-channels";
import type { NotificationKind } from "@/lib/contracts/notifications";
import { actorName, type UserActor } from "@/lib/core/actor";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { requirePermission } from "@/lib/core/permissions";
import { type Sql, sqlOf, sqlOn } from "@/lib/platform/db/sql";
import type { Sealed } from "@/lib/platform/ports/encryption";
import { type AuditData, doneBy, recordAuditOn, replaced } from "@/lib/news/audit/service";
import {
  type ApprovalsService,
  type Change,
  type GivenApproval,
  quoted,
} from "@/lib/trust/proofs/service";
import type { OwnerNotice } from "@/lib/trust/projects/service";
import { type ChannelSendingDeps, postTo } from "./channel-delivery";
import {
  addressContext,
  countChannels,
  deleteChannel,
  findChannel,
  insertChannel,
  listChannels,
  recordResult,
  updateChannel,
} from "./channel-repository";
import type { Channel, ChannelKey, ChannelSettings } from "./channel-rows";

export interface ChannelsDeps extends ChannelSendingDeps {
  readonly keys: ChannelSendingDeps["keys"] & {
    seal(plaintext: Uint8Array, context: string): Sealed;
  };
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
}

interface NewChannelFields {
  readonly service: ChannelService;
  readonly name: string;
  readonly address: string;
  readonly kinds: readonly NotificationKind[];
  readonly includeAmounts: boolean;
  readonly approval?: GivenApproval | undefined;
}

interface ChannelChange {
  readonly name?: string | undefined;
  readonly address?: string | undefined;
  readonly kinds?: readonly NotificationKind[] | undefined;
  readonly includeAmounts?: boolean | undefined;
  readonly status?: "active" | "paused" | undefined;
  readonly approval?: GivenApproval | undefined;
}

const CHANNELS_MAX = 20;
const SHOWN_CHARACTERS = 4;

/**
 * The part of a channel's address that people see: host and last characters. The rest is a secret.
 */
const shownAddressOf = (address: string): string => {
  const { host } = new URL(address);
  return `${host}/…${address.slice(-SHOWN_CHARACTERS)}`;
};

const SERVICE_NAMES: Readonly<Record<ChannelService, string>> = {
  slack: "Slack",
  teams: "Microsoft Teams",
};

const linesOf = ({ service, name, shownAddress, includeAmounts }: ChannelSettings) => [
  `Chat: ${SERVICE_NAMES[service]}`,
  `Name: ${quoted(name)}`,
  `Address: ${shownAddress}`,
  `Amounts and details: ${includeAmounts ? "sent" : "not sent"}`,
];

/**
 * The values that a person approves. They contain a digest of the address, because the address is
 * a secret.
 */
const valuesOf = (settings: ChannelSettings, address: string | null) => ({
  service: settings.service,
  name: settings.name,
  kinds: [...settings.kinds].sort(),
  includeAmounts: settings.includeAmounts,
  address: address === null ? null : createHash("sha256").update(address).digest("hex"),
});

const auditedOf = ({ name, shownAddress, kinds, includeAmounts, status }: ChannelSettings) => ({
  name,
  address: shownAddress,
  kinds: [...kinds],
  includeAmounts,
  status,
});

const tooManyChannels = (): DomainError =>
  new DomainError(
    "invalid_state",
    `A project has at most ${String(CHANNELS_MAX)} channels. Remove one first.`,
  );

const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The channel was changed meanwhile. Read it again; this change was not made.",
  );

const badAddress = (problem: string): DomainError =>
  invalidRequest([{ path: "address", message: problem, code: "forbidden_target" }], problem);

export const createChannelsService = (deps: ChannelsDeps) => {
  const { database, keys, sender, approvals, projects, publicUrl, clock } = deps;
  const reader = sqlOn(database.pool);

  const find = async (actor: UserActor, id: string): Promise<Channel> => {
    requirePermission(actor, "webhooks:manage");
    const channel = isId("notificationChannel", id)
      ? await findChannel(reader, { projectId: actor.projectId, id })
      : null;
    if (channel === null) throw notFound();
    return channel;
  };

  const checkAddress = async (address: string): Promise<void> => {
    const problem = await sender.check(address);
    if (problem !== null) throw badAddress(problem);
  };

  const seal = (key: ChannelKey, address: string): Sealed =>
    keys.seal(Buffer.from(address), addressContext(key));

  const audit = (
    sql: Sql,
    actor: UserActor,
    entry: { readonly action: string; readonly id: string; readonly data: AuditData },
  ): Promise<void> =>
    recordAuditOn(sql, {
      ...doneBy(actor),
      action: `notification_channel.${entry.action}`,
      subject: entry.id,
      data: entry.data,
      at: clock.now(),
    });

  const noticeOf = (actor: UserActor, { title, lines }: Change): OwnerNotice => ({
    projectId: actor.projectId,
    subject: "Notifications of your project go to a chat channel",
    text: (project) =>
      [
        `In your project ${quoted(project)} at ${publicUrl} this was approved:`,
        "",
        title,
        ...lines.map((line) => `- ${line}`),
        `- Changed by: ${actorName(actor)}`,
        `- When: ${clock.now().toISOString()}`,
        "",
        `If this was not meant, remove the channel at ${publicUrl}/settings/notifications. Nothing is posted to it from then on.`,
      ].join("\n"),
  });

  const create = async (actor: UserActor, input: NewChannelFields): Promise<Channel> => {
    requirePermission(actor, "webhooks:manage");
    await checkAddress(input.address);
    const { service, name, kinds, includeAmounts } = input;
    const settings = {
      service,
      name,
      kinds,
      includeAmounts,
      status: "active",
      disabledReason: null,
      shownAddress: shownAddressOf(input.address),
    } as const;
    const change = {
      kind: "notification_channel.add",
      title: "Send notifications to a chat channel",
      lines: [...linesOf(settings), `Notifications: ${kinds.join(", ")}`],
      values: valuesOf(settings, input.address),
    } as const;
    const approved = await approvals.requireApproval(actor, change, input.approval);
    const key = { projectId: actor.projectId, id: newId("notificationChannel") };
    await database.transaction(async (tx) => {
      const sql = sqlOf(tx);
      await approved.consume(tx);
      // Concurrent requests may exceed the maximum slightly. That is harmless, because the maximum
      // only keeps the list short.
      if ((await countChannels(sql, key.projectId)) >= CHANNELS_MAX) throw tooManyChannels();
      await insertChannel(sql, {
        ...key,
        ...settings,
        sealed: seal(key, input.address),
        createdBy: actorName(actor),
        createdAt: clock.now(),
      });
      const data = { ...auditedOf(settings), ...approved.record };
      await audit(sql, actor, { action: "created", id: key.id, data });
      await projects.tellOwners(tx, noticeOf(actor, change));
    });
    return find(actor, key.id);
  };

  const settingsAfter = (before: Channel, change: ChannelChange): ChannelSettings => {
    const status = change.status ?? before.status;
    return {
      service: before.service,
      name: change.name ?? before.name,
      kinds: change.kinds ?? before.kinds,
      includeAmounts: change.includeAmounts ?? before.includeAmounts,
      status,
      disabledReason: status === "disabled" ? before.disabledReason : null,
      shownAddress:
        change.address === undefined ? before.shownAddress : shownAddressOf(change.address),
    };
  };

  const update = async (
    actor: UserActor,
    id: string,
    change: ChannelChange,
  ): Promise<Channel> => {
    const before = await find(actor, id);
    const { address } = change;
    if (address !== undefined) await checkAddress(address);
    const after = settingsAfter(before, change);
    const redirection = {
      kind: "notification_channel.redirect",
      title: `Move the chat channel ${before.id}, or send it amounts`,
      lines: [...linesOf(after), `Address now: ${before.shownAddress}`],
      values: {
        channelId: id,
        version: before.version,
        after: valuesOf(after, address ?? null),
      },
    } as const;
    const isRedirected =
      address !== undefined || (after.includeAmounts && !before.includeAmounts);
    const approved = isRedirected
      ? await approvals.requireApproval(actor, redirection, change.approval)
      : null;
    await database.transaction(async (tx) => {
      const sql = sqlOf(tx);
      await approved?.consume(tx);
      const sealed = address === undefined ? null : seal(before, address);
      if (!(await updateChannel(sql, before, { ...after, sealed, at: clock.now() })))
        throw changedMeanwhile();
      const data = {
        ...auditedOf(after),
        ...replaced(auditedOf(before), auditedOf(after)),
        ...approved?.record,
      };
      await audit(sql, actor, { action: "updated", id, data });
      if (approved !== null) await projects.tellOwners(tx, noticeOf(actor, redirection));
    });
    return find(actor, id);
  };

  return {
    /** Every channel of the project, oldest first. @throws DomainError `forbidden` */
    list: async (actor: UserActor): Promise<readonly Channel[]> => {
      requirePermission(actor, "webhooks:manage");
      return listChannels(reader, actor.projectId);
    },

    /**
     * Adds a channel, which a person must approve.
     * @throws DomainError `forbidden`, `invalid_request` for an address that is not allowed,
     * `invalid_state`, `approval_required` and the other errors of `requireApproval`
     */
    create,

    /**
     * Changes a channel. An approval is needed for a new address, and for sending amounts to a
     * channel that did not get them before.
     * @throws DomainError `not_found`, `forbidden`, `invalid_request`, `invalid_state` when the
     * channel was changed meanwhile, `approval_required`
     */
    update,

    /**
     * Removes a channel with its address and its waiting messages.
     * @throws DomainError `not_found`, `forbidden`
     */
    remove: async (actor: UserActor, id: string): Promise<{ id: string }> => {
      const channel = await find(actor, id);
      await database.rawTransaction(async (sql) => {
        if (!(await deleteChannel(sql, channel))) throw notFound();
        const data = { name: channel.name, address: channel.shownAddress };
        await audit(sql, actor, { action: "deleted", id, data });
      });
      return { id };
    },

    /**
     * Posts a test message at once and stores its result. A failed test does not turn the channel
     * off.
     * @throws DomainError `not_found`, `forbidden`
     */
    test: async (actor: UserActor, id: string, signal: AbortSignal): Promise<Channel> => {
      const channel = await find(actor, id);
      const line = {
        title: "Test: notifications of this project are posted here",
        detail: null,
        path: "/settings/notifications",
      };
      const posted = await postTo(deps, channel, { lines: [line], signal });
      if (posted === null) throw notFound();
      await database.rawTransaction(async (sql) => {
        await recordResult(sql, channel, posted.result);
        const { statusCode } = posted.result;
        await audit(sql, actor, { action: "tested", id, data: { statusCode } });
      });
      return find(actor, id);
    },
  };
};
