/**
 * Operations as people read them: when a leg has an unknown form, the readable part of it is shown.
 */
import { zeroAddress } from "viem";
import { z } from "zod";
import { LEG_STATES } from "@/lib/contracts/operation-records";
import { STATUSES, SUB_STATUS_OF, SUB_STATUSES } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import { toBigInt } from "@/lib/platform/db/decimal";
import type {
  Operation as OperationRow,
  OperationLeg,
  Prisma,
} from "@/lib/platform/db/generated/client";
import { storedSignedPermit } from "@/lib/chain/smart-accounts/service";
import type { RouteLeg } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import { storedAddress, storedBase, storedToken, toStored } from "@/lib/platform/db/codecs";
import { storedGas, storedUserOperation } from "@/lib/chain/erc4337/stored";
import { storedRouteLeg, storedRouteRequest } from "@/lib/money/ports/routing-json";
import { storedRefundAttention } from "./refund-attention";
import {
  type Failure,
  storedFailure,
  storedPayer,
  storedQuoted,
  storedVia,
  storedWalletTransactions,
} from "./rows";
import { storedGasWaits } from "./gas-wait";
import { type Operation, parseOperation } from "./operation";

type Row = OperationRow & { readonly legs: readonly OperationLeg[] };

/** An operation, or only the id when too little of it can be read. */
export interface ReadOperation {
  readonly id: string;
  readonly operation: Operation | null;
}

export interface ReadLog {
  error(fields: object, message: string): void;
}

const NOT_READABLE: Failure = {
  code: "not_readable",
  message:
    "Another version of the service stored this leg, and this version cannot read all of it. What is shown may be incomplete; the money is where the chains show it.",
  retryable: false,
};

const looseRouteLeg = z.object({
  provider: z.string().catch("unknown"),
  sourceIndex: z.int().catch(-1),
  kind: z.string().catch(""),
  minOutBase: storedBase.catch(0n),
});
const NOTHING = { provider: "unknown", sourceIndex: -1, kind: "", minOutBase: 0n };
const knownKind = z.enum(["transfer", "swap", "bridge"]);
const knownState = z.enum(LEG_STATES);

/** A state for a leg whose stored state is unknown, derived from the operation's status. */
const stateOf = ({ status }: Operation): z.output<typeof knownState> => {
  if (status === "completed" || status === "failed" || status === "refunded") return status;
  return status === "processing" || status === "partially_completed" ? "submitted" : "queued";
};

const kindOf = (
  leg: OperationLeg,
  { sources, destination }: RouteRequest,
  sourceIndex: number,
): RouteLeg["kind"] => {
  if (leg.sourceChainId !== leg.destChainId) return "bridge";
  return sources[sourceIndex]?.token.address === destination.token.address ? "transfer" : "swap";
};

const routeLegOf = (
  leg: OperationLeg,
  { request, minimumBase }: Operation,
  legs: number,
): unknown => {
  const strict = storedRouteLeg.safeParse(leg.routeLeg);
  if (strict.success && request.sources[strict.data.sourceIndex] !== undefined) return leg.routeLeg;
  const {
    provider,
    kind,
    minOutBase,
    sourceIndex: named,
  } = looseRouteLeg.catch(NOTHING).parse(leg.routeLeg);
  const sourceIndex =
    request.sources[named] === undefined
      ? Math.min(leg.position, request.sources.length - 1)
      : named;
  const routeLeg: RouteLeg = {
    provider,
    sourceIndex,
    kind: knownKind.catch(kindOf(leg, request, sourceIndex)).parse(kind),
    expectedOutBase: 0n,
    minOutBase: minOutBase === 0n && legs === 1 ? minimumBase : minOutBase,
    steps: [],
    fees: [],
    estimatedSeconds: 0,
    priceImpactBps: 0,
    plan: null,
  };
  return toStored(routeLeg);
};

/** The value of a column, or `other` when the value has an unknown form. */
const readableOr = (schema: z.ZodType, value: unknown, otherwise: unknown): unknown =>
  schema.safeParse(value).success ? value : otherwise;

const NO_GAS = Object.fromEntries(Object.keys(storedGas.shape).map((name) => [name, "0"]));

/** The leg's row, with every unreadable column replaced by a value that `parseLeg` accepts. */
const readableLeg = (leg: OperationLeg, operation: Operation, legs: number): OperationLeg => {
  const state = knownState.catch(stateOf(operation)).parse(leg.state);
  const hasKnownState = state === leg.state;
  const columns = {
    state,
    via: storedVia.catch("user_operation").parse(leg.via),
    routeLeg: routeLegOf(leg, operation, legs),
    walletTransactions: readableOr(storedWalletTransactions, leg.walletTransactions, null),
    permit: readableOr(storedSignedPermit, leg.permit, null),
    userOperation: readableOr(storedUserOperation, leg.userOperation, null),
    gas: readableOr(storedGas, leg.gas, NO_GAS),
    gasPaidBy: storedPayer.nullable().catch(null).parse(leg.gasPaidBy),
    refundToken: readableOr(storedToken, leg.refundToken, null),
    refundAttention: readableOr(storedRefundAttention, leg.refundAttention, null),
    failure: hasKnownState
      ? readableOr(storedFailure.nullable(), leg.failure, NOT_READABLE)
      : NOT_READABLE,
  };
  return {
    ...leg,
    ...(columns as unknown as Partial<OperationLeg> & { routeLeg: Prisma.JsonValue }),
  };
};

/**
 * Reads a row in order to show it. An operation with an unreadable part is marked `unread` and
 * accepts no actions. To drive operations, only `parseOperation` reads rows.
 * @throws ZodError when the operation's own columns cannot be read
 */
export const readOperation = (row: Row): Operation => {
  try {
    const whole = parseOperation(row);
    if (
      whole.legs.every(({ routeLeg }) => whole.request.sources[routeLeg.sourceIndex] !== undefined)
    )
      return whole;
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
  }
  const operation = parseOperation({ ...row, legs: [] });
  const legs = row.legs.map((leg) => readableLeg(leg, operation, row.legs.length));
  return { ...parseOperation({ ...row, legs }), unread: true };
};

/** Replaces a token that cannot be read. Its amounts are shown in base units. */
const unknownToken = (chainId: number): Token => ({
  symbol: "UNKNOWN",
  name: "A token that this version cannot read",
  chainId,
  address: zeroAddress,
  decimals: 0,
  assetId: "unknown",
  usdPegged: false,
});

const looseRequest = z.object({
  sources: z.array(z.unknown()).catch([]),
  destination: z.looseObject({}).catch({}),
  slippageBps: z.int().catch(0),
});
const looseFields = z.looseObject({}).catch({});

/** The tokens that a leg sends and delivers, as far as its stored route can be read. */
const tokensOf = ({
  routeLeg,
}: OperationLeg): { from?: Token | undefined; to?: Token | undefined } => {
  const { data } = storedRouteLeg.safeParse(routeLeg);
  return { from: data?.steps[0]?.from, to: data?.steps.at(-1)?.to };
};

const sourceOf = (
  given: unknown,
  leg: OperationLeg | undefined,
): RouteRequest["sources"][number] => {
  const { owner, token, amountBase } = looseFields.parse(given);
  const known = leg === undefined ? undefined : tokensOf(leg).from;
  return {
    owner: storedAddress
      .catch(storedAddress.catch(zeroAddress).parse(leg?.walletAddress))
      .parse(owner),
    token: storedToken.catch(known ?? unknownToken(leg?.sourceChainId ?? 1)).parse(token),
    amountBase: storedBase
      .catch(leg === undefined ? 0n : toBigInt(leg.amountBase))
      .parse(amountBase),
  };
};

/**
 * The request in its stored form. Fields that cannot be read are derived from the legs, or are
 * empty.
 */
const readableRequest = ({ request, legs }: Row): unknown => {
  if (storedRouteRequest.safeParse(request).success) return request;
  const { sources, destination, slippageBps } = looseRequest
    .catch({ sources: [], destination: {}, slippageBps: 0 })
    .parse(request);
  const [first] = legs;
  const known = first === undefined ? undefined : tokensOf(first).to;
  const readable: RouteRequest = {
    sources:
      sources.length > 0
        ? sources.map((source, index) => sourceOf(source, legs[index]))
        : legs.map((leg) => sourceOf(null, leg)),
    destination: {
      token: storedToken
        .catch(known ?? unknownToken(first?.destChainId ?? 1))
        .parse(destination.token),
      recipient: storedAddress.catch(zeroAddress).parse(destination.recipient),
    },
    slippageBps,
  };
  return toStored(readable);
};

const INCOMPLETE: Failure = {
  code: "not_readable",
  message:
    "Another version of the service stored this operation, and this version cannot read all of it: what is missing is shown as zero or UNKNOWN. It is not lost; the money is where the chains show it. Update every instance to the newest version, then read it again.",
  retryable: false,
};

/**
 * Like `readOperation`, for the page of one operation: when its own columns cannot be read, it
 * shows the readable columns and legs, marked as `isIncomplete`.
 */
export const readAsMuchAsPossible = (row: Row): Operation => {
  try {
    return readOperation(row);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
  }
  const status = z.enum(STATUSES).catch("processing").parse(row.status);
  const columns = {
    status,
    subStatus: z.enum(SUB_STATUSES).catch(SUB_STATUS_OF[status]).parse(row.subStatus),
    request: readableRequest(row),
    quoted: readableOr(storedQuoted, row.quoted, toStored({ expectedBase: 0n })),
    failure: storedFailure.catch(INCOMPLETE).parse(row.failure),
    gasWaits: readableOr(storedGasWaits, row.gasWaits, null),
  };
  return {
    ...readOperation({ ...row, ...(columns as unknown as Partial<OperationRow>) }),
    unread: true,
    isIncomplete: true,
  };
};

/** Reads rows for a list. An unreadable row must not make the whole list fail. */
export const readOperations = (rows: readonly Row[], log: ReadLog): ReadOperation[] =>
  rows.map((row) => {
    try {
      return { id: row.id, operation: readOperation(row) };
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      log.error(
        { operationId: row.id, err: error },
        "an operation cannot be read and is left out of a list",
      );
      return { id: row.id, operation: null };
    }
  });
