import type { Address } from "viem";
import type { ChainConfig } from "@/lib/config/chains";
import { CANONICAL_SAFE } from "./safe-contracts";

/** Precompiles and other addresses that nobody holds; Uniswap's router also reads 1 and 2 as "the sender" and "the router itself". */
const LAST_RESERVED_ADDRESS = 0xffffn;

/** Whether nobody can hold the address: zero and its neighbours. */
export const isReserved = (address: Address): boolean => BigInt(address) <= LAST_RESERVED_ADDRESS;

/** The contracts of the configuration that money is moved through, checksummed; what lies in them is lost, or anybody may take it. */
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
    ...Object.values({ ...CANONICAL_SAFE, ...safe }),
  ];
  return new Set(all.filter((address) => address !== undefined));
};
