import {
  getTypesForEIP712Domain,
  recoverTypedDataAddress,
  type Address,
  type Hex,
  type TypedDataDefinition,
} from "viem";
import { z } from "zod";

const fields = z.array(z.object({ name: z.string(), type: z.string() }));

/**
 * EIP-712 data in a form that `eth_signTypedData_v4` and JSON accept. Integers of the message are
 * decimal strings.
 */
export const jsonTypedData = z.object({
  types: z.record(z.string(), fields),
  primaryType: z.string(),
  domain: z.record(z.string(), z.unknown()),
  message: z.record(z.string(), z.unknown()),
});

export type JsonTypedData = z.output<typeof jsonTypedData>;

const withoutNumbers = (value: unknown): unknown =>
  typeof value === "bigint" || typeof value === "number"
    ? value.toString()
    : Array.isArray(value)
      ? value.map(withoutNumbers)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(
            Object.entries(value).map(([key, item]) => [key, withoutNumbers(item)]),
          )
        : value;

export const toJsonTypedData = (data: TypedDataDefinition): JsonTypedData => {
  const {
    types,
    primaryType,
    domain = {},
    message,
  } = data as unknown as {
    types: Record<string, { name: string; type: string }[]>;
    primaryType: string;
    domain?: { chainId?: number | bigint };
    message: Record<string, unknown>;
  };
  const chainId = domain.chainId === undefined ? {} : { chainId: Number(domain.chainId) };
  return jsonTypedData.parse({
    types: { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types },
    primaryType,
    // A number, because wallets compare `chainId` with their current chain.
    domain: { ...domain, ...chainId },
    message: withoutNumbers(message),
  });
};

/** The signer's address; null when the bytes are not a secp256k1 signature. */
export const recoverJsonTypedData = async (
  data: JsonTypedData,
  signature: Hex,
): Promise<Address | null> => {
  try {
    return await recoverTypedDataAddress({
      ...(data as unknown as TypedDataDefinition),
      signature,
    });
  } catch {
    return null;
  }
};
