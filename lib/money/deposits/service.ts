/**
 * Deposits: money that came into wallets of projects from outside. A deposit is found on chain,
 * screened before it is credited, and held back when a person has to decide about it.
 */
import type { Actor, UserActor } from "@/lib/core/actor";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { Ticker } from "@/lib/core/ticker";
import type { Token } from "@/lib/core/token";
import { sqlOn } from "@/lib/platform/db/sql";
import type { Deposit } from "./rows";
import { isShown } from "./deposit";
import {
  type DepositFilter,
  depositsByIds,
  depositsOnPage,
  quarantinedDeposits,
} from "./repository";
import { readDustSums } from "./dust-repository";
import { readCursor } from "./cursor-repository";
import { compareCoins } from "./native";
import { createRelease, type Release, type ReleaseDeps } from "./release";
import { scanChain, type ScanDeps } from "./scan";
import { settleChain } from "./settle";
import type { DepositView, DustView } from "./view";
import { watchDeposits, type WatchDeps } from "./watch";

export type { DepositView } from "./view";

export interface DepositsDeps
  extends Omit<ScanDeps, "database" | "tokenOf">, Omit<ReleaseDeps, "tokenOf"> {
  readonly listener: WatchDeps["listener"];
  readonly ticker: Ticker;
}

/** The token to show for an address that is no longer in the configuration. */
const unknownToken = (chainId: number, address: string): Token => ({
  ...{ chainId, address: address as `0x${string}`, symbol: "UNKNOWN", name: "Unknown token" },
  ...{ decimals: 0, assetId: address, usdPegged: false },
});

const TURNS_MAX = 50;
const DUST_LINES_MAX = 1_000;

/**
 * Creates the service that searches chains for deposits, settles final deposits, and lets people
 * release quarantined ones.
 */
export const createDepositsService = (given: DepositsDeps) => {
  const { registry, database } = given;
  const tokenOf = ({ chainId, token }: Pick<Deposit, "chainId" | "token">): Token => {
    const known = registry.find(chainId) === null ? [] : registry.tokens(chainId);
    return (
      known.find(({ address }) => address.toLowerCase() === token) ??
      unknownToken(chainId, token)
    );
  };
  const deps = { ...given, tokenOf };
  const reader = sqlOn(database.pool);
  const release = createRelease(deps);

  const viewsOf = async (deposits: readonly Deposit[]): Promise<DepositView[]> => {
    const chainIds = [...new Set(deposits.map(({ chainId }) => chainId))];
    const cursors = new Map(
      await Promise.all(
        chainIds.map(async (chainId) => [chainId, await readCursor(reader, chainId)] as const),
      ),
    );
    return deposits.map((deposit) => {
      const cursor = cursors.get(deposit.chainId) ?? null;
      const isFinal = cursor !== null && deposit.blockNumber <= cursor.finalNumber;
      return {
        ...{
          deposit,
          token: tokenOf(deposit),
          seenNumber: cursor?.seenNumber ?? deposit.blockNumber,
        },
        mayRelease: deposit.state === "quarantined" && isFinal,
      };
    });
  };

  const views = async (projectId: string, ids: readonly string[]): Promise<DepositView[]> =>
    viewsOf(await depositsByIds(reader, projectId, ids));

  const get = async ({ projectId }: Actor, id: string): Promise<DepositView> => {
    const [view] = isId("operation", id) ? await views(projectId, [id]) : [];
    if (view === undefined || !isShown(view.deposit.state)) throw notFound();
    return view;
  };

  return {
    /**
     * The project's deposit with this id.
     * @throws DomainError `not_found`
     */
    get,

    /** Deposits that callers see one by one, newest first. */
    list: async (
      { projectId }: Actor,
      {
        cursor,
        limit,
        ...filter
      }: DepositFilter & { readonly cursor?: string | undefined; readonly limit: number },
    ): Promise<{ readonly data: DepositView[]; readonly nextCursor: string | null }> => {
      const found = await depositsOnPage(
        reader,
        { projectId, before: cursor, limit: limit + 1 },
        filter,
      );
      const data = await viewsOf(found.slice(0, limit));
      return {
        data,
        nextCursor: found.length > limit ? (data.at(-1)?.deposit.id ?? null) : null,
      };
    },

    /**
     * The deposits of these operations, by operation id. Runs no statement when none of them is a
     * deposit.
     */
    ofOperations: async (
      projectId: string,
      operations: readonly { readonly id: string; readonly kind: string }[],
    ): Promise<ReadonlyMap<string, DepositView>> => {
      const ids = operations.filter(({ kind }) => kind === "deposit").map(({ id }) => id);
      return new Map((await views(projectId, ids)).map((view) => [view.deposit.id, view]));
    },

    /** Quarantined deposits, which wait for a person's decision, the most valuable first. */
    quarantined: async (projectId: string, limit: number): Promise<DepositView[]> =>
      viewsOf(await quarantinedDeposits(reader, projectId, limit)),

    /** Sums of deposits that are too small to be shown one by one, the newest first. */
    dust: async ({ projectId }: Actor): Promise<DustView[]> =>
      (await readDustSums(reader, projectId, DUST_LINES_MAX)).map((sum) => ({
        sum,
        token: tokenOf(sum),
      })),

    /**
     * Releases a quarantined deposit.
     * @throws DomainError `not_found`, `forbidden`, `invalid_state`, `approval_required` and the
     * other errors of `requireApproval`
     */
    release: async (actor: UserActor, id: string, input: Release): Promise<DepositView> => {
      await release(actor, await get(actor, id), input);
      return get(actor, id);
    },

    /**
     * Yields the project's deposits when they are seen or change, beginning with those in progress.
     * Ends when `signal` aborts.
     */
    watch: (projectId: string, signal: AbortSignal): AsyncGenerator<DepositView> =>
      watchDeposits({ ...given, reader, viewsOf }, projectId, signal),

    /**
     * Searches a chain for deposits and settles the stored ones. Several instances may run it at
     * the same time.
     * @throws DomainError `chain_unavailable`
     */
    follow: async (chainId: number): Promise<void> => {
      for (let turns = 0; turns < TURNS_MAX; turns += 1)
        if (!(await scanChain(deps, chainId))) break;
      await settleChain(deps, chainId);
    },

    /**
     * Compares the coin balances of all wallets of a chain. Several instances may run it at the
     * same time.
     * @throws DomainError `chain_unavailable`
     */
    compareCoins: (chainId: number): Promise<void> => compareCoins(deps, chainId),
  };
};

export type DepositsService = ReturnType<typeof createDepositsService>;
