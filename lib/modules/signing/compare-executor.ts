/** Compares the nonces of the executor's keys with a chain. */
import { getAddress, isAddressEqual, type Address } from "viem";
import { payloadOf, paymentsIn } from "@/lib/chains/erc4337/account-payments";
import type { ExecutedOperation } from "@/lib/chains/erc4337/executed-operations";
import { operationsOf } from "@/lib/chains/erc4337/operation-receipt";
import { chainCall } from "@/lib/chains/registry";
import { formatAmount } from "@/lib/core/money";
import type { OpenTransaction } from "./known-repository";
import type { ReconcileDeps, SeenTransaction } from "./reconcile-deps";
import type { UnknownMove } from "./state";

interface Span {
  readonly chainId: number;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

export interface NextNonce {
  readonly address: Address;
  readonly next: bigint;
}

interface Found {
  readonly notes: string[];
  readonly unknown: UnknownMove[];
  /** Operations of bundles that no row knows. */
  readonly executed: ExecutedOperation[];
  /** The chain's next nonces, where the database has lower ones. */
  readonly nonces: NextNonce[];
}

/** Bundles and marks move no money of the executor's own: what a bundle executed is sorted by its operations. */
const isOfAccounts = ({ registry }: ReconcileDeps, chainId: number, { to }: SeenTransaction): boolean => {
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
  const receipt = await chainCall(chainId, () => registry.client(chainId).getTransactionReceipt({ hash: seen.hash }));
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
        ...{ userOpHash, sender: getAddress(`0x${sender.slice(-40)}`), nonceKey: nonce >> 64n, success },
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
      : [{ to: getAddress(to), token: "native", symbol: coin.symbol, amount: formatAmount(value, coin.decimals) }];
  found.unknown.push({
    ...{ chainId, hash: seen.hash, txHash: seen.hash, blockNumber, projectId: null, walletAddress: null },
    payments: [...own, ...transfers],
    payload: `${to?.slice(2).toLowerCase() ?? ""} ${payloadOf(logs, seen.data)}`,
  });
};

/** A transaction that the node has forgotten: a person has to look at it elsewhere. */
const unreadable = ({ chainId, toBlock: blockNumber }: Span, address: Address, nonce: number): UnknownMove => {
  const hash = `${address}/${String(nonce)}`;
  return { chainId, hash, txHash: hash, blockNumber, projectId: null, walletAddress: null, payments: [], payload: "" };
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
  const rows = new Map(open.filter(({ from }) => isAddressEqual(from, address)).map((row) => [Number(row.nonce), row]));
  const next = Number(stored ?? BigInt(count));
  const used = [...rows.keys()].filter((nonce) => nonce < count);
  const beyond = Array.from({ length: Math.max(0, count - next) }, (_, index) => next + index);
  for (const nonce of [...new Set([...used, ...beyond])]) {
    const seen = await findByNonce(chainId, { ...span, address, nonce });
    const row = rows.get(nonce);
    if (seen === null || seen === "unknown") {
      if (row === undefined) found.unknown.push(unreadable({ chainId, ...span }, address, nonce));
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

/** Finds the executor's transactions that no row knows. With `mayChange` the versions of stored transactions are noted. */
export const compareExecutor = async (
  deps: ReconcileDeps,
  span: Span,
  { mayChange }: { readonly mayChange: boolean },
): Promise<Found> => {
  const found: Found = { notes: [], unknown: [], executed: [], nonces: [] };
  for (const address of deps.executors) await compareOne(deps, span, { address, mayChange, found });
  return found;
};
