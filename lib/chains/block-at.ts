import { chainCall, type ChainRegistry } from "./registry";

const HALVINGS_MAX = 64;

/**
 * The newest block that is as old as a time or older; 0 where none is.
 * @throws DomainError `chain_unavailable`
 */
export const blockBefore = async (
  registry: Pick<ChainRegistry, "client">,
  chainId: number,
  { at, head }: { readonly at: Date; readonly head: bigint },
): Promise<bigint> => {
  const seconds = BigInt(Math.floor(at.getTime() / 1000));
  const timeOf = async (blockNumber: bigint): Promise<bigint> =>
    (await chainCall(chainId, () => registry.client(chainId).getBlock({ blockNumber }))).timestamp;
  let [low, high] = [0n, head];
  for (let halvings = 0; low < high && halvings < HALVINGS_MAX; halvings += 1) {
    const middle = (low + high + 1n) / 2n;
    if ((await timeOf(middle)) <= seconds) low = middle;
    else high = middle - 1n;
  }
  return low;
};
