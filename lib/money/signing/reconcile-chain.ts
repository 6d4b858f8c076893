import { type Address, getAddress, type Hex, isAddressEqual } from "viem";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import type { KnownRepository } from "./known-repository";
import type { KnownBatch, KnownLeg, OpenTransaction, UnknownMove } from "./rows";
import { payloadOf, paymentsIn } from "@/lib/chain/erc4337/account-payments";
import {
  callDataOf,
  contentOf,
  type ExecutedContent,
  type ExecutedOperation,
  executedOperations,
  validUntilOf,
} from "@/lib/chain/erc4337/executed-operations";
import { operationsOf } from "@/lib/chain/erc4337/operation-receipt";
import { formatAmount } from "@/lib/core/money";
import { opinionsOf } from "@/lib/chain/agreement";
import { blockBefore, finalBlockNumber } from "@/lib/chain/blocks";
import { nonceKeyOf } from "@/lib/chain/erc4337/user-operation";
import { addSeconds } from "@/lib/core/clock";
import { validitySeconds } from "@/lib/chain/smart-accounts/service";

interface SeenTransaction {
  readonly hash: Hex;
  readonly to: Address | null;
  readonly data: Hex;
  readonly value: bigint;
}

/**
 * Finds the mined transaction of an account with a nonce. Returns null when there is none, and
 * `unknown` when the node cannot tell.
 */
type FindByNonce = (
  chainId: number,
  sought: {
    readonly address: Address;
    readonly nonce: number;
    readonly fromBlock: bigint;
    readonly toBlock: bigint;
  },
) => Promise<SeenTransaction | null | "unknown">;

/** An executed operation whose leg or batch exists in the database, but without this operation. */
interface Adopted {
  readonly operation: UserOperation;
  readonly userOpHash: Hex;
  readonly validUntil: Date;
  readonly fromBlock: bigint;
}

export interface ReconcileDeps {
  readonly registry: ChainRegistry;
  readonly known: KnownRepository;
  readonly findByNonce: FindByNonce;
  readonly executors: readonly Address[];
  /** Returns the name of an attempt of a batch, from which the attempt's nonce key is derived. */
  attemptName(
    batch: { readonly payoutId: string; readonly number: number },
    attempt: number,
  ): string;
  /** Stores the executed operation in the leg's row. Returns false when that is not possible. */
  adoptLeg(leg: KnownLeg, adopted: Adopted): Promise<boolean>;
  adoptBatch(batch: KnownBatch, attempt: number, adopted: Adopted): Promise<boolean>;
}

// Compares the nonces of the executor's keys with a chain.

interface Span {
  readonly chainId: number;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

interface NextNonce {
  readonly address: Address;
  readonly next: bigint;
}

interface Found {
  readonly notes: string[];
  readonly unknown: UnknownMove[];
  readonly executed: ExecutedOperation[];
  /** The next nonces on the chain, where they are higher than the nonces in the database. */
  readonly nonces: NextNonce[];
}

/**
 * Whether the executor sent the transaction to the entry point, with a bundle of operations, or to
 * the paymaster. Such a transaction moves no money of the executor. The operations of a bundle are
 * compared separately.
 */
const isOfAccounts = (
  { registry }: ReconcileDeps,
  chainId: number,
  { to }: SeenTransaction,
): boolean => {
  const { entryPoint, paymaster } = registry.get(chainId).contracts;
  return [entryPoint, ...(paymaster === undefined ? [] : [paymaster])].some(
    (own) => to !== null && isAddressEqual(to, own),
  );
};

const noteUnknown = async (
  deps: ReconcileDeps,
  chainId: number,
  seen: SeenTransaction,
  found: Found,
): Promise<void> => {
  const { registry } = deps;
  const receipt = await chainCall(chainId, () =>
    registry.client(chainId).getTransactionReceipt({ hash: seen.hash }),
  );
  if (receipt.status === "reverted") return;
  const { blockNumber, logs } = receipt;
  if (isOfAccounts(deps, chainId, seen)) {
    const { entryPoint } = registry.get(chainId).contracts;
    for (const { userOpHash, success, actualGasCost: gasCostWei, paymaster } of operationsOf(
      receipt,
      entryPoint,
    ).values()) {
      const event = logs.find(({ topics }) => topics[1] === userOpHash);
      const [, , sender = "0x"] = event?.topics ?? [];
      const nonce = BigInt(`0x${event?.data.slice(2, 66) ?? "0"}`);
      found.executed.push({
        ...{
          userOpHash,
          sender: getAddress(`0x${sender.slice(-40)}`),
          nonceKey: nonce >> 64n,
          success,
        },
        ...{ txHash: seen.hash, blockNumber, gasCostWei, paymaster },
      });
    }
    return;
  }
  const coin = registry.native(chainId);
  const transfers = paymentsIn(
    { logs, callData: seen.data, account: null },
    { tokens: registry.tokens(chainId), coin },
  );
  const { to, value } = seen;
  const own =
    to === null || value === 0n
      ? []
      : [
          {
            to: getAddress(to),
            token: "native",
            symbol: coin.symbol,
            amount: formatAmount(value, coin.decimals),
          },
        ];
  found.unknown.push({
    ...{
      chainId,
      hash: seen.hash,
      txHash: seen.hash,
      blockNumber,
      projectId: null,
      walletAddress: null,
    },
    payments: [...own, ...transfers],
    payload: `${to?.slice(2).toLowerCase() ?? ""} ${payloadOf(logs, seen.data)}`,
  });
};

const unreadable = (
  { chainId, toBlock: blockNumber }: Span,
  address: Address,
  nonce: number,
): UnknownMove => {
  const hash = `${address}/${String(nonce)}`;
  return {
    chainId,
    hash,
    txHash: hash,
    blockNumber,
    projectId: null,
    walletAddress: null,
    payments: [],
    payload: "",
  };
};

const isVersionOf = (row: OpenTransaction, { to, data, value }: SeenTransaction): boolean =>
  to !== null && isAddressEqual(to, row.to) && data === row.data && value === BigInt(row.value);

const compareOne = async (
  deps: ReconcileDeps,
  { chainId, ...span }: Span,
  { address, mayChange, found }: { address: Address; mayChange: boolean; found: Found },
): Promise<void> => {
  const { registry, known, findByNonce } = deps;
  const client = registry.client(chainId);
  const [count, pending, stored, open] = await Promise.all([
    chainCall(chainId, () => client.getTransactionCount({ address })),
    chainCall(chainId, () => client.getTransactionCount({ address, blockTag: "pending" })),
    known.nextNonce(chainId, address),
    known.openTransactions(chainId),
  ]);
  const rows = new Map(
    open
      .filter(({ from }) => isAddressEqual(from, address))
      .map((row) => [Number(row.nonce), row]),
  );
  const next = Number(stored ?? BigInt(count));
  const used = [...rows.keys()].filter((nonce) => nonce < count);
  const beyond = Array.from({ length: Math.max(0, count - next) }, (_, index) => next + index);
  for (const nonce of [...new Set([...used, ...beyond])]) {
    const seen = await findByNonce(chainId, { ...span, address, nonce });
    const row = rows.get(nonce);
    if (seen === null || seen === "unknown") {
      if (row === undefined)
        found.unknown.push(unreadable({ chainId, ...span }, address, nonce));
      continue;
    }
    if (row === undefined) await noteUnknown(deps, chainId, seen, found);
    else if (!row.hashes.includes(seen.hash)) {
      if (isVersionOf(row, seen)) await (mayChange && known.addVersion(row.id, seen.hash));
      else await noteUnknown(deps, chainId, seen, found);
    }
  }
  const most = BigInt(Math.max(count, pending));
  if (stored !== null && most > stored) {
    found.notes.push(
      `The executor ${address} has sent ${most.toString()} transactions, and the database knew of ${stored.toString()}.`,
    );
    found.nonces.push({ address, next: most });
  }
};

/**
 * Finds the executor's transactions that are not in the database. With `mayChange`, missing
 * versions of stored transactions are added.
 */
const compareExecutor = async (
  deps: ReconcileDeps,
  span: Span,
  { mayChange }: { readonly mayChange: boolean },
): Promise<Found> => {
  const found: Found = { notes: [], unknown: [], executed: [], nonces: [] };
  for (const address of deps.executors)
    await compareOne(deps, span, { address, mayChange, found });
  return found;
};

/** The differences between one chain and the database. */
export interface ChainReport {
  readonly chainId: number;
  readonly name: string;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** Number of operations that the chain executed in these blocks, including known ones. */
  readonly executed: number;
  /** Descriptions of the legs and payout batches in which a missing operation was stored. */
  readonly adopted: readonly string[];
  readonly unknown: readonly UnknownMove[];
  readonly notes: readonly string[];
  readonly nonces: readonly NextNonce[];
  /**
   * Why signing may not be allowed yet; null when the chain matches the database except for the
   * unknown movements.
   */
  readonly waits: string | null;
}

/**
 * Seconds before `seenAt` at which the comparison starts, because the clocks of chains and the
 * database differ.
 */
const MARGIN_SECONDS = 120;
/**
 * Minimum number of attempts per batch whose nonce keys are searched, because the restored row may
 * be older than the batch's last attempts.
 */
const ATTEMPTS_MAX = 3;
const KEPT_DAYS = 1;

interface Times {
  /** The last time at which the database was known to be complete. */
  readonly seenAt: Date;
  /**
   * Since when signing is off; null when signing is allowed. The comparison changes the database
   * only while signing is off.
   */
  readonly offSince: Date | null;
}

type Owner =
  | { readonly leg: KnownLeg }
  | { readonly batch: KnownBatch; readonly attempt: number };

/** For each nonce key, the leg or the attempt of a batch that may have signed with the key. */
const ownersOf = async (
  deps: ReconcileDeps,
  chainId: number,
  since: Date,
): Promise<ReadonlyMap<bigint, Owner>> => {
  const [legs, batches] = await Promise.all([
    deps.known.legs(chainId, since),
    deps.known.batches(chainId, since),
  ]);
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
  const adopted = {
    operation,
    userOpHash,
    validUntil: validUntilOf(operation),
    fromBlock: blockNumber,
  };
  return "leg" in owner
    ? deps.adoptLeg(owner.leg, adopted)
    : deps.adoptBatch(owner.batch, owner.attempt, adopted);
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
    ...{
      chainId,
      hash: executed.userOpHash,
      txHash: executed.txHash,
      blockNumber: executed.blockNumber,
    },
    projectId: projects.get(walletAddress.toLowerCase()) ?? null,
    ...{ walletAddress, payments, payload: payloadOf(logs, callData) },
  };
};

/**
 * Sorts executed operations that are not in the database. Operations in blocks that are not final
 * are left for a later comparison. While signing is off, the operation of a known leg or batch is
 * stored in the row of that leg or batch. Every other operation that succeeded is an unknown
 * movement.
 */
const sortExecuted = async (comparison: Comparison, executed: readonly ExecutedOperation[]) => {
  const { deps, chainId, owners, final, mayAdopt } = comparison;
  const known = await deps.known.knownHashes(executed.map(({ userOpHash }) => userOpHash));
  const [adopted, unknown, unfinal]: [string[], UnknownMove[], ExecutedOperation[]] = [
    [],
    [],
    [],
  ];
  for (const one of [...executed].sort((a, b) => (a.blockNumber < b.blockNumber ? -1 : 1))) {
    if (known.has(one.userOpHash)) continue;
    if (one.blockNumber > final) {
      unfinal.push(one);
      continue;
    }
    const owner = owners.get(one.nonceKey);
    const content = await contentOf(deps.registry, chainId, one);
    if (owner !== undefined && mayAdopt && (await adopt(deps, owner, one, content)))
      adopted.push(describe(owner));
    else if (one.success) unknown.push(unknownOf(comparison, one, content));
  }
  return { adopted, unknown, unfinal };
};

/**
 * Explains why signing has to wait; null when it need not. An operation that was signed before
 * signing was turned off can still be executed while it is valid, so signing waits for a final
 * block after that time.
 */
const waitOf = (
  name: string,
  {
    finalAt,
    endsAt,
    unfinal,
  }: { finalAt: Date; endsAt: Date | null; unfinal: readonly ExecutedOperation[] },
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
 * All operations that at least one of the chain's providers shows. One provider does not suffice,
 * because a node may have no old logs or hide some, and a payment that is missed here would be
 * made again.
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

/**
 * Compares one chain with the database.
 * @throws DomainError `chain_unavailable`
 */
export const reconcileChain = async (
  deps: ReconcileDeps,
  chainId: number,
  { seenAt, offSince }: Times,
): Promise<ChainReport> => {
  const { registry, known } = deps;
  const { name, contracts, blockTimeMs } = registry.get(chainId);
  const client = registry.client(chainId);
  const head = await chainCall(chainId, () => client.getBlockNumber({ cacheTime: 0 }));
  const final =
    (await chainCall(chainId, () => finalBlockNumber(registry, chainId, head))) ?? 0n;
  const [fromBlock, finalBlock, accounts, owners] = await Promise.all([
    blockBefore(registry, chainId, { at: addSeconds(seenAt, -MARGIN_SECONDS), head }),
    chainCall(chainId, () => client.getBlock({ blockNumber: final })),
    known.accounts(),
    ownersOf(deps, chainId, addSeconds(seenAt, -KEPT_DAYS * 86_400)),
  ]);
  const senders = accounts.map(({ address }) => address);
  const paymaster = contracts.paymaster ?? null;
  const found = await executedIn(deps, chainId, {
    senders,
    paymaster,
    fromBlock,
    toBlock: head,
  });
  const span = { chainId, fromBlock, toBlock: head };
  const executor = await compareExecutor(deps, span, { mayChange: offSince !== null });
  const projects = new Map(
    accounts.map(({ address, projectId }) => [address.toLowerCase(), projectId]),
  );
  const comparison = { deps, chainId, final, projects, owners, mayAdopt: offSince !== null };
  const all = new Map([...found, ...executor.executed].map((one) => [one.userOpHash, one]));
  const { adopted, unknown, unfinal } = await sortExecuted(comparison, [...all.values()]);
  const endsAt = offSince === null ? null : addSeconds(offSince, validitySeconds(blockTimeMs));
  const finalAt = new Date(Number(finalBlock.timestamp) * 1000);
  return {
    ...{
      ...span,
      name,
      executed: all.size,
      adopted,
      notes: executor.notes,
      nonces: executor.nonces,
    },
    unknown: [...unknown, ...executor.unknown],
    waits: waitOf(name, { finalAt, endsAt, unfinal }),
  };
};
