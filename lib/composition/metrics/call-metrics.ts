/** Times of external calls, measured where composition connects the port. */
import type { MeasureCall, MeasureWait } from "@/lib/chain/registry";
import { outageOf } from "@/lib/core/outage";
import { inSpan } from "@/lib/core/tracing";
import type { Signer } from "@/lib/chain/ports/signer";
import { counter, gauge, histogram } from "@/lib/platform/telemetry/registry";

const CALL_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const PROOF_BUCKETS = [0.5, 1, 2.5, 5, 7.5, 10, 15, 30, 60, 120];
const BATCH_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 512];

const rpcSeconds = histogram({
  name: "causeway_rpc_duration_seconds",
  help: "Time of a JSON-RPC call to a chain's node, retries included, by outcome: ok, refused (the node answered with an error), unavailable",
  labels: ["chain", "outcome"],
  buckets: CALL_BUCKETS,
});
const rpcCalls = counter({
  name: "causeway_rpc_requests_total",
  help: "JSON-RPC calls to a chain's node, by method and outcome",
  labels: ["chain", "method", "outcome"],
});
const budgetWaitSeconds = histogram({
  name: "causeway_rpc_budget_wait_seconds",
  help: "Time that a JSON-RPC call waited for the chain's budget of requests, by outcome: sent, timeout (given up). Calls that did not wait are not counted",
  labels: ["chain", "outcome"],
  buckets: CALL_BUCKETS,
});
const signerSeconds = histogram({
  name: "causeway_signer_duration_seconds",
  help: "Time of a signature or of a look-up of a key, by outcome: ok, failed",
  labels: ["action", "outcome"],
  buckets: CALL_BUCKETS,
});
const jobSeconds = histogram({
  name: "causeway_job_turn_duration_seconds",
  help: "Time of one turn of a job, by outcome: done, again (it waits for something), failed (tried again)",
  labels: ["queue", "outcome"],
  buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
});
const jobsRunning = gauge({
  name: "causeway_jobs_running",
  help: "Jobs that this process works on now",
  labels: ["queue"],
});
const batchCommands = histogram({
  name: "causeway_ledger_batch_commands",
  help: "Commands in one batch of the ledger",
  buckets: BATCH_BUCKETS,
});
const batchSeconds = histogram({
  name: "causeway_ledger_batch_duration_seconds",
  help: "Time from a batch's first statement to its commit, or to its failure",
  buckets: CALL_BUCKETS,
});
const proofSeconds = histogram({
  name: "causeway_proof_duration_seconds",
  help: "Time of a zero-knowledge proof, without the wait for its turn, by circuit and outcome: ok, failed",
  labels: ["circuit", "outcome"],
  buckets: PROOF_BUCKETS,
});
const proofsWaiting = gauge({
  name: "causeway_proofs_waiting",
  help: "Proofs that are asked for and not made yet, the one under way included",
});

const secondsSince = (startedMs: number): number => (performance.now() - startedMs) / 1000;

/**
 * The JSON-RPC methods that viem and the service's code call. Every other method is counted as
 * `other`, because its name could only come from a caller's input and would create new labels.
 */
const METHOD = /^(eth|net|web3|debug|anvil|evm)_[A-Za-z]{1,40}$/;

/**
 * The outcome of a failed call, for the metrics. `outageOf` recognises an unavailable node. Every
 * other error is the node's response, for example a revert.
 */
const rpcOutcomeOf = (error: unknown): "refused" | "unavailable" =>
  outageOf(error) === "chain" ? "unavailable" : "refused";

export const measureRpc: MeasureCall = async (chainId, method, call) => {
  const name = METHOD.test(method) ? method : "other";
  const chain = String(chainId);
  const startedMs = performance.now();
  const count = (outcome: string): void => {
    rpcSeconds.observe({ chain, outcome }, secondsSince(startedMs));
    rpcCalls.inc({ chain, method: name, outcome });
  };
  try {
    const fields = { "causeway.chain_id": chainId };
    const result = await inSpan(
      `rpc ${name}`,
      { kind: "client", nestedOnly: true, fields },
      call,
    );
    count("ok");
    return result;
  } catch (error) {
    count(rpcOutcomeOf(error));
    throw error;
  }
};

export const measureBudgetWait: MeasureWait = (chainId, seconds, outcome) =>
  budgetWaitSeconds.observe({ chain: String(chainId), outcome }, seconds);

const measureSignature = async <T>(action: string, call: () => Promise<T>): Promise<T> => {
  const startedMs = performance.now();
  const count = (outcome: string): void =>
    signerSeconds.observe({ action, outcome }, secondsSince(startedMs));
  try {
    const result = await inSpan(`signer ${action}`, { kind: "client", nestedOnly: true }, call);
    count("ok");
    return result;
  } catch (error) {
    count("failed");
    throw error;
  }
};

export const measuredSigner = (signer: Signer): Signer => ({
  create: (scope) => measureSignature("create", () => signer.create(scope)),
  address: (scope) => measureSignature("address", () => signer.address(scope)),
  signTypedData: (scope, data) =>
    measureSignature("sign_typed_data", () => signer.signTypedData(scope, data)),
  signMessage: (scope, raw) =>
    measureSignature("sign_message", () => signer.signMessage(scope, raw)),
  signTransaction: (scope, transaction) =>
    measureSignature("sign_transaction", () => signer.signTransaction(scope, transaction)),
});

export const observeLedgerBatch = (commands: number, seconds: number): void => {
  batchCommands.observe(commands);
  batchSeconds.observe(seconds);
};

type JobHandler = (id: string, signal: AbortSignal) => Promise<{ readonly done: boolean }>;

export const measuredJobs = <Handlers extends Readonly<Record<string, JobHandler>>>(
  handlers: Handlers,
): Handlers => {
  const measured =
    (queue: string, handler: JobHandler): JobHandler =>
    async (id, signal) => {
      const startedMs = performance.now();
      jobsRunning.inc({ queue });
      let outcome = "failed";
      try {
        const result = await handler(id, signal);
        outcome = result.done ? "done" : "again";
        return result;
      } finally {
        jobsRunning.dec({ queue });
        jobSeconds.observe({ queue, outcome }, secondsSince(startedMs));
      }
    };
  return Object.fromEntries(
    Object.entries(handlers).map(([queue, handler]) => [queue, measured(queue, handler)]),
  ) as Handlers;
};

interface Prover {
  prove(
    input: { readonly circuit: string },
    signal: AbortSignal,
    onStart?: () => void,
  ): Promise<unknown>;
}

/** Adds a duration metric to the prover. Its other members are unchanged. */
export const measuredProver = <P extends Prover>(prover: P): P => {
  const prove: Prover["prove"] = async (input, signal, onStart) => {
    const { circuit } = input;
    let startedMs = performance.now();
    const begin = (): void => {
      startedMs = performance.now();
      onStart?.();
    };
    proofsWaiting.inc();
    let outcome = "failed";
    try {
      const proof = await inSpan(`proof ${circuit}`, { nestedOnly: true }, () =>
        prover.prove(input, signal, begin),
      );
      outcome = "ok";
      return proof;
    } finally {
      proofsWaiting.dec();
      proofSeconds.observe({ circuit, outcome }, secondsSince(startedMs));
    }
  };
  return { ...prover, prove };
};
