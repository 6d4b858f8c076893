import { HttpRequestError } from "viem";
import { register } from "prom-client";
import { beforeEach, expect, test } from "vitest";
import { measuredJobs, measuredProver, measuredSigner, measureRpc } from "./call-metrics";

beforeEach(() => register.resetMetrics());

const valueOf = async (series: string): Promise<number> => {
  const line = (await register.metrics())
    .split("\n")
    .find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
};
const failing = (error: Error) => (): Promise<never> => Promise.reject(error);

test("a proof counts as waiting until it is made, and its time begins with its turn", async () => {
  let begin: () => void = () => undefined;
  const turn = new Promise<void>((resolve) => (begin = resolve));
  const prover = measuredProver({
    prove: async (
      _input: { readonly circuit: string },
      _signal: AbortSignal,
      onStart?: () => void,
    ) => {
      await turn;
      onStart?.();
      return "proof";
    },
    expectedMs: () => 5,
  });
  let started = 0;
  const proof = prover.prove(
    { circuit: "withdraw" },
    AbortSignal.timeout(5000),
    () => (started += 1),
  );
  expect(await valueOf("causeway_proofs_waiting")).toBe(1);
  begin();
  expect([await proof, started, prover.expectedMs()]).toEqual(["proof", 1, 5]);
  expect(await valueOf("causeway_proofs_waiting")).toBe(0);
  expect(
    await valueOf('causeway_proof_duration_seconds_count{circuit="withdraw",outcome="ok"}'),
  ).toBe(1);
});

test("turns of jobs are counted by how they ended, and an error reaches the runner", async () => {
  const payout = (id: string, signal: AbortSignal) => {
    signal.throwIfAborted();
    return id === "bad"
      ? Promise.reject(new Error("bad"))
      : Promise.resolve({ done: id === "done" });
  };
  const handlers = measuredJobs({ payout });
  const { signal } = new AbortController();
  await handlers.payout("done", signal);
  await handlers.payout("later", signal);
  await expect(handlers.payout("bad", signal)).rejects.toThrow("bad");
  const count = (outcome: string) =>
    valueOf(`causeway_job_turn_duration_seconds_count{queue="payout",outcome="${outcome}"}`);
  expect([await count("done"), await count("again"), await count("failed")]).toEqual([1, 1, 1]);
  expect(await valueOf('causeway_jobs_running{queue="payout"}')).toBe(0);
});

test("a node that is away and one that refuses are told apart, and a strange method is not a label", async () => {
  const away = new HttpRequestError({ url: "http://127.0.0.1:9", details: "refused" });
  await expect(measureRpc(1, "eth_call", failing(away))).rejects.toBe(away);
  await expect(measureRpc(1, "eth_call", failing(new Error("reverted")))).rejects.toThrow(
    "reverted",
  );
  expect(await measureRpc(1, "0xabc\n", () => Promise.resolve(7))).toBe(7);
  const count = (method: string, outcome: string) =>
    valueOf(`causeway_rpc_requests_total{chain="1",method="${method}",outcome="${outcome}"}`);
  expect(await count("eth_call", "unavailable")).toBe(1);
  expect(await count("eth_call", "refused")).toBe(1);
  expect(await count("other", "ok")).toBe(1);
});

test("a signature that fails is counted, and its error stays the same", async () => {
  const error = new Error("no such key");
  const fail = failing(error);
  const signer = {
    create: fail,
    address: fail,
    signTypedData: fail,
    signMessage: fail,
    signTransaction: fail,
  };
  await expect(
    measuredSigner(signer).signMessage({ keyId: "k", projectId: null }, "0x"),
  ).rejects.toBe(error);
  expect(
    await valueOf(
      'causeway_signer_duration_seconds_count{action="sign_message",outcome="failed"}',
    ),
  ).toBe(1);
});
