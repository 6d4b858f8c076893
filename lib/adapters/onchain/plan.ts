import { isAddress, isHex, type Hex } from "viem";
import { z } from "zod";
import { DomainError } from "@/lib/core/errors";
import type { EvmAddress } from "@/lib/ports/routing";

/** Identifies this provider in stored legs; changing it would orphan them. */
export const PROVIDER_ID = "onchain";

// Plans and deposits are stored as JSON beside quotes and legs, so amounts are decimal integer strings in them.
const amount = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform((text) => BigInt(text));
const address = z.custom<EvmAddress>((value) => typeof value === "string" && isAddress(value, { strict: false }));
const hex = z.custom<Hex>((value) => isHex(value));
const bytes32 = z.custom<Hex>((value) => isHex(value) && value.length === 66);

const hop = z.object({ tokenIn: address, tokenOut: address, fee: z.int().positive() });

const swapPlan = z.object({
  /** Each share crosses pools that no other share crosses. */
  shares: z.array(z.object({ hops: z.array(hop).min(1), amountIn: amount, amountOut: amount })).min(1),
});

const legPlan = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("transfer") }),
  z.object({ kind: z.literal("wrap") }),
  z.object({ kind: z.literal("unwrap") }),
  z.object({ kind: z.literal("swap"), swap: swapPlan }),
  z.object({
    kind: z.literal("bridge"),
    inputToken: address,
    outputToken: address,
    /** The deposited amount, which does not depend on the cost of the swap before it. */
    inputAmount: amount,
    outputAmount: amount,
    /** `amountIn` of its shares is their maximum input; `amountOut` is exact and sums to `inputAmount`. */
    sourceSwap: swapPlan.nullable(),
    /** `amountIn` of its shares sums to `outputAmount`. */
    destinationSwap: swapPlan.nullable(),
    /** The destination's block number when the plan was made; a fill can only be in a later block. */
    destinationBlock: amount,
  }),
]);

const depositRecord = z.object({
  originChainId: z.int().positive(),
  destinationChainId: z.int().positive(),
  depositId: amount,
  depositor: bytes32,
  recipient: bytes32,
  exclusiveRelayer: bytes32,
  inputToken: bytes32,
  outputToken: bytes32,
  inputAmount: amount,
  outputAmount: amount,
  fillDeadline: z.int().nonnegative(),
  exclusivityDeadline: z.int().nonnegative(),
  message: hex,
  originBlock: amount,
  destinationBlock: amount,
  txHash: bytes32,
});

export type SwapPlan = z.output<typeof swapPlan>;
export type SwapShare = SwapPlan["shares"][number];
export type LegPlan = z.output<typeof legPlan>;
export type BridgePlan = Extract<LegPlan, { kind: "bridge" }>;
export type DepositRecord = z.output<typeof depositRecord>;

/** Identifies a deposit among those of all chains. */
export const depositKey = ({ originChainId, depositId }: DepositRecord): string => `${originChainId}:${depositId}`;

/** Replaces bigint by decimal strings, recursively. */
type Json<T> = T extends bigint ? string : T extends readonly (infer E)[] ? Json<E>[] : { [K in keyof T]: Json<T[K]> };

const toJson = (value: unknown): unknown => {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toJson(entry)]));
};

export const planToJson = (plan: LegPlan): Json<LegPlan> => toJson(plan) as Json<LegPlan>;
export const depositToJson = (deposit: DepositRecord): Json<DepositRecord> => toJson(deposit) as Json<DepositRecord>;

const parse = <T>(schema: z.ZodType<T>, value: unknown, what: string): T => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new DomainError("internal_error", `The stored ${what} is not one that this routing provider made.`, {
    cause: result.error,
  });
};

/** @throws DomainError `internal_error` when the value is not a plan of this provider. */
export const parsePlan = (value: unknown): LegPlan => parse(legPlan, value, "plan");
/** @throws DomainError `internal_error` when the value is not a deposit of this provider. */
export const parseDeposit = (value: unknown): DepositRecord => parse(depositRecord, value, "deposit");
