import { expect, test, vi } from "vitest";
import { createProver, type ProofInput } from "./prover";

/**
 * A stub that answers with its priority and process id instead of a proof's signals. A job with the
 * value 0 never ends.
 */
const STUB = `
const { getPriority } = require("node:os");
process.on("message", ({ value }) => {
  if (value === "0") return;
  const pair = ["0", "0"];
  const pubSignals = [String(getPriority()), String(process.pid)];
  process.send({ proof: { pA: pair, pB: [pair, pair], pC: pair, pubSignals }, artifactsRead: 6 });
});
process.on("disconnect", () => process.exit(0));
`;
const jobOf = (value: bigint): ProofInput => ({
  circuit: "commitment",
  value,
  label: 1n,
  nullifier: 1n,
  secret: 1n,
});
const never = (): AbortSignal => new AbortController().signal;

const isAlive = (pid: bigint): boolean => {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
};

test("proofs are made at a lower priority than what serves people", async () => {
  const prover = createProver({ entry: ["-e", STUB] });
  const { pubSignals } = await prover.prove(jobOf(1n), never());
  expect(pubSignals[0]).toBe(5n);
  prover.stop();
});

test("a proof that is stopped ends its process, and the next one gets a new process", async () => {
  const prover = createProver({ entry: ["-e", STUB] });
  const { pubSignals: before } = await prover.prove(jobOf(1n), never());
  const controller = new AbortController();
  const reason = new Error("Nobody wants it any more.");
  const stopped = prover.prove(jobOf(0n), controller.signal, () =>
    setImmediate(() => controller.abort(reason)),
  );
  await expect(stopped).rejects.toBe(reason);
  await vi.waitFor(() => expect(isAlive(before[1] ?? 0n)).toBe(false), 8_000);
  const { pubSignals: after } = await prover.prove(jobOf(1n), never());
  expect(after[1]).not.toBe(before[1]);
  // Aborted while it was next in the queue, before the process received its job.
  const early = new AbortController();
  await expect(prover.prove(jobOf(1n), early.signal, () => early.abort(reason))).rejects.toBe(
    reason,
  );
  expect(isAlive(after[1] ?? 0n)).toBe(true);
  prover.stop();
});
