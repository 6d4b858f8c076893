import { z } from "zod";
import { quoteRecord } from "@/lib/contracts/quote-records";
import { toBigInt } from "@/lib/db/decimal";
import type { Route, RouteRequest } from "@/lib/ports/routing";
import { storedRouteLeg, storedRouteRequest } from "@/lib/ports/routing-json";
import { storedPrepared, type PreparedLeg } from "./prepared-leg";

/** Column `route`. */
const storedRoute: z.ZodType<Route> = z.object({ legs: z.array(storedRouteLeg) });

/** The fields of column `response` that a transfer shows. */
const storedResponse = quoteRecord
  .pick({ from: true, to: true, fees: true, warnings: true, estimatedSeconds: true })
  // Steps that this version cannot read are not shown; the transfer goes on without them.
  .extend({ steps: quoteRecord.shape.steps.catch([]) });

/** The field of column `response` that a swap and transfer shows. */
const storedWarnings = quoteRecord.pick({ warnings: true }).catch({ warnings: [] });

export type QuoteStatus = "open" | "prepared" | "used" | "cancelled";

/** A priced request. It is stored until it is executed once, is cancelled, or expires. */
export interface Quote {
  readonly id: string;
  readonly projectId: string;
  /** swap | transfer | swap_and_transfer */
  readonly kind: string;
  /** The public id of a transfer; null for other kinds. */
  readonly transferId: string | null;
  /** The operation whose failed or refunded legs this quote retries. */
  readonly retryOf: string | null;
  /** An actor's name, as `actorName` gives it. */
  readonly createdBy: string;
  readonly status: QuoteStatus;
  readonly request: RouteRequest;
  /** The route that was priced; once prepared, the route that will be executed. */
  readonly route: Route;
  /** The quote record as it was created; null unless the quote is a transfer. */
  readonly response: z.output<typeof storedResponse> | null;
  /** The warnings of the quote record when it was created; empty when this version cannot read them. */
  readonly warnings: z.output<typeof quoteRecord>["warnings"];
  /** The minimum that must arrive, in base units of the destination's token. */
  readonly minimumBase: bigint;
  /** SHA-256 of the data that a one-time code approves: sources, amounts, recipient, minimum. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly codeSentAt: Date | null;
  /** Set once the one-time code was right. */
  readonly approvedAt: Date | null;
  readonly approvedBy: string | null;
  readonly approvalCodeId: string | null;
  /** The factor by which it was approved; null for one that an older version approved, by a mailed code. */
  readonly approvalMeans: string | null;
  /** Until when the prepared price holds. */
  readonly preparedUntil: Date | null;
  /** One for each leg of the route; empty unless the status is `prepared`. */
  readonly preparedLegs: readonly PreparedLeg[];
  readonly operationId: string | null;
  /** SHA-256 of the request that used its Idempotency-Key. */
  readonly requestDigest: Uint8Array | null;
}

/** A row of the table `quote`. Its JSON columns are parsed here and nowhere else. */
interface QuoteColumns extends Omit<
  Quote,
  "status" | "request" | "route" | "response" | "warnings" | "minimumBase" | "digest" | "preparedLegs"
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
 * Reads a quote to list it: without its route where the route has a form that this version does not know.
 * @throws ZodError when another column cannot be read
 */
export const parseListedQuote = (row: QuoteColumns): Quote => {
  const route = storedRoute.safeParse(row.route).success ? row.route : { legs: [] };
  const prepared = storedPrepared.safeParse(row.prepared).success ? row.prepared : { legs: [] };
  return parseQuote({ ...row, route, prepared });
};

/** @throws ZodError when a stored column does not have the shape that this version writes */
export const parseQuote = (row: QuoteColumns): Quote => {
  const status = quoteStatus.parse(row.status);
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
    preparedLegs: status === "prepared" ? storedPrepared.parse(row.prepared).legs : [],
    operationId: row.operationId,
    requestDigest: row.requestDigest,
  };
};
