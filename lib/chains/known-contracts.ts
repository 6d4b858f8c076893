import type { Address } from "viem";
import type { ChainConfig } from "@/lib/config/chains";
import { CANONICAL_SAFE } from "./safe-contracts";

/**
 * Precompiles and other addresses without a key holder; Uniswap's router also reads 1 and 2 as "the sender" and "the
 * router itself".
 */
const LAST_RESERVED_ADDRESS = 0xffffn;

/** Whether the address is reserved: zero and its neighbours, for which no key is known. */
export const isReserved = (address: Address): boolean => BigInt(address) <= LAST_RESERVED_ADDRESS;

/**
 * The configured contracts through which money moves, checksummed. Money sent to one of them directly is lost, or
 * anybody may take it.
 */
export const movingContracts = ({ contracts }: Pick<ChainConfig, "contracts">): ReadonlySet<Address> => {
  const { multicall3, entryPoint, paymaster, permit2, wrappedNative, uniswapV3, across, safe, distributor } = contracts;
  const all = [
    multicall3,
    entryPoint,
    paymaster,
    permit2,
    distributor,
    wrappedNative,
    uniswapV3?.factory,
    uniswapV3?.quoterV2,
    uniswapV3?.swapRouter02,
    across?.spokePool,
    across?.multicallHandler,
    across?.hub?.hubPool,
    across?.hub?.configStore,
    ...Object.values({ ...CANONICAL_SAFE, ...safe }),
  ];
  return new Set(all.filter((address) => address !== undefined));
};
