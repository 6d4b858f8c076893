import type { Address } from "viem";
import { contractsAmong } from "@/lib/chains/contract-probe";
import type { ChainRegistry } from "@/lib/chains/registry";
import { withDeadline } from "@/lib/core/deadline";
import type { RouteRequest } from "@/lib/ports/routing";

/** A quote does not wait longer for a warning. */
const LATE = { timeoutMs: 2000, message: "The chain did not answer in time." };

const hasCode = async (registry: ChainRegistry, chainId: number, address: Address): Promise<boolean | null> => {
  const asked = contractsAmong(registry.client(chainId), [address]);
  const [is] = await withDeadline(asked, LATE).catch(() => []);
  return is ?? null;
};

/**
 * The chain of a source on which the recipient is a contract, where it is none on the chain that pays it: nobody may be
 * able to use the address there. Null when there is no such chain, or when a chain does not answer.
 */
export const codeElsewhere = async (registry: ChainRegistry, request: RouteRequest): Promise<string | null> => {
  const { token, recipient } = request.destination;
  const sources = [...new Set(request.sources.map((source) => source.token.chainId))];
  const others = sources.filter((chainId) => chainId !== token.chainId);
  if (others.length === 0) return null;
  const [there, ...here] = await Promise.all(
    [token.chainId, ...others].map((chainId) => hasCode(registry, chainId, recipient)),
  );
  if (there !== false) return null;
  const found = others.find((_, index) => here[index] === true);
  return found === undefined ? null : registry.get(found).name;
};
