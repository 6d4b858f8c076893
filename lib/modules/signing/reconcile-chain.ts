/** Compares one chain with the database: what was executed that no row knows, and what the rows do not know of their own moves. */
import { opinionsOf } from "@/lib/chains/agreement";
import { blockBefore } from "@/lib/chains/block-at";
import { payloadOf, paymentsIn } from "@/lib/chains/erc4337/account-payments";
import { callDataOf, contentOf, type ExecutedContent } from "@/lib/chains/erc4337/executed-content";
import { executedOperations, validUntilOf, type ExecutedOperation } from "@/lib/chains/erc4337/executed-operations";
import { nonceKeyOf } from "@/lib/chains/erc4337/nonce";
import { finalBlockNumber } from "@/lib/chains/finality";
import { chainCall } from "@/lib/chains/registry";
import { addSeconds } from "@/lib/core/clock";
import { validitySeconds } from "@/lib/modules/smart-accounts/service";
import { compareExecutor, type NextNonce } from "./compare-executor";
import type { KnownBatch, KnownLeg } from "./known-repository";
import type { ReconcileDeps } from "./reconcile-deps";
import type { UnknownMove } from "./state";

export interface ChainReport {
  readonly chainId: number;
  readonly name: string;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** Operations that the chain executed in these blocks, known ones included. */
  readonly executed: number;
  /** Rows that name their executed operation now. */
  readonly adopted: readonly string[];
  readonly unknown: readonly UnknownMove[];
  /** Notes on nonces of the executor. */
  readonly notes: readonly string[];
  /** The next nonces to go on with. */
  readonly nonces: readonly NextNonce[];
  /** Why signing may not be allowed yet; null: the chain is as the database says, but for the unknown moves. */
  readonly waits: string | null;
}

/** The database knows every move that was signed before this time; clocks of chains and of the database differ a little. */
const MARGIN_SECONDS = 120;
/** Attempts of a batch that may have followed the one that the row names. */
const ATTEMPTS_MAX = 3;
const KEPT_DAYS = 1;

interface Times {
  /** When the database was last known to know everything. */
  readonly seenAt: Date;
  /** Null: signing is allowed, so nothing is changed. */
  readonly offSince: Date | null;
}

type Owner = { readonly leg: KnownLeg } | { readonly batch: KnownBatch; readonly attempt: number };

/** The rows by the nonce keys under which they may have signed. */
const ownersOf = async (deps: ReconcileDeps, chainId: number, since: Date): Promise<ReadonlyMap<bigint, Owner>> => {
  const [legs, batches] = await Promise.all([deps.known.legs(chainId, since), deps.known.batches(chainId, since)]);
  const owners = new Map<bigint, Owner>(legs.map((leg) => [nonceKeyOf(leg.id), { leg }]));
  for (const batch of batches)
    for (let attempt = 1; attempt <= Math.max(batch.attempt, ATTEMPTS_MAX); attempt += 1)
      owners.set(nonceKeyOf(deps.attemptName(batch, attempt)), { batch, attempt });
  return owners;
};

const describe = (owner: Owner): string =>
  "leg" in owner
    ? `leg ${owner.leg.id} of ${owner.leg.operationId}`
    : `batch ${String(owner.batch.number)} of ${owner.batch.payoutId}`;

const adopt = async (
  deps: ReconcileDeps,
  owner: Owner,
  executed: ExecutedOperation,
  { operation }: ExecutedContent,
): Promise<boolean> => {
  if (operation === null) return false;
  const { userOpHash, blockNumber } = executed;
  const adopted = { operation, userOpHash, validUntil: validUntilOf(operation), fromBlock: blockNumber };
  return "leg" in owner ? deps.adoptLeg(owner.leg, adopted) : deps.adoptBatch(owner.batch, owner.attempt, adopted);
};

interface Comparison {
  readonly deps: ReconcileDeps;
  readonly chainId: number;
  readonly final: bigint;
  readonly projects: ReadonlyMap<string, string>;
  readonly owners: ReadonlyMap<bigint, Owner>;
  readonly mayAdopt: boolean;
}

const unknownOf = (
  { deps, chainId, projects }: Comparison,
  executed: ExecutedOperation,
  content: ExecutedContent,
): UnknownMove => {
  const { registry } = deps;
  const logs = content.receipt?.logs ?? [];
  const callData = callDataOf(content);
  const { sender: walletAddress } = executed;
  const payments = paymentsIn(
    { logs, callData, account: walletAddress },
    { tokens: registry.tokens(chainId), coin: registry.native(chainId) },
  );
  return {
    ...{ chainId, hash: executed.userOpHash, txHash: executed.txHash, blockNumber: executed.blockNumber },
    projectId: projects.get(walletAddress.toLowerCase()) ?? null,
    ...{ walletAddress, payments, payload: payloadOf(logs, callData) },
  };
};

/** Sorts the executed operations that no row names: those of rows under way are noted there, all others are unknown. */
const sortExecuted = async (comparison: Comparison, executed: readonly ExecutedOperation[]) => {
  const { deps, chainId, owners, final, mayAdopt } = comparison;
  const known = await deps.known.knownHashes(executed.map(({ userOpHash }) => userOpHash));
  const [adopted, unknown, unfinal]: [string[], UnknownMove[], ExecutedOperation[]] = [[], [], []];
  for (const one of [...executed].sort((a, b) => (a.blockNumber < b.blockNumber ? -1 : 1))) {
    if (known.has(one.userOpHash)) continue;
    if (one.blockNumber > final) {
      unfinal.push(one);
      continue;
    }
    const owner = owners.get(one.nonceKey);
    const content = await contentOf(deps.registry, chainId, one);
    if (owner !== undefined && mayAdopt && (await adopt(deps, owner, one, content))) adopted.push(describe(owner));
    // One that reverted has moved nothing.
    else if (one.success) unknown.push(unknownOf(comparison, one, content));
  }
  return { adopted, unknown, unfinal };
};

/** An operation that was signed before signing went off can still be executed for as long as it is valid. */
const waitOf = (
  name: string,
  { finalAt, endsAt, unfinal }: { finalAt: Date; endsAt: Date | null; unfinal: readonly ExecutedOperation[] },
): string | null => {
  if (unfinal.length > 0)
    return `${String(unfinal.length)} operations on ${name} are in blocks that are not final yet. Run it again in a moment.`;
  if (endsAt === null || finalAt >= endsAt) return null;
  return (
    `What was signed before may still be executed on ${name} until its final block is of ${endsAt.toISOString()}; ` +
    `it is of ${finalAt.toISOString()}. Run it again then.`
  );
};

/**
 * Everything that any provider of the chain shows. A node that keeps no logs of that time, or hides some, shows less, and what is missed
 * here would be paid again.
 */
const executedIn = async (
  { registry }: ReconcileDeps,
  chainId: number,
  search: Parameters<typeof executedOperations>[1],
): Promise<readonly ExecutedOperation[]> => {
  const { entryPoint } = registry.get(chainId).contracts;
  const rangeBlocks = () => registry.logRangeBlocks(chainId);
  const look = (view: typeof registry) =>
    executedOperations({ client: view.client(chainId), entryPoint, rangeBlocks }, search);
  return (await opinionsOf({ registry, chainId, look })).flat();
};

/** @throws DomainError `chain_unavailable` */
export const reconcileChain = async (
  deps: ReconcileDeps,
  chainId: number,
  { seenAt, offSince }: Times,
): Promise<ChainReport> => {
  const { registry, known } = deps;
  const { name, contracts, blockTimeMs } = registry.get(chainId);
  const client = registry.client(chainId);
  const head = await chainCall(chainId, () => client.getBlockNumber({ cacheTime: 0 }));
  const final = (await chainCall(chainId, () => finalBlockNumber(registry, chainId, head))) ?? 0n;
  const [fromBlock, finalBlock, accounts, owners] = await Promise.all([
    blockBefore(registry, chainId, { at: addSeconds(seenAt, -MARGIN_SECONDS), head }),
    chainCall(chainId, () => client.getBlock({ blockNumber: final })),
    known.accounts(),
    ownersOf(deps, chainId, addSeconds(seenAt, -KEPT_DAYS * 86_400)),
  ]);
  const senders = accounts.map(({ address }) => address);
  const paymaster = contracts.paymaster ?? null;
  const found = await executedIn(deps, chainId, { senders, paymaster, fromBlock, toBlock: head });
  const span = { chainId, fromBlock, toBlock: head };
  const executor = await compareExecutor(deps, span, { mayChange: offSince !== null });
  const projects = new Map(accounts.map(({ address, projectId }) => [address.toLowerCase(), projectId]));
  const comparison = { deps, chainId, final, projects, owners, mayAdopt: offSince !== null };
  const all = new Map([...found, ...executor.executed].map((one) => [one.userOpHash, one]));
  const { adopted, unknown, unfinal } = await sortExecuted(comparison, [...all.values()]);
  const endsAt = offSince === null ? null : addSeconds(offSince, validitySeconds(blockTimeMs));
  const finalAt = new Date(Number(finalBlock.timestamp) * 1000);
  return {
    ...{ ...span, name, executed: all.size, adopted, notes: executor.notes, nonces: executor.nonces },
    unknown: [...unknown, ...executor.unknown],
    waits: waitOf(name, { finalAt, endsAt, unfinal }),
  };
};
