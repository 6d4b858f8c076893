import { z } from "zod";
import type { EvmAddress, RouteLeg, RouteRequest } from "./routing";

/** Schemas for routes and user operations in JSON columns, where bigints are decimal strings. `parse` throws ZodError. */
const base = z
  .string()
  .regex(/^\d+$/)
  .transform((text) => BigInt(text));

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text as EvmAddress);

const hex = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/)
  .transform((text) => text as `0x${string}`);

/** A token of a stored route. @throws ZodError */
export const storedToken = z.object({
  symbol: z.string(),
  name: z.string(),
  chainId: z.int(),
  address: z.union([z.literal("native"), address]),
  decimals: z.int(),
  assetId: z.string(),
  usdPegged: z.boolean(),
});

/** The request of a stored quote. @throws ZodError */
export const storedRouteRequest: z.ZodType<RouteRequest> = z.object({
  sources: z.array(z.object({ owner: address, token: storedToken, amountBase: base })),
  destination: z.object({ token: storedToken, recipient: address }),
  slippageBps: z.int(),
  routeId: z.string().optional(),
  limits: z.object({ minOutBase: base.optional(), maxPriceImpactBps: z.int().optional() }).optional(),
});

/** The provider of legs that were stored before legs had the field `provider`. */
const FIRST_PROVIDER = "onchain";

/** A leg of a stored route. @throws ZodError */
export const storedRouteLeg: z.ZodType<RouteLeg> = z.object({
  provider: z.string().default(FIRST_PROVIDER),
  sourceIndex: z.int(),
  kind: z.enum(["transfer", "swap", "bridge"]),
  expectedOutBase: base,
  minOutBase: base,
  steps: z.array(
    z.object({
      kind: z.enum(["swap", "bridge", "transfer"]),
      venue: z.string(),
      from: storedToken,
      to: storedToken,
      amountInBase: base,
      amountOutBase: base,
    }),
  ),
  way: z.string().optional(),
  fees: z.array(z.object({ kind: z.enum(["bridge", "swap"]), token: storedToken, amountBase: base })),
  estimatedSeconds: z.number(),
  priceImpactBps: z.number(),
  plan: z.unknown(),
});

/** A stored user operation (ERC-4337). @throws ZodError */
export const storedUserOperation = z.object({
  sender: address,
  nonce: base,
  factory: address.optional(),
  factoryData: hex.optional(),
  callData: hex,
  callGasLimit: base,
  verificationGasLimit: base,
  preVerificationGas: base,
  maxFeePerGas: base,
  maxPriorityFeePerGas: base,
  paymaster: address.optional(),
  paymasterVerificationGasLimit: base.optional(),
  paymasterPostOpGasLimit: base.optional(),
  paymasterData: hex.optional(),
  signature: hex,
});

/** Stored gas limits of a user operation. @throws ZodError */
export const storedGas = z.object({
  callGasLimit: base,
  verificationGasLimit: base,
  preVerificationGas: base,
  paymasterVerificationGasLimit: base,
  paymasterPostOpGasLimit: base,
  unusedGas: base.optional(),
});

export { address as storedAddress, base as storedBase, hex as storedHex };

type JsonValue = string | number | boolean | { [key: string]: JsonValue } | JsonValue[];

/** The JSON text of plain data. Bigints become decimal strings; undefined fields are left out. */
export const storedText = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? item.toString() : item));

/**
 * Converts plain data to a JSON value, as `storedText` writes it.
 * @example toStored({ amountBase: 5n }) // { amountBase: "5" }
 */
export const toStored = (value: unknown): JsonValue => JSON.parse(storedText(value)) as JsonValue;
