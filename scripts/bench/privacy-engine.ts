import { execFileSync } from "node:child_process";
import { isAddressEqual, parseUnits } from "viem";
import { createWalletKeys, readNotes } from "../../lib/adapters/privacy-pools/notes";
import { createProver } from "../../lib/adapters/privacy-pools/prover";
import type { Database } from "../../lib/platform/db/client";
import { createPoolLogRepository } from "../../lib/money/privacy/wallet-repository";
import type { PrivateNote, Spend } from "../../lib/money/ports/privacy";
import {
  deposited,
  FAKE_CONFIRMATIONS,
  fakePoolChain,
} from "../../lib/dev/testing/fake-pool-chain";
import { startPrivacyChain } from "../../lib/dev/testing/privacy-chain";
import { median } from "./harness";

export type Note = (figure: string, value: string, goal?: string) => void;

const MNEMONIC = "legal winner thank year wave sausage worth useful legal winner thank yellow";
const DEPOSITS = 10_000;
const PER_BLOCK = 100;
const CHAIN = 31_994;
const PROOF_TIMEOUT_MS = 300_000;
const HOUR_MS = 3_600_000;
const KILOBYTES_PER_MEGABYTE = 1024;
const PROOFS = 5;
const AMOUNT = parseUnits("100", 6);

export const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
  const start = performance.now();
  const result = await work();
  return [result, Math.round(performance.now() - start)];
};

/**
 * Measures a pool with ten thousand deposits of other people: the first scan, the scan of a new
 * block, and the read from the database after a restart.
 */
export const benchScan = async (database: Database, note: Note): Promise<void> => {
  const chain = fakePoolChain(createPoolLogRepository(database));
  for (let block = 0; block < DEPOSITS / PER_BLOCK; block += 1)
    chain.add(
      Array.from({ length: PER_BLOCK }, (_, index) =>
        BigInt(block * PER_BLOCK + index + 1),
      ).flatMap((at) => deposited(1n, at, at + 10n ** 9n, at + 10n ** 12n)),
    );
  for (let block = 0; block < FAKE_CONFIRMATIONS; block += 1) chain.add([]);
  const read = async () => readNotes(createWalletKeys(MNEMONIC), 77n, await chain.read());
  note(
    "Scan of 10,000 deposits, without the node's time",
    `${String((await timed(read))[1])} ms`,
    "5,000 ms",
  );
  chain.add(deposited(1n, 1n, 1n, 1n));
  note("Scan of one more block", `${String((await timed(read))[1])} ms`);
  chain.restart();
  note("The same after a restart, from the database", `${String((await timed(read))[1])} ms`);
};

/** Returns the memory of this process's largest child, which is the prover. */
const proverMegabytes = (): string => {
  const lines = execFileSync("ps", ["-o", "rss=", "--ppid", String(process.pid)], {
    encoding: "utf8",
  });
  const largest = Math.max(...lines.trim().split("\n").map(Number));
  return `${String(Math.round(largest / KILOBYTES_PER_MEGABYTE))} MB`;
};

/**
 * Measures the gas of every private operation and the time of its proof, with the real contracts.
 */
export const benchOperations = async (note: Note): Promise<void> => {
  const chain = await startPrivacyChain(CHAIN);
  const prover = createProver();
  const { engine, chainId, token, tokenOut, approveDeposits } = chain.harness(prover);
  const wallet = { id: "bench", mnemonic: MNEMONIC };
  const signal = AbortSignal.timeout(PROOF_TIMEOUT_MS);
  const theNote = async (wanted: (of: PrivateNote) => boolean): Promise<PrivateNote> => {
    const found = (await engine.holdings(wallet, chainId, signal)).notes.find(wanted);
    if (found === undefined) throw new Error("There is no such note.");
    return found;
  };
  const shield = async (amountBase: bigint, index: number) => {
    const { calls } = await engine.shield({
      chainId,
      token,
      amountBase,
      slot: { wallet, index },
    });
    let gas = 0n;
    for (const call of calls) gas = (await chain.send(chain.owner, call)).gasUsed;
    await approveDeposits();
    return gas;
  };
  const isSpendable = ({ state, valueBase, depositor, token: of }: PrivateNote): boolean =>
    state === "approved" &&
    of.address === token.address &&
    valueBase >= AMOUNT &&
    isAddressEqual(depositor, chain.owner);
  const times: number[] = [];
  const spend = async (
    name: string,
    how: Partial<Spend> & Pick<Spend, "to">,
  ): Promise<void> => {
    const { id: noteId } = await theNote(isSpendable);
    const wish = { chainId, token, wallet, noteId, withdrawBase: AMOUNT, ...how } as Spend;
    const [transaction, ms] = await timed(() => engine.prove(wish, signal));
    times.push(ms);
    const { gasUsed, status } = await chain.send(chain.relayer, { ...transaction, value: 0n });
    note(`Gas: ${name}`, status === "success" ? gasUsed.toString() : "reverted");
    await approveDeposits();
  };
  try {
    note(
      "Gas: shield (without its approval)",
      (await shield(parseUnits("10000", 6), 0)).toString(),
    );
    const recipient = "0x00000000000000000000000000000000DeaDBeef";
    for (let at = 0; at < PROOFS; at += 1)
      await spend("transfer to an address", { to: "address", recipient });
    note("First proof (the prover starts)", `${String(times[0])} ms`);
    note(
      `Proof of a spend, median of ${String(PROOFS - 1)}`,
      `${String(median(times.slice(1)))} ms`,
    );
    note("Memory of the proving process", proverMegabytes());
    const deadline = new Date(Date.now() + HOUR_MS);
    const into = { to: "note", minimumOutBase: 0n, exitOwner: chain.owner, deadline } as const;
    await spend("transfer inside of the pool", {
      ...into,
      slot: { wallet, index: 1 },
      tokenOut: token,
      path: null,
    });
    const price = await engine.priceSwap({ from: token, to: tokenOut, amountBase: AMOUNT });
    await spend("private swap", {
      ...into,
      slot: { wallet, index: 0 },
      tokenOut,
      path: price?.path ?? null,
    });
    const { id: noteId } = await theNote(isSpendable);
    const [plan, ms] = await timed(() =>
      engine.exit({ chainId, token, wallet, noteId, owner: chain.owner }, signal),
    );
    note("Proof of a public exit", `${String(ms)} ms`);
    for (const call of plan.calls)
      note("Gas: public exit", (await chain.send(chain.owner, call)).gasUsed.toString());
  } finally {
    prover.stop();
    await chain.stop();
  }
};
