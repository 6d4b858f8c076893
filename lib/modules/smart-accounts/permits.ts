import {
  domainSeparator,
  encodeFunctionData,
  parseAbi,
  parseSignature,
  type Hex,
  type TypedDataDefinition,
  type TypedDataDomain,
} from "viem";
import { LRUCache } from "lru-cache";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import type { Call, EvmAddress } from "@/lib/ports/routing";

const permitAbi = parseAbi([
  "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
  "function nonces(address owner) view returns (uint256)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function PERMIT_TYPEHASH() view returns (bytes32)",
  "function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)",
  "function name() view returns (string)",
  "function version() view returns (string)",
]);

/** keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)") */
const EIP2612_TYPEHASH: Hex = "0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9";
const DOMAINS_CACHED_MAX = 10_000;

const PERMIT = [
  { name: "owner", type: "address" },
  { name: "spender", type: "address" },
  { name: "value", type: "uint256" },
  { name: "nonce", type: "uint256" },
  { name: "deadline", type: "uint256" },
] as const;

/** The EIP-712 message for `permit` of a token (EIP-2612), which the holder signs. `value` in base units, `deadline` in Unix seconds. */
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
export const permitCall = (permit: Eip2612Permit & { readonly signature: Hex }): Call => {
  const { token, owner, spender, value, deadline, signature } = permit;
  const { r, s, yParity } = parseSignature(signature);
  const args = [owner, spender, value, deadline, 27 + yParity, r, s] as const;
  return { to: token, value: 0n, data: encodeFunctionData({ abi: permitAbi, functionName: "permit", args }) };
};

/** Finds tokens that accept a signed permit instead of an approval. */
export const createPermits = (registry: ChainRegistry) => {
  const known = new LRUCache<string, { readonly domain: TypedDataDomain | null }>({ max: DOMAINS_CACHED_MAX });

  const read = async (chainId: number, token: EvmAddress): Promise<TypedDataDomain | null | undefined> => {
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
    // Every token has a name; a missing one means that the node's answer is unreliable, so it is not cached.
    if (name.status === "failure") return undefined;
    if (separator.status === "failure") return null;
    // DAI and other tokens of its age have another form of permit.
    if (typeHash.status === "success" && typeHash.result !== EIP2612_TYPEHASH) return null;
    const own = { chainId, verifyingContract: token };
    const domain =
      described.status === "success"
        ? { ...own, name: described.result[1], version: described.result[2] }
        : { ...own, name: name.result, version: version.status === "success" ? version.result : "1" };
    // The wallet signs only when the contract computes the same domain separator.
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
        registry
          .client(chainId)
          .readContract({ address: token, abi: permitAbi, functionName: "nonces", args: [owner] }),
      ),
  };
};
