/** Whether a token's issuer has frozen an address: `isBlacklisted` of USDC, `isBlackListed` of USDT. */
import { LRUCache } from "lru-cache";
import { parseAbi, type Address, type Hex } from "viem";
import { encodeCall } from "@/lib/chains/encode-call";
import { withDeadline } from "@/lib/core/deadline";
import type { Token } from "@/lib/core/token";
import { decodeAggregate, encodeAggregate } from "./aggregate3";
import { chainCall, type ChainRegistry } from "./registry";

const abi = parseAbi([
  "function isBlacklisted(address account) view returns (bool)",
  "function isBlackListed(address account) view returns (bool)",
]);
const NAMES = ["isBlacklisted", "isBlackListed"] as const;
type Name = (typeof NAMES)[number];

const TIMEOUT_MS = 3000;
const YES: Hex = `0x${"0".repeat(63)}1`;
const WORD_LENGTH = YES.length;
/** Nodes limit the gas of one `eth_call`; a look-up behind a proxy uses about 10,000. */
const HOLDINGS_AT_ONCE_MAX = 1000;
const KNOWN_MAX = 10_000;
/** A token behind a proxy may get the function later. */
const KNOWN_MS = 600_000;

export interface Holding {
  readonly token: Token;
  readonly address: Address;
}

/** Which of the two functions a token's contract has, by chain and address. */
export const createTokenFreezes = (registry: ChainRegistry) => {
  const known = new LRUCache<string, readonly Name[]>({ max: KNOWN_MAX, ttl: KNOWN_MS });
  const keyOf = ({ chainId, address }: Token): string => `${String(chainId)}:${address.toLowerCase()}`;

  const readChain = async (chainId: number, holdings: readonly Holding[]): Promise<boolean[]> => {
    const asked = holdings.map(({ token }) => known.get(keyOf(token)) ?? NAMES);
    const calls = holdings.flatMap(({ token, address }, index) =>
      (asked[index] ?? []).map((functionName) => ({
        target: token.address as Address,
        callData: encodeCall({ abi, functionName, args: [address] }),
      })),
    );
    if (calls.length === 0) return holdings.map(() => false);
    const to = registry.get(chainId).contracts.multicall3;
    const called = chainCall(chainId, () => registry.client(chainId).call({ to, data: encodeAggregate(calls) }));
    const { data } = await withDeadline(called, { timeoutMs: TIMEOUT_MS, message: "The tokens did not answer." });
    const answers = decodeAggregate(data ?? "0x");
    let next = 0;
    return holdings.map(({ token }, index) => {
      const names = asked[index] ?? [];
      const own = answers.slice(next, next + names.length);
      next += names.length;
      // A contract with a fallback function answers any call, and then with no word.
      known.set(
        keyOf(token),
        names.filter((_, at) => own[at]?.length === WORD_LENGTH),
      );
      return own.includes(YES);
    });
  };

  return {
    /**
     * Whether each address is frozen for its token now, in their order; one `eth_call` for each chain that has a token which can be frozen, and 1,000 addresses.
     * False where a chain does not answer, because the chain itself refuses the transfer of a frozen address.
     */
    areFrozen: async (holdings: readonly Holding[]): Promise<boolean[]> => {
      const contracts = holdings.filter(({ token }) => token.address !== "native");
      const frozen = new Set<Holding>();
      await Promise.all(
        [...new Set(contracts.map(({ token }) => token.chainId))].map(async (chainId) => {
          const own = contracts.filter(({ token }) => token.chainId === chainId);
          for (let from = 0; from < own.length; from += HOLDINGS_AT_ONCE_MAX) {
            const part = own.slice(from, from + HOLDINGS_AT_ONCE_MAX);
            const answers = await readChain(chainId, part).catch(() => []);
            part.forEach((holding, index) => {
              if (answers[index] === true) frozen.add(holding);
            });
          }
        }),
      );
      return holdings.map((holding) => frozen.has(holding));
    },
  };
};

export type TokenFreezes = ReturnType<typeof createTokenFreezes>;
