import { english, generateMnemonic } from "viem/accounts";
import {
  NoteGoneError,
  NotReadyError,
  type PrivacyEngine,
  type PrivateHoldings,
  type PrivateNote,
  type PrivateWalletKey,
  type Spend,
} from "@/lib/money/ports/privacy";
import {
  feeOf,
  GAP_MAX,
  nullifierHashOf,
  numberOf,
  OTHER_SET,
  precommitmentOf,
  PROCESSOR,
  type OpenNote,
} from "./fake-privacy-contracts";
import type { FakePrivacyWorld } from "./fake-privacy-world";

const GAS = 500_000n;

/** Leaves out the fields of a note that only the fake has. */
const shown = ({
  chainId,
  token,
  id,
  label,
  valueBase,
  state,
  depositor,
  txHash,
  blockNumber,
}: OpenNote): PrivateNote => ({
  ...{ chainId, token, id, label, valueBase, state, depositor, txHash, blockNumber },
});

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });

const noteOf = (
  world: FakePrivacyWorld,
  spend: Pick<Spend, "wallet" | "token" | "noteId">,
): OpenNote => {
  const note = world
    .notesOf(spend.wallet, world.poolOf(spend.token))
    .notes.find(({ id }) => id === spend.noteId);
  if (note !== undefined) return note;
  if (world.hasShown(spend.noteId)) throw new NoteGoneError("The note was spent.");
  throw new NotReadyError("The chain has not shown the note yet.");
};

/**
 * Returns the transaction of a spend.
 * @throws NoteGoneError when the note is worth less than the spend
 * @throws NotReadyError when the note is not approved, or an unrelated association set is published
 */
const made = (world: FakePrivacyWorld, spend: Spend) => {
  const note = noteOf(world, spend);
  if (note.valueBase < spend.withdrawBase) throw new NoteGoneError("The note is worth less.");
  if (note.state !== "approved") throw new NotReadyError("The note is not approved yet.");
  const set = world.publishedSet();
  if (set === OTHER_SET) throw new NotReadyError("The association set is being published.");
  const precommitment =
    spend.to === "note" ? precommitmentOf(spend.slot, world.poolOf(spend.tokenOut)) : null;
  const changeId = numberOf(
    "commitment",
    note.valueBase - spend.withdrawBase,
    note.label,
    note.spends,
    note.id,
  );
  const data = world.dataOf({ kind: "spend", spend, note, set, precommitment, changeId });
  return { to: PROCESSOR, data, nullifierHash: nullifierHashOf(note.secret) };
};

const holdingsOf = (
  world: FakePrivacyWorld,
  wallet: PrivateWalletKey,
  chainId: number,
): PrivateHoldings => {
  const parts = world.pools
    .filter((pool) => pool.chainId === chainId)
    .map((pool) => ({ pool, ...world.notesOf(wallet, pool) }));
  return {
    chainId,
    notes: parts.flatMap(({ notes }) => notes.map(shown)),
    nextDepositIndex: new Map(parts.map(({ pool, next }) => [pool.address, next])),
    depositIndexLimit: new Map(parts.map(({ pool, next }) => [pool.address, next + GAP_MAX])),
    anonymitySet: new Map(parts.map(({ pool }) => [pool.address, world.anonymitySetOf(pool)])),
  };
};

/**
 * Fulfils the contract of `PrivacyEngine` without proofs. Its transactions take effect when they
 * are passed to `world.mine`.
 */
export const createFakePrivacyEngine = (world: FakePrivacyWorld): PrivacyEngine => {
  let last: Promise<unknown> = Promise.resolve();

  return {
    id: "fake",
    name: "Fake",
    swapVenue: "Fake exchange",
    newMnemonic: () => generateMnemonic(english),
    pools: (chainId) => Promise.resolve(world.pools.filter((pool) => pool.chainId === chainId)),
    holdings: (wallet, chainId, signal) => {
      signal.throwIfAborted();
      return Promise.resolve(holdingsOf(world, wallet, chainId));
    },
    shield: ({ token, amountBase, slot }) => {
      const pool = world.poolOf(token);
      const precommitment = precommitmentOf(slot, pool);
      const data = world.dataOf({ kind: "deposit", pool, amountBase, precommitment });
      return Promise.resolve({
        calls: [
          { to: pool.address, data, value: token.address === "native" ? amountBase : 0n },
        ],
        noteBase: amountBase - feeOf(amountBase, pool.shieldFeeBps),
        precommitment,
      });
    },
    exit: async ({ token, wallet, noteId, owner }, signal) => {
      signal.throwIfAborted();
      const pool = world.poolOf(token);
      const note = noteOf(world, { wallet, token, noteId });
      await Promise.race([world.proofTime(), aborted(signal)]);
      const data = world.dataOf({ kind: "exit", note, owner });
      return {
        calls: [{ to: pool.address, data, value: 0n }],
        pool: pool.address,
        valueBase: note.valueBase,
      };
    },
    priceSwap: ({ from, to, amountBase }) => {
      const outBase = world.swapped(from, to, amountBase);
      return Promise.resolve(outBase === 0n ? null : { path: "0x01", outBase });
    },
    prove: (spend, signal, onStart) => {
      const turn = async () => {
        signal.throwIfAborted();
        const transaction = made(world, spend);
        onStart?.();
        await Promise.race([world.proofTime(), aborted(signal)]);
        return transaction;
      };
      const mine = last.then(turn, turn);
      last = mine.catch(() => undefined);
      return mine;
    },
    check: (_chainId, transaction) => {
      const refusal = world.refusalOf(transaction);
      return Promise.resolve(refusal === null ? { gas: GAS } : { refusal });
    },
    outcome: (_chainId, txHash) => Promise.resolve(world.outcome(txHash)),
    spentBy: (spend) => Promise.resolve(world.spentBy(spend)),
    expectedProofMs: () => 1,
    close: () => undefined,
  };
};
