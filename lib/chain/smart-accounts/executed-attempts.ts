/** Finds the operations that an account executed under given names, with their payments. */
import type { Hex } from "viem";
import { agreedAnswer, opinionsOf } from "@/lib/chain/agreement";
import { blockBefore, finalBlockNumber } from "@/lib/chain/blocks";
import { payloadOf, paymentsIn, type SeenPayment } from "@/lib/chain/erc4337/account-payments";
import {
  callDataOf,
  contentOf,
  type ExecutedOperation,
  executedOperations,
} from "@/lib/chain/erc4337/executed-operations";
import { nonceKeyOf } from "@/lib/chain/erc4337/user-operation";
import { chainCall } from "@/lib/chain/registry";
import { addSeconds } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { EvmAddress } from "@/lib/core/evm";
import type { AccountsDeps } from "./simulate-operation";

/**
 * The search begins this long before `since`, because the clocks of chain and database may differ.
 */
const MARGIN_SECONDS = 120;

export interface ExecutedAttempt {
  readonly name: string;
  readonly userOpHash: Hex;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
  /** False when the operation's calls reverted, so that the operation moved nothing. */
  readonly success: boolean;
  readonly payments: readonly SeenPayment[];
  /**
   * Call data and logs in lower-case hex. They contain every address that the operation may have
   * paid.
   */
  readonly payload: string;
}

interface Asked {
  readonly chainId: number;
  readonly account: EvmAddress;
  /** Names under which operations were signed. Each has a separate nonce key. */
  readonly names: readonly string[];
  /** Start of the search. Nothing was signed under the names before this time. */
  readonly since: Date;
}

const notFinal = (chainId: number): DomainError =>
  new DomainError(
    "chain_unavailable",
    `The blocks of chain ${String(chainId)} with this part are not final yet. Nothing was changed; try again in some minutes.`,
  );

type Deps = Pick<AccountsDeps, "registry">;

const attemptOf = async (
  { registry }: Deps,
  { chainId, account }: Asked,
  executed: ExecutedOperation,
  name: string,
): Promise<ExecutedAttempt> => {
  const content = await contentOf(registry, chainId, executed);
  const callData = callDataOf(content);
  const logs = content.receipt?.logs ?? [];
  const known = { tokens: registry.tokens(chainId), coin: registry.native(chainId) };
  const { userOpHash, txHash, blockNumber, success } = executed;
  const payments = paymentsIn({ logs, callData, account }, known);
  return {
    name,
    userOpHash,
    txHash,
    blockNumber,
    success,
    payments,
    payload: payloadOf(logs, callData),
  };
};

interface Found {
  readonly one: ExecutedOperation;
  readonly name: string;
  readonly isFinal: boolean;
}

const findExecuted = async (
  { registry }: Deps,
  { chainId, account, names, since }: Asked,
): Promise<readonly Found[]> => {
  const client = registry.client(chainId);
  const head = await chainCall(chainId, () => client.getBlockNumber({ cacheTime: 0 }));
  const final = await chainCall(chainId, () => finalBlockNumber(registry, chainId, head));
  const fromBlock = await blockBefore(registry, chainId, {
    at: addSeconds(since, -MARGIN_SECONDS),
    head,
  });
  const { entryPoint } = registry.get(chainId).contracts;
  const query = { client, entryPoint, rangeBlocks: () => registry.logRangeBlocks(chainId) };
  const search = { senders: [account], paymaster: null, fromBlock, toBlock: head };
  const executed = await chainCall(chainId, () => executedOperations(query, search));
  const nameOf = new Map(names.map((name) => [nonceKeyOf(name), name]));
  return executed.flatMap((one) => {
    const name = nameOf.get(one.nonceKey);
    return name === undefined
      ? []
      : [{ one, name, isFinal: final !== null && one.blockNumber <= final }];
  });
};

const readAttempts = async (deps: Deps, asked: Asked): Promise<readonly ExecutedAttempt[]> => {
  const found = await findExecuted(deps, asked);
  if (found.some(({ isFinal }) => !isFinal)) throw notFinal(asked.chainId);
  return Promise.all(found.map(({ one, name }) => attemptOf(deps, asked, one, name)));
};

/**
 * Finds executed operations in the chain's logs. Finds nothing when a node no longer has logs of
 * that time.
 * @returns a list for each provider of the chain that answers, or two lists of a single provider,
 * for callers that compare them
 * @throws DomainError `chain_unavailable`, also while one of the operations is in a block that is
 * not final, because another operation may replace it
 */
export const createExecutedAttempts =
  ({ registry }: Deps) =>
  (asked: Asked): Promise<readonly (readonly ExecutedAttempt[])[]> =>
    opinionsOf({
      registry,
      chainId: asked.chainId,
      look: (view) => readAttempts({ registry: view }, asked),
    });

const sponsoredWei = async (
  registry: Deps["registry"],
  asked: Asked,
  paymaster: string,
): Promise<bigint> =>
  (await findExecuted({ registry }, asked))
    .filter(
      ({ one, isFinal }) => isFinal && one.paymaster?.toLowerCase() === paymaster.toLowerCase(),
    )
    .reduce((sum, { one }) => sum + one.gasCostWei, 0n);

/**
 * The wei that the chain's paymaster paid, in final blocks, for the account's operations under the
 * names. Zero only when two providers agree on it, because a node that lags behind or lacks old
 * logs finds nothing.
 * @throws DomainError `chain_unavailable`
 */
export const createSponsoredGas =
  ({ registry }: Deps) =>
  async (asked: Asked): Promise<bigint> => {
    const { chainId } = asked;
    const { paymaster } = registry.get(chainId).contracts;
    if (paymaster === undefined) return 0n;
    const look = (view: Deps["registry"]) => sponsoredWei(view, asked, paymaster);
    return agreedAnswer({ registry, chainId, look, isExpected: (wei) => wei > 0n });
  };

/** How long the money of a replaced operation stays held while the chain does not answer. */
const PATIENCE_SECONDS = 600;

/**
 * Like `createSponsoredGas`, for operations that replaced an operation which can never be
 * executed. Returns zero when the chain has not answered for ten minutes, because an unknown fee
 * must not keep money on hold for longer.
 * @param at `since`: when the replacement was found, or slightly earlier
 */
export const gasOfReplaced = async (
  { sponsoredGas }: { readonly sponsoredGas: ReturnType<typeof createSponsoredGas> },
  asked: Asked,
  { since, now }: { readonly since: Date; readonly now: Date },
): Promise<bigint> => {
  try {
    return await sponsoredGas(asked);
  } catch (error) {
    if (now < addSeconds(since, PATIENCE_SECONDS)) throw error;
    return 0n;
  }
};
