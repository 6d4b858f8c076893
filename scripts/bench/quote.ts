import { createOnchainRouting } from "../../lib/adapters/onchain/provider";
import { createChainRegistry } from "../../lib/chain/registry";
import { loadConfig } from "../../lib/platform/config/env";
import { systemClock } from "../../lib/core/clock";

const ROUNDS = 60;
const WARM = 10;
const TIMEOUT_MS = 10_000;

/** Returns the milliseconds between `start` and `end` during which no chain call is in progress. */
const idleBetween = (
  start: number,
  end: number,
  calls: readonly (readonly [number, number])[],
): number => {
  let idle = 0;
  let until = start;
  for (const [from, to] of [...calls].sort((a, b) => a[0] - b[0])) {
    if (from > until) idle += from - until;
    until = Math.max(until, to);
  }
  return idle + Math.max(0, end - until);
};

/**
 * Measures the service's own time to price one source between two chains, without the time of chain
 * calls.
 * @returns milliseconds of each round
 */
export const benchQuoteOverhead = async (
  environment: NodeJS.ProcessEnv,
  owner: `0x${string}`,
): Promise<number[]> => {
  let calls: (readonly [number, number])[] = [];
  const timed: typeof fetch = async (input, init) => {
    const from = performance.now();
    try {
      const response = await fetch(input, init);
      // Reads the body within the measured time, because a call ends when its whole answer has
      // arrived.
      const body = await response.arrayBuffer();
      return new Response(body, { status: response.status, headers: response.headers });
    } finally {
      calls.push([from, performance.now()]);
    }
  };
  const registry = createChainRegistry(loadConfig(environment).chains, { fetchFn: timed });
  const routing = createOnchainRouting({ registry, clock: systemClock });
  const times: number[] = [];
  for (let round = 0; round < WARM + ROUNDS; round++) {
    const token = registry.resolveToken(31337, "USDT");
    const request = {
      sources: [
        { owner, token, amountBase: BigInt(100 + round) * 10n ** BigInt(token.decimals) },
      ],
      destination: { token: registry.resolveToken(31338, "WETH"), recipient: owner },
      slippageBps: 50,
    };
    calls = [];
    const start = performance.now();
    await routing.quote(request, AbortSignal.timeout(TIMEOUT_MS));
    const idle = idleBetween(start, performance.now(), calls);
    if (round >= WARM) times.push(idle);
  }
  return times;
};
