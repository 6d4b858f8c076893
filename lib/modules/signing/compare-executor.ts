/** Compares the nonces of the executor's keys with a chain. */
import { isAddressEqual, type Address, type Hex } from "viem";
import { payloadOf, paymentsIn } from "@/lib/chains/erc4337/account-payments";
import type { ExecutedOperation } from "@/lib/chains/erc4337/executed-operations";
import { operationsOf } from "@/lib/chains/erc4337/operation-receipt";
import { chainCall } from "@/lib/chains/registry";
import type { ReconcileDeps } from "./reconcile-chain";
import type { OpenTransaction } from "./known-repository";
import type { UnknownMove } from "./state";

interface Seen {
  readonly hash: Hex;
  readonly to: Address | null;
  readonly data: Hex;
  readonly value: bigint;
}

/** The mined transaction of an account and nonce; null where there is none, `unknown` where the node cannot tell. */
export type FindByNonce = (
  chainId: number,
  sought: { readonly address: Address; readonly nonce: number; readonly fromBlock: bigint; readonly toBlock: bigint },
) => Promise<Seen | null | "unknown">;

interface Span {
  readonly chainId: number;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

interface Found {
  readonly notes: string[];
  readonly unknown: UnknownMove[];
  /** Operations of bundles that no row knows. */
  readonly executed: ExecutedOperation[];
}

/** Bundles and marks move no money of the executor's own: what a bundle executed is sorted by its operations. */
const isOfAccounts = ({ registry }: ReconcileDeps, chainId: number, { to }: Seen): boolean => {
  const { entryPoint, paymaster } = registry.get(chainId).contracts;
  return [entryPoint, ...(paymaster === undefined ? [] : [paymaster])].some(
    (own) => to !== null && isAddressEqual(to, own),
  );
};

const noteUnknown = async (deps: ReconcileDeps, chainId: number, seen: Seen, found: Found): Promise<void> => {
  const { registry } = deps;
  const receipt = await chainCall(chainId, () => registry.client(chainId).getTransactionReceipt({ hash: seen.hash }));
  if (receipt.status === "reverted") return;
  const { blockNumber, logs } = receipt;
  if (isOfAccounts(deps, chainId, seen)) {
    const { entryPoint } = registry.get(chainId).contracts;
    for (const { userOpHash, success } of operationsOf(receipt, entryPoint).values()) {
      const event = logs.find(({ topics }) => topics[1] === userOpHash);
      const [, , sender = "0x"] = event?.topics ?? [];
      const nonce = BigInt(`0x${event?.data.slice(2, 66) ?? "0"}`);
      found.executed.push({
        ...{ userOpHash, sender: `0x${sender.slice(-40)}`, nonceKey: nonce >> 64n, success },
        ...{ txHash: seen.hash, blockNumber },
      });
    }
    return;
  }
  const payments = paymentsIn(
    { logs, callData: seen.data, account: null },
    { tokens: registry.tokens(chainId), coin: registry.native(chainId) },
  );
  found.unknown.push({
    ...{ chainId, hash: seen.hash, txHash: seen.hash, blockNumber, projectId: null, walletAddress: null, payments },
    payload: payloadOf(logs, seen.data),
  });
};

const isVersionOf = (row: OpenTransaction, { to, data, value }: Seen): boolean =>
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
      if (row === undefined)
        found.notes.push(`Transaction ${String(nonce)} of ${address} could not be read; look at it in an explorer.`);
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
    if (mayChange) await known.raiseNonce(chainId, address, most);
  }
};

/** Finds the executor's transactions that no row knows. With `mayChange` the next nonces and the versions of stored transactions are noted. */
export const compareExecutor = async (
  deps: ReconcileDeps,
  span: Span,
  { mayChange }: { readonly mayChange: boolean },
): Promise<Found> => {
  const found: Found = { notes: [], unknown: [], executed: [] };
  for (const address of deps.executors) await compareOne(deps, span, { address, mayChange, found });
  return found;
};
