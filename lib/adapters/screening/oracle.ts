/** Sanctions oracles on chain, with Chainalysis' interface. */
import { parseAbi, type Address, type Hex } from "viem";
import { encodeCall } from "@/lib/chain/encode-call";
import { decodeAggregate, encodeAggregate } from "@/lib/chain/aggregate3";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import type { Clock } from "@/lib/core/clock";
import { withDeadline } from "@/lib/core/deadline";
import type {
  ScreenedAddress,
  ScreeningSource,
  ScreeningState,
  ScreeningVerdict,
} from "@/lib/trust/ports/screening";

const oracleAbi = parseAbi(["function isSanctioned(address addr) view returns (bool)"]);
const CALLS_AT_ONCE_MAX = 1000;
const TIMEOUT_MS = 3000;
const NO: Hex = `0x${"0".repeat(64)}`;
const YES: Hex = `0x${"0".repeat(63)}1`;

interface Oracle {
  readonly chainId: number;
  readonly address: Address;
}

const stateOf = (answer: Hex | null | undefined): ScreeningState =>
  answer === NO ? "clear" : answer === YES ? "hit" : "unavailable";

interface OracleDeps {
  readonly registry: ChainRegistry;
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

/**
 * Queries the oracle of each address's chain, or else of the first chain with one
 * (`contracts.sanctionsOracle`), because a listed address counts as listed on every chain. Makes
 * one `eth_call` per chain and 1,000 addresses.
 */
export const createOracleScreening = ({
  registry,
  clock,
  timeoutMs = TIMEOUT_MS,
}: OracleDeps): ScreeningSource => {
  const oracles = (): Oracle[] =>
    registry.list().flatMap(({ id, contracts: { sanctionsOracle: address } }) => {
      return address === undefined ? [] : [{ chainId: id, address }];
    });

  const ask = async (
    { chainId, address: target }: Oracle,
    addresses: readonly Address[],
  ): Promise<ScreeningState[]> => {
    const to = registry.get(chainId).contracts.multicall3;
    const calls = addresses.map((address) => ({
      target,
      callData: encodeCall({ abi: oracleAbi, functionName: "isSanctioned", args: [address] }),
    }));
    const asked = chainCall(chainId, () =>
      registry.client(chainId).call({ to, data: encodeAggregate(calls) }),
    );
    const { data } = await withDeadline(asked, {
      timeoutMs,
      message: "The sanctions oracle did not answer.",
    });
    const answers = decodeAggregate(data ?? "0x");
    return addresses.map((_, index) => stateOf(answers[index]));
  };

  const askAll = async (
    oracle: Oracle,
    addresses: readonly Address[],
  ): Promise<Map<Address, ScreeningState>> => {
    const states = new Map<Address, ScreeningState>();
    for (let from = 0; from < addresses.length; from += CALLS_AT_ONCE_MAX) {
      const part = addresses.slice(from, from + CALLS_AT_ONCE_MAX);
      const answers = await ask(oracle, part).catch(() => []);
      part.forEach((address, index) => states.set(address, answers[index] ?? "unavailable"));
    }
    return states;
  };

  return {
    name: "oracle",
    isActive: () => Promise.resolve(oracles().length > 0),
    screen: async (addresses, signal) => {
      signal.throwIfAborted();
      const all = oracles();
      const oracleOf = ({ chainId }: ScreenedAddress) =>
        all.find((each) => each.chainId === chainId) ?? all[0];
      const lower = (address: Address): Address => address.toLowerCase() as Address;
      const groups = new Map<Oracle, Set<Address>>();
      for (const each of addresses) {
        const oracle = oracleOf(each);
        if (oracle === undefined) continue;
        groups.set(oracle, (groups.get(oracle) ?? new Set()).add(lower(each.address)));
      }
      const read = new Map(
        await Promise.all(
          [...groups].map(
            async ([oracle, group]) => [oracle, await askAll(oracle, [...group])] as const,
          ),
        ),
      );
      signal.throwIfAborted();
      const at = clock.now();
      return addresses.map((each): ScreeningVerdict => {
        const oracle = oracleOf(each);
        if (oracle === undefined)
          return { state: "not_covered", source: "oracle", listVersion: null, at };
        const state = read.get(oracle)?.get(lower(each.address)) ?? "unavailable";
        return { state, source: `oracle:${String(oracle.chainId)}`, listVersion: null, at };
      });
    },
  };
};
