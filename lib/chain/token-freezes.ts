import { LRUCache } from "lru-cache";
import { type Address, type Hex, parseAbi } from "viem";
import { encodeCall } from "@/lib/chain/encode-call";
import { withDeadline } from "@/lib/core/deadline";
import type { Token } from "@/lib/core/token";
import { decodeAggregate, encodeAggregate } from "./aggregate3";
import { chainCall, type ChainRegistry } from "./registry";
import { DomainError } from "@/lib/core/errors";

// Checks whether a token's issuer has frozen an address: `isBlacklisted` of USDC, `isBlackListed`
// of USDT.

const abi = parseAbi([
  "function isBlacklisted(address account) view returns (bool)",
  "function isBlackListed(address account) view returns (bool)",
]);
const NAMES = ["isBlacklisted", "isBlackListed"] as const;
type Name = (typeof NAMES)[number];

const TIMEOUT_MS = 3000;
const YES: Hex = `0x${"0".repeat(63)}1`;
const WORD_LENGTH = YES.length;
/**
 * Maximum number of look-ups in one `eth_call`, because nodes limit its gas. A look-up through a
 * proxy contract uses about 10,000 gas.
 */
const HOLDINGS_AT_ONCE_MAX = 1000;
const KNOWN_MAX = 10_000;
/**
 * How long it is cached which of the two functions a token has, because a token behind a proxy
 * contract may get one of them later.
 */
const KNOWN_MS = 600_000;

interface Holding {
  readonly token: Token;
  readonly address: Address;
}

/** Checks freezes, and caches by chain and address which of the two functions a token has. */
export const createTokenFreezes = (registry: ChainRegistry) => {
  const known = new LRUCache<string, readonly Name[]>({ max: KNOWN_MAX, ttl: KNOWN_MS });
  const keyOf = ({ chainId, address }: Token): string =>
    `${String(chainId)}:${address.toLowerCase()}`;

  const readChain = async (
    chainId: number,
    holdings: readonly Holding[],
  ): Promise<boolean[]> => {
    const asked = holdings.map(({ token }) => known.get(keyOf(token)) ?? NAMES);
    const calls = holdings.flatMap(({ token, address }, index) =>
      (asked[index] ?? []).map((functionName) => ({
        target: token.address as Address,
        callData: encodeCall({ abi, functionName, args: [address] }),
      })),
    );
    if (calls.length === 0) return holdings.map(() => false);
    const to = registry.get(chainId).contracts.multicall3;
    const called = chainCall(chainId, () =>
      registry.client(chainId).call({ to, data: encodeAggregate(calls) }),
    );
    const { data } = await withDeadline(called, {
      timeoutMs: TIMEOUT_MS,
      message: "The tokens did not answer.",
    });
    const answers = decodeAggregate(data ?? "0x");
    let next = 0;
    return holdings.map(({ token }, index) => {
      const names = asked[index] ?? [];
      const own = answers.slice(next, next + names.length);
      next += names.length;
      // Stores which functions the token has. The token's fallback function may accept the call of
      // a missing function, so only an answer of exactly one 32-byte word counts.
      known.set(
        keyOf(token),
        names.filter((_, at) => own[at]?.length === WORD_LENGTH),
      );
      return own.includes(YES);
    });
  };

  return {
    /**
     * Whether each address is frozen for its token now, in the order of `holdings`. Makes one
     * `eth_call` per chain for up to 1,000 addresses. Returns false when a chain does not answer,
     * because the chain itself refuses transfers of a frozen address.
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

export interface Movement {
  readonly sources: readonly { readonly token: Token; readonly owner: Address }[];
  readonly destination: { readonly token: Token; readonly recipient: Address };
}

interface Paths {
  readonly source: (index: number) => string;
  readonly recipient: string;
}

const PATHS: Paths = {
  source: (index) => `from.${String(index)}.address`,
  recipient: "toAddress",
};

/**
 * Checks that no token's issuer has frozen a paying address or the recipient.
 * @throws DomainError `wallet_frozen`, `recipient_frozen`
 */
export const requireUnfrozen = async (
  freezes: Pick<TokenFreezes, "areFrozen">,
  { sources, destination }: Movement,
  paths: Paths = PATHS,
): Promise<void> => {
  const { token, recipient } = destination;
  const wallets = sources.map((source) => ({ token: source.token, address: source.owner }));
  const frozen = await freezes.areFrozen([...wallets, { token, address: recipient }]);
  const index = frozen.indexOf(true);
  const wallet = wallets[index];
  if (wallet !== undefined) {
    const { symbol } = wallet.token;
    const message = `The issuer of ${symbol} has frozen the wallet ${wallet.address}, so its ${symbol} cannot leave it. Nothing was sent; the money is in the wallet.`;
    const details = [
      { path: paths.source(index), message: `is frozen by the issuer of ${symbol}` },
    ];
    throw new DomainError("wallet_frozen", message, { details });
  }
  if (index === -1) return;
  const message = `The issuer of ${token.symbol} has frozen the recipient ${recipient}, so ${token.symbol} cannot arrive there. Nothing was sent; the money is in the wallet.`;
  const details = [
    { path: paths.recipient, message: `is frozen by the issuer of ${token.symbol}` },
  ];
  throw new DomainError("recipient_frozen", message, { details });
};
