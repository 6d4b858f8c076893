/** Operations that bundlers refuse. */
import { isDomainError } from "@/lib/core/errors";
import { WaitsForTurnError, type Bundler } from "@/lib/ports/bundler";
import { counter } from "./registry";

const refusals = counter({
  name: "causeway_bundler_refusals_total",
  help: "User operations that a bundler or EntryPoint refused, by stage (estimate, submit) and by the code of ERC-4337 (AAxx), or other",
  labels: ["chain", "stage", "code"],
});

interface Refusal {
  readonly chainId: number;
  readonly stage: "estimate" | "submit";
  readonly sender: string;
  readonly nonce: string;
}

const CODE = /^AA\d{2}$/;

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** Counts and logs the refusal that `error` is; other errors are no refusals. */
const note = (error: unknown, refusal: Refusal, log: { warn(fields: object, message: string): void }): void => {
  const isRefusal = isDomainError(error) && (error.code === "simulation_failed" || error.code === "provider_error");
  if (!isRefusal || error instanceof WaitsForTurnError) return;
  const code = textOf(error.extra.entryPointCode);
  const { chainId, stage } = refusal;
  refusals.inc({ chain: String(chainId), stage, code: code !== null && CODE.test(code) ? code : "other" });
  // An estimate without a code is a call that reverts, which is what the estimate is for.
  if (stage === "estimate" && code === null) return;
  const reason = textOf(error.extra.reason) ?? error.message;
  log.warn({ ...refusal, entryPointCode: code, reason }, "a user operation was refused");
};

/** The bundler with its refusals counted and logged. */
export const observedBundler = (bundler: Bundler, log: { warn(fields: object, message: string): void }): Bundler => {
  const observe = async <T>(refusal: Refusal, call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      note(error, refusal, log);
      throw error;
    }
  };
  return {
    ...bundler,
    estimateGas: (chainId, operation) => {
      const { sender, nonce } = operation;
      const refusal = { chainId, stage: "estimate", sender, nonce: nonce.toString() } as const;
      return observe(refusal, () => bundler.estimateGas(chainId, operation));
    },
    submit: (chainId, operation, options) => {
      const { sender, nonce } = operation;
      const refusal = { chainId, stage: "submit", sender, nonce: nonce.toString() } as const;
      return observe(refusal, () => bundler.submit(chainId, operation, options));
    },
  };
};
