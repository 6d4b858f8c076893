import { movementKind } from "@/lib/core/movement-kinds";
import { z } from "zod";
import { amountText } from "@/lib/core/amount-text";
import { quoted } from "@/lib/trust/proofs/service";
import { readableJson } from "@/lib/platform/db/readable-json";
import { raw } from "@/lib/platform/db/statement";
import type { News } from "./notification";

// Each field may be missing, because other modules and other versions of the service write
// payloads.
const fields = z.looseObject({
  kind: z.string().optional(),
  transferId: z.string().nullish(),
  title: z.string().optional(),
  subjectId: z.string().optional(),
  scope: z.string().optional(),
  name: z.string().optional(),
  role: z.string().optional(),
  changedBy: z.string().optional(),
  createdBy: z.string().optional(),
  itemsTotal: z.number().optional(),
  itemsFailed: z.number().optional(),
  chainId: z.number().optional(),
  walletId: z.string().optional(),
  token: z.object({ symbol: z.string(), address: z.string() }).optional(),
  amount: z.string().optional(),
  failure: z
    .looseObject({ code: z.string().optional(), message: z.string().optional() })
    .nullish(),
});

type EventPayload = z.output<typeof fields>;

/**
 * Column `event.payload` (JSON). A payload of another form counts as empty, so that it does not
 * block later events.
 */
export const parseEventPayload = (text: string): EventPayload =>
  fields.safeParse(JSON.parse(text)).data ?? {};

// Derives a notification's text from an event, if the event needs a notification. Pure: names that
// the event does not contain are parameters.

export interface DueEvent {
  readonly projectId: string;
  readonly id: string;
  readonly type: string;
  readonly objectId: string;
  readonly payload: EventPayload;
  readonly createdAt: Date;
  readonly private: boolean;
  readonly isVoted: boolean;
  /** In US dollars; null when unknown or not a deposit. */
  readonly depositUsd: number | null;
  /**
   * Where the money of an operation or payout is now and what to do next; null when it was not
   * read.
   */
  readonly nextAction: string | null;
}

export interface Deposited {
  readonly chainId: number;
  /** Address of the token, or `native`. */
  readonly token: string;
  /** In whole units of the token. */
  readonly amount: string;
}

/** Names of members, wallets and keys by id. Some ids may have no entry. */
export type Names = ReadonlyMap<string, string>;

const SUB_STATUS = `${readableJson("e.payload")}->>'subStatus'`;

/**
 * SQL condition on `event e`: the event may lead to a notification. The sequencer skips all other
 * events, so payments without problems cost only one check of rows that were just written.
 */
export const IS_NEWS = raw(`(
  e.type = ANY ('{
    approval.requested, operation.failed, operation.partially_completed, payout.failed,
    payout.partially_completed, payout_schedule.run_missed, payout_schedule.run_refused,
    deposit.credited, deposit.quarantined, member.joined, api_key.created, policy.changed
  }'::text[])
  OR (
    e.type = ANY ('{operation.created, payout.created}'::text[])
    AND ${SUB_STATUS} = 'awaiting_approval'
  )
  OR (e.type = 'operation.processing' AND ${SUB_STATUS} = 'needs_attention')
)`);

const nameOfOperation = ({ kind = "" }: EventPayload): string =>
  isPublic(kind) ? (movementKind(kind)?.words ?? "") : "Private operation";
const isPublic = (kind: string): boolean => movementKind(kind)?.isPrivate === false;
const pathOfOperation = ({ kind = "", transferId }: EventPayload, id: string): string => {
  if (isPublic(kind)) return `/activity/${id}`;
  return transferId == null ? "/private" : `/private/${transferId}`;
};

const counted = (count: number, noun: string): string =>
  `${String(count)} ${noun}${count === 1 ? "" : "s"}`;

type Said = Pick<News, "kind" | "title" | "path"> &
  Partial<Pick<News, "plainTitle" | "detail" | "depositUsd" | "decisionId" | "by">>;
type Say = (event: DueEvent, data: EventPayload, names: Names) => Said | null;

const failedRows = ({ itemsFailed = 0, itemsTotal = 0 }: EventPayload): string | null =>
  itemsFailed === 0
    ? null
    : `${counted(itemsFailed, "row")} of ${String(itemsTotal)} could not be paid.`;

const reasonAndAction = (reason: string | null, { nextAction }: DueEvent): string | null => {
  const sentences = [reason, nextAction].filter((sentence) => sentence !== null);
  return sentences.length === 0 ? null : sentences.join(" ");
};

const payoutEnded =
  (how: string): Say =>
  (event, data) => ({
    kind: "operation_failed",
    title: `A payout ${how}`,
    detail: reasonAndAction(failedRows(data) ?? data.failure?.message ?? null, event),
    path: `/payouts/${event.objectId}`,
  });

/** The failure code of payout rows that another operation may have paid already. */
const IN_DOUBT = "source_replaced";

const payoutFailed: Say = (event, data, names) =>
  data.failure?.code === IN_DOUBT
    ? {
        kind: "operation_failed",
        title: "A payment is in doubt and needs a decision",
        detail: "Another operation may have paid it. Do not pay it again before it is decided.",
        path: `/payouts/${event.objectId}#doubt`,
      }
    : payoutEnded("failed")(event, data, names);

const operationEnded =
  (how: string): Say =>
  (event, data) => ({
    kind: "operation_failed",
    title: `${nameOfOperation(data)} ${how}`,
    detail: reasonAndAction(data.failure?.message ?? null, event),
    path: pathOfOperation(data, event.objectId),
  });

const runNotMade =
  (how: string): Say =>
  ({ objectId }, data) => ({
    kind: "operation_failed",
    title: `A scheduled payout ${how}`,
    detail: data.failure?.message ?? null,
    path: `/payouts/schedules/${objectId}`,
  });

const amountOf = ({ amount, token }: EventPayload): string => {
  if (amount === undefined) return "A deposit";
  const symbol = token?.symbol ?? "";
  return `${amountText(amount, { symbol, exact: true, locale: "en" }).text} ${symbol}`.trim();
};

const deposited =
  (how: string): Say =>
  ({ objectId, depositUsd }, data, names) => {
    const wallet = names.get(data.walletId ?? "");
    return {
      kind: "large_deposit",
      title: `${amountOf(data)} ${how}`,
      plainTitle: `A deposit ${how}`,
      detail: wallet === undefined ? null : `In the wallet ${quoted(wallet)}`,
      depositUsd,
      path: `/activity/${objectId}`,
    };
  };

const SUBJECTS: Readonly<Record<string, string>> = { wallet: "wallet", key: "API key" };

const policyOf = ({ scope = "", subjectId = "" }: EventPayload, names: Names): string => {
  const noun = SUBJECTS[scope];
  if (noun === undefined) return "the project";
  const name = names.get(subjectId);
  return name === undefined ? `one ${noun}` : `the ${noun} ${quoted(name)}`;
};

/**
 * The text for an object that waits for one person's code. Null when several people vote, because
 * the request for votes has a separate event.
 */
const awaitsCode =
  (told: (event: DueEvent, data: EventPayload) => Pick<Said, "title" | "path">): Say =>
  (event, data) =>
    event.isVoted
      ? null
      : {
          kind: "approval_waiting",
          detail: "One person's code approves it.",
          ...told(event, data),
        };

const SAY: Readonly<Record<string, Say>> = {
  "approval.requested": ({ objectId }, { title = "A payment" }) => ({
    kind: "approval_waiting",
    title: "A payment waits for your approval",
    plainTitle: "A payment waits for approval",
    detail: title,
    decisionId: objectId,
    path: `/inbox/${objectId}`,
  }),
  "operation.created": awaitsCode(({ objectId }, data) => ({
    title: `${nameOfOperation(data)} waits for approval`,
    path: pathOfOperation(data, objectId),
  })),
  "payout.created": awaitsCode(({ objectId }, { itemsTotal = 0 }) => ({
    title: `A payout of ${counted(itemsTotal, "row")} waits for approval`,
    path: `/payouts/${objectId}`,
  })),
  "operation.failed": operationEnded("failed"),
  "operation.partially_completed": operationEnded("delivered less than promised"),
  "operation.processing": operationEnded("needs a decision about its refund"),
  "payout.failed": payoutFailed,
  "payout.partially_completed": payoutEnded("was paid in part"),
  "payout_schedule.run_missed": runNotMade("was missed"),
  "payout_schedule.run_refused": runNotMade("was refused"),
  "deposit.credited": deposited("arrived"),
  "deposit.quarantined": deposited("arrived and is held back for a check"),
  "member.joined": ({ objectId }, { role = "member" }, names) => ({
    kind: "member_joined",
    title: `${names.get(objectId) ?? "Somebody"} joined the project`,
    detail: `Role: ${role}`,
    by: objectId,
    path: "/members",
  }),
  "api_key.created": ({ objectId }, { name = "" }) => ({
    kind: "key_created",
    title: `The API key ${name === "" ? "without a name" : quoted(name)} was created`,
    path: `/api-keys/${objectId}`,
  }),
  "policy.changed": (_event, data, names) => ({
    kind: "policy_changed",
    title: `The policy of ${policyOf(data, names)} was changed`,
    detail:
      data.changedBy === undefined
        ? null
        : `By ${names.get(data.changedBy) ?? "a person who left the project"}`,
    by: data.changedBy ?? null,
    path: "/settings/policies",
  }),
};

const TITLE_MAX = 200;
const DETAIL_MAX = 500;

/**
 * Puts a caller's text on one line, because the text becomes a line of a mail. Control characters
 * are replaced too: the database cannot store U+0000.
 */
const oneLine = (text: string, max: number): string => {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
};

export const depositedBy = ({
  type,
  payload,
}: Pick<DueEvent, "type" | "payload">): Deposited | null => {
  if (!type.startsWith("deposit.")) return null;
  const { chainId, token, amount } = payload;
  if (chainId === undefined || token === undefined || amount === undefined) return null;
  return { chainId, token: token.address, amount };
};

const ENDED_BADLY: ReadonlySet<string> = new Set([
  "operation.failed",
  "operation.partially_completed",
  "operation.processing",
  "payout.failed",
  "payout.partially_completed",
]);

export const saysWhereMoneyIs = ({ type }: Pick<DueEvent, "type">): boolean =>
  ENDED_BADLY.has(type);

export const namedIn = ({ type, objectId, payload }: DueEvent): readonly string[] => {
  if (type === "member.joined") return [objectId];
  const { subjectId, changedBy, walletId } = payload;
  return [subjectId, changedBy, walletId].filter((id) => id !== undefined);
};

/**
 * Derives the content of the notification about an event.
 * @returns null when the event needs no notification
 */
export const newsOf = (event: DueEvent, names: Names): News | null => {
  const said = SAY[event.type]?.(event, event.payload, names) ?? null;
  if (said === null) return null;
  const {
    detail = null,
    depositUsd = null,
    decisionId = null,
    by = null,
    kind,
    title,
    path,
    plainTitle = title,
  } = said;
  return {
    ...{
      projectId: event.projectId,
      source: event.id,
      objectId: event.objectId,
      at: event.createdAt,
    },
    ...{ kind, path, depositUsd, decisionId, by },
    title: oneLine(title, TITLE_MAX),
    plainTitle: oneLine(plainTitle, TITLE_MAX),
    isPrivate: event.private,
    detail: detail === null ? null : oneLine(detail, DETAIL_MAX),
  };
};
