import { beforeAll, describe, expect, test } from "vitest";
import type { Token } from "@/lib/core/token";
import {
  NoteGoneError,
  NotReadyError,
  type PrivacyEngine,
  type PrivacyPool,
  type PrivateNote,
  type PrivateWalletKey,
  type Spend,
  type SpendTransaction,
} from "@/lib/money/ports/privacy";
import type { Call, EvmAddress } from "@/lib/core/evm";

/**
 * An engine with a chain on which only the contract's tests deposit, and the actions that the tests
 * need there.
 */
export interface PrivacyEngineHarness {
  readonly engine: PrivacyEngine;
  /** Another engine for the same chain, with an empty cache. */
  newEngine(): PrivacyEngine;
  readonly chainId: number;
  /** An asset with a privacy pool. An exchange swaps it for `tokenOut`, which also has a pool. */
  readonly token: Token;
  readonly tokenOut: Token;
  /** An account with plenty of both assets. */
  readonly owner: EvmAddress;
  /** Sends the owner's calls one after another, and waits until they are mined. */
  send(calls: readonly Call[]): Promise<void>;
  /**
   * Sends the transaction as the relayer, even when it reverts, and waits until it is mined.
   * @returns its hash
   */
  relay(transaction: Pick<SpendTransaction, "to" | "data">): Promise<`0x${string}`>;
  /** Approves the waiting deposits, and publishes the set of all approved ones. */
  approveDeposits(): Promise<void>;
  /** Makes the provider decline the owner's further deposits. */
  declineDeposits(): Promise<void>;
  /** Publishes an unrelated set, until deposits are approved again. */
  publishOtherSet(): Promise<void>;
  balanceOf(token: Token, owner: EvmAddress): Promise<bigint>;
}

const RECIPIENT: EvmAddress = "0x00000000000000000000000000000000DeaDBeef";
const UNKNOWN_HASH = `0x${"5".repeat(64)}` as const;
const DEADLINE_MS = 3_600_000;
const ONE_PERCENT = 100n;
const never = (): AbortSignal => new AbortController().signal;
const units = (token: Token, amount: bigint): bigint => amount * 10n ** BigInt(token.decimals);

/** The shared context of the tests: the chain, two wallets, and the pools of its two assets. */
const openContext = async (chain: PrivacyEngineHarness) => {
  const { engine, chainId, token, tokenOut } = chain;
  const wallet: PrivateWalletKey = { id: "one", mnemonic: engine.newMnemonic() };
  const other: PrivateWalletKey = { id: "other", mnemonic: engine.newMnemonic() };
  const pools = await engine.pools(chainId);
  const poolOf = (wanted: Token): PrivacyPool => {
    const found = pools.find((each) => each.token.address === wanted.address);
    if (found === undefined) throw new Error(`There is no pool of ${wanted.symbol}.`);
    return found;
  };

  const holdings = (of: PrivateWalletKey = wallet) => engine.holdings(of, chainId, never());

  const noteOf = async (
    of: PrivateWalletKey,
    wanted: (note: PrivateNote) => boolean,
  ): Promise<PrivateNote> => {
    const found = (await holdings(of)).notes.filter(wanted);
    const [note] = found;
    if (note === undefined || found.length > 1)
      throw new Error(`There are ${String(found.length)} such notes.`);
    return note;
  };

  const toAddress = ({ id: noteId }: Pick<PrivateNote, "id">, withdrawBase: bigint): Spend => ({
    chainId,
    token,
    wallet,
    noteId,
    withdrawBase,
    to: "address",
    recipient: RECIPIENT,
  });

  const shield = async (amountBase: bigint, index: number) => {
    const plan = await engine.shield({ chainId, token, amountBase, slot: { wallet, index } });
    await chain.send(plan.calls);
    return plan;
  };

  return {
    chain,
    wallet,
    other,
    pool: poolOf(token),
    poolOut: poolOf(tokenOut),
    holdings,
    noteOf,
    toAddress,
    shield,
  };
};

type Context = Awaited<ReturnType<typeof openContext>>;

const depositBecomesSpendable = async ({
  chain,
  pool,
  holdings,
  toAddress,
  shield,
}: Context): Promise<void> => {
  const { engine, chainId, owner } = chain;
  const empty = await holdings();
  expect(empty.notes).toEqual([]);
  expect(empty.nextDepositIndex.get(pool.address)).toBe(0);
  const { noteBase } = await shield(units(chain.token, 1000n), 0);
  const { notes, nextDepositIndex, anonymitySet } = await holdings();
  expect(notes).toMatchObject([
    { chainId, token: pool.token, valueBase: noteBase, state: "pending" },
  ]);
  expect(notes[0]?.depositor.toLowerCase()).toBe(owner.toLowerCase());
  expect(nextDepositIndex.get(pool.address)).toBe(1);
  expect(anonymitySet.get(pool.address)).toBe(0);
  const [note] = notes;
  if (note === undefined) throw new Error("There is no note.");
  await expect(engine.prove(toAddress(note, 1n), never())).rejects.toThrow(NotReadyError);
  await chain.approveDeposits();
  const after = await holdings();
  expect(after.notes).toEqual([{ ...note, state: "approved" }]);
  expect(after.anonymitySet.get(pool.address)).toBe(1);
};

const proofsTakeTurns = async ({
  chain,
  wallet,
  noteOf,
  toAddress,
}: Context): Promise<void> => {
  const { engine } = chain;
  const note = await noteOf(wallet, () => true);
  const events: string[] = [];
  const controller = new AbortController();
  const stopped = new Error("Nobody wants it any more.");
  const first = engine.prove(toAddress(note, 1n), controller.signal, () => {
    events.push("the first begins");
    // Stops the first proof in a later turn, when the other proofs already wait in the queue.
    setImmediate(() => {
      events.push("the first is stopped");
      controller.abort(stopped);
    });
  });
  const secondController = new AbortController();
  const second = engine.prove(toAddress(note, 1n), secondController.signal, () => {
    events.push("the second begins");
    secondController.abort(stopped);
  });
  const thirdController = new AbortController();
  const third = engine.prove(toAddress(note, 1n), thirdController.signal, () =>
    events.push("the third begins"),
  );
  thirdController.abort(stopped);
  const ends = await Promise.allSettled([first, second, third]);
  expect(ends).toEqual(
    Array.from({ length: 3 }, () => ({ status: "rejected", reason: stopped })),
  );
  expect(events).toEqual(["the first begins", "the first is stopped", "the second begins"]);
};

const spendPaysOnce = async ({
  chain,
  wallet,
  pool,
  noteOf,
  toAddress,
}: Context): Promise<void> => {
  const { engine, chainId, token } = chain;
  const note = await noteOf(wallet, () => true);
  const withdrawBase = units(token, 30n);
  await expect(engine.prove(toAddress(note, note.valueBase + 1n), never())).rejects.toThrow(
    NoteGoneError,
  );
  // A lagging node has not seen the note. This must cause another error than a spent note.
  await expect(engine.prove(toAddress({ ...note, id: "1" }, 1n), never())).rejects.toThrow(
    NotReadyError,
  );
  const transaction = await engine.prove(toAddress(note, withdrawBase), never());
  expect(await engine.spentBy(toAddress(note, withdrawBase))).toBeNull();
  expect(engine.expectedProofMs()).toBeGreaterThan(0);
  await chain.publishOtherSet();
  expect(await engine.check(chainId, transaction)).toEqual({ refusal: "moved" });
  await expect(engine.prove(toAddress(note, 1n), never())).rejects.toThrow(NotReadyError);
  await chain.approveDeposits();
  const checked = await engine.check(chainId, transaction);
  expect("gas" in checked && checked.gas > 0n).toBe(true);
  const hash = await chain.relay(transaction);
  const receivedBase = withdrawBase - (withdrawBase * BigInt(pool.relayFeeBps)) / 10_000n;
  expect(await engine.outcome(chainId, hash)).toMatchObject({ success: true, receivedBase });
  const spend = toAddress(note, withdrawBase);
  for (const each of [engine, chain.newEngine()])
    expect(await each.spentBy(spend)).toMatchObject({ txHash: hash });
  expect(await engine.spentBy(toAddress(note, withdrawBase - 1n))).toBeNull();
  expect(await engine.spentBy({ ...spend, to: "address", recipient: chain.owner })).toBeNull();
  expect(await chain.balanceOf(token, RECIPIENT)).toBe(receivedBase);
  const change = await noteOf(wallet, () => true);
  expect(change).toMatchObject({
    label: note.label,
    valueBase: note.valueBase - withdrawBase,
    state: "approved",
  });
  expect(change.txHash).toBe(hash);

  expect(await engine.check(chainId, transaction)).toEqual({ refusal: "spent" });
  const again = await chain.relay(transaction);
  expect(await engine.outcome(chainId, again)).toMatchObject({
    success: false,
    receivedBase: 0n,
  });
  expect(await chain.balanceOf(token, RECIPIENT)).toBe(receivedBase);
  await expect(engine.prove(toAddress(note, 1n), never())).rejects.toThrow(NoteGoneError);
  expect(await engine.outcome(chainId, UNKNOWN_HASH)).toBeNull();
};

const swapGivesNote = async ({
  chain,
  wallet,
  other,
  poolOut,
  holdings,
  noteOf,
}: Context): Promise<void> => {
  const { engine, chainId, token, tokenOut, owner } = chain;
  const note = await noteOf(wallet, () => true);
  const withdrawBase = units(token, 100n);
  const price = await engine.priceSwap({ from: token, to: tokenOut, amountBase: withdrawBase });
  if (price === null) throw new Error("There is no path.");
  const minimumOutBase = price.outBase - price.outBase / ONE_PERCENT;
  const spend: Spend = {
    ...{
      chainId,
      token,
      wallet,
      noteId: note.id,
      withdrawBase,
      to: "note",
      tokenOut,
      path: price.path,
    },
    ...{ minimumOutBase, exitOwner: owner, deadline: new Date(Date.now() + DEADLINE_MS) },
    slot: { wallet: other, index: 0 },
  };
  const txHash = await chain.relay(await engine.prove(spend, never()));
  const outcome = await engine.outcome(chainId, txHash);
  expect(outcome?.success).toBe(true);
  expect(await engine.spentBy(spend)).toMatchObject({ txHash });
  expect(await engine.spentBy({ ...spend, slot: { wallet: other, index: 1 } })).toBeNull();
  const got = await noteOf(other, () => true);
  expect(got).toMatchObject({
    token: poolOut.token,
    valueBase: outcome?.receivedBase,
    state: "pending",
    txHash,
  });
  const fee = (minimumOutBase * BigInt(poolOut.shieldFeeBps)) / 10_000n + 1n;
  expect(got.valueBase).toBeGreaterThanOrEqual(minimumOutBase - fee);
  expect((await holdings(other)).nextDepositIndex.get(poolOut.address)).toBe(1);
  expect((await noteOf(wallet, () => true)).valueBase).toBe(note.valueBase - withdrawBase);

  // The new note was not approved, so it goes to the owner that the spend named.
  const before = await chain.balanceOf(tokenOut, owner);
  const input = { chainId, token: tokenOut, wallet: other, noteId: got.id, owner };
  const plan = await engine.exit(input, never());
  expect(plan).toMatchObject({ pool: poolOut.address, valueBase: got.valueBase });
  await chain.send(plan.calls);
  expect(await chain.balanceOf(tokenOut, owner)).toBe(before + got.valueBase);
  expect((await holdings(other)).notes).toEqual([]);
  await expect(engine.exit(input, never())).rejects.toThrow(NoteGoneError);
};

const declinedDepositGoesBack = async ({
  chain,
  wallet,
  pool,
  holdings,
  noteOf,
  toAddress,
  shield,
}: Context): Promise<void> => {
  const { engine, chainId, token, owner } = chain;
  const before = await chain.balanceOf(token, owner);
  const amountBase = units(token, 10n);
  await chain.declineDeposits();
  // A deposit number is skipped, as if the transaction of that deposit had failed.
  const { noteBase } = await shield(amountBase, 2);
  await chain.approveDeposits();
  const note = await noteOf(wallet, ({ state }) => state === "declined");
  expect(note.valueBase).toBe(noteBase);
  expect((await holdings()).nextDepositIndex.get(pool.address)).toBe(3);
  await expect(engine.prove(toAddress(note, 1n), never())).rejects.toThrow(NotReadyError);
  const controller = new AbortController();
  const stopped = new Error("Nobody wants it any more.");
  controller.abort(stopped);
  const input = { chainId, token, wallet, noteId: note.id, owner };
  await expect(engine.exit(input, controller.signal)).rejects.toBe(stopped);
  const { calls } = await engine.exit(input, never());
  await chain.send(calls);
  expect(await chain.balanceOf(token, owner)).toBe(before - amountBase + noteBase);
  expect((await holdings()).notes.map(({ state }) => state)).toEqual(["approved"]);
};

const mnemonicRestores = async ({ chain, wallet, holdings }: Context): Promise<void> => {
  const { engine, chainId } = chain;
  const known = await holdings();
  expect(known.notes).toHaveLength(1);
  const fresh = chain.newEngine();
  try {
    expect(
      await fresh.holdings({ id: "restored", mnemonic: wallet.mnemonic }, chainId, never()),
    ).toEqual(known);
    const stranger = { id: "stranger", mnemonic: engine.newMnemonic() };
    expect((await fresh.holdings(stranger, chainId, never())).notes).toEqual([]);
  } finally {
    fresh.close();
  }
};

/**
 * Tests the contract of every `PrivacyEngine`. The tests build on each other: a proof takes
 * seconds, so each proof serves several tests.
 */
export const privacyEngineContract = (
  name: string,
  start: () => Promise<PrivacyEngineHarness>,
): void => {
  describe(`${name} keeps the contract of private balances`, () => {
    let context: Context;

    beforeAll(async () => {
      context = await openContext(await start());
    });

    test("a deposit is a pending note of what the pool leaves, counts its number, and can be spent once approved", () =>
      depositBecomesSpendable(context));

    test("proofs are made one at a time, and one that is stopped lets the next begin", () =>
      proofsTakeTurns(context));

    test("a spend pays its recipient once; it is `moved` while another set is published, and `spent` for ever after", () =>
      spendPaysOnce(context));

    test("a private swap gives another wallet a note of at least its minimum, and leaves public by its owner alone", () =>
      swapGivesNote(context));

    test("a declined deposit cannot be spent, and goes back to its depositor whole", () =>
      declinedDepositGoesBack(context));

    test("an engine that knows the mnemonic alone finds the same notes and numbers", () =>
      mnemonicRestores(context));
  });
};
