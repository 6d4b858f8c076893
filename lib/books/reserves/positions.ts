/** Reads balances of treasuries at final blocks, and decides which of them count as reserves. */
import { readBalances } from "@/lib/chain/balances";
import { finalBlockNumber } from "@/lib/chain/blocks";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import type { Clock } from "@/lib/core/clock";
import { withDeadline } from "@/lib/core/deadline";
import { outageOf } from "@/lib/core/outage";
import type { Token } from "@/lib/core/token";
import type { ScreenedBlocks } from "@/lib/books/holds/service";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import type { EvmAddress } from "@/lib/core/evm";
import type { ReserveReading, ReserveReadings } from "./repository";

export interface ReservePosition {
  readonly token: Token;
  readonly wallet: EvmAddress;
  /**
   * False for coins from which the treasury pays its network fees, because that balance may fall at
   * any time.
   */
  readonly backs: boolean;
  /**
   * Balance at the chain's final block, in base units. Null while the chain does not answer. A null
   * balance does not count.
   */
  readonly finalBase: bigint | null;
  /**
   * The newest known final balance, while the chain does not answer. It covers existing account
   * balances, but no new ones.
   */
  readonly lastKnown: ReserveReading | null;
  readonly blockNumber: bigint;
  readonly at: Date;
}

export interface PositionDeps {
  readonly registry: ChainRegistry;
  readonly readings: ReserveReadings;
  /**
   * The newest blocks up to which the wallet's deposits were screened; null when its policies do
   * not require screening.
   */
  readonly screenedBlocks: (wallet: string, chainId: number) => Promise<ScreenedBlocks | null>;
  readonly clock: Clock;
}

/**
 * `awayUntil`: for the id of each unresponsive chain, the time in milliseconds until which the
 * chain is not read again.
 */
export type PositionContext = PositionDeps & { readonly awayUntil: Map<number, number> };

const CHAIN_TIMEOUT_MS = 4000;
const LATE = { timeoutMs: CHAIN_TIMEOUT_MS, message: "The chain did not answer in time." };
/**
 * An unresponsive chain is not read again for this time. Operations on one balance run one after
 * another, so each of them would wait for the chain and delay the next ones.
 */
const ASKED_AGAIN_AFTER_MS = 5_000;
/**
 * Maximum age of a stored balance that counts while its chain does not answer. `committedAfter`
 * counts spendings of only seven days, so an older balance may be spent already.
 */
const KNOWN_FOR_MS = 3 * 24 * 60 * 60 * 1000;

const sum = (values: readonly bigint[]): bigint =>
  values.reduce((total, value) => total + value, 0n);

/**
 * Ledger units per base unit, by the token's decimals. Precomputed, because a power takes ten times
 * as long as a multiplication.
 */
const UNITS_EACH = Array.from(
  { length: LEDGER_DECIMALS + 1 },
  (_, decimals) => 10n ** BigInt(LEDGER_DECIMALS - decimals),
);

/**
 * Converts base units of a token to ledger units (18 decimals), which are the same for an asset on
 * every chain.
 * @throws RangeError for a token with more decimals
 */
export const toLedgerUnits = ({ decimals }: Pick<Token, "decimals">, base: bigint): bigint => {
  const each = UNITS_EACH[decimals];
  if (each === undefined)
    throw new RangeError(
      `A token has ${String(decimals)} decimals; the ledger keeps ${String(LEDGER_DECIMALS)}.`,
    );
  return base * each;
};

/** A position that counts as reserves, with its balance at a final block. */
export interface Counted extends ReservePosition {
  readonly finalBase: bigint;
}

/** The positions that back accounts and whose current balances are known. */
export const counted = (positions: readonly ReservePosition[]): readonly Counted[] =>
  positions.flatMap((position) =>
    position.finalBase === null || !position.backs
      ? []
      : [{ ...position, finalBase: position.finalBase }],
  );

/** The positions that back accounts on unresponsive chains, with their newest known balances. */
export const away = (positions: readonly ReservePosition[]): readonly Counted[] =>
  positions.flatMap((position) => {
    const { finalBase, lastKnown, backs: isBacking } = position;
    if (finalBase !== null || lastKnown === null || !isBacking) return [];
    return [
      { ...position, finalBase: lastKnown.balanceBase, blockNumber: lastKnown.blockNumber },
    ];
  });

/**
 * The positions that cover existing account balances. Unresponsive chains are included with their
 * newest known balances, so that they do not block payments that other chains can cover.
 */
export const covering = (positions: readonly ReservePosition[]): readonly Counted[] => [
  ...counted(positions),
  ...away(positions),
];

export const onChainOf = (positions: readonly Counted[]): bigint =>
  sum(positions.map(({ token, finalBase }) => toLedgerUnits(token, finalBase)));

/**
 * Whether a token of the treasury backs accounts. On a chain without a paymaster, the treasury
 * pays network fees in coins that no hold covers, so a transfer of another token could spend coins
 * that back accounts. Such coins do not count as reserves.
 */
export const backs = (
  { registry }: Pick<PositionDeps, "registry">,
  { address, chainId }: Token,
): boolean => address !== "native" || registry.get(chainId).contracts.paymaster !== undefined;

type ReadPosition = Omit<ReservePosition, "wallet" | "backs" | "lastKnown">;

const readAt = async (
  { registry }: PositionDeps,
  wallet: EvmAddress,
  {
    chainId,
    tokens,
    block,
  }: { readonly chainId: number; readonly tokens: readonly Token[]; readonly block: bigint },
): Promise<ReadPosition[]> => {
  const balances = await withDeadline(
    readBalances(registry, chainId, [wallet], tokens, block),
    LATE,
  );
  const { blockNumber, at } = balances;
  return tokens.map((token) => ({
    token,
    finalBase: balances.get(wallet, token),
    blockNumber,
    at,
  }));
};

/**
 * The balances at the blocks up to which deposits were screened. If the policy requires screened
 * money, later money backs nothing.
 */
const readScreened = async (
  context: PositionDeps,
  wallet: EvmAddress,
  at: {
    readonly chainId: number;
    readonly tokens: readonly Token[];
    readonly finalNumber: bigint;
  },
  blocks: ScreenedBlocks,
): Promise<ReadPosition[]> => {
  const nothing = (token: Token): ReadPosition => {
    return { token, finalBase: 0n, blockNumber: 0n, at: context.clock.now() };
  };
  const groups = [
    { tokens: at.tokens.filter(({ address }) => address !== "native"), block: blocks.tokens },
    { tokens: at.tokens.filter(({ address }) => address === "native"), block: blocks.native },
  ];
  const read = await Promise.all(
    groups.map(async ({ tokens, block }) => {
      if (tokens.length === 0 || block < 0n) return tokens.map(nothing);
      const screened = block < at.finalNumber ? block : at.finalNumber;
      return readAt(context, wallet, { ...at, tokens, block: screened });
    }),
  );
  return read.flat();
};

const readNow = async (
  context: PositionDeps,
  wallet: EvmAddress,
  chainId: number,
  tokens: readonly Token[],
): Promise<ReservePosition[] | null> => {
  try {
    const head = await withDeadline(
      chainCall(chainId, () =>
        context.registry.client(chainId).getBlockNumber({ cacheTime: 0 }),
      ),
      LATE,
    );
    const finalNumber =
      (await withDeadline(
        chainCall(chainId, () => finalBlockNumber(context.registry, chainId, head)),
        LATE,
      )) ?? 0n;
    const blocks = await context.screenedBlocks(wallet, chainId);
    const read =
      blocks === null
        ? await readAt(context, wallet, { chainId, tokens, block: finalNumber })
        : await readScreened(context, wallet, { chainId, tokens, finalNumber }, blocks);
    return read.map((position) => ({
      ...{ ...position, wallet, lastKnown: null },
      backs: backs(context, position.token),
    }));
  } catch (error) {
    // A failure of the service's database says nothing about the chain, so the chain is not marked
    // as unresponsive.
    if (outageOf(error) === "database") throw error;
    return null;
  }
};

export const readChain = async (
  context: PositionContext,
  wallet: EvmAddress,
  chainId: number,
  tokens: readonly Token[],
): Promise<ReservePosition[]> => {
  const { readings, clock, awayUntil } = context;
  const isAway = (awayUntil.get(chainId) ?? 0) > clock.now().getTime();
  const positions = isAway ? null : await readNow(context, wallet, chainId, tokens);
  if (positions !== null) {
    const read = positions.flatMap(({ token, finalBase, blockNumber }) =>
      finalBase === null
        ? []
        : [{ token: token.address.toLowerCase(), balanceBase: finalBase, blockNumber }],
    );
    await readings.keep(wallet, chainId, read, clock.now());
    return positions;
  }
  if (!isAway) awayUntil.set(chainId, clock.now().getTime() + ASKED_AGAIN_AFTER_MS);
  // Positions with only a stored reading cover existing liabilities, but do not back new ones.
  const known = await readings.find(
    wallet,
    chainId,
    new Date(clock.now().getTime() - KNOWN_FOR_MS),
  );
  return tokens.map((token) => ({
    token,
    wallet,
    backs: backs(context, token),
    finalBase: null,
    lastKnown: known.get(token.address.toLowerCase()) ?? null,
    blockNumber: 0n,
    at: clock.now(),
  }));
};
