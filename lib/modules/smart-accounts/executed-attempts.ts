/** The operations that an account has executed under given names, with the payments in them. */
import type { Hex } from "viem";
import { agreedAnswer, opinionsOf } from "@/lib/chains/agreement";
import { blockBefore } from "@/lib/chains/block-at";
import { payloadOf, paymentsIn, type SeenPayment } from "@/lib/chains/erc4337/account-payments";
import { callDataOf, contentOf } from "@/lib/chains/erc4337/executed-content";
import { executedOperations, type ExecutedOperation } from "@/lib/chains/erc4337/executed-operations";
import { nonceKeyOf } from "@/lib/chains/erc4337/nonce";
import { finalBlockNumber } from "@/lib/chains/finality";
import { chainCall } from "@/lib/chains/registry";
import { addSeconds } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { EvmAddress } from "@/lib/ports/routing";
import type { AccountsDeps } from "./simulate-operation";

/** Clocks of chains and of the database differ a little. */
const MARGIN_SECONDS = 120;

export interface ExecutedAttempt {
  readonly name: string;
  readonly userOpHash: Hex;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
  /** False: its calls reverted, so it moved nothing. */
  readonly success: boolean;
  readonly payments: readonly SeenPayment[];
  /** Call data and logs in lower-case hex: every address that the operation may have paid is in it. */
  readonly payload: string;
}

interface Asked {
  readonly chainId: number;
  readonly account: EvmAddress;
  /** As `sign` was given them; each has a nonce key of its own. */
  readonly names: readonly string[];
  /** Nothing was signed under the names before. */
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
  return { name, userOpHash, txHash, blockNumber, success, payments, payload: payloadOf(logs, callData) };
};

/** An operation that was executed under one of the names. */
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
  const fromBlock = await blockBefore(registry, chainId, { at: addSeconds(since, -MARGIN_SECONDS), head });
  const { entryPoint } = registry.get(chainId).contracts;
  const query = { client, entryPoint, rangeBlocks: () => registry.logRangeBlocks(chainId) };
  const search = { senders: [account], paymaster: null, fromBlock, toBlock: head };
  const executed = await chainCall(chainId, () => executedOperations(query, search));
  const nameOf = new Map(names.map((name) => [nonceKeyOf(name), name]));
  return executed.flatMap((one) => {
    const name = nameOf.get(one.nonceKey);
    return name === undefined ? [] : [{ one, name, isFinal: final !== null && one.blockNumber <= final }];
  });
};

const readAttempts = async (deps: Deps, asked: Asked): Promise<readonly ExecutedAttempt[]> => {
  const found = await findExecuted(deps, asked);
  if (found.some(({ isFinal }) => !isFinal)) throw notFinal(asked.chainId);
  return Promise.all(found.map(({ one, name }) => attemptOf(deps, asked, one, name)));
};

/**
 * Reads the chain's logs, so it finds nothing where a node keeps no logs of that time.
 * @returns a list for each of the chain's providers that answers, or two of the only one, for callers that let them agree
 * @throws DomainError `chain_unavailable`, also while one of the operations is in a block that is not final: another one may follow it
 */
export const createExecutedAttempts =
  ({ registry }: Deps) =>
  (asked: Asked): Promise<readonly (readonly ExecutedAttempt[])[]> =>
    opinionsOf({ registry, chainId: asked.chainId, look: (view) => readAttempts({ registry: view }, asked) });

const sponsoredWei = async (registry: Deps["registry"], asked: Asked, paymaster: string): Promise<bigint> =>
  (await findExecuted({ registry }, asked))
    .filter(({ one, isFinal }) => isFinal && one.paymaster?.toLowerCase() === paymaster.toLowerCase())
    .reduce((sum, { one }) => sum + one.gasCostWei, 0n);

/**
 * The wei that the chain's paymaster has paid, in final blocks, for what the account executed under the names. Nothing only where two
 * providers agree on it, because a node that lags or keeps no logs of that time shows nothing.
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

/** While the chain does not answer, a replaced operation waits this long; its money is held meanwhile. */
const PATIENCE_SECONDS = 600;

/**
 * As `createSponsoredGas`, for operations that took the place of one that can never be executed. Nothing where the chain has not answered for ten
 * minutes, because money must not be held for the sake of a fee.
 * @param at `since`: when the place was found to be taken, or a little before
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
