/** Balances of treasuries at final blocks, and which of them count as reserves. */
import { readBalances } from "@/lib/chains/balances";
import { finalBlockNumber } from "@/lib/chains/finality";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import type { Clock } from "@/lib/core/clock";
import { withDeadline } from "@/lib/core/deadline";
import { outageOf } from "@/lib/core/outage";
import type { Token } from "@/lib/core/token";
import type { ScreenedBlocks } from "@/lib/modules/holds/service";
import { LEDGER_DECIMALS } from "@/lib/modules/ledger/service";
import type { EvmAddress } from "@/lib/ports/routing";
import type { ReserveReading, ReserveReadings } from "./repository";

/** One token of the treasury on one chain. */
export interface ReservePosition {
  readonly token: Token;
  readonly wallet: EvmAddress;
  /** False for coins from which the treasury pays its own network fees, because their balance may fall at any time. */
  readonly backs: boolean;
  /** Balance at the chain's final block, in base units. Null: the chain does not answer, so the balance does not count. */
  readonly finalBase: bigint | null;
  /** While the chain does not answer: its newest known final balance. It covers what accounts hold already, and nothing more. */
  readonly lastKnown: ReserveReading | null;
  readonly blockNumber: bigint;
  readonly at: Date;
}

export interface PositionDeps {
  readonly registry: ChainRegistry;
  readonly readings: ReserveReadings;
  /** The newest blocks up to which the wallet's deposits were screened; null where its policies do not ask for it. */
  readonly screenedBlocks: (wallet: string, chainId: number) => Promise<ScreenedBlocks | null>;
  readonly clock: Clock;
}

/** `awayUntil`: until when a chain that did not answer is not asked again, by its id, in milliseconds. */
export type PositionContext = PositionDeps & { readonly awayUntil: Map<number, number> };

const CHAIN_TIMEOUT_MS = 4000;
const LATE = { timeoutMs: CHAIN_TIMEOUT_MS, message: "The chain did not answer in time." };
/** Operations on one balance queue up, so each of them waiting for a dead chain would stop all the others. */
const ASKED_AGAIN_AFTER_MS = 5_000;
/** `committedAfter` adds up what was spent since a block for seven days, so an older balance could be spent already. */
const KNOWN_FOR_MS = 3 * 24 * 60 * 60 * 1000;

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

/** Ledger units in one base unit, by the decimals of the token; computing a power takes ten times as long as multiplying. */
const UNITS_EACH = Array.from(
  { length: LEDGER_DECIMALS + 1 },
  (_, decimals) => 10n ** BigInt(LEDGER_DECIMALS - decimals),
);

/**
 * Converts base units of a token to ledger units (18 decimals), which are the same for an asset on every chain.
 * @throws RangeError for a token with more decimals
 */
export const toLedgerUnits = ({ decimals }: Pick<Token, "decimals">, base: bigint): bigint => {
  const each = UNITS_EACH[decimals];
  if (each === undefined)
    throw new RangeError(`A token has ${String(decimals)} decimals; the ledger keeps ${String(LEDGER_DECIMALS)}.`);
  return base * each;
};

/** A position that counts, with the final balance and its block. */
export interface Counted extends ReservePosition {
  readonly finalBase: bigint;
}

/** The positions that back accounts and whose balances are known now. */
export const counted = (positions: readonly ReservePosition[]): readonly Counted[] =>
  positions.flatMap((position) =>
    position.finalBase === null || !position.backs ? [] : [{ ...position, finalBase: position.finalBase }],
  );

/** The positions that back accounts on chains that do not answer, with their newest known balances. */
export const away = (positions: readonly ReservePosition[]): readonly Counted[] =>
  positions.flatMap((position) => {
    const { finalBase, lastKnown, backs: isBacking } = position;
    if (finalBase !== null || lastKnown === null || !isBacking) return [];
    return [{ ...position, finalBase: lastKnown.balanceBase, blockNumber: lastKnown.blockNumber }];
  });

/** All that covers what accounts hold already: a chain that does not answer must not stop what the others can pay. */
export const covering = (positions: readonly ReservePosition[]): readonly Counted[] => [
  ...counted(positions),
  ...away(positions),
];

export const onChainOf = (positions: readonly Counted[]): bigint =>
  sum(positions.map(({ token, finalBase }) => toLedgerUnits(token, finalBase)));

/**
 * Whether a token of the treasury backs accounts. On a chain without a paymaster the treasury pays its network fees in coins that are not
 * held, so a transfer of another token could spend coins that back accounts. Such coins do not count as reserves.
 */
export const backs = ({ registry }: Pick<PositionDeps, "registry">, { address, chainId }: Token): boolean =>
  address !== "native" || registry.get(chainId).contracts.paymaster !== undefined;

type ReadPosition = Omit<ReservePosition, "wallet" | "backs" | "lastKnown">;

const readAt = async (
  { registry }: PositionDeps,
  wallet: EvmAddress,
  { chainId, tokens, block }: { readonly chainId: number; readonly tokens: readonly Token[]; readonly block: bigint },
): Promise<ReadPosition[]> => {
  const balances = await withDeadline(readBalances(registry, chainId, [wallet], tokens, block), LATE);
  const { blockNumber, at } = balances;
  return tokens.map((token) => ({ token, finalBase: balances.get(wallet, token), blockNumber, at }));
};

/**
 * Balances at the blocks up to which deposits were screened: later money backs nothing where the policy lets screened money alone
 * move.
 */
const readScreened = async (
  context: PositionDeps,
  wallet: EvmAddress,
  at: { readonly chainId: number; readonly tokens: readonly Token[]; readonly finalNumber: bigint },
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
      chainCall(chainId, () => context.registry.client(chainId).getBlockNumber({ cacheTime: 0 })),
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
    // A failure of our own database says nothing about the chain, so the chain is asked again at once.
    if (outageOf(error) === "database") throw error;
    return null;
  }
};

/** The treasury's balances of tokens on one chain, at its newest final block. */
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
      finalBase === null ? [] : [{ token: token.address.toLowerCase(), balanceBase: finalBase, blockNumber }],
    );
    await readings.keep(wallet, chainId, read, clock.now());
    return positions;
  }
  if (!isAway) awayUntil.set(chainId, clock.now().getTime() + ASKED_AGAIN_AFTER_MS);
  // Balances of a chain that does not answer back nothing new, and the response says so.
  const known = await readings.find(wallet, chainId, new Date(clock.now().getTime() - KNOWN_FOR_MS));
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
