import type { Hex, PublicClient } from "viem";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import { abortable } from "@/lib/core/abortable";
import type { Clock } from "@/lib/core/clock";
import { withDeadline } from "@/lib/core/deadline";
import { DomainError, isDomainError } from "@/lib/core/errors";
import { decodeAggregate, encodeAggregate, type ReadCall } from "@/lib/chains/aggregate3";
import type { Tuning } from "./tuning";

export interface OnchainDeps {
  readonly registry: ChainRegistry;
  readonly clock: Clock;
  readonly tuning: Tuning;
}

const chainUnavailable = (message: string): DomainError => new DomainError("chain_unavailable", message);

/**
 * Retries a read. A node may not have the block that it was about to read (it was pruned, or the next node behind a
 * load balancer has not received it). These reads cannot revert by themselves, so every error except an outage is
 * retried.
 */
const readAgain = async <T>(
  registry: ChainRegistry,
  chainId: number,
  attemptsMax: number,
  ask: (client: PublicClient) => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await chainCall(chainId, () => ask(registry.client(chainId)));
    } catch (cause) {
      if (isDomainError(cause)) throw cause;
      if (attempt < attemptsMax) continue;
      const message = `${registry.get(chainId).name} refuses to be read. Nothing was sent; try again shortly.`;
      throw new DomainError("chain_unavailable", message, { cause });
    }
  }
};

/**
 * One call to a chain, with a deadline of its own.
 * @throws DomainError `chain_unavailable` when the chain cannot be reached or is too slow; the reason of `signal`.
 */
export const askChain = async <T>(
  { registry, tuning }: Pick<OnchainDeps, "registry" | "tuning">,
  chainId: number,
  signal: AbortSignal,
  ask: (client: PublicClient) => Promise<T>,
): Promise<T> => {
  const { callTimeoutMs: timeoutMs } = tuning;
  const message = `${registry.get(chainId).name} did not answer within ${timeoutMs} ms. Nothing was sent; try again shortly.`;
  const answer = readAgain(registry, chainId, tuning.readAttemptsMax, ask);
  return withDeadline(abortable(answer, signal), { timeoutMs, message, errorOf: chainUnavailable });
};

/** Many reads as one `eth_call` through Multicall3; null where a read reverted. */
export const readMany = async (
  deps: OnchainDeps,
  chainId: number,
  signal: AbortSignal,
  calls: readonly ReadCall[],
): Promise<readonly (Hex | null)[]> => {
  if (calls.length === 0) return [];
  const data = encodeAggregate(calls);
  const to = deps.registry.get(chainId).contracts.multicall3;
  const answer = await askChain(deps, chainId, signal, (client) => client.call({ to, data }));
  if (answer.data === undefined) {
    throw new DomainError("chain_unavailable", `Chain ${chainId} has no Multicall3 at ${to}.`);
  }
  return decodeAggregate(answer.data);
};
