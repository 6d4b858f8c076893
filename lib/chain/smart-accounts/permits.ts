import {
  domainSeparator,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  keccak256,
  parseAbi,
  parseSignature,
  serializeSignature,
  stringToBytes,
  type TypedDataDefinition,
  type TypedDataDomain,
} from "viem";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { isDomainError } from "@/lib/core/errors";
import type { Call, EvmAddress } from "@/lib/core/evm";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { storedAddress, storedBase, storedHex } from "@/lib/platform/db/codecs";

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
 * The EIP-712 message for `permitTransferFrom` of Permit2 (SignatureTransfer), for a wallet that
 * has approved Permit2 for the token. Only `spender` can use it, and only once. `value` in base
 * units, `deadline` in Unix seconds.
 */
export interface Permit2Permit {
  readonly standard: "permit2";
  /** The contract that verifies the signature and moves the tokens. */
  readonly permit2: EvmAddress;
  readonly token: EvmAddress;
  readonly owner: EvmAddress;
  readonly spender: EvmAddress;
  readonly value: bigint;
  /**
   * The upper 248 bits select a word of the owner's bitmap, the lower 8 bits a bit of it. So nonces
   * need no order.
   */
  readonly nonce: bigint;
  readonly deadline: bigint;
}

/**
 * keccak256 of the leg's id. All permits of one leg share this nonce, so Permit2 accepts at most
 * one of them; permits of different legs do not conflict.
 */
export const permit2NonceOf = (legId: string): bigint =>
  BigInt(keccak256(stringToBytes(legId)));

const domainOf = (chainId: number, permit2: EvmAddress): TypedDataDomain => ({
  name: "Permit2",
  chainId,
  verifyingContract: permit2,
});

export const permit2TypedData = (
  chainId: number,
  permit: Permit2Permit,
): TypedDataDefinition => {
  const { permit2, token, value, spender, nonce, deadline } = permit;
  return {
    domain: domainOf(chainId, permit2),
    types: TYPES,
    primaryType: "PermitTransferFrom",
    message: { permitted: { token, amount: value }, spender, nonce, deadline },
  };
};

/** The call that transfers the whole permitted amount to `to`. Only the spender can make it. */
export const permit2Call = (
  permit: Permit2Permit & { readonly signature: Hex },
  to: EvmAddress,
): Call => {
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

export const createPermit2 = (registry: ChainRegistry) => {
  const known = new Map<number, EvmAddress>();

  return {
    /**
     * Address of Permit2; null when it is not configured, or when its address has another contract
     * or none.
     * @throws DomainError `chain_unavailable`
     */
    addressOn: async (chainId: number): Promise<EvmAddress | null> => {
      const { permit2 } = registry.get(chainId).contracts;
      if (permit2 === undefined || known.has(chainId)) return permit2 ?? null;
      try {
        const separator = await chainCall(chainId, () =>
          registry.client(chainId).readContract({
            address: permit2,
            abi: permit2Abi,
            functionName: "DOMAIN_SEPARATOR",
          }),
        );
        // A call to an address without code succeeds and moves nothing. So the contract must report
        // the expected domain separator before anybody signs.
        if (separator !== domainSeparator({ domain: domainOf(chainId, permit2) })) return null;
      } catch (error) {
        if (isDomainError(error)) throw error;
        return null;
      }
      known.set(chainId, permit2);
      return permit2;
    },

    /**
     * The reason why Permit2 would refuse the signed permit; null when it would accept it. The
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
              {
                address: token,
                abi: erc20Abi,
                functionName: "allowance",
                args: [owner, permit2],
              },
              { address: token, abi: erc20Abi, functionName: "balanceOf", args: [owner] },
              {
                address: permit2,
                abi: permit2Abi,
                functionName: "nonceBitmap",
                args: [owner, nonce >> 8n],
              },
            ],
          }),
          client.getCode({ address: owner }),
        ]),
      );
      // Accounts with a delegation (EIP-7702) have code too. Permit2 also asks their code, so their
      // permits are refused with this reason as well.
      if (code !== undefined && code !== "0x")
        return "Code lies at the wallet's address, and Permit2 asks that code instead of looking at the wallet's signature.";
      if (((word >> (nonce & 0xffn)) & 1n) === 1n)
        return "The wallet cancelled its permit, or it was used already.";
      if (balance < value) return "The wallet has not got all of these tokens any more.";
      return allowed < value
        ? "The wallet does not allow Permit2 to move as many of these tokens any more."
        : null;
    },
  };
};

const permitAbi = parseAbi([
  "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
  "function nonces(address owner) view returns (uint256)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function PERMIT_TYPEHASH() view returns (bytes32)",
  "function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)",
  "function name() view returns (string)",
  "function version() view returns (string)",
]);

/**
 * keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)")
 */
const EIP2612_TYPEHASH: Hex =
  "0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9";
const DOMAINS_CACHED_MAX = 10_000;

const PERMIT = [
  { name: "owner", type: "address" },
  { name: "spender", type: "address" },
  { name: "value", type: "uint256" },
  { name: "nonce", type: "uint256" },
  { name: "deadline", type: "uint256" },
] as const;

/**
 * The EIP-712 message of a token's `permit` (EIP-2612), which the holder signs. `value` in base
 * units, `deadline` in Unix seconds.
 */
export interface Eip2612Permit {
  readonly standard: "eip2612";
  readonly token: EvmAddress;
  readonly owner: EvmAddress;
  readonly spender: EvmAddress;
  readonly value: bigint;
  readonly nonce: bigint;
  readonly deadline: bigint;
}

export const permitTypedData = (
  domain: TypedDataDomain,
  { owner, spender, value, nonce, deadline }: Eip2612Permit,
): TypedDataDefinition => ({
  domain,
  types: { Permit: PERMIT },
  primaryType: "Permit",
  message: { owner, spender, value, nonce, deadline },
});

/** The call that turns a signed permit into an allowance. */
const permitCall = (permit: Eip2612Permit & { readonly signature: Hex }): Call => {
  const { token, owner, spender, value, deadline, signature } = permit;
  const { r, s, yParity } = parseSignature(signature);
  const args = [owner, spender, value, deadline, 27 + yParity, r, s] as const;
  return {
    to: token,
    value: 0n,
    data: encodeFunctionData({ abi: permitAbi, functionName: "permit", args }),
  };
};

export const createPermits = (registry: ChainRegistry) => {
  const known = new LRUCache<string, { readonly domain: TypedDataDomain | null }>({
    max: DOMAINS_CACHED_MAX,
  });

  const read = async (
    chainId: number,
    token: EvmAddress,
  ): Promise<TypedDataDomain | null | undefined> => {
    const at = { address: token, abi: permitAbi } as const;
    const [name, separator, version, described, typeHash] = await chainCall(chainId, () =>
      registry.client(chainId).multicall({
        contracts: [
          { ...at, functionName: "name" },
          { ...at, functionName: "DOMAIN_SEPARATOR" },
          { ...at, functionName: "version" },
          { ...at, functionName: "eip712Domain" },
          { ...at, functionName: "PERMIT_TYPEHASH" },
        ],
      }),
    );
    // Every token has a name. An answer without a name is unreliable and is not cached.
    if (name.status === "failure") return undefined;
    if (separator.status === "failure") return null;
    // DAI and other old tokens have another form of permit.
    if (typeHash.status === "success" && typeHash.result !== EIP2612_TYPEHASH) return null;
    const own = { chainId, verifyingContract: token };
    const domain =
      described.status === "success"
        ? { ...own, name: described.result[1], version: described.result[2] }
        : {
            ...own,
            name: name.result,
            version: version.status === "success" ? version.result : "1",
          };
    // The wallet may sign only when the contract's domain separator is the one of `domain`.
    return domainSeparator({ domain }) === separator.result ? domain : null;
  };

  return {
    /** The EIP-712 domain of a token's permits; null when the token has no supported permit. */
    domainOf: async (chainId: number, token: EvmAddress): Promise<TypedDataDomain | null> => {
      const key = `${String(chainId)}:${token}`;
      const found = known.get(key);
      if (found !== undefined) return found.domain;
      const domain = await read(chainId, token);
      if (domain === undefined) return null;
      known.set(key, { domain });
      return domain;
    },

    /** The nonce of the owner's next permit. @throws DomainError `chain_unavailable` */
    nonceOf: (chainId: number, token: EvmAddress, owner: EvmAddress): Promise<bigint> =>
      chainCall(chainId, () =>
        registry.client(chainId).readContract({
          address: token,
          abi: permitAbi,
          functionName: "nonces",
          args: [owner],
        }),
      ),
  };
};

/** The permit with which an external wallet lets a spender, the treasury, take its tokens. */
export type Permit = Eip2612Permit | Permit2Permit;

export type SignedPermit = Permit & { readonly signature: Hex };

const terms = {
  token: storedAddress,
  owner: storedAddress,
  spender: storedAddress,
  value: storedBase,
  nonce: storedBase,
  deadline: storedBase,
};
const eip2612 = z.object({ standard: z.literal("eip2612"), ...terms });
const permit2 = z.object({ standard: z.literal("permit2"), permit2: storedAddress, ...terms });
const signature = { signature: storedHex };

export const storedPermit: z.ZodType<Permit> = z.union([permit2, eip2612]);
export const storedSignedPermit: z.ZodType<SignedPermit> = z.union([
  permit2.extend(signature),
  eip2612.extend(signature),
]);

export interface PermittedLeg {
  readonly calls: readonly Call[];
  /**
   * Recipient of a plain transfer, who gets the tokens directly; `calls` are not made then. Null
   * when there are calls.
   */
  readonly transferTo: EvmAddress | null;
}

const transferCall = ({ token, owner, value }: Permit, to: EvmAddress): Call => ({
  to: token,
  value: 0n,
  data: encodeFunctionData({
    abi: erc20Abi,
    functionName: "transferFrom",
    args: [owner, to, value],
  }),
});

const takingCalls = (
  permit: SignedPermit,
  to: EvmAddress,
  isAllowed: boolean,
): readonly Call[] => {
  switch (permit.standard) {
    case "eip2612":
      return isAllowed
        ? [transferCall(permit, to)]
        : [permitCall(permit), transferCall(permit, to)];
    case "permit2":
      return [permit2Call(permit, to)];
  }
};

/**
 * The calls of a permit's spender, as one atomic batch.
 * @param leg its `isAllowed` is true when the allowance of an EIP-2612 permit exists already, so
 * that the permit must not be submitted again
 */
export const permittedCalls = (
  permit: SignedPermit,
  leg: PermittedLeg & { readonly isAllowed: boolean },
): readonly Call[] => {
  const taking = takingCalls(permit, leg.transferTo ?? permit.spender, leg.isAllowed);
  return leg.transferTo === null ? [...taking, ...leg.calls] : taking;
};
