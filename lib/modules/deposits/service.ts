/**
 * Money that came into wallets of projects from outside: found on chain, screened before it counts, and kept back where a person has to
 * look at it.
 */
import type { Actor, UserActor } from "@/lib/core/actor";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { Ticker } from "@/lib/core/ticker";
import type { Token } from "@/lib/core/token";
import { sqlOn } from "@/lib/db/sql";
import type { Deposit } from "./deposit";
import { compareCoins } from "./native";
import { createRelease, type Release, type ReleaseDeps } from "./release";
import { depositsByIds, quarantinedDeposits } from "./repository";
import { scanChain } from "./scan";
import { readCursor } from "./scan-repository";
import type { ScanDeps } from "./read-turn";
import { settleChain } from "./settle";
import type { DepositView } from "./view";
import { watchDeposits, type WatchDeps } from "./watch";

export type { DepositView } from "./view";

export interface DepositsDeps extends Omit<ScanDeps, "database" | "tokenOf">, Omit<ReleaseDeps, "tokenOf"> {
  readonly listener: WatchDeps["listener"];
  readonly ticker: Ticker;
}

/** Shown in place of a token that the configuration no longer has. */
const unknownToken = (chainId: number, address: string): Token => ({
  ...{ chainId, address: address as `0x${string}`, symbol: "UNKNOWN", name: "Unknown token" },
  ...{ decimals: 0, assetId: address, usdPegged: false },
});

const TURNS_MAX = 50;

/** The service of deposits: it searches chains, settles deposits that are final, and lets people release quarantined ones. */
export const createDepositsService = (given: DepositsDeps) => {
  const { registry, database } = given;
  const tokenOf = ({ chainId, token }: Pick<Deposit, "chainId" | "token">): Token => {
    const known = registry.find(chainId) === null ? [] : registry.tokens(chainId);
    return known.find(({ address }) => address.toLowerCase() === token) ?? unknownToken(chainId, token);
  };
  const deps = { ...given, tokenOf };
  const reader = sqlOn(database.pool);
  const release = createRelease(deps);

  const viewsOf = async (deposits: readonly Deposit[]): Promise<DepositView[]> => {
    const chainIds = [...new Set(deposits.map(({ chainId }) => chainId))];
    const cursors = new Map(
      await Promise.all(chainIds.map(async (chainId) => [chainId, await readCursor(reader, chainId)] as const)),
    );
    return deposits.map((deposit) => {
      const cursor = cursors.get(deposit.chainId) ?? null;
      const isFinal = cursor !== null && deposit.blockNumber <= cursor.finalNumber;
      return {
        ...{ deposit, token: tokenOf(deposit), seenNumber: cursor?.seenNumber ?? deposit.blockNumber },
        mayRelease: deposit.state === "quarantined" && isFinal,
      };
    });
  };

  const views = async (projectId: string, ids: readonly string[]): Promise<DepositView[]> =>
    viewsOf(await depositsByIds(reader, projectId, ids));

  const get = async ({ projectId }: Actor, id: string): Promise<DepositView> => {
    const [view] = isId("operation", id) ? await views(projectId, [id]) : [];
    if (view === undefined || view.deposit.state === "own" || view.deposit.state === "unclear") throw notFound();
    return view;
  };

  return {
    /** @throws DomainError `not_found` */
    get,

    /** The deposits of these operations, by their ids; costs nothing where none of them is a deposit. */
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

    /**
     * Lets a quarantined deposit go.
     * @throws DomainError `not_found`, `forbidden`, `invalid_state`, `approval_required` and what else `requireApproval` throws
     */
    release: async (actor: UserActor, id: string, input: Release): Promise<DepositView> => {
      await release(actor, await get(actor, id), input);
      return get(actor, id);
    },

    /** Deposits of the project as they are seen and change, beginning with those under way. Ends when `signal` aborts. */
    watch: (projectId: string, signal: AbortSignal): AsyncGenerator<DepositView> =>
      watchDeposits({ ...given, reader, viewsOf }, projectId, signal),

    /** Searches a chain for deposits and moves known ones on. Safe beside itself on other instances. @throws DomainError `chain_unavailable` */
    follow: async (chainId: number): Promise<void> => {
      for (let turns = 0; turns < TURNS_MAX; turns += 1) if (!(await scanChain(deps, chainId))) break;
      await settleChain(deps, chainId);
    },

    /** Compares the coins of all wallets of a chain. Safe beside itself on other instances. @throws DomainError `chain_unavailable` */
    compareCoins: (chainId: number): Promise<void> => compareCoins(deps, chainId),
  };
};

export type DepositsService = ReturnType<typeof createDepositsService>;
