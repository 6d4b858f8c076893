import { LRUCache } from "lru-cache";
import { bindDeps } from "@/lib/core/bind-deps";
import { encodeFunctionData, erc20Abi, isAddressEqual, type Address } from "viem";
import { english, generateMnemonic } from "viem/accounts";
import { entrypointAbi } from "@/lib/chain/privacy-pools";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import {
  NoteGoneError,
  NotReadyError,
  type PrivacyEngine,
  type PrivateHoldings,
  type PrivateNote,
  type PrivateWalletKey,
  type Spend,
  type SpendTransaction,
  type SpentBy,
} from "@/lib/money/ports/privacy";
import type { PoolLogStore } from "@/lib/money/ports/privacy-history";
import type { Call } from "@/lib/core/evm";
import { type ChainPool, createPrivacyChains, type PrivacyChain } from "./chain-pools";
import { createWalletKeys, readNotes, type OpenNote, type WalletKeys } from "./notes";
import { readOutcome, readPaid, refusalOf } from "./outcome";
import type { PoolHistory } from "./pool-history";
import { createProver, StaleTreeError, type Prover } from "./prover";
import { createSwapPaths } from "./swap-paths";
import { contextOf, exitCallOf, transactionOf, withdrawalOf } from "./withdrawal";

const WALLETS_MAX = 200;
const GAS_MARGIN_PERCENT = 130n;

export interface PrivacyPoolsOptions {
  readonly registry: ChainRegistry;
  readonly relayer: Address;
  readonly prover?: Prover;
  /** Stores the pools' logs, so that a restart does not read the chain from the start. */
  readonly logStore?: PoolLogStore;
}

interface EngineContext {
  readonly registry: ChainRegistry;
  readonly relayer: Address;
  readonly prover: Prover;
  readonly chains: ReturnType<typeof createPrivacyChains>;
  readonly wallets: LRUCache<string, WalletKeys>;
}

const isSame = (one: Token, other: Token): boolean =>
  one.chainId === other.chainId && one.address === other.address;

/**
 * Finds an unspent note of the wallet.
 * @throws NoteGoneError when the note was spent; NotReadyError when the node does not show the note
 * yet
 */
const openNote = (
  keys: WalletKeys,
  { scope }: ChainPool,
  { history, noteId }: { history: PoolHistory; noteId: string },
): OpenNote => {
  const note = readNotes(keys, scope, history).notes.find(
    ({ commitment }) => commitment.toString() === noteId,
  );
  if (note !== undefined) return note;
  if (history.leaves.includes(BigInt(noteId))) throw new NoteGoneError("The note was spent.");
  throw new NotReadyError("The node has not seen the note yet.");
};

/** Privacy Pools of 0xbow, or contracts with the same ABI, on every chain that configures them. */
export const createPrivacyPools = ({
  registry,
  relayer,
  prover = createProver(),
  logStore,
}: PrivacyPoolsOptions): PrivacyEngine =>
  engineOf({
    registry,
    relayer,
    prover,
    chains: createPrivacyChains(registry, logStore ?? null),
    wallets: new LRUCache({ max: WALLETS_MAX }),
  });

const keysOf = (context: EngineContext, { id, mnemonic }: PrivateWalletKey): WalletKeys => {
  const known = context.wallets.get(id) ?? createWalletKeys(mnemonic);
  context.wallets.set(id, known);
  return known;
};

const chainOf = (context: EngineContext, chainId: number): PrivacyChain => {
  const chain = context.chains.get(chainId);
  if (chain === undefined)
    throw new DomainError(
      "unknown_pool",
      `There are no privacy pools on ${context.registry.get(chainId).name}.`,
    );
  return chain;
};

const poolOf = async (chain: PrivacyChain, token: Token): Promise<ChainPool> => {
  const pool = (await chain.pools()).find((each) => isSame(each.token, token));
  if (pool === undefined)
    throw new DomainError(
      "unknown_pool",
      `There is no privacy pool of ${token.symbol} on this chain.`,
    );
  return pool;
};

const historyOf = (
  histories: ReadonlyMap<Address, PoolHistory>,
  { address }: ChainPool,
): PoolHistory => {
  const history = histories.get(address);
  if (history === undefined) throw new Error("A pool has no history.");
  return history;
};

const toNote = (pool: ChainPool, note: OpenNote, state: PrivateNote["state"]): PrivateNote => ({
  chainId: pool.chainId,
  token: pool.token,
  id: note.commitment.toString(),
  label: note.label.toString(),
  valueBase: note.value,
  state,
  depositor: note.depositor,
  txHash: note.txHash,
  blockNumber: note.blockNumber,
});

const holdings = async (
  context: EngineContext,
  wallet: PrivateWalletKey,
  chainId: number,
  signal: AbortSignal,
): Promise<PrivateHoldings> => {
  const chain = chainOf(context, chainId);
  const keys = keysOf(context, wallet);
  const [pools, histories] = await Promise.all([chain.pools(), chain.events.read()]);
  const [first] = pools;
  const set =
    first === undefined ? null : await chain.association.read(chainId, first.scope, signal);
  const approved = new Set(set?.labels);
  const parts = await Promise.all(
    pools.map(async (pool) => {
      const history = historyOf(histories, pool);
      const { notes, nextDepositIndex, depositIndexLimit } = readNotes(
        keys,
        pool.scope,
        history,
      );
      const waiting = notes
        .filter(({ label }) => !approved.has(label))
        .map(({ label }) => label);
      const declined = await chain.association.declined(chainId, pool.scope, waiting, signal);
      const stateOf = ({ label }: OpenNote) =>
        approved.has(label) ? "approved" : declined.has(label) ? "declined" : "pending";
      const size = [...history.labels].filter(
        (label) => approved.has(label) && !history.exits.has(label),
      ).length;
      const shown = notes.map((note) => toNote(pool, note, stateOf(note)));
      return { pool, nextDepositIndex, depositIndexLimit, size, notes: shown };
    }),
  );
  return {
    chainId,
    notes: parts.flatMap(({ notes }) => notes),
    nextDepositIndex: new Map(
      parts.map(({ pool, nextDepositIndex }) => [pool.address, nextDepositIndex]),
    ),
    depositIndexLimit: new Map(
      parts.map(({ pool, depositIndexLimit }) => [pool.address, depositIndexLimit]),
    ),
    anonymitySet: new Map(parts.map(({ pool, size }) => [pool.address, size])),
  };
};

const depositCalls = (
  chain: PrivacyChain,
  token: Token,
  amountBase: bigint,
  precommitment: bigint,
): Call[] => {
  const { entrypoint } = chain.config;
  if (token.address === "native") {
    const data = encodeFunctionData({
      abi: entrypointAbi,
      functionName: "deposit",
      args: [precommitment],
    });
    return [{ to: entrypoint, data, value: amountBase }];
  }
  const { address } = token;
  const approve = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [entrypoint, amountBase],
  });
  const data = encodeFunctionData({
    abi: entrypointAbi,
    functionName: "deposit",
    args: [address, amountBase, precommitment],
  });
  return [
    { to: address, data: approve, value: 0n },
    { to: entrypoint, data, value: 0n },
  ];
};

const exit = async (
  context: EngineContext,
  { chainId, token, wallet, noteId, owner }: Parameters<PrivacyEngine["exit"]>[0],
  signal: AbortSignal,
): ReturnType<PrivacyEngine["exit"]> => {
  const chain = chainOf(context, chainId);
  const keys = keysOf(context, wallet);
  const pool = await poolOf(chain, token);
  const note = openNote(keys, pool, {
    history: historyOf(await chain.events.read(), pool),
    noteId,
  });
  const { value, label, nullifier, secret } = note;
  const proof = await context.prover.prove(
    { circuit: "commitment", value, label, nullifier, secret },
    signal,
  );
  const { processor } = chain.config;
  const deposit = keys.deposit(pool.scope, note.depositIndex);
  return {
    calls: [exitCallOf({ pool: pool.address, processor, owner, note, deposit }, proof)],
    pool: pool.address,
    valueBase: value,
  };
};

/**
 * Reads the note, the trees that contain it, and the notes into which it is spent.
 * @throws NotReadyError, NoteGoneError
 */
const readSpendInputs = async (context: EngineContext, spend: Spend, signal: AbortSignal) => {
  const chain = chainOf(context, spend.chainId);
  const keys = keysOf(context, spend.wallet);
  const pool = await poolOf(chain, spend.token);
  const poolOut = spend.to === "note" ? await poolOf(chain, spend.tokenOut) : pool;
  const history = historyOf(await chain.events.read(), pool);
  const note = openNote(keys, pool, { history, noteId: spend.noteId });
  if (note.value < spend.withdrawBase) throw new NoteGoneError("The note is worth less.");
  const set = await chain.association.read(spend.chainId, pool.scope, signal);
  if (!set?.labels.includes(note.label))
    throw new NotReadyError("The note is not approved yet.");
  if (set.onchainRoot !== set.root)
    throw new NotReadyError("The association set is being published.");
  const slot =
    spend.to === "note"
      ? keysOf(context, spend.slot.wallet).deposit(poolOut.scope, spend.slot.index)
      : null;
  const { contracts } = context.registry.get(spend.chainId);
  const withdrawal = withdrawalOf(
    spend,
    { chain, contracts, pool, poolOut, feeRecipient: context.relayer },
    slot,
  );
  return { chain, keys, pool, history, note, set, withdrawal };
};

const prove = async (
  context: EngineContext,
  spend: Spend,
  signal: AbortSignal,
  onStart?: () => void,
): Promise<SpendTransaction> => {
  const { chain, keys, pool, history, note, set, withdrawal } = await readSpendInputs(
    context,
    spend,
    signal,
  );
  const change = keys.change(note.label, note.spends);
  const key = `${String(spend.chainId)}:${pool.address}:${String(history.generation)}`;
  try {
    const proof = await context.prover.prove(
      {
        circuit: "withdraw",
        value: note.value,
        label: note.label,
        nullifier: note.nullifier,
        secret: note.secret,
        commitment: note.commitment,
        withdrawn: spend.withdrawBase,
        context: contextOf(withdrawal, pool.scope),
        newNullifier: change.nullifier,
        newSecret: change.secret,
        state: { key, leaves: [...history.leaves] },
        association: {
          key: `${String(spend.chainId)}:${chain.config.entrypoint}:${String(set.labels[0])}`,
          leaves: set.labels,
          root: set.root,
        },
      },
      signal,
      onStart,
    );
    return {
      ...transactionOf(spend, { pool }, { withdrawal, proof }),
      nullifierHash: note.nullifierHash.toString(),
    };
  } catch (error) {
    if (error instanceof StaleTreeError) throw new NotReadyError(error.message);
    throw error;
  }
};

const spentBy = async (context: EngineContext, spend: Spend): Promise<SpentBy | null> => {
  const chain = chainOf(context, spend.chainId);
  const [pool, histories] = [await poolOf(chain, spend.token), await chain.events.read()];
  const history = historyOf(histories, pool);
  const { spent } = readNotes(keysOf(context, spend.wallet), pool.scope, history);
  const withdrawal = spent.get(BigInt(spend.noteId));
  if (withdrawal?.value !== spend.withdrawBase) return null;
  const { txHash, blockNumber } = withdrawal;
  const found = { txHash, isFinal: blockNumber <= history.finalBlock };
  if (spend.to === "note") {
    const poolOut = await poolOf(chain, spend.tokenOut);
    const { precommitment } = keysOf(context, spend.slot.wallet).deposit(
      poolOut.scope,
      spend.slot.index,
    );
    return historyOf(histories, poolOut).deposits.get(precommitment)?.txHash === txHash
      ? found
      : null;
  }
  const paid = await chainCall(spend.chainId, () =>
    readPaid(context.registry.client(spend.chainId), txHash),
  );
  return paid.some((address) => isAddressEqual(address, spend.recipient)) ? found : null;
};

const engineOf = (context: EngineContext): PrivacyEngine => ({
  id: "privacy-pools",
  name: "Privacy Pools (0xbow)",
  swapVenue: "Uniswap v3",
  newMnemonic: () => generateMnemonic(english),
  pools: async (chainId) => (await context.chains.get(chainId)?.pools()) ?? [],
  holdings: bindDeps(context, holdings),
  shield: async ({ chainId, token, amountBase, slot }) => {
    const chain = chainOf(context, chainId);
    const pool = await poolOf(chain, token);
    const { precommitment } = keysOf(context, slot.wallet).deposit(pool.scope, slot.index);
    return {
      calls: depositCalls(chain, token, amountBase, precommitment),
      // The fee is rounded down, as in the contract.
      noteBase: amountBase - (amountBase * BigInt(pool.shieldFeeBps)) / 10_000n,
      precommitment: precommitment.toString(),
    };
  },
  exit: bindDeps(context, exit),
  priceSwap: createSwapPaths(context.registry),
  prove: bindDeps(context, prove),
  check: (chainId, { to, data }) =>
    chainCall(chainId, async () => {
      try {
        const gas = await context.registry
          .client(chainId)
          .estimateGas({ account: context.relayer, to, data });
        return { gas: (gas * GAS_MARGIN_PERCENT) / 100n };
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal === null) throw error;
        return { refusal };
      }
    }),
  outcome: (chainId, txHash) =>
    chainCall(chainId, () => readOutcome(context.registry.client(chainId), txHash)),
  spentBy: bindDeps(context, spentBy),
  expectedProofMs: context.prover.expectedMs,
  close: context.prover.stop,
});
