import { z } from "zod";
import { jsonTypedData } from "@/lib/chain/typed-data";
import { storedPermit } from "@/lib/chain/smart-accounts/service";
import { storedAddress, storedBase, storedHex } from "@/lib/platform/db/codecs";
import { storedGas, storedUserOperation } from "@/lib/chain/erc4337/stored";
import { storedRouteLeg, storedRouteRequest } from "@/lib/money/ports/routing-json";
import { balanceChange, quoteRecord } from "@/lib/contracts/quote-records";
import { toBigInt } from "@/lib/platform/db/decimal";
import type { Route } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";

const unixSeconds = z.int();

/** An action that the caller's wallet has to sign or send. */
const actionBase = z.object({ actionId: z.string(), description: z.string() });

const serviceLeg = z.object({
  by: z.literal("service"),
  legId: z.string(),
  gas: storedGas,
});

/** A leg with a user operation that the smart account's owner signs. */
const ownerLeg = z.object({
  by: z.literal("owner"),
  legId: z.string(),
  gas: storedGas,
  action: actionBase.extend({ signer: storedAddress, typedData: jsonTypedData }),
  /** The user operation with a dummy signature, before the owner has signed it. */
  operation: storedUserOperation,
  userOpHash: storedHex,
  validUntil: unixSeconds,
  fillDeadline: unixSeconds.nullable(),
  fromBlock: storedBase,
});

const preparedTransaction = actionBase.extend({
  to: storedAddress,
  data: storedHex,
  /** In wei. */
  value: storedBase,
  /** A gas limit that is sufficient for the transaction. */
  gas: storedBase,
});

/** A leg whose transactions are sent by a linked wallet. */
const walletLeg = z.object({
  by: z.literal("wallet"),
  legId: z.string(),
  chainId: z.int(),
  wallet: storedAddress,
  transactions: z.array(preparedTransaction).min(1),
  fromNonce: z.int(),
  validUntil: unixSeconds.nullable(),
  fillDeadline: unixSeconds.nullable(),
  fromBlock: storedBase,
});

/**
 * A leg for which a linked wallet signs a permit. With the permit the treasury transfers the
 * wallet's tokens to itself and makes the leg's calls.
 */
const permitLeg = z.object({
  by: z.literal("permit"),
  legId: z.string(),
  gas: storedGas,
  action: actionBase.extend({ signer: storedAddress, typedData: jsonTypedData }),
  executorWalletId: z.string(),
  permit: storedPermit,
});

const preparedLeg = z.discriminatedUnion("by", [serviceLeg, ownerLeg, walletLeg, permitLeg]);

/** Column `prepared` of a quote. */
const storedPrepared = z.object({
  /** One entry for each leg of the route. */
  legs: z.array(preparedLeg),
  /** The balance changes that the simulation showed. */
  balanceChanges: z.array(balanceChange).catch([]),
});

export type PreparedLeg = z.output<typeof preparedLeg>;
export type OwnerLeg = z.output<typeof ownerLeg>;
export type WalletLeg = z.output<typeof walletLeg>;
export type PermitLeg = z.output<typeof permitLeg>;

const PREPARED_SECONDS = 60;
/**
 * Seconds between prepare and execute when a linked wallet sends transactions. A person confirms
 * them one after another, and each must be mined before the next one can be requested.
 */
const WALLET_SECONDS = 600;

/**
 * Returns the maximum number of seconds between prepare and execute. The longer time for linked
 * wallets is safe: every minimum is enforced on chain, so a late execution may fail but cannot lose
 * money.
 */
export const preparedSeconds = (legs: readonly PreparedLeg[]): number =>
  legs.some((leg) => leg.by === "wallet") ? WALLET_SECONDS : PREPARED_SECONDS;

const storedRoute: z.ZodType<Route> = z.object({ legs: z.array(storedRouteLeg) });

/** The fields of column `response` that a transfer shows. */
const storedResponse = quoteRecord
  .pick({
    from: true,
    to: true,
    fees: true,
    warnings: true,
    votes: true,
    estimatedSeconds: true,
  })
  // Steps that cannot be parsed are not shown; the transfer continues without them.
  .extend({ steps: quoteRecord.shape.steps.catch([]) });

/** The field of column `response` that a swap-and-transfer shows. */
const storedWarnings = quoteRecord.pick({ warnings: true }).catch({ warnings: [] });

type QuoteStatus = "open" | "prepared" | "used" | "cancelled";

/** A priced request. It is stored until it is executed once, is cancelled, or expires. */
export interface Quote {
  readonly id: string;
  readonly projectId: string;
  /** `swap`, `transfer` or `swap_and_transfer`. */
  readonly kind: string;
  /** The public id of a transfer; null for other kinds. */
  readonly transferId: string | null;
  /** The operation whose failed or refunded legs this quote retries. */
  readonly retryOf: string | null;
  readonly createdBy: string;
  readonly status: QuoteStatus;
  readonly request: RouteRequest;
  /** The priced route; once the quote is prepared, the route that will be executed. */
  readonly route: Route;
  /** The quote record as it was created; null unless the quote is a transfer. */
  readonly response: z.output<typeof storedResponse> | null;
  /**
   * The warnings of the quote record when the quote was created; empty when this version cannot
   * read them.
   */
  readonly warnings: z.output<typeof quoteRecord>["warnings"];
  /** The minimum that must arrive, in base units of the destination's token. */
  readonly minimumBase: bigint;
  /** SHA-256 of the data that a one-time code approves: sources, amounts, recipient, minimum. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly codeSentAt: Date | null;
  /** The time at which the correct one-time code was entered; null before. */
  readonly approvedAt: Date | null;
  readonly approvedBy: string | null;
  readonly approvalCodeId: string | null;
  /** The factor by which a person approved the quote, such as a one-time code; null before. */
  readonly approvalMeans: string | null;
  readonly preparedUntil: Date | null;
  /** The prepared form of each leg of the route; empty unless the status is `prepared`. */
  readonly preparedLegs: readonly PreparedLeg[];
  /** The balance changes that the simulation of `prepare` showed; empty before. */
  readonly balanceChanges: readonly z.output<typeof balanceChange>[];
  readonly operationId: string | null;
  /** SHA-256 of the request that used the Idempotency-Key. */
  readonly requestDigest: Uint8Array | null;
}

/** A row of the table `quote`. Its JSON columns are parsed only in this file. */
interface QuoteColumns extends Omit<
  Quote,
  | "status"
  | "request"
  | "route"
  | "response"
  | "warnings"
  | "minimumBase"
  | "digest"
  | "preparedLegs"
  | "balanceChanges"
> {
  readonly status: string;
  readonly request: unknown;
  readonly route: unknown;
  readonly response: unknown;
  readonly prepared: unknown;
  readonly minimumBase: Parameters<typeof toBigInt>[0];
  readonly digest: Uint8Array;
}

const quoteStatus = z.enum(["open", "prepared", "used", "cancelled"]);

/**
 * Reads a quote for a list. A route or preparation in an unknown form becomes empty.
 * @throws ZodError when another column cannot be read
 */
export const parseListedQuote = (row: QuoteColumns): Quote => {
  const route = storedRoute.safeParse(row.route).success ? row.route : { legs: [] };
  const prepared = storedPrepared.safeParse(row.prepared).success
    ? row.prepared
    : { legs: [], balanceChanges: [] };
  return parseQuote({ ...row, route, prepared });
};

/**
 * Parses a row of the table `quote`.
 * @throws ZodError when a stored column does not have the expected shape
 */
export const parseQuote = (row: QuoteColumns): Quote => {
  const status = quoteStatus.parse(row.status);
  const prepared =
    status === "prepared"
      ? storedPrepared.parse(row.prepared)
      : { legs: [], balanceChanges: [] };
  return {
    id: row.id,
    projectId: row.projectId,
    kind: row.kind,
    transferId: row.transferId,
    retryOf: row.retryOf,
    createdBy: row.createdBy,
    status,
    request: storedRouteRequest.parse(row.request),
    route: storedRoute.parse(row.route),
    response: row.transferId === null ? null : storedResponse.parse(row.response),
    warnings: storedWarnings.parse(row.response).warnings,
    minimumBase: toBigInt(row.minimumBase),
    digest: new Uint8Array(row.digest),
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    codeSentAt: row.codeSentAt,
    approvedAt: row.approvedAt,
    approvedBy: row.approvedBy,
    approvalCodeId: row.approvalCodeId,
    approvalMeans: row.approvalMeans,
    preparedUntil: row.preparedUntil,
    preparedLegs: prepared.legs,
    balanceChanges: prepared.balanceChanges,
    operationId: row.operationId,
    requestDigest: row.requestDigest,
  };
};
