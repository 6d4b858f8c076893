import { keccak256 } from "viem";
import type { EvmAddress } from "@/lib/ports/routing";
import type { Signer } from "@/lib/ports/signer";
import type { SignedVersion } from "./repository";

/** The fields shared by all versions of a transaction. */
interface Body {
  readonly chainId: number;
  readonly to: EvmAddress;
  readonly data: `0x${string}`;
  readonly value: bigint;
  readonly gas: bigint;
}

interface Terms {
  readonly nonce: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export interface VersionSigner {
  /** @throws Error when the service has no such key */
  addressOf(keyId: string): Promise<EvmAddress>;
  /** The key that an address belongs to; null for a key that the service no longer has. */
  keyOf(address: EvmAddress): Promise<string | null>;
  version(keyId: string, body: Body, terms: Terms): Promise<SignedVersion>;
}

/** @param keyIds the service's keys that send transactions */
export const createVersionSigner = (signer: Signer, keyIds: readonly string[]): VersionSigner => {
  const addresses = new Map<string, EvmAddress>();

  const addressOf = async (keyId: string): Promise<EvmAddress> => {
    const known = addresses.get(keyId);
    if (known !== undefined) return known;
    const address = await signer.address({ keyId, projectId: null });
    if (address === null) throw new Error(`The service has no key "${keyId}".`);
    addresses.set(keyId, address);
    return address;
  };

  return {
    addressOf,

    keyOf: async (address) => {
      for (const keyId of keyIds) if ((await addressOf(keyId)) === address) return keyId;
      return null;
    },

    version: async (keyId, body, terms) => {
      const raw = await signer.signTransaction(
        { keyId, projectId: null },
        {
          type: "eip1559",
          chainId: body.chainId,
          to: body.to,
          data: body.data,
          value: body.value,
          gas: body.gas,
          nonce: Number(terms.nonce),
          maxFeePerGas: terms.maxFeePerGas,
          maxPriorityFeePerGas: terms.maxPriorityFeePerGas,
        },
      );
      return { ...terms, raw, hash: keccak256(raw) };
    },
  };
};
