/** Bodies of outbound webhooks, by type of event. */
import { z } from "zod";
import { SCOPES } from "./contract";
import { amountOut, failureRecord, id, status, subStatus, timestamp } from "./common";
import { ROLES } from "@/lib/core/actor";
import { depositState, screeningStates } from "./deposit-records";
import { EVENT_TYPES, type EventType } from "./events";
import { OPERATION_KINDS } from "./operation-records";
import { DOUBT_DECISIONS } from "./payout-doubts";
import { PAYOUT_KINDS, PAYOUT_MODES } from "@/lib/core/payout-facts";

const described = <T extends z.ZodType>(schema: T, description: string): T =>
  schema.meta({ description });

const failure = described(failureRecord.nullable(), "Why it failed; null where it did not");

const operationData = z
  .object({
    operationId: id("op"),
    transferId: described(
      id("tr").nullable(),
      "The transfer that the operation carries out; null where there is none",
    ),
    kind: described(z.enum(OPERATION_KINDS), "What the operation does"),
    status,
    subStatus,
    failure,
    retryOf: described(
      id("op").nullable(),
      "The operation that this one tries again; null where it tries none",
    ),
  })
  .meta({ id: "OperationEventData" });

/** For a transfer without an operation. Once it has one, its events have the operation's data. */
const quotedTransferData = z
  .object({
    operationId: described(z.null(), "Always null: the transfer is not executed yet"),
    transferId: id("tr"),
    kind: described(z.literal("transfer"), "Always `transfer`"),
    status,
    expiresAt: described(timestamp, "Until when the transfer can be executed"),
  })
  .meta({ id: "QuotedTransferEventData" });

const transferData = z.union([operationData, quotedTransferData]);

const count = (description: string) => z.int().nonnegative().meta({ description });

const payoutData = z
  .object({
    payoutId: id("po"),
    kind: described(z.enum(PAYOUT_KINDS), "Who is paid"),
    mode: described(
      z.enum(PAYOUT_MODES),
      "`atomic`: all rows or none. `independent`: each row by itself",
    ),
    status,
    subStatus,
    reference: described(z.string().nullable(), "Your reference; null where none was given"),
    sourceAccountId: described(
      id("ga").nullable(),
      "Account that bears the payments: of a payout between accounts, or of a withdrawal; null where the project does",
    ),
    itemsTotal: count("All rows"),
    itemsCompleted: count("Rows that are paid"),
    itemsFailed: count("Rows that failed"),
    failure,
  })
  .meta({ id: "PayoutEventData" });

const payoutItemData = z
  .object({
    payoutId: id("po"),
    index: count("Position of the row in the request, from 0"),
    failure,
  })
  .meta({ id: "PayoutItemEventData" });

const indexes = (description: string) => described(z.array(z.int().nonnegative()), description);

const payoutDoubtData = z
  .object({
    payoutId: id("po"),
    batch: count("Number of the transaction, as `doubts` of the payout named it"),
    decision: described(
      z.enum(DOUBT_DECISIONS),
      "`by_chain`: as the chain shows; else as a person stated",
    ),
    paidRows: indexes("Positions of the rows that were paid"),
    unpaidRows: indexes(
      "Positions of the rows that were not paid: they failed, and can be retried",
    ),
  })
  .meta({ id: "PayoutDoubtEventData" });

const scheduleData = z
  .object({
    scheduleId: id("sch"),
    scheduledAt: described(timestamp, "When the run was due"),
    failure,
  })
  .meta({ id: "PayoutScheduleEventData" });

const fundingData = z
  .object({
    accountId: id("ga"),
    amount: described(amountOut, "What came into the account, in units of the asset"),
    currency: described(z.string(), "Symbol of the asset"),
    assetId: described(z.string(), "The asset over all chains; the same on each chain"),
    transactionId: id("ltx"),
  })
  .meta({ id: "AccountFundedEventData" });

const accountData = z
  .object({
    accountId: id("ga"),
    name: described(z.string().nullable(), "Name of the account; null where it has none"),
    status: described(z.enum(["active", "frozen", "closed"]), "Whether it can be posted to"),
    reason: described(
      z.string().nullable(),
      "Why it is frozen or closed; null where there is no reason",
    ),
  })
  .meta({ id: "AccountUpdatedEventData" });

const keyData = z
  .object({
    keyId: id("key"),
    name: described(z.string(), "Name that was given to the key"),
    prefix: described(z.string(), "First characters of the secret"),
    last4: described(z.string(), "Last four characters of the secret"),
    scopes: described(z.array(z.enum(SCOPES)), "What the key may do"),
    otp: described(
      z.enum(["required", "exempt"]),
      "Whether what the key moves needs a one-time code",
    ),
    dailyCapUsd: described(
      z.string().nullable(),
      "US dollars per UTC day that an exempt key moves; null for other keys",
    ),
  })
  .meta({ id: "ApiKeyEventData" });

const revokedKeyData = z.object({ keyId: id("key") }).meta({ id: "ApiKeyRevokedEventData" });

const approvalData = z
  .object({
    decisionId: described(id("dec"), "The request for votes, which GET /approvals/{id} shows"),
    subjectType: described(z.string(), "What is decided about: `operation` or `payout`"),
    subjectId: described(z.string(), "Id of that object"),
    title: described(z.string(), "What is decided, in one line"),
    state: described(
      z.enum(["open", "approved", "declined", "expired"]),
      "How the request stands",
    ),
    approvalsRequired: count("How many people must approve"),
    expiresAt: described(timestamp, "Until when the request can be decided"),
  })
  .meta({ id: "ApprovalEventData" });

const memberData = z
  .object({
    userId: id("usr"),
    role: described(z.enum(ROLES), "What the member may do"),
    invitedBy: described(id("usr"), "Who made the invitation"),
  })
  .meta({ id: "MemberEventData" });

const policyData = z
  .object({
    scope: described(z.enum(["project", "wallet", "key"]), "What the policy bounds"),
    subjectId: described(z.string(), "Id of the project, the wallet or the API key"),
    change: described(
      z.enum(["rules", "daily_cap", "approvals"]),
      "`rules`: a new version of its rules; `daily_cap`: of the project's keys together; `approvals`: how many people approve",
    ),
    version: described(
      z.int().nullable(),
      "The new version of the rules; null for the other changes",
    ),
    changedBy: described(z.string(), "The person who changed it"),
  })
  .meta({ id: "PolicyEventData" });

const depositData = z
  .object({
    depositId: described(id("op"), "Id of the deposit and of its operation"),
    state: described(depositState, "How it stands"),
    chainId: described(z.int(), "Id of the chain"),
    walletId: described(id("wal"), "The wallet that it came into"),
    walletAddress: described(z.string(), "Address of that wallet"),
    sender: described(z.string().nullable(), "Who sent it; null where that is not known"),
    token: described(
      z.object({
        symbol: described(z.string(), "Its symbol"),
        address: described(z.string(), "Its address, or `native`"),
      }),
      "The token that came in",
    ),
    amount: described(amountOut, "How much of it"),
    txHash: described(
      z.string().nullable(),
      "Its transaction; null for coins, of which no log tells",
    ),
    verdict: described(
      z.enum(screeningStates).nullable(),
      "What screening says of the sender; null where nothing was screened",
    ),
  })
  .meta({ id: "DepositEventData" });

export const eventDataOf = (type: EventType): z.ZodType => {
  if (type === "payout.item.failed") return payoutItemData;
  if (type === "payout.doubt_decided") return payoutDoubtData;
  if (type === "global_account.updated") return accountData;
  if (type === "api_key.revoked" || type === "api_key.suspended" || type === "api_key.restored")
    return revokedKeyData;
  const [group = ""] = type.split(".");
  switch (group) {
    case "operation":
      return operationData;
    case "transfer":
      return transferData;
    case "payout":
      return payoutData;
    case "deposit":
      return depositData;
    case "payout_schedule":
      return scheduleData;
    case "global_account":
      return fundingData;
    case "api_key":
      return keyData;
    case "approval":
      return approvalData;
    case "member":
      return memberData;
    case "policy":
      return policyData;
    default:
      throw new Error(`No schema describes the data of ${type}.`);
  }
};

const sequence = (description: string) => z.int().nonnegative().meta({ description });
const PRIVATE = "Missing for private movements at endpoints without `includePrivate`";

const envelope = z
  .object({
    id: id("evt"),
    type: described(z.string(), "Type of the event"),
    createdAt: described(timestamp, `When it happened. ${PRIVATE}`).optional(),
    sequence: sequence("1, 2, 3 … in the project, without a gap"),
    previousSequence: sequence(
      "The number that this endpoint was sent before; missing at endpoints that get every event",
    ).optional(),
    objectId: described(
      z.string(),
      `The object that the event is about. ${PRIVATE}`,
    ).optional(),
    objectSequence: sequence(`1, 2, 3 … for the object, without a gap. ${PRIVATE}`).optional(),
  })
  .meta({ id: "WebhookEvent" });

const payloadOf = (type: EventType): z.ZodType =>
  z.intersection(
    envelope,
    z.object({
      type: described(z.literal(type), "Type of the event"),
      data: described(
        eventDataOf(type).optional(),
        "The object's new state. Thin payloads leave it out",
      ),
    }),
  );

export const WEBHOOK_PAYLOADS: ReadonlyMap<EventType, z.ZodType> = new Map(
  EVENT_TYPES.map((type) => [type, payloadOf(type)]),
);
