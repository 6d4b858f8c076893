import {
  domainSeparator,
  encodeFunctionData,
  erc20Abi,
  keccak256,
  parseAbi,
  parseSignature,
  serializeSignature,
  stringToBytes,
  type Hex,
  type TypedDataDefinition,
  type TypedDataDomain,
} from "viem";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import { isDomainError } from "@/lib/core/errors";
import type { Call, EvmAddress } from "@/lib/ports/routing";

const permit2Abi = parseAbi([
  "struct TokenPermissions { address token; uint256 amount; }",
  "struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }",
  "struct SignatureTransferDetails { address to; uint256 requestedAmount; }",
  "function permitTransferFrom(PermitTransferFrom permit, SignatureTransferDetails transferDetails, address owner, bytes signature)",
  "function nonceBitmap(address owner, uint256 wordPos) view returns (uint256)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
]);

const TYPES = {
  PermitTransferFrom: [
    { name: "permitted", type: "TokenPermissions" },
    { name: "spender", type: "address" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
  TokenPermissions: [
    { name: "token", type: "address" },
    { name: "amount", type: "uint256" },
  ],
} as const;

/**
 * The EIP-712 message for `permitTransferFrom` of Permit2 (SignatureTransfer), for a wallet that has approved Permit2
 * for the token. Only `spender` can use it, and only once. `value` in base units, `deadline` in Unix seconds.
 */
export interface Permit2Permit {
  readonly standard: "permit2";
  /** The contract that checks the signature and moves the tokens. */
  readonly permit2: EvmAddress;
  readonly token: EvmAddress;
  readonly owner: EvmAddress;
  readonly spender: EvmAddress;
  readonly value: bigint;
  /** The upper 248 bits select a word of the owner's bitmap, the lower 8 a bit of it, so nonces have no order. */
  readonly nonce: bigint;
  readonly deadline: bigint;
}

/**
 * keccak256 of the leg's id. All permits of one leg share this nonce, so Permit2 accepts at most one of them; permits
 * of different legs do not conflict.
 */
export const permit2NonceOf = (legId: string): bigint => BigInt(keccak256(stringToBytes(legId)));

const domainOf = (chainId: number, permit2: EvmAddress): TypedDataDomain => ({
  name: "Permit2",
  chainId,
  verifyingContract: permit2,
});

export const permit2TypedData = (chainId: number, permit: Permit2Permit): TypedDataDefinition => {
  const { permit2, token, value, spender, nonce, deadline } = permit;
  return {
    domain: domainOf(chainId, permit2),
    types: TYPES,
    primaryType: "PermitTransferFrom",
    message: { permitted: { token, amount: value }, spender, nonce, deadline },
  };
};

/** Transfers the whole permitted amount to `to`. Only the spender can make this call. */
export const permit2Call = (permit: Permit2Permit & { readonly signature: Hex }, to: EvmAddress): Call => {
  const { permit2, token, owner, value, nonce, deadline, signature } = permit;
  const data = encodeFunctionData({
    abi: permit2Abi,
    functionName: "permitTransferFrom",
    args: [
      { permitted: { token, amount: value }, nonce, deadline },
      { to, requestedAmount: value },
      owner,
      // Some wallets return 0 or 1 as the last byte, but Permit2 expects 27 or 28.
      serializeSignature(parseSignature(signature)),
    ],
  });
  return { to: permit2, value: 0n, data };
};

/** Finds Permit2 on each chain, and checks whether it would accept a permit. */
export const createPermit2 = (registry: ChainRegistry) => {
  const known = new Map<number, EvmAddress>();

  return {
    /**
     * Address of Permit2; null when it is not configured, or when another contract is at its address.
     * @throws DomainError `chain_unavailable`
     */
    addressOn: async (chainId: number): Promise<EvmAddress | null> => {
      const { permit2 } = registry.get(chainId).contracts;
      if (permit2 === undefined || known.has(chainId)) return permit2 ?? null;
      try {
        const separator = await chainCall(chainId, () =>
          registry
            .client(chainId)
            .readContract({ address: permit2, abi: permit2Abi, functionName: "DOMAIN_SEPARATOR" }),
        );
        // A call to an address without code succeeds and moves nothing, so the contract's own domain separator must
        // match before anybody signs.
        if (separator !== domainSeparator({ domain: domainOf(chainId, permit2) })) return null;
      } catch (error) {
        if (isDomainError(error)) throw error;
        return null;
      }
      known.set(chainId, permit2);
      return permit2;
    },

    /**
     * Why Permit2 would refuse to transfer the permit's tokens once it is signed; null when it would accept. The
     * deadline is not checked.
     * @throws DomainError `chain_unavailable`
     */
    obstacle: async (chainId: number, permit: Permit2Permit): Promise<string | null> => {
      const { permit2, token, owner, value, nonce } = permit;
      const client = registry.client(chainId);
      const [[allowed, balance, word], code] = await chainCall(chainId, () =>
        Promise.all([
          client.multicall({
            allowFailure: false,
            contracts: [
              { address: token, abi: erc20Abi, functionName: "allowance", args: [owner, permit2] },
              { address: token, abi: erc20Abi, functionName: "balanceOf", args: [owner] },
              { address: permit2, abi: permit2Abi, functionName: "nonceBitmap", args: [owner, nonce >> 8n] },
            ],
          }),
          client.getCode({ address: owner }),
        ]),
      );
      // An account that has delegated (EIP-7702) has code too.
      if (code !== undefined && code !== "0x")
        return "Code lies at the wallet's address, and Permit2 asks that code instead of looking at the wallet's signature.";
      if (((word >> (nonce & 0xffn)) & 1n) === 1n) return "The wallet cancelled its permit, or it was used already.";
      if (balance < value) return "The wallet has not got all of these tokens any more.";
      return allowed < value ? "The wallet does not allow Permit2 to move as many of these tokens any more." : null;
    },
  };
};
