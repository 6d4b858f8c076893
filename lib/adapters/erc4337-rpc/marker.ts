import {
  concatHex,
  encodeFunctionData,
  keccak256,
  toHex,
  TransactionReceiptNotFoundError,
  type Hex,
} from "viem";
import { bundleCallOf, isPaidBy } from "@/lib/chain/erc4337/bundle-call";
import {
  markedPaymasterAbi,
  notMarkerErrorOf,
  revertDataOf,
  revertReasonOf,
} from "@/lib/chain/erc4337/marked-paymaster";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { DomainError } from "@/lib/core/errors";
import { createBatcher } from "@/lib/core/batch";
import type { Bundler, UserOperation } from "@/lib/chain/ports/bundler";
import type { EvmAddress } from "@/lib/core/evm";
import {
  BundledElsewhereError,
  type BundleTransaction,
  type TransactionSender,
} from "@/lib/chain/ports/transactions";

export interface MarkerDeps {
  readonly registry: ChainRegistry;
  readonly transactions: TransactionSender;
  /** Address of the key `executor`, which the paymaster accepts as a marker. */
  readonly executorAddress: EvmAddress;
  readonly fees: Bundler["fees"];
}

/**
 * Makes the project's paymaster consent to an operation, by a mark, before an external bundler gets
 * the operation. Resolves when the mark is on chain. Does nothing for an operation that this
 * paymaster does not pay for. A second call for the same operation sends nothing.
 * @throws DomainError `simulation_failed` when EntryPoint would refuse the operation (then nothing
 * is marked), `provider_error`, `chain_unavailable` when the mark is not mined yet
 */
export type Marker = (
  chainId: number,
  operation: UserOperation,
  userOpHash: Hex,
) => Promise<void>;

/** Time after which a mark expires. It is longer than the validity of any operation. */
const MARK_SECONDS = 3_600;
const MARKED_AT_ONCE_MAX = 200;
const CLAIMS_MAX = 3;
/**
 * Gas for the new storage slot and the call data of one mark, without the base gas of the
 * transaction.
 */
const GAS_PER_MARK = 30_000n;
const GAS_OF_TRANSACTION = 60_000n;
/**
 * Number of blocks to wait for the mark. If the mark is not mined by then, the caller must submit
 * the operation again.
 */
const BLOCKS_WAITED = 2;
const WAIT_MS_MAX = 15_000;

/**
 * The id under which the marking transaction is stored. The operation's hash cannot be used,
 * because it identifies the transaction that executes the operation.
 */
const markIdOf = (userOpHash: Hex): Hex => keccak256(concatHex([toHex("mark"), userOpHash]));

type State = "none" | "pending" | "mined";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const targetOf = ({ registry, executorAddress }: MarkerDeps, chainId: number) => {
  const { name, contracts } = registry.get(chainId);
  const { entryPoint, paymaster = null } = contracts;
  return { chainId, chainName: name, entryPoint, paymaster, executor: executorAddress };
};

/**
 * Reads the state of a mark from the chain, each time, because a reorganisation can remove a mark.
 */
const stateOf = async (
  registry: ChainRegistry,
  chainId: number,
  bundle: BundleTransaction | undefined,
): Promise<State> => {
  if (bundle === undefined) return "none";
  const { hash, minedHash } = bundle.transaction;
  const receipt = await registry
    .client(chainId)
    .getTransactionReceipt({ hash: minedHash ?? hash })
    .catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    });
  if (receipt === null) return "pending";
  return receipt.status === "success" ? "mined" : "none";
};

const lookAt = async (
  { registry, transactions }: MarkerDeps,
  chainId: number,
  userOpHash: Hex,
): Promise<{ state: State; bundle: BundleTransaction | undefined }> => {
  const bundles = await transactions.bundleTransactionsOf(chainId, [markIdOf(userOpHash)]);
  const bundle = bundles.get(markIdOf(userOpHash));
  return { bundle, state: await chainCall(chainId, () => stateOf(registry, chainId, bundle)) };
};

const transactionOf = async (
  deps: MarkerDeps,
  chainId: number,
  marks: readonly { userOpHash: Hex; after: string | null }[],
) => {
  const { paymaster } = targetOf(deps, chainId);
  if (paymaster === null) throw new Error(`Chain ${String(chainId)} has no paymaster.`);
  const { timestamp } = await chainCall(chainId, () =>
    deps.registry.client(chainId).getBlock({ blockTag: "latest" }),
  );
  const hashes = marks.map(({ userOpHash }) => userOpHash);
  const args = [hashes, Number(timestamp) + MARK_SECONDS] as const;
  const gas = GAS_OF_TRANSACTION + GAS_PER_MARK * BigInt(marks.length);
  const fees = await deps.fees(chainId);
  const { keyId } = await deps.transactions.chooseKey({
    chainId,
    to: paymaster,
    costWei: gas * fees.maxFeePerGas,
  });
  return {
    chainId,
    keyId,
    purpose: `mark:${crypto.randomUUID()}`,
    to: paymaster,
    data: encodeFunctionData({ abi: markedPaymasterAbi, functionName: "mark", args }),
    value: 0n,
    gas,
    fees,
    carries: marks.map(({ userOpHash, after }) => ({
      userOpHash: markIdOf(userOpHash),
      after,
    })),
  };
};

const sendFor = async (
  deps: MarkerDeps,
  chainId: number,
  hashes: readonly Hex[],
): Promise<void> => {
  for (let claims = 0; claims < CLAIMS_MAX; claims += 1) {
    const looks = await Promise.all(
      hashes.map(async (hash) => ({ hash, ...(await lookAt(deps, chainId, hash)) })),
    );
    const missing = looks.filter(({ state }) => state === "none");
    if (missing.length === 0) return;
    const marks = missing.map(({ hash, bundle }) => ({
      userOpHash: hash,
      after: bundle?.transaction.id ?? null,
    }));
    try {
      await deps.transactions.send(await transactionOf(deps, chainId, marks));
      return;
    } catch (error) {
      // Another instance is marking some of the operations. The loop continues with the others.
      if (!(error instanceof BundledElsewhereError)) throw error;
    }
  }
};

/**
 * Simulates a bundle with only this operation, because a mark for an operation that EntryPoint
 * refuses would waste gas.
 * @throws DomainError `simulation_failed`
 */
const requireAcceptable = async (
  deps: MarkerDeps,
  chainId: number,
  operation: UserOperation,
): Promise<void> => {
  const target = targetOf(deps, chainId);
  const { to, data } = bundleCallOf(target, [operation]);
  try {
    await chainCall(chainId, () =>
      deps.registry.client(chainId).call({ account: deps.executorAddress, to, data }),
    );
  } catch (error) {
    const notMarker = notMarkerErrorOf(error, target);
    const revertData = revertDataOf(error);
    if (notMarker !== null || revertData === null) throw notMarker ?? error;
    const { text: reason, entryPointCode } = revertReasonOf(revertData);
    const message = `${target.chainName} would not execute this: ${reason}. Nothing was sent.`;
    throw new DomainError("simulation_failed", message, {
      cause: error,
      extra: { reason, ...(entryPointCode === null ? {} : { entryPointCode }) },
    });
  }
};

export const createMarker = (deps: MarkerDeps): Marker => {
  const { registry, transactions } = deps;
  const senders = new Map<number, (userOpHash: Hex) => Promise<null>>();
  const sendOn = (chainId: number): ((userOpHash: Hex) => Promise<null>) => {
    const known = senders.get(chainId);
    if (known !== undefined) return known;
    const work = async (hashes: readonly Hex[]): Promise<null[]> => {
      await sendFor(deps, chainId, [...new Set(hashes)]);
      return hashes.map(() => null);
    };
    const send = createBatcher<Hex, null>({
      run: work,
      batchWeightMax: MARKED_AT_ONCE_MAX,
    }).submit;
    senders.set(chainId, send);
    return send;
  };

  return async (chainId, operation, userOpHash) => {
    if (!isPaidBy(targetOf(deps, chainId).paymaster, operation)) return;
    const first = await lookAt(deps, chainId, userOpHash);
    if (first.state === "mined") return;
    if (first.state === "none") {
      await requireAcceptable(deps, chainId, operation);
      await sendOn(chainId)(userOpHash);
    } else if (first.bundle !== undefined)
      await transactions.resend(first.bundle.transaction.id);
    const { blockTimeMs, pollIntervalMs } = registry.get(chainId);
    const deadline = performance.now() + Math.min(WAIT_MS_MAX, BLOCKS_WAITED * blockTimeMs);
    do {
      if ((await lookAt(deps, chainId, userOpHash)).state === "mined") return;
      await pause(pollIntervalMs);
    } while (performance.now() < deadline);
    throw new DomainError(
      "chain_unavailable",
      "The paymaster's consent is not mined yet. Try again shortly.",
    );
  };
};
